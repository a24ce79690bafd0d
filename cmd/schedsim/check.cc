// The command check: says whether a Policy or a KubeSchedulerConfiguration is valid, and what it will run.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <iostream>
#include <set>

#include "cmd/schedsim/check_configuration.h"
#include "cmd/schedsim/check_policy.h"
#include "cmd/schedsim/command.h"
#include "pkg/api/json_writer.h"
#include "pkg/api/line_column.h"
#include "pkg/api/stream.h"
#include "pkg/explain/output.h"
#include "pkg/http/url.h"
#include "pkg/lab/input_forms.h"
#include "pkg/releases/releases.h"
#include "pkg/scheduler/configuration/decode.h"
#include "pkg/scheduler/extender/http_extender.h"
#include "pkg/scheduler/policy/decode.h"
#include "pkg/scheduler/policy/validation.h"
#include "pkg/scheduler/registry/registry.h"
#include "pkg/util/status.h"

namespace berth::schedsim {
namespace {

using api::JsonWriter;
using explain::Table;
using lab::Algorithm;
using scheduler::Policy;

// Builds schedulers from the Policy and from parts of it, over an empty cluster, and collects the factory's errors.
class Checker {
 public:
  Checker(std::string_view text, const Algorithm& algorithm, PolicyReport* report)
      : text_(text), places_(text), algorithm_(algorithm), report_(report) {}

  void Check() {
    const Policy& policy = report_->policy;
    if (!document_.Parse(text_).ok()) {
      auto yaml = api::ReadDocument(text_);
      if (!yaml.ok()) return;
      document_ = *std::move(yaml);
    }
    some_unreadable_ = !report_->errors.empty();
    // First each entry by itself, so that each mistake can be reported with its position.
    Policy none;
    none.predicates.emplace();
    none.priorities.emplace();
    if (policy.predicates) {
      Each("predicates", *policy.predicates, [&](const auto& p) {
        Policy one = none;
        one.predicates->push_back(p);
        return one;
      });
    }
    if (policy.priorities) {
      Each("priorities", *policy.priorities, [&](const auto& p) {
        Policy one = none;
        one.priorities->push_back(p);
        return one;
      });
    }
    Each("extenders", policy.extenders, [&](const auto& e) {
      Policy one = none;
      one.extenders.push_back(e);
      return one;
    });
    // Then the whole Policy, for mistakes that no single entry shows: duplicates, sums, and the weight outside the
    // entries.
    Policy readable = policy;
    if (readable.predicates) std::erase_if(*readable.predicates, [&](const auto& p) { return Unreadable(p); });
    if (readable.priorities) std::erase_if(*readable.priorities, [&](const auto& p) { return Unreadable(p); });
    for (const std::string& problem : Build(readable, &report_->effective)) {
      // Where a Policy becomes a profile, all mistakes come in one list, and the entries have told theirs.
      if (said_.contains(problem) || (!said_.empty() && problem.front() == '[')) continue;
      const bool weight = problem.find("hardPodAffinitySymmetricWeight") != std::string::npos;
      const bool extenders = problem.find("xtender") != std::string::npos;
      Error(weight ? "hardPodAffinitySymmetricWeight" : extenders ? "extenders" : "priorities", problem);
    }
  }

 private:
  // Returns the mistakes of the Policy, one by one. `effective` is set if there are none.
  std::vector<std::string> Build(const Policy& policy, scheduler::EffectiveAlgorithm* effective) {
    std::vector<std::string> problems;
    scheduler::Cache cache;
    scheduler::FactoryArgs args;
    args.cache = &cache;
    args.release = &algorithm_.Decides();
    args.gates = algorithm_.Gates();
    args.hard_pod_affinity_symmetric_weight = algorithm_.hard_pod_affinity_symmetric_weight;
    args.make_extender = [](const scheduler::ExtenderConfig& c) { return scheduler::NewHttpExtender(c); };
    args.problems = &problems;
    absl::Status s = scheduler::CreateFromConfig(policy, args, effective).status();
    if (!s.ok() && problems.empty()) problems.push_back(util::Message(s));
    return problems;
  }

