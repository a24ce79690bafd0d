// Compares the production schedulers of release 1.29, incremental and reference, with the independent reference on
// random clusters: decisions, texts, scores and preemption.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_replace.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <type_traits>
#include <variant>

#include "pkg/api/decode.h"
#include "pkg/releases/v1_29/decides.h"
#include "pkg/scheduler/cache/nominated_pods.h"
#include "pkg/scheduler/configuration/load.h"
#include "pkg/scheduler/factory/from_profile.h"
#include "pkg/scheduler/factory/profile_plugins.h"
#include "pkg/scheduler/reference/plugins/random_objects.h"
#include "pkg/scheduler/reference/plugins/scheduler.h"
#include "pkg/scheduler/volumebinder/claim_binder.h"

namespace berth::scheduler::reference::plugins {
namespace {

// Returns what differs, one text for each difference, because Catch cannot print maps.
std::vector<std::string> Differing(const std::map<std::string, std::string>& got,
                                   const std::map<std::string, std::string>& expected) {
  std::vector<std::string> out;
  auto in = [](const std::map<std::string, std::string>& map, const std::string& key) {
    auto it = map.find(key);
    return it == map.end() ? std::string("nothing") : it->second;
  };
  for (const auto* map : {&got, &expected}) {
    for (const auto& [key, text] : *map) {
      const std::string mine = in(got, key), theirs = in(expected, key);
      if (mine != theirs) out.push_back(absl::StrCat(key, ": ", mine, " instead of ", theirs));
    }
  }
  return out;
}

// The same cluster for the production schedulers and for the independent reference.
class Pair {
 public:
  explicit Pair(const std::string& configuration)
      : cache_(releases::v1_29::Decides().describe_template), binder_(&cache_) {
    api::Document document;
    REQUIRE(document.Parse(configuration).ok());
    auto loaded = configuration::LoadOrError(document.root(), PluginsToConfigure(releases::v1_29::Decides()), {});
    INFO(configuration << "\n" << loaded.status().ToString());
    REQUIRE(loaded.ok());
    FactoryArgs args;
    args.release = &releases::v1_29::Decides();
    args.cache = &cache_;
    args.nominated = &nominated_;
    args.claim_binder = &binder_;
    auto made = CreateFromProfile(loaded->profiles[0], {}, args);
    REQUIRE(made.ok());
    production_ = std::move(*made);
    reference_ = std::make_unique<Scheduler>(&world_, loaded->profiles);
  }

  api::Object Add(const std::string& json) {
    api::Document document;
    INFO(json);
    REQUIRE(document.Parse(json).ok());
    auto object = api::DecodeObject(document.root());
    INFO(object.status().ToString());
    REQUIRE(object.ok());
    std::visit([&](const auto& o) { Store(o); }, *object);
    return *object;
  }

  // Decides one pod in three ways, compares the decisions, and assumes the pod.
  void Decide(const api::PodPtr& pod) {
    const uint64_t round = *reference_->last_node_index();
    if (!pod->tmpl->scheduling_gates.empty()) return;
    if (!pod->nominated_node_name.empty()) {
      nominated_.Add(pod);
      reference_->AddNominated(pod);
    }
    production_->set_last_node_index(round);
    DecisionTrace trace;
    const auto traced = production_->Schedule(pod, DecisionMode::kReference, &trace);
    production_->set_last_node_index(round);
    const auto kept = production_->Schedule(pod, DecisionMode::kIncremental);
    std::optional<berth::scheduler::Preemption> preemption, again;  // the second from what the first has kept
    if (traced.outcome == berth::scheduler::Decision::Outcome::kUnfit) {
      preemption = production_->Preempt(pod, *traced.failures);
      again = production_->Preempt(pod, *traced.failures);
    }
    const Decision want = reference_->ScheduleOne(pod, true);
    INFO("pod " << pod->meta.Key() << ": " << want.error);
    CHECK(traced.host.string() == want.host);
    CHECK(kept.host.string() == want.host);
    CHECK(traced.error == want.error);
    CHECK(kept.error == want.error);
    CHECK(production_->last_node_index() == *reference_->last_node_index());
    CompareFailures(trace, want);
    CompareScores(trace, want);
    if (preemption) ComparePreemption(*preemption, want);
    if (again) ComparePreemption(*again, want);
    if (want.host.empty()) return;
    const Row row = cache_.FindRow(Symbol(want.host));
    binder_.Assume(*pod, *cache_.row(row).node);
    auto placed = std::make_shared<api::Pod>(*pod);
    placed->node_name = Symbol(want.host);
    REQUIRE(cache_.AssumePod(placed).ok());
    nominated_.Remove(*pod);
  }

