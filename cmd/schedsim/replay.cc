// The command replay: repeats what a recorded scheduler did, or shows what another one would have done.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <iostream>

#include "cmd/schedsim/command.h"
#include "pkg/api/json_writer.h"
#include "pkg/api/stream.h"
#include "pkg/explain/explanation.h"
#include "pkg/explain/output.h"
#include "pkg/explain/page.h"
#include "pkg/recording/alternative.h"
#include "pkg/recording/replay.h"
#include "pkg/release/release.h"
#include "pkg/releases/daemon_form.h"
#include "pkg/releases/releases.h"
#include "pkg/scheduler/configuration/versions.h"
#include "pkg/util/feature_gates.h"
#include "pkg/util/status.h"

namespace berth::schedsim {
namespace {

using api::JsonWriter;
using recording::Comparison;
using recording::CoreConfiguration;
using recording::ReplayResult;

constexpr size_t kDifferencesShown = 10;

bool Alternative(const Invocation& o) {
  return o.Has("policy") || o.Has("algorithm-provider") || o.Has("config") || o.Has("emulated-version");
}

absl::Status CheckReplay(const Invocation& o) {
  if (Alternative(o) && (o.Has("until") || o.Has("pod") || o.Get<bool>("check"))) {
    return util::InvalidArgument("--until, --pod and --check work only with the recorded scheduler");
  }
  const int kinds = o.Has("policy") + o.Has("algorithm-provider") + o.Has("config");
  const std::string emulated = o.Has("emulated-version") ? o.Get<std::string>("emulated-version") : "";
  if (kinds > 1) return util::InvalidArgument("give one of --policy, --algorithm-provider and --config");
  if (!emulated.empty()) {
    if (auto named = release::Named(emulated); !named.ok()) {
      return util::InvalidArgument(absl::StrCat("--emulated-version: ", named.status().message()));
    }
  }
  if (o.Has("until") && o.Get<int64_t>("until") < 1) {
    return flags::InvalidValue("until", o.Get<int64_t>("until"), "must be 1 or more: inputs are numbered from 1");
  }
  if (o.files.size() > 1) return util::InvalidArgument("one recording at a time can be replayed");
  return absl::OkStatus();
}

// Changes the configuration to that of a release with its default gates and without a configuration file, keeping the
// names of the recorded schedulers.
void UseRelease(const release::Id& id, CoreConfiguration* c) {
  if (c->release == id.name) return;
  c->release = std::string(id.name);
  const releases::DaemonForm& form = releases::DaemonFormOf(id);
  const scheduler::Release& decides = releases::Of(id).decides;
  const bool plugins = decides.plugins != nullptr;
  for (recording::ProfileSource& p : c->profiles) p = {p.scheduler_name, plugins ? "" : "DefaultProvider", "", ""};
  c->gates.clear();
  for (const char* gate : {"PodPriority", "VolumeScheduling", "BlockVolume", "StorageObjectInUseProtection"}) {
    const util::FeatureGate* found = util::FindGate(decides.gates, gate);
    c->gates[gate] = plugins || (found != nullptr && found->on);
  }
  for (const char* gate :
       {"TaintNodesByCondition", "ResourceLimitsPriorityFunction", "AttachVolumeLimit", "BalanceAttachedNodeVolumes"}) {
    const util::FeatureGate* found = util::FindGate(decides.gates, gate);
    c->gates[gate] = !plugins && found != nullptr && found->on;
  }
  c->max_backoff = form.max_backoff;
  c->unschedulable_limit = form.unschedulable_limit;
}

// Returns the release that was asked for, or null. REQUIRES: its name was checked.
const release::Id* AskedFor(const Invocation& o) {
  return o.Has("emulated-version") ? *release::Named(o.Get<std::string>("emulated-version")) : nullptr;
}

absl::Status UseConfiguration(const std::string& file, const release::Id* asked, CoreConfiguration* c) {
  auto text = api::ReadInput(file);
  if (!text.ok()) return text.status();
  auto document = api::ReadDocument(*text);
  if (!document.ok()) return util::InvalidArgument(absl::StrCat(file, ": ", util::Message(document.status())));
  const std::string_view version = document->root().FindExact("apiVersion").Text();
  const std::string unread = asked == nullptr ? "" : scheduler::configuration::WhyNotRead(*asked, version);
  if (!unread.empty()) {
    return util::InvalidArgument(
        absl::StrCat("--emulated-version=", std::string(asked->name), " contradicts --config=", file, ": ", unread));
  }
  const auto recorded = release::Named(c->release);
  const release::Id* reader = scheduler::configuration::ReaderOf(version, asked != nullptr ? asked
                                                                          : recorded.ok()  ? *recorded
                                                                                           : nullptr);
  const release::Id& release = reader == nullptr ? release::All().back() : *reader;
  auto loaded = recording::LoadConfiguration(*text, releases::Of(release).decides);
  if (!loaded.ok()) return util::InvalidArgument(absl::StrCat(file, ": ", util::Message(loaded.status())));
  UseRelease(release, c);
  c->profiles.clear();
  for (const auto& profile : loaded->profiles) c->profiles.push_back({profile.scheduler_name, "", "", *text});
  c->initial_backoff = absl::Seconds(loaded->configuration.pod_initial_backoff_seconds);
  c->max_backoff = absl::Seconds(loaded->configuration.pod_max_backoff_seconds);
  return absl::OkStatus();
}

// Changes the recorded configuration as the flags demand.
absl::Status Change(const Invocation& o, CoreConfiguration* c) {
  const release::Id* asked = AskedFor(o);
  if (o.Has("config")) return UseConfiguration(o.Get<std::string>("config"), asked, c);
  if (asked != nullptr) UseRelease(*asked, c);
  std::string policy;
  if (o.Has("policy")) {
    auto text = api::ReadInput(o.Get<std::string>("policy"));
    if (!text.ok()) return text.status();
    policy = *std::move(text);
  } else if (!o.Has("algorithm-provider")) {
    return absl::OkStatus();
  }
  // The recorded release, if it has Policies and providers and no other one was asked for.
  const auto recorded = release::Named(c->release);
  if (!recorded.ok() || !releases::Of(**recorded).decides.has_policies) {
    if (asked != nullptr) {
      return util::InvalidArgument(absl::StrCat("release ", std::string(asked->name),
                                                " has no Policies and providers: give it a configuration (--config)"));
    }
    UseRelease(release::Default(), c);
  }
  for (recording::ProfileSource& p : c->profiles) {
    p = {p.scheduler_name, policy.empty() ? o.Get<std::string>("algorithm-provider") : "", policy, ""};
  }
  return absl::OkStatus();
}

// ---- what another scheduler would have done -----------------------------------------------------

std::string Seconds(int64_t micros) {
  return absl::StrFormat("%.3f s", static_cast<double>(micros) / 1e6);
}

std::string FateText(const recording::Fate& f) {
  if (f.node.empty()) return "pending";
  return f.evicted ? f.node + ", evicted" : f.node;
}

// Shows the totals of both schedulers side by side, and the first pods whose fate differs.
std::string ComparisonTable(const Comparison& c) {
  std::vector<std::vector<std::string>> rows = {{"", "RECORDED", "OTHER"}};
  const auto row = [&](const char* what, auto recording::Outcome::*member) {
    rows.push_back({what, absl::StrCat(c.recorded.*member), absl::StrCat(c.alternative.*member)});
  };
  row("pods", &recording::Outcome::pods);
  row("placed", &recording::Outcome::placed);
  row("pending at the end", &recording::Outcome::pending);
  row("evicted", &recording::Outcome::evicted);
  row("decisions", &recording::Outcome::decisions);
  rows.push_back({"median wait", Seconds(c.recorded.median_wait_micros), Seconds(c.alternative.median_wait_micros)});
  rows.push_back({"p99 wait", Seconds(c.recorded.p99_wait_micros), Seconds(c.alternative.p99_wait_micros)});
  std::string out = explain::Table(rows);
  absl::StrAppend(&out, "\n", explain::Counted(static_cast<int64_t>(c.differing.size()), "pod"),
                  c.differing.size() == 1 ? " ends" : " end", " up elsewhere, ", c.same_node, " on the same node.\n");
  if (!c.differing.empty()) {
    rows = {{"POD", "RECORDED", "OTHER"}};
    for (size_t i = 0; i < std::min(kDifferencesShown, c.differing.size()); ++i) {
      const auto& [was, would] = c.differing[i];
      rows.push_back({was.pod, FateText(was), FateText(would)});
    }
    absl::StrAppend(&out, explain::Table(rows));
    if (c.differing.size() > kDifferencesShown) {
      absl::StrAppend(&out, "and ", c.differing.size() - kDifferencesShown, " more (-o json lists all)\n");
    }
  }
  if (c.lost > 0) absl::StrAppend(&out, explain::Counted(c.lost, "event"), " are missing from the recording.\n");
  out += "Pods appear and are deleted at the times of the recording, wherever they run;\nextenders are not called.\n";
  return out;
}

void OutcomeJson(const recording::Outcome& o, JsonWriter* j) {
  j->Object()
      .Member("pods", o.pods)
      .Member("placed", o.placed)
      .Member("pending", o.pending)
      .Member("evicted", o.evicted)
      .Member("decisions", o.decisions)
      .Member("medianWaitMicros", o.median_wait_micros)
      .Member("p99WaitMicros", o.p99_wait_micros)
      .End();
}

std::string ComparisonJson(const Comparison& c) {
  JsonWriter j;
  j.Object().Key("recorded");
  OutcomeJson(c.recorded, &j);
  j.Key("other");
  OutcomeJson(c.alternative, &j);
  j.Member("sameNode", c.same_node).Member("lostEvents", c.lost).Key("differing").Array();
  for (const auto& [was, would] : c.differing) {
    j.Object().Member("pod", was.pod).Member("recorded", was.node).Member("other", would.node);
    if (was.evicted) j.Member("evicted", true);
    if (would.evicted) j.Member("evictedByOther", true);
    j.End();
  }
  return j.End().End().Finish("json");
}

int Compare(const Invocation& o, std::ostream& out) {
  auto c = recording::CompareWithRecording(o.files[0], [&](CoreConfiguration* config) { return Change(o, config); });
  if (!c.ok()) {
    std::cerr << "schedsim: " << util::Message(c.status()) << "\n";
    return kExitBadInput;
  }
  out << (o.output == "json" ? ComparisonJson(*c) : ComparisonTable(*c));
  return kExitOk;
}

// ---- what the recorded one did ------------------------------------------------------------------

std::string ResultText(const ReplayResult& r) {
  std::string out = absl::StrCat("Replayed ", explain::Counted(r.inputs, "input"), ": ",
                                 explain::Counted(r.decisions, "decision"), ", ", r.placed, " placed; ");
  if (r.difference) {
    const auto& d = *r.difference;
    absl::StrAppend(&out, "the outputs differ.\nInput ", d.input, " (", d.at, ")",
                    d.pod.empty() ? "" : ", pod " + d.pod,
                    "\n  recorded: ", d.recorded.empty() ? "nothing" : d.recorded,
                    "\n  replayed: ", d.replayed.empty() ? "nothing" : d.replayed, "\n");
    if (!r.corrections.empty()) {
      absl::StrAppend(
          &out,
          "The recording is older than these bug fixes, which may be the reason (--accept-corrections continues):\n",
          r.corrections);
    }
    return out;
  }
  absl::StrAppend(&out, explain::Counted(r.outputs, "output"), r.outputs == 1 ? " is" : " are", " as recorded.\n");
  if (r.checkpoints > 0) {
    absl::StrAppend(&out, "From a checkpoint on (", r.checkpoints, "), decisions are compared, but not requests");
    if (r.unchecked > 0) absl::StrAppend(&out, "; ", r.unchecked, " outputs were followed but not compared");
    out += ".\n";
  }
  if (r.lost > 0) absl::StrAppend(&out, explain::Counted(r.lost, "event"), " are missing from the recording.\n");
  if (r.accepted > 0) {
    absl::StrAppend(&out, explain::Counted(r.accepted, "difference"), " may be due to newer bug fixes:\n",
                    r.corrections);
  }
  if (r.truncated) out += "The recording ends early, as when its daemon was killed.\n";
  return out;
}

std::string ResultJson(const ReplayResult& r) {
  JsonWriter j;
  j.Object()
      .Member("inputs", r.inputs)
      .Member("decisions", r.decisions)
      .Member("placed", r.placed)
      .Member("outputs", r.outputs)
      .Member("checkpoints", r.checkpoints)
      .Member("lostEvents", r.lost)
      .Member("truncated", r.truncated)
      .Member("same", !r.difference.has_value() && r.accepted == 0)
      .Member("accepted", r.accepted);
  if (!r.corrections.empty()) {
    std::vector<std::string> corrections = absl::StrSplit(r.corrections, '\n', absl::SkipEmpty());
    for (std::string& m : corrections) absl::StripAsciiWhitespace(&m);
    j.Key("corrections").Texts(corrections);
  }
  if (r.difference) {
    const auto& d = *r.difference;
    j.Key("difference")
        .Object()
        .Member("input", d.input)
        .Member("at", d.at)
        .Member("pod", d.pod)
        .Member("recorded", d.recorded)
        .Member("replayed", d.replayed)
        .End();
  }
  return j.End().Finish("json");
}

// Explains the next decision, with the state that the scheduler has at that point.
std::string ExplainNext(recording::Core& core, const api::PodPtr& pod, const std::string& format) {
  recording::Core::Profile* profile = core.ProfileOf(*pod);
  if (profile == nullptr) return "";
  auto* nominated = core.queue->nominated();
  if (nominated != nullptr) nominated->Remove(*pod);
  const explain::Explanation e =
      explain::ExplainPod({*profile->algorithm, core.cache, profile->effective, nominated != nullptr}, pod);
  if (format == "wide") return explain::ExplanationTable(e);
  if (format != "table") return explain::ExplanationData(e, format);
  explain::Page page(explain::ScreenOfStdout());
  explain::WriteExplanation(e, &page);
  return page.text();
}

int Replay(const Invocation& o, std::ostream& out) {
  if (Alternative(o)) return Compare(o, out);
  recording::ReplayOptions options;
  std::string explanation;
  if (o.Has("until")) options.until = o.Get<int64_t>("until");
  if (o.Has("pod")) {
    options.pod = o.Get<std::string>("pod");
    if (options.pod.find('/') == std::string::npos) options.pod = "default/" + options.pod;
  }
  options.accept_corrections = o.Get<bool>("accept-corrections");
  options.stopped = [&](recording::Core& core, const api::PodPtr& pod) {
    if (pod != nullptr) explanation = ExplainNext(core, pod, o.output);
  };
  auto r = recording::Replay(o.files[0], options);
  if (!r.ok()) {
    std::cerr << "schedsim: " << util::Message(r.status()) << "\n";
    return kExitBadInput;
  }
  const bool json = o.output == "json";
  if (o.Get<bool>("check") && !r->difference) {
    out << absl::StrCat("ok: ", explain::Counted(r->inputs, "input"), ", ", explain::Counted(r->decisions, "decision"),
                        r->accepted > 0 ? absl::StrCat("; ", explain::Counted(r->accepted, "accepted difference")) : "",
                        r->truncated ? "; the recording ends early" : "", "\n");
  } else if (explanation.empty() || r->difference) {
    out << (json ? ResultJson(*r) : ResultText(*r));
  } else if (json) {
    out << explanation;
  } else {
    out << ResultText(*r) << "\nBefore input " << r->inputs + 1 << ":\n" << explanation;
  }
  return r->difference ? kExitBadInput : kExitOk;
}

}  // namespace

extern const Command kReplayCommand;
const Command kReplayCommand = {
    .name = "replay",
    .arguments = "DIR",
    .summary = "repeat what a recorded scheduler did, or compare another one with it",
    .outputs = "table wide json",
    .examples =
        "  schedsim replay /var/lib/berth/recording\n"
        "  schedsim replay recording --pod=default/web-1\n"
        "  schedsim replay recording --policy=policies/most-pods.json\n"
        "  schedsim replay recording --emulated-version=RELEASE\n",
    .files = Command::Files::kRequired,
    .add_flags =
        [](flags::FlagSet& add) {
          add("check", po::bool_switch(), "print one line, for use as a test");
          add("accept-corrections", po::bool_switch(),
              "continue after differences if the recording is older than a bug fix");
          add("until", Takes<int64_t>("N"), "stop before input N, and explain what comes next");
          add("pod", Takes("NS/NAME"), "stop before the last decision about this pod, and explain it");
          add("policy", Takes("FILE"), "what a scheduler with this Policy would have done");
          add("config", Takes("FILE"), "what a scheduler with this KubeSchedulerConfiguration would have done");
          add("algorithm-provider", Takes("NAME"), "what a scheduler with this provider would have done");
          add("emulated-version", Takes("RELEASE"), "what a scheduler of this release would have done");
        },
    .check = CheckReplay,
    .run = Replay,
};

}  // namespace berth::schedsim