  // Returns whether the entry could not be decoded, in which case its mistake has been reported already.
  bool Unreadable(const scheduler::PredicatePolicy& p) const { return some_unreadable_ && p.name.empty(); }
  bool Unreadable(const scheduler::PriorityPolicy& p) const { return some_unreadable_ && p.name.empty(); }
  bool Unreadable(const scheduler::ExtenderConfig&) const { return false; }

  template <typename List, typename One>
  void Each(std::string_view member, const List& list, One one) {
    std::vector<api::Json> places;
    for (const auto& child : document_.root().Find(member).Children()) places.push_back(child.value);
    for (size_t i = 0; i < list.size(); ++i) {
      if (Unreadable(list[i])) continue;
      const std::vector<std::string> problems = Build(one(list[i]), nullptr);
      if (problems.empty()) continue;
      said_.insert(problems.begin(), problems.end());
      const api::Json place = i < places.size() ? places[i] : document_.root().Find(member);
      std::string where = absl::StrCat(places_.At(place.begin_offset()), ": ", util::ToAbsl(member), "[", i, "]: ");
      for (const std::string& problem : problems) report_->errors.push_back(where + problem);
    }
  }

  void Error(std::string_view member, const std::string& what) {
    size_t at = document_.root().Find(member).begin_offset();
    report_->errors.push_back(absl::StrCat(places_.At(at), ": ", util::ToAbsl(member), ": ", what));
  }