 private:
  template <typename Ptr>
  void Store(const Ptr& o) {
    using T = std::remove_const_t<typename Ptr::element_type>;
    Listers& l = cache_.listers();
    auto both = [&](auto& mine, auto& theirs) {
      mine.Set(o);
      theirs.Set(o);
    };
    if constexpr (std::is_same_v<T, api::Node>) {
      cache_.AddNode(o);
      world_.AddNode(o);
    }
    if constexpr (std::is_same_v<T, api::Pod>) {
      if (o->node_name.empty()) return;
      REQUIRE(cache_.AddPod(o).ok());
      world_.AddPod(o);
    }
    if constexpr (std::is_same_v<T, api::Service>) both(l.services, world_.services);
    if constexpr (std::is_same_v<T, api::ReplicaSet>) both(l.replica_sets, world_.replica_sets);
    if constexpr (std::is_same_v<T, api::PersistentVolume>) both(l.volumes, world_.volumes);
    if constexpr (std::is_same_v<T, api::PersistentVolumeClaim>) both(l.claims, world_.claims);
    if constexpr (std::is_same_v<T, api::StorageClass>) both(l.storage_classes, world_.storage_classes);
    if constexpr (std::is_same_v<T, api::PodDisruptionBudget>) both(l.budgets, world_.budgets);
    if constexpr (std::is_same_v<T, api::Namespace>) both(l.namespaces, world_.namespaces);
    if constexpr (std::is_same_v<T, api::CsiNode>) both(l.csi_nodes, world_.csi_nodes);
    if constexpr (std::is_same_v<T, api::CsiDriver>) both(l.csi_drivers, world_.csi_drivers);
    if constexpr (std::is_same_v<T, api::CsiStorageCapacity>) both(l.csi_capacities, world_.csi_capacities);
    if constexpr (std::is_same_v<T, api::VolumeAttachment>) both(l.attachments, world_.attachments);
  }

  static void CompareFailures(const DecisionTrace& trace, const Decision& want) {
    std::map<std::string, std::string> got, expected;
    if (trace.failures != nullptr && want.error.find("running") == std::string::npos) {
      std::map<std::string, std::string> plugins;
      for (const auto& [node, plugin] : trace.rejected_by) plugins[node.string()] = plugin;
      trace.failures->ForEach([&](Symbol node, const std::vector<FailureReason>& reasons) {
        std::vector<std::string> texts;
        bool unresolvable = false;
        for (const FailureReason& r : reasons) {
          texts.push_back(r.text.string());
          unresolvable |= r.unresolvable;
        }
        std::sort(texts.begin(), texts.end());
        got[node.string()] =
            absl::StrCat(plugins[node.string()], unresolvable ? " for good: " : ": ", absl::StrJoin(texts, "; "));
      });
      for (const auto& [node, status] : want.failures) {
        std::vector<std::string> texts = status.reasons;
        std::sort(texts.begin(), texts.end());
        const bool unresolvable = status.code == Status::Code::kUnschedulableAndUnresolvable;
        expected[node] = absl::StrCat(status.plugin, unresolvable ? " for good: " : ": ", absl::StrJoin(texts, "; "));
      }
    }
    CHECK(Differing(got, expected) == std::vector<std::string>());
  }

  static void CompareScores(const DecisionTrace& trace, const Decision& want) {
    std::map<std::string, std::string> got, expected;
    for (size_t i = 0; i < trace.totals.size(); ++i) {
      std::string& text = got[trace.feasible[i].string()];
      text = absl::StrCat(trace.totals[i]);
      for (const auto& p : trace.priorities) absl::StrAppend(&text, " ", p.name, "=", p.scores[i]);
    }
    for (size_t i = 0; i < want.totals.size(); ++i) {
      std::string& text = expected[want.feasible[i]];
      text = absl::StrCat(want.totals[i]);
      for (const auto& [name, scores] : want.scores) {
        if (name != "VolumeBinding") absl::StrAppend(&text, " ", name, "=", scores[i]);
      }
    }
    if (want.error.empty()) CHECK(Differing(got, expected) == std::vector<std::string>());
  }

