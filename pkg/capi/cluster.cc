#include "pkg/capi/cluster.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "pkg/api/json_writer.h"
#include "pkg/api/stream.h"
#include "pkg/releases/gates.h"
#include "pkg/scheduler/configuration/load.h"
#include "pkg/scheduler/configuration/versions.h"
#include "pkg/scheduler/factory/profile_plugins.h"
#include "pkg/scheduler/factory/read_policy.h"
#include "pkg/util/status.h"
#include "pkg/util/utf8.h"

namespace berth::capi {
namespace {

using api::Json;

absl::Status Wrong(std::string_view option, Json value, std::string_view right) {
  return util::InvalidArgument(
      absl::StrCat("options: ", util::ToAbsl(option), ": ", value.Brief(), ": ", util::ToAbsl(right)));
}

absl::Status ReadGates(Json gates, lab::Algorithm* a) {
  if (!gates.IsObject()) return Wrong("featureGates", gates, "must be an object of gates");
  for (auto [name, on] : gates.Children()) {
    const std::string path = absl::StrCat("featureGates.", util::ToAbsl(name));
    if (!on.IsBool()) return Wrong(path, on, "must be true or false");
    if (util::FindGate(a->Decides().gates, name) == nullptr && !releases::IsDefaultGate(name)) {
      return Wrong(path, on, absl::StrCat("is not a gate that a release has", releases::GateSuggestion(name)));
    }
    a->gates[std::string(name)] = on.Bool();
  }
  return absl::OkStatus();
}

// A Policy or configuration among the options: an object, or a text in JSON or YAML.
class DocumentOption {
 public:
  absl::Status Read(Json options, std::string_view name) {
    value_ = options.FindExact(name);
    if (!value_.IsString()) return absl::OkStatus();
    auto read = api::ReadDocument(value_.Text());
    if (!read.ok()) {
      return util::InvalidArgument(absl::StrCat("options: ", util::ToAbsl(name), ": ", read.status().message()));
    }
    document_ = *std::move(read);
    value_ = document_.root();
    return absl::OkStatus();
  }
  Json value() const { return value_; }