  std::string_view text_;
  api::LineColumns places_;
  const Algorithm& algorithm_;
  PolicyReport* report_;
  api::Document document_;
  bool some_unreadable_ = false;  // decoding has found mistakes
  std::set<std::string> said_;
};

template <typename List>
void NoteReplaced(std::string_view member, const List& list, std::vector<std::string>* notes) {
  for (size_t i = 0; i < list.size(); ++i) {
    for (size_t j = list.size(); j-- > i + 1;) {
      if (list[i].name != list[j].name) continue;
      notes->push_back(absl::StrCat(util::ToAbsl(member), "[", i, "] ", list[i].name, ": never used, ",
                                    util::ToAbsl(member), "[", j, "] has the same name and counts"));
      break;
    }
  }
}

// Notes are about entries that are valid but have no effect, or another one than a reader would expect.
void NotePredicates(const PolicyReport& r, const Algorithm& algorithm, std::vector<std::string>* notes) {
  const scheduler::Release& decides = algorithm.Decides();
  const scheduler::SchedulerGates gates = algorithm.Gates();
  const auto& running = r.effective.predicates;
  auto runs = [&](std::string_view name) { return std::find(running.begin(), running.end(), name) != running.end(); };
  if (r.policy.predicates) {
    NoteReplaced("predicates", *r.policy.predicates, notes);
    for (const auto& p : *r.policy.predicates) {
      if (!p.argument) continue;
      // An argument of no kind that the release has is read by the rule itself, which is one of plugin/.
      const bool built_in = p.argument->labels_presence || p.argument->service_affinity;
      if (built_in && scheduler::IsFitPredicateRegistered(decides, p.name)) {
        notes->push_back(absl::StrCat(p.name,
                                      ": the built-in predicate of this name never runs, because the argument "
                                      "makes it another one"));
      }
      bool empty = (p.argument->labels_presence && p.argument->labels_presence->labels.empty()) ||
                   (p.argument->service_affinity && p.argument->service_affinity->labels.empty());
      if (empty) notes->push_back(absl::StrCat(p.name, ": has no labels, so it never rejects a node"));
    }
  }
  if (runs("CheckVolumeBinding") && !gates.algorithm.volume_scheduling) {
    notes->push_back("CheckVolumeBinding: never rejects a node because the feature gate VolumeScheduling is off");
  }
  if (runs("GeneralPredicates")) {
    for (std::string_view part :
         {"PodFitsResources", "HostName", "PodFitsHostPorts", "PodFitsPorts", "MatchNodeSelector"}) {
      if (runs(part)) {
        notes->push_back(absl::StrCat(util::ToAbsl(part), ": redundant: GeneralPredicates already checks it"));
      }
    }
  }
  auto ordering = decides.predicate_ordering;
  for (const std::string& name : running) {
    if (decides.checks_all_predicates) break;
    if (std::find(ordering.begin(), ordering.end(), name) == ordering.end()) {
      notes->push_back(absl::StrCat(name, ": runs after the others; ", util::ToAbsl(algorithm.release->name),
                                    " itself silently never ran it"));
    }
  }
}

void NotePriorities(const PolicyReport& r, const scheduler::Release& decides, std::vector<std::string>* notes) {
  auto weight_of = [&](std::string_view name) -> int64_t {
    for (const auto& [n, weight] : r.effective.priorities) {
      if (n == name) return weight;
    }
    return 0;
  };
  if (r.policy.priorities) {
    NoteReplaced("priorities", *r.policy.priorities, notes);
    for (const auto& p : *r.policy.priorities) {
      const bool built_in = p.argument && (p.argument->service_anti_affinity || p.argument->label_preference ||
                                           p.argument->requested_to_capacity_ratio);
      if (built_in && scheduler::IsPriorityFunctionRegistered(decides, p.name)) {
        notes->push_back(absl::StrCat(p.name,
                                      ": the built-in priority of this name never runs, because the argument "
                                      "makes it another one"));
      }
    }
  }
  if (weight_of("EqualPriority") > 0) notes->push_back("EqualPriority: changes nothing: it scores every node the same");
  if (weight_of("ServiceSpreadingPriority") > 0 && weight_of("SelectorSpreadPriority") > 0) {
    notes->push_back("ServiceSpreadingPriority: scores exactly as SelectorSpreadPriority, whose weight it adds to");
  }
  if (int64_t w = weight_of("NodePreferAvoidPodsPriority"); w > 0 && w < 1000) {
    notes->push_back(absl::StrCat("NodePreferAvoidPodsPriority: with weight ", w,
                                  " other priorities may outvote it; the default is 10000"));
  }
  if (r.policy.hard_pod_affinity_symmetric_weight != 0 && weight_of("InterPodAffinityPriority") == 0) {
    notes->push_back("hardPodAffinitySymmetricWeight: changes nothing without InterPodAffinityPriority");
  }
  if (r.effective.priorities.empty() && r.policy.extenders.empty()) {
    notes->push_back("no priorities: every node that fits is as good as any other; nodes take turns");
  }
}

void NoteExtenders(const PolicyReport& r, std::vector<std::string>* notes) {
  for (const auto& e : r.policy.extenders) {
    if (e.filter_verb.empty() && e.prioritize_verb.empty() && e.bind_verb.empty()) {
      notes->push_back(
          absl::StrCat("extender ", http::RedactUrl(e.url_prefix), ": never called because it has no verb"));
    }
    if (e.weight != 0 && e.prioritize_verb.empty()) {
      notes->push_back(absl::StrCat("extender ", http::RedactUrl(e.url_prefix),
                                    ": its weight changes nothing without prioritizeVerb"));
    }
    if (e.enable_https && (!e.tls || (e.tls->ca_file.empty() && e.tls->ca_data.empty()))) {
      notes->push_back(absl::StrCat("extender ", http::RedactUrl(e.url_prefix),
                                    ": enableHttps without a CA, so its certificate is not "
                                    "verified"));
    }
  }
}

}  // namespace

// Decoding, building and the notes are separate steps: notes are only made about a Policy without errors.
PolicyReport ExaminePolicy(const std::string& file, std::string_view text, const Algorithm& algorithm) {
  PolicyReport r;
  r.file = file;
  if (!algorithm.Decides().has_policies) {
    r.errors = {absl::StrCat("release ", std::string(algorithm.release->name),
                             " has no Policies: schedsim convert makes a configuration of this one")};
    return r;
  }
  scheduler::DecodedPolicy decoded = scheduler::DecodeWholePolicy(text, algorithm.release->version);
  r.policy = std::move(decoded.policy);
  r.warnings = std::move(decoded.warnings);
  r.errors = std::move(decoded.errors);
  size_t first = text.find_first_not_of(" \t\r\n");
  if (!r.errors.empty() && first != std::string_view::npos && text[first] != '{') {
    if (algorithm.Decides().policy_names == nullptr) {
      r.errors.back() += " (a Policy is a JSON object; YAML is not accepted)";
    }
    return r;
  }
  Checker(text, algorithm, &r).Check();
  if (!r.errors.empty()) return r;
  r.hard_weight = r.policy.hard_pod_affinity_symmetric_weight != 0
                      ? static_cast<int>(r.policy.hard_pod_affinity_symmetric_weight)
                      : algorithm.hard_pod_affinity_symmetric_weight;
  NotePredicates(r, algorithm, &r.notes);
  NotePriorities(r, algorithm.Decides(), &r.notes);
  NoteExtenders(r, &r.notes);
  return r;
}

std::string AlgorithmTable(const scheduler::EffectiveAlgorithm& effective, bool checks_all_predicates) {
  std::string out = "Predicates, in the order of evaluation:\n";
  std::vector<std::vector<std::string>> rows;
  for (const std::string& name : effective.predicates) {
    bool added = std::find(effective.mandatory.begin(), effective.mandatory.end(), name) != effective.mandatory.end();
    rows.push_back({absl::StrCat("  ", name), added ? "mandatory, added" : ""});
  }
  absl::StrAppend(&out, Table(rows),
                  checks_all_predicates ? "  all of them are evaluated (alwaysCheckAllPredicates)\n"
                                        : "  the first that rejects a node decides\n",
                  "\nPriorities and weights:\n");
  rows.clear();
  for (const auto& [name, weight] : effective.priorities) {
    rows.push_back({absl::StrCat("  ", name), absl::StrCat(weight)});
  }
  if (rows.empty()) rows.push_back({"  none"});
  return out + Table(rows);
}

namespace {

std::vector<std::string> VerbsOf(const scheduler::ExtenderConfig& e) {
  std::vector<std::string> verbs;
  if (!e.filter_verb.empty()) verbs.push_back(absl::StrCat("filter (", e.filter_verb, ")"));
  if (!e.prioritize_verb.empty()) verbs.push_back(absl::StrCat("prioritize (", e.prioritize_verb, ") x", e.weight));
  if (!e.bind_verb.empty()) verbs.push_back(absl::StrCat("bind (", e.bind_verb, ")"));
  return verbs;
}

std::string ReportTable(const PolicyReport& r) {
  std::string out =
      absl::StrCat(r.file, ": a valid Policy\n\n", AlgorithmTable(r.effective, r.policy.always_check_all_predicates),
                   "  hardPodAffinitySymmetricWeight ", r.hard_weight, "\n");
  if (!r.policy.extenders.empty()) out += "\nExtenders, in the order they are called:\n";
  for (const auto& e : r.policy.extenders) {
    absl::StrAppend(&out, "  ", http::RedactUrl(e.url_prefix), ": ", absl::StrJoin(VerbsOf(e), ", "), "\n");
  }
  auto list = [&](const char* title, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    absl::StrAppend(&out, "\n", title, "\n");
    for (const std::string& line : lines) absl::StrAppend(&out, "  ", line, "\n");
  };
  list("Worth knowing:", r.notes);
  list("Without traits, so called for every remaining node of every pod (plugin/README.md):",
       r.effective.not_incremental);
  list("Warnings (a later release may refuse this):", r.warnings);
  return out;
}

void WriteReport(const PolicyReport& r, JsonWriter* out) {
  out->Object().Member("apiVersion", "schedsim/v1").Member("kind", "PolicyReport").Member("file", r.file);
  out->Member("good", r.errors.empty()).Key("errors").Texts(r.errors).Key("warnings").Texts(r.warnings);
  out->Key("notes").Texts(r.notes);
  if (r.errors.empty()) {
    out->Key("predicates").Texts(r.effective.predicates).Key("mandatoryAdded").Texts(r.effective.mandatory);
    out->Key("notIncremental").Texts(r.effective.not_incremental);
    out->Key("priorities").Object();
    for (const auto& [name, weight] : r.effective.priorities) out->Member(name, weight);
    out->End().Key("extenders").Array();
    for (const auto& e : r.policy.extenders) {
      out->Object().Member("urlPrefix", http::RedactUrl(e.url_prefix)).Key("verbs").Texts(VerbsOf(e)).End();
    }
    out->End().Member("hardPodAffinitySymmetricWeight", int64_t{r.hard_weight});
    out->Member("alwaysCheckAllPredicates", r.policy.always_check_all_predicates);
  }
  out->End();
}

// Prints a report: as text with `errors` and `warnings` on standard error, or completely as data.
template <typename R, typename ToTable, typename ToData>
int Print(const R& r, const Invocation& options, std::ostream& out, ToTable to_table, ToData to_data) {
  if (options.output != "table") {
    JsonWriter data;
    to_data(r, &data);
    out << (options.output == "yaml" && options.files.size() > 1 ? "---\n" : "") << data.Finish(options.output);
  } else if (r.errors.empty()) {
    out << to_table(r);
  } else {
    for (const std::string& e : r.errors) std::cerr << r.file << ": " << e << "\n";
    for (const std::string& w : r.warnings) std::cerr << r.file << ": warning: " << w << "\n";
  }
  return r.errors.empty() ? kExitOk : kExitBadInput;
}

// Returns whether the document is a KubeSchedulerConfiguration and not a Policy.
bool IsConfiguration(std::string_view text) {
  auto document = api::ReadDocument(text);
  if (!document.ok() || !document->root().IsObject()) return false;
  std::string_view version = document->root().FindExact("apiVersion").Text();
  return scheduler::configuration::IsConfigurationVersion(version) ||
         document->root().FindExact("kind").Text() == "KubeSchedulerConfiguration";
}

}  // namespace

std::string DescribeOtherKind(std::string_view text) {
  auto document = api::ReadDocument(text);
  if (!document.ok()) {
    std::string why = lab::WhyUnreadable(text);
    const bool several = why.empty() && text.find("\n---") != text.npos;
    return several ? "has several YAML documents; give one Policy or KubeSchedulerConfiguration at a time" : why;
  }
  const api::Json j = document->root();
  if (!j.IsObject()) return "";
  const std::string_view kind = j.FindExact("kind").Text();
  if (kind == "ConfigMap") {
    std::string holds = lab::WhatConfigMapHolds(j);
    return holds.empty() ? "is a ConfigMap without a Policy or configuration of the scheduler in it" : holds;
  }
  if (kind == "Scheduler") {
    return "is a Scheduler object of OpenShift, from which its operator makes a configuration: get that from the "
           "ConfigMap of the scheduler";
  }
  if (kind == "Config" && j.FindExact("clusters").IsArray()) {
    return "is a kubeconfig, which says how to reach a cluster, not how to schedule";
  }
  if (kind.empty() && j.FindExact("urlPrefix").IsString() && j.FindExact("extenders").IsNull()) {
    return "is a single extender, which belongs in the list `extenders` of a Policy; as it is, it "
           "is read as a Policy without any fields";
  }
  const bool is_object = j.FindExact("metadata").IsObject() || j.FindExact("items").IsArray();
  if (is_object && !kind.empty() && kind != "Policy" && !IsConfiguration(text)) {
    return absl::StrCat("is ", std::string("AEIO").find(kind[0]) == std::string::npos ? "a " : "an ", std::string(kind),
                        ", neither a Policy nor a KubeSchedulerConfiguration");
  }
  return "";
}

namespace {

int Check(const Invocation& options, std::ostream& out) {
  int exit_status = kExitOk;
  for (const std::string& file : options.files) {
    auto text = api::ReadInput(file);
    if (!text.ok()) {
      std::cerr << "schedsim: " << util::Message(text.status()) << "\n";
      exit_status = kExitBadInput;
      continue;
    }
    const std::string shown = file == "-" ? "standard input" : file;
    if (std::string what = DescribeOtherKind(*text); !what.empty()) {
      std::cerr << shown << ": " << what << "\n";
      exit_status = kExitBadInput;
      continue;
    }
    int status = IsConfiguration(*text)
                     ? Print(ExamineConfiguration(shown, *text, options.algorithm, options.Has("emulated-version")),
                             options, out, ConfigurationTable, WriteConfigurationReport)
                     : Print(ExaminePolicy(shown, *text, options.algorithm), options, out, ReportTable, WriteReport);
    exit_status = std::max(exit_status, status);
  }
  return exit_status;
}

}  // namespace

extern const Command kCheckCommand = {
    .name = "check",
    .alias = "check-policy",
    .arguments = "FILE...",
    .summary = "is this Policy or configuration valid, and what does it run",
    .outputs = "table json yaml",
    .examples =
        "  schedsim check policies/most-pods.json\n"
        "  schedsim check -o json scheduler-configuration.yaml\n"
        "  schedsim check --emulated-version=RELEASE policy.json\n",
    .groups = kGateFlags | kReleaseFlag,
    .run = Check,
};

}  // namespace berth::schedsim