  static void ComparePreemption(const berth::scheduler::Preemption& got, const Decision& want) {
    auto text = [](const std::string& node, std::vector<std::string> victims, std::vector<std::string> cleared) {
      std::sort(cleared.begin(), cleared.end());
      return absl::StrCat(node, " evicts ", absl::StrJoin(victims, ","), " clears ", absl::StrJoin(cleared, ","));
    };
    std::vector<std::string> victims, cleared, allowed;
    for (const api::PodPtr& p : got.victims) victims.push_back(p->meta.Key());
    for (const api::PodPtr& p : got.nominated_to_clear) cleared.push_back(p->meta.Key());
    for (const Preemption& p : want.preemption_one_of) {
      allowed.push_back(text(p.node, p.victims, p.nominated_to_clear));
    }
    CHECK(got.error == want.preemption_error);
    if (got.node.empty() && allowed.empty()) return;
    const std::string mine = text(got.node.string(), victims, cleared);
    INFO(mine << "\nallowed: " << absl::StrJoin(allowed, "\n"));
    CHECK(std::find(allowed.begin(), allowed.end(), mine) != allowed.end());
  }

  World world_;
  Cache cache_;
  ClaimBinder binder_;
  NominatedPods nominated_;
  std::unique_ptr<GenericScheduler> production_;
  std::unique_ptr<Scheduler> reference_;
};

// Returns the number in an environment variable, or `otherwise`. SEEDS and FIRST_SEED choose which clusters are tried.
uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST_CASE("The production scheduler of 1.29 decides as the reference does, on random clusters") {
  constexpr int kBound = 14, kPending = 16;
  const uint64_t first = FromEnvironment("FIRST_SEED", 1), seeds = FromEnvironment("SEEDS", 200);
  for (uint64_t seed = first; seed < first + seeds; ++seed) {
    INFO("seed " << seed);
    RandomObjects objects(seed);
    Pair pair(objects.Configuration());
    for (const std::string& json : objects.Cluster()) pair.Add(json);
    int number = 0;
    for (; number < kBound; ++number) pair.Add(objects.Pod(number, objects.NodeName()));
    std::string last;
    int last_number = 0;
    for (; number < kBound + kPending; ++number) {
      // Half of the pods have the template of the pod before.
      std::string json = last.empty() || objects.random().Chance(50)
                             ? objects.Pod(number, "")
                             : absl::StrReplaceAll(
                                   last, {{absl::StrCat("\"p", last_number, "\""), absl::StrCat("\"p", number, "\"")},
                                          {absl::StrCat("\"u", last_number, "\""), absl::StrCat("\"u", number, "\"")}});
      last = json;
      last_number = number;
      INFO(json);
      pair.Decide(std::get<api::PodPtr>(pair.Add(json)));
      if (objects.random().Chance(10)) pair.Add(objects.Pod(1000 + number, objects.NodeName()));
    }
  }
}

// Of the keys that no node has, the production scheduler looks at one until a node has it.
TEST_CASE("pods with affinity by keys that no node has are decided as in the reference until nodes have the keys") {
  Pair pair(R"({"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration",
    "profiles":[{"schedulerName":"default-scheduler"}]})");
  auto node = [&](std::string_view name, std::string_view labels) {
    pair.Add(absl::StrCat(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")", std::string(name),
                          R"(","labels":{)", std::string(labels),
                          R"(}},"status":{"allocatable":{"cpu":"8","memory":"8Gi","pods":"99"}}})"));
  };
  int number = 0;
  auto pod = [&](std::string_view on, std::string_view affinity) {
    ++number;
    return absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p)", number,
                        R"(","namespace":"default","uid":"u)", number,
                        R"(","labels":{"app":"x"}},"spec":{"nodeName":")", std::string(on), R"(","affinity":{)",
                        std::string(affinity), R"(},"containers":[{"name":"c","image":"i"}]}})");
  };
  auto term = [](std::string_view key) {
    return absl::StrCat(R"({"topologyKey":")", std::string(key), R"(","labelSelector":{"matchLabels":{"app":"x"}}})");
  };
  const std::string by_rack_and_row =
      absl::StrCat(R"("podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[)", term("zone"), ",",
                   term("rack"), ",", term("row"), ",", term("rack"), "]}");
  const bool placed = GENERATE(true, false);  // otherwise the pod is the first of its group
  const std::string more[] = {"", R"(,"rack":"1")", R"(,"row":"1")", R"(,"rack":"2","row":"2")",
                              R"(,"rack":"1","row":"1")"};
  for (size_t n = 0; n < std::size(more); ++n) {
    const std::string name = absl::StrCat("n", n);
    node(name, absl::StrCat(R"("zone":"z")", more[n]));
    if (placed) pair.Add(pod(name, ""));
    for (int i = 0; i < 2; ++i) {
      const std::string json = pod("", by_rack_and_row);
      INFO("last node: " << more[n] << "\n" << json);
      pair.Decide(std::get<api::PodPtr>(pair.Add(json)));
    }
  }
}

}  // namespace
}  // namespace berth::scheduler::reference::plugins