 private:
  api::Document document_;
  Json value_;
};

absl::Status ReadConfiguration(Json value, lab::Algorithm* a) {
  if (a->Decides().plugins == nullptr) {
    const std::string readers = scheduler::configuration::WhoReads(value.FindExact("apiVersion").Text());
    return Wrong("configuration", value,
                 absl::StrCat("release ", std::string(a->release->name), " has none; it has a Policy",
                              readers.empty() ? "" : "; ", readers));
  }
  auto loaded = scheduler::configuration::LoadOrError(value, scheduler::PluginsToConfigure(a->Decides()),
                                                      a->ConfigurationGates());
  if (!loaded.ok()) return util::InvalidArgument(absl::StrCat("options: configuration: ", loaded.status().message()));
  if (!loaded->configuration.extenders.empty()) {
    return util::InvalidArgument("options: configuration.extenders: the library calls no extenders");
  }
  a->profiles = std::move(loaded->profiles);
  return absl::OkStatus();
}

absl::Status ReadPolicyOption(Json value, lab::Algorithm* a) {
  if (!a->Decides().has_policies) {
    return Wrong("policy", value,
                 absl::StrCat("release ", std::string(a->release->name), " has no Policies; it has a configuration"));
  }
  auto policy = scheduler::ReadPolicy(value, a->Decides(), a->Gates());
  if (!policy.ok()) return util::InvalidArgument(absl::StrCat("options: policy: ", policy.status().message()));
  a->policy = std::move(*policy);
  return absl::OkStatus();
}

absl::Status ReadTies(Json value, OwnRules* own) {
  const std::string_view text = value.Text();
  if (text == "turn") {
    own->ties = Ties::kTurn;
  } else if (text == "first") {
    own->ties = Ties::kFirst;
  } else if (text == "random") {
    own->ties = Ties::kRandom;
  } else {
    return Wrong("ties", value, "must be turn, first or random");
  }
  return absl::OkStatus();
}

// Reads one option that needs nothing of the others.
absl::Status ReadOption(std::string_view key, Json v, Cluster* c) {
  lab::Algorithm& a = c->algorithm;
  if (key == "release" || key == "policy" || key == "configuration" || key == "featureGates") return absl::OkStatus();
  if (key == "ties") return ReadTies(v, &c->own);
  if (key == "provider") {
    if (!v.IsString()) return Wrong(key, v, "must be the name of a provider");
    a.provider = std::string(v.Text());
  } else if (key == "preempt" || key == "ignoreUnknownFields") {
    if (!v.IsBool()) return Wrong(key, v, "must be true or false");
    (key == "preempt" ? a.preempt : a.ignore_unknown_fields) = v.Bool();
  } else if (key == "hardPodAffinitySymmetricWeight") {
    if (!v.IsInt() || v.Int() < 1 || v.Int() > 100) return Wrong(key, v, "must be a whole number from 1 to 100");
    a.hard_pod_affinity_symmetric_weight = static_cast<int>(v.Int());
  } else if (key == "percentageOfNodesToScore" || key == "seed") {
    if (!v.IsInt()) return Wrong(key, v, "must be a whole number");
    if (key == "seed") {
      c->own.random = static_cast<uint64_t>(v.Int());
    } else {
      a.percentage_of_nodes_to_score = v.Int();
    }
  } else {
    return Wrong(key, v,
                 "unknown option; must be one of release, provider, policy, configuration, featureGates, "
                 "hardPodAffinitySymmetricWeight, preempt, percentageOfNodesToScore, ignoreUnknownFields, ties, seed");
  }
  return absl::OkStatus();
}

absl::Status ReadOptions(std::string_view text, Cluster* c) {
  if (text.empty()) return absl::OkStatus();
  api::Document document;
  if (absl::Status s = document.Parse(text); !s.ok()) {
    return util::InvalidArgument(absl::StrCat("options: ", s.message()));
  }
  const Json root = document.root();
  if (!root.IsObject()) return util::InvalidArgument("options: must be a JSON object");
  lab::Algorithm& a = c->algorithm;
  DocumentOption configuration, policy;
  BERTH_RETURN_IF_ERROR(configuration.Read(root, "configuration"));
  BERTH_RETURN_IF_ERROR(policy.Read(root, "policy"));
  if (Json v = root.FindExact("release"); !v.IsNull()) {
    auto named = release::Named(v.Text());
    if (!named.ok()) return util::InvalidArgument(absl::StrCat("options: release: ", named.status().message()));
    a.release = *named;
  } else if (const std::string_view version = configuration.value().FindExact("apiVersion").Text();
             scheduler::configuration::ReadsProfiles(version)) {
    // As of a file: the first release that reads the version.
    const release::Id* reader = scheduler::configuration::ReaderOf(version, nullptr);
    if (reader != nullptr) a.release = reader;
  }
  if (Json v = root.FindExact("featureGates"); !v.IsNull()) BERTH_RETURN_IF_ERROR(ReadGates(v, &a));
  for (auto [key, value] : root.Children()) {
    if (!value.IsNull()) BERTH_RETURN_IF_ERROR(ReadOption(key, value, c));
  }
  if (Json v = configuration.value(); !v.IsNull()) BERTH_RETURN_IF_ERROR(ReadConfiguration(v, &a));
  if (Json v = policy.value(); !v.IsNull()) {
    if (a.provider) return Wrong("policy", v, "give either a provider or a policy");
    BERTH_RETURN_IF_ERROR(ReadPolicyOption(v, &a));
  }
  if (!a.Decides().has_policies) BERTH_RETURN_IF_ERROR(a.CheckSource());
  return a.CheckPercentage();
}

absl::Status CheckNames(const api::ObjectMeta& meta, const char* kind) {
  BERTH_RETURN_IF_ERROR(NameProblem(meta.name, absl::StrCat(kind, ": metadata.name")));
  return NameProblem(meta.ns.string(), absl::StrCat(kind, ": metadata.namespace"));
}

// Checks the names that the library returns: those of nodes and pods.
absl::Status CheckNamesOf(const lab::Scenario& s) {
  for (const api::Object& o : s.cluster) {
    if (const auto* node = std::get_if<api::NodePtr>(&o)) BERTH_RETURN_IF_ERROR(CheckNames((*node)->meta, "Node"));
    if (const auto* pod = std::get_if<api::PodPtr>(&o)) BERTH_RETURN_IF_ERROR(CheckNames((*pod)->meta, "Pod"));
  }
  for (const api::PodPtr& pod : s.pending) BERTH_RETURN_IF_ERROR(CheckNames(pod->meta, "Pod"));
  return absl::OkStatus();
}

lab::ReadOptions ReadingOf(const lab::Algorithm& algorithm) {
  lab::ReadOptions options;
  options.defaults = algorithm;
  return options;
}

}  // namespace

absl::StatusOr<lab::NamedText> TextOf(const char* text, size_t size, const char* name) {
  if (text == nullptr && size > 0) return util::InvalidArgument("the text is NULL, but its size is not 0");
  auto unpacked = api::Gunzip(std::string(text == nullptr ? "" : text, size));
  const std::string shown = name == nullptr ? "the text" : name;
  if (!unpacked.ok()) return util::InvalidArgument(absl::StrCat(shown, ": ", unpacked.status().message()));
  return lab::NamedText{shown, std::make_shared<const std::string>(std::move(*unpacked))};
}

absl::Status NameProblem(std::string_view name, std::string_view what) {
  const bool whole = name.find('\0') == std::string_view::npos;
  if (whole && util::IsUtf8(name)) return absl::OkStatus();
  return util::InvalidArgument(absl::StrCat(util::ToAbsl(what), ": ", api::JsonString(name), ": ",
                                            whole ? "must be valid UTF-8" : "must have no NUL character"));
}

std::shared_ptr<Pods> ListOf(std::shared_ptr<const Source> source, const release::Id* release) {
  auto list = std::make_shared<Pods>();
  list->pods = source->pods;
  for (const api::PodPtr& p : list->pods) list->names.push_back(p->meta.Key());
  list->reasons.resize(list->pods.size());
  list->source = std::move(source);
  list->release = release;
  return list;
}

api::PodPtr PlacedAs(const api::PodPtr& pod, util::Symbol node) {
  auto placed = std::make_shared<api::Pod>(*pod);
  placed->node_name = node;
  return placed;
}

void Cluster::NoteList(const Pods& pods) {
  auto& lists = past.placed;
  if (lists.empty() || std::find(lists.begin(), lists.end(), pods.source) == lists.end()) lists.push_back(pods.source);
}

absl::Status Cluster::Build() {
  auto made = lab::Simulation::Make(*scenario, algorithm);
  if (!made.ok()) return made.status();
  simulation = std::move(*made);
  own.cache = &simulation->cache();
  UseRules();
  return absl::OkStatus();
}

void Cluster::Log(int32_t severity, std::string_view text) {
  if (simulation == nullptr) {
    absl::StrAppend(&warnings, util::ToAbsl(text), "\n");
  } else if (log != nullptr) {
    log(log_user, severity, std::string(text).c_str());
  }
}

void Cluster::Tell(const api::Pod& pod, scheduler::Row row, bool placed) {
  if (hook == nullptr || row == scheduler::kNoRow) return;
  const std::string key = pod.meta.Key();
  const double* requests = own.columns.Requests(cache().Info(pod.tmpl)->request);
  const berth_event event = {
      key.c_str(), reinterpret_cast<uintptr_t>(pod.tmpl.get()), row, placed ? 1 : 0, own.columns.resources().size(),
      requests};
  hook(hook_user, &event);
}

absl::StatusOr<std::string> Preempt(Cluster* cluster, const api::PodPtr& pod, bool apply) {
  lab::Simulation& s = *cluster->simulation;
  if (!s.preempts()) return util::InvalidArgument("the cluster does not preempt: open it with the option preempt");
  auto* scheduler = s.SchedulerOf(*pod);
  if (const std::string why = s.WhyHeld(pod); scheduler == nullptr || !why.empty()) {
    return util::InvalidArgument(absl::StrCat("Pod \"", pod->meta.Key(), "\" is not tried: ", why));
  }
  scheduler::Evaluation e;
  scheduler->Evaluate(pod, &e, /*totals=*/false);
  if (!e.error.empty()) return util::InvalidArgument(e.error);
  if (!e.fits.empty()) {
    return util::InvalidArgument(absl::StrCat("Pod \"", pod->meta.Key(), "\" fits: it needs no victims"));
  }
  const uint64_t turn = s.turn();
  const scheduler::Decision d = s.Place(pod);
  s.set_turn(turn);
  api::JsonWriter w(api::JsonWriter::Layout::kIndented);
  scheduler::Preemption chosen;
  if (d.outcome == scheduler::Decision::Outcome::kUnfit) {
    if (auto p = s.Preempt(pod, d)) chosen = std::move(*p);
  }
  std::vector<std::string> victims, clear;
  for (const api::PodPtr& v : chosen.victims) victims.push_back(v->meta.Key());
  for (const api::PodPtr& n : chosen.nominated_to_clear) clear.push_back(n->meta.Key());
  w.Object().Member("node", chosen.node.str()).Key("victims").Texts(victims);
  w.Key("nominatedToClear").Texts(clear).Member("error", chosen.error).End();
  if (!apply) return w.Finish();
  for (const api::PodPtr& v : chosen.victims) {
    const scheduler::Row row = s.cache().FindRow(v->node_name);
    BERTH_RETURN_IF_ERROR(s.cache().RemovePod(*v));
    cluster->Tell(*v, row, false);
  }
  return w.Finish();
}

absl::Status ReadInputs(std::string_view options, const std::vector<lab::NamedText>& texts, Cluster* c) {
  BERTH_RETURN_IF_ERROR(ReadOptions(options, c));
  c->past.options = std::string(options);
  c->past.inputs = texts;
  c->scenario = std::make_shared<lab::Scenario>();
  c->scenario->algorithm = c->algorithm;
  if (!texts.empty()) {
    // What the options name wins over what a Scenario says of itself.
    lab::Algorithm defaults = c->algorithm;
    defaults.policy.reset();
    defaults.provider.reset();
    defaults.profiles.reset();
    auto input = lab::ReadTexts(texts, ReadingOf(defaults));
    if (!input.ok()) return input.status();
    if (input->scenarios.size() != 1) {
      return util::InvalidArgument(
          absl::StrCat("the input has ", input->scenarios.size(), " Scenarios: a cluster is opened for one of them"));
    }
    for (const std::string& w : input->warnings) absl::StrAppend(&c->warnings, w, "\n");
    *c->scenario = std::move(input->scenarios[0]);
    if (!c->scenario->error.empty()) return util::InvalidArgument(c->scenario->error);
    BERTH_RETURN_IF_ERROR(CheckNamesOf(*c->scenario));
    lab::Algorithm given = std::exchange(c->algorithm, c->scenario->algorithm);
    if (given.chosen() || given.profiles) {
      c->algorithm.policy = std::move(given.policy);
      c->algorithm.provider = std::move(given.provider);
      c->algorithm.profiles = std::move(given.profiles);
    }
  }
  c->past.pending = std::make_shared<const Source>(Source{{}, c->scenario->pending});
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<Cluster>> OpenCluster(std::string_view options,
                                                     const std::vector<lab::NamedText>& texts) {
  auto c = std::make_shared<Cluster>();
  NoteInUse(c.get());
  BERTH_RETURN_IF_ERROR(ReadInputs(options, texts, c.get()));
  BERTH_RETURN_IF_ERROR(c->Build());
  return c;
}

absl::StatusOr<std::vector<lab::Scenario>> ReadObjects(const Cluster& cluster, const lab::NamedText& text) {
  auto input = lab::ReadTexts({text}, ReadingOf(cluster.algorithm));
  if (!input.ok()) return input.status();
  return std::move(input->scenarios);
}

absl::StatusOr<std::vector<api::PodPtr>> ReadPods(const Cluster& cluster, const lab::NamedText& text) {
  auto scenarios = ReadObjects(cluster, text);
  if (!scenarios.ok()) return scenarios.status();
  std::vector<api::PodPtr> pods;
  for (lab::Scenario& s : *scenarios) {
    if (!s.error.empty()) return util::InvalidArgument(s.error);
    BERTH_RETURN_IF_ERROR(CheckNamesOf(s));
    for (api::PodPtr& p : s.pending) pods.push_back(std::move(p));
  }
  return pods;
}

absl::StatusOr<size_t> Apply(Cluster* cluster, const lab::NamedText& text) {
  auto scenarios = ReadObjects(*cluster, text);
  if (!scenarios.ok()) return scenarios.status();
  size_t count = 0;
  for (const lab::Scenario& s : *scenarios) {
    if (!s.error.empty()) return util::InvalidArgument(s.error);
    BERTH_RETURN_IF_ERROR(CheckNamesOf(s));
    if (!s.pending.empty()) {
      return util::InvalidArgument(absl::StrCat(text.name, ": Pod \"", s.pending[0]->meta.Key(),
                                                "\" has no spec.nodeName: read it as a pod to place"));
    }
  }
  scheduler::Cache& cache = cluster->cache();
  for (const lab::Scenario& s : *scenarios) {
    for (const api::Object& o : s.cluster) {
      ++count;
      if (const auto* pod = std::get_if<api::PodPtr>(&o)) {
        const api::PodPtr before = cache.GetPod((*pod)->meta.uid);
        if ((*pod)->Finished()) continue;
        BERTH_RETURN_IF_ERROR(cache.UpdatePod(*pod));
        if (before != nullptr) cluster->Tell(*before, cache.FindRow(before->node_name), false);
        cluster->Tell(**pod, cache.FindRow((*pod)->node_name), true);
        continue;
      }
      if (const auto* node = std::get_if<api::NodePtr>(&o)) {
        cache.AddNode(*node);
        continue;
      }
      api::StoredKinds::ForEach([&]<typename T>() {
        if (const auto* p = std::get_if<api::Ptr<T>>(&o)) cache.listers().Of<T>().Set(*p);
      });
      cluster->scenario->cluster.push_back(o);
    }
  }
  cluster->past.applied.push_back(text);
  return count;
}

absl::StatusOr<std::shared_ptr<Cluster>> CopyOf(Cluster& from) {
  auto c = std::make_shared<Cluster>();
  c->algorithm = from.algorithm;
  c->past = from.past;
  c->warnings = from.warnings;
  c->own.ties = from.own.ties;
  c->own.random = from.own.random;
  c->scenario = std::make_shared<lab::Scenario>();
  c->scenario->algorithm = from.algorithm;
  c->scenario->pending = from.scenario->pending;
  c->scenario->pending_after = from.scenario->pending_after;
  c->scenario->bound_by_controller = from.scenario->bound_by_controller;
  c->scenario->manifests = from.scenario->manifests;
  c->scenario->origins = from.scenario->origins;
  std::vector<api::Object>& objects = c->scenario->cluster;
  scheduler::Cache& cache = from.cache();
  for (scheduler::Row r = 0; r < cache.row_count(); ++r) {
    if (cache.row(r).node != nullptr) objects.emplace_back(cache.row(r).node);
  }
  // Of an object that was replaced, the later version is the one that stays.
  for (const api::Object& o : from.scenario->cluster) {
    if (!std::holds_alternative<api::PodPtr>(o) && !std::holds_alternative<api::NodePtr>(o)) objects.push_back(o);
  }
  for (scheduler::Row r = 0; r < cache.row_count(); ++r) {
    for (const scheduler::PlacedPod& p : cache.row(r).pods) objects.emplace_back(p.pod);
  }
  BERTH_RETURN_IF_ERROR(c->Build());
  c->simulation->set_turn(from.simulation->turn());
  return c;
}

}  // namespace berth::capi
