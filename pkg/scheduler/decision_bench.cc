// Measures decisions by kind of pod and number of nodes, by the incremental scheduler and by the reference scheduler
// ("plain path"), and the loops over columns and ranks that they consist of. A measured step creates a pod, decides,
// adds the pod to the cache, and removes an older pod.
#include <absl/strings/str_cat.h>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "pkg/api/decode.h"
#include "pkg/releases/releases.h"
#include "pkg/scheduler/algorithm/noderesources/noderesources.h"
#include "pkg/scheduler/core/incremental/rank_set.h"
#include "pkg/scheduler/factory/factory.h"
#include "pkg/scheduler/volumebinder/volume_binder.h"

namespace berth::scheduler {
namespace {

template <typename T>
T Decoded(absl::StatusOr<T> (*decode)(api::Json, const api::DecodeOptions&), std::string json) {
  std::replace(json.begin(), json.end(), '\'', '"');
  api::Document document;
  if (!document.Parse(json).ok()) std::abort();
  return decode(document.root(), {}).value();
}

std::string Zone(int i) {
  return absl::StrCat("'failure-domain.beta.kubernetes.io/zone':'zone-", i % 3, "'");
}

api::PodPtr PodOf(std::string_view app, std::string_view cpu, std::string_view spec = {}) {
  return Decoded(
      api::DecodePod,
      absl::StrCat("{'metadata':{'name':'p','namespace':'default','uid':'u','labels':{'app':'", std::string(app),
                   "'}},'spec':{", std::string(spec), "'containers':[{'name':'c','resources':{'requests':{'cpu':'",
                   std::string(cpu), "','memory':'200Mi'}}}]}}"));
}

api::PodPtr With(const api::PodPtr& like, std::string uid, util::Symbol node = {}) {
  auto pod = std::make_shared<api::Pod>(*like);
  pod->meta.uid = std::move(uid);
  pod->node_name = node;
  return pod;
}

// A cluster of nodes in three zones with ten pods on each node.
struct Cluster {
  Cache cache;
  NominatedPods nominated;
  VolumeBinder binder{&cache, AlgorithmGates{}};
  std::unique_ptr<GenericScheduler> scheduler;
  uint64_t uids = 0;

  explicit Cluster(int64_t nodes) {
    for (int i = 0; i < nodes; ++i) {
      cache.AddNode(Decoded(
          api::DecodeNode,
          absl::StrCat("{'metadata':{'name':'node-", i, "','labels':{'kubernetes.io/hostname':'node-", i, "',", Zone(i),
                       "}},'spec':{", i % 10 == 3 ? "'taints':[{'key':'soft','effect':'PreferNoSchedule'}]" : "",
                       "},'status':{'allocatable':{'cpu':'32','memory':'256Gi','pods':'110'}}}")));
    }
    for (const char* app : {"web", "apart", "near"}) {
      cache.listers().services.Set(Decoded(
          api::DecodeService, absl::StrCat("{'metadata':{'name':'", app,
                                           "','namespace':'default'},'spec':{'selector':{'app':'", app, "'}}}")));
    }
    for (int k = 0; k < 40; ++k) {
      api::PodPtr like = PodOf(absl::StrCat("pre-", k), absl::StrCat(50 + 10 * k, "m"));
      for (int64_t i = k; i < 10 * nodes; i += 40) {
        const api::PodPtr pod = With(like, absl::StrCat("pre-", i), util::Symbol(absl::StrCat("node-", i % nodes)));
        if (!cache.AddPod(pod).ok()) std::abort();
      }
    }
    for (int i = 0; i < 3; ++i) {
      cache.listers().volumes.Set(
          Decoded(api::DecodePersistentVolume,
                  absl::StrCat("{'metadata':{'name':'volume-", i, "','labels':{", Zone(i),
                               "}},'spec':{'capacity':{'storage':'1Gi'},'awsElasticBlockStore':{'volumeID':'disk-", i,
                               "'}}}")));
      cache.listers().claims.Set(
          Decoded(api::DecodePersistentVolumeClaim,
                  absl::StrCat("{'metadata':{'name':'claim-", i,
                               "','namespace':'default'},'spec':{'volumeName':'volume-", i, "'}}")));
    }
    FactoryArgs args;
    args.release = &releases::Of(release::Default()).decides;
    args.cache = &cache;
    args.nominated = &nominated;
    args.volume_binder = &binder;
    args.gates.algorithm.pod_priority = true;
    scheduler = CreateFromProvider("DefaultProvider", args).value();
  }
};

// Returns the cluster of this size, which is made at the first call.
Cluster& ClusterOf(int64_t nodes) {
  static std::map<int64_t, std::unique_ptr<Cluster>> clusters;
  std::unique_ptr<Cluster>& c = clusters[nodes];
  if (c == nullptr) c = std::make_unique<Cluster>(nodes);
  return *c;
}

const char kApart[] =
    "'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':"
    "'kubernetes.io/hostname','labelSelector':{'matchLabels':{'app':'apart'}}}]}},";
const char kNear[] =
    "'affinity':{'podAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':10,'podAffinityTerm':{"
    "'topologyKey':'failure-domain.beta.kubernetes.io/zone','labelSelector':{'matchLabels':{'app':'pre-7'}}}}]}},";
const char kInZone[] =
    "'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':[{"
    "'matchExpressions':[{'key':'failure-domain.beta.kubernetes.io/zone','operator':'In','values':['zone-1']}]}]}}},";
const char kClaim[] = "'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'claim-1'}}],";

// Decides pods while 300 of them run at the same time. `like(i)` returns the pod that the i-th one is a copy of.
template <typename Like>
void Decide(benchmark::State& state, Like like, bool plain = false) {
  constexpr size_t kRunning = 300;
  Cluster& c = ClusterOf(state.range(0));
  std::deque<api::PodPtr> running;
  for (auto _ : state) {
    const api::PodPtr pod = With(like(c.uids), absl::StrCat("u-", c.uids));
    ++c.uids;
    const Decision d = c.scheduler->Schedule(pod, plain ? DecisionMode::kReference : DecisionMode::kIncremental);
    if (d.outcome != Decision::Outcome::kPlaced) {
      state.SkipWithError(d.error.c_str());
      break;
    }
    running.push_back(With(pod, pod->meta.uid, d.host));
    c.cache.AddPod(running.back()).IgnoreError();
    if (running.size() <= kRunning) continue;
    c.cache.RemovePod(*running.front()).IgnoreError();
    running.pop_front();
  }
  for (const api::PodPtr& p : running) c.cache.RemovePod(*p).IgnoreError();
}

void BM_Decide(benchmark::State& state, const char* app, const char* spec, bool plain) {
  const api::PodPtr pod = PodOf(app, "100m", spec);
  Decide(
      state, [&](uint64_t) -> const api::PodPtr& { return pod; }, plain);
}
void Sizes(benchmark::internal::Benchmark* b) {
  b->Arg(1000)->Arg(5000)->Arg(20000)->Unit(benchmark::kMicrosecond);
}
BENCHMARK_CAPTURE(BM_Decide, service, "web", "", false)->Apply(Sizes);
BENCHMARK_CAPTURE(BM_Decide, service_plain_path, "web", "", true)->Apply(Sizes);
BENCHMARK_CAPTURE(BM_Decide, node_affinity, "web", kInZone, false)->Apply(Sizes);
BENCHMARK_CAPTURE(BM_Decide, anti_affinity, "apart", kApart, false)->Apply(Sizes);
BENCHMARK_CAPTURE(BM_Decide, preferred_affinity, "near", kNear, false)->Apply(Sizes);
BENCHMARK_CAPTURE(BM_Decide, claim, "web", kClaim, false)->Apply(Sizes);
BENCHMARK_CAPTURE(BM_Decide, claim_plain_path, "web", kClaim, true)->Apply(Sizes);

// Each pod has a template that no pod had before.
void BM_DecideNewKind(benchmark::State& state) {
  const api::PodPtr pod = PodOf("web", "100m");
  Decide(state, [&](uint64_t i) {
    api::PodTemplate tmpl = *pod->tmpl;
    tmpl.labels =
        api::Labels({{util::Symbol("app"), util::Symbol("web")}, {util::Symbol("n"), util::Symbol(absl::StrCat(i))}});
    auto fresh = std::make_shared<api::Pod>(*pod);
    fresh->tmpl = api::PodTemplate::Intern(std::move(tmpl));
    return api::PodPtr(fresh);
  });
}
BENCHMARK(BM_DecideNewKind)->Apply(Sizes);

// Ten pods with the same priority are nominated to nodes.
void BM_DecideBesideNominated(benchmark::State& state) {
  Cluster& c = ClusterOf(state.range(0));
  const api::PodPtr pod = PodOf("web", "100m");
  std::vector<api::PodPtr> waiting;
  for (int i = 0; i < 10; ++i) {
    auto p = std::make_shared<api::Pod>(*pod);
    p->meta.uid = absl::StrCat("nominated-", i);
    p->nominated_node_name = util::Symbol(absl::StrCat("node-", 7 * i));
    waiting.push_back(p);
    c.nominated.Add(p);
  }
  Decide(state, [&](uint64_t) -> const api::PodPtr& { return pod; });
  for (const api::PodPtr& p : waiting) c.nominated.Remove(*p);
}
BENCHMARK(BM_DecideBesideNominated)->Apply(Sizes);

// The pod fits no node, and the reasons of every node are found.
void BM_DecideUnfit(benchmark::State& state) {
  Cluster& c = ClusterOf(state.range(0));
  const api::PodPtr pod = PodOf("web", "33");
  for (auto _ : state) {
    const Decision d = c.scheduler->Schedule(pod);
    if (d.failures == nullptr || d.failures->size() != static_cast<size_t>(state.range(0)))
      state.SkipWithError("it fits");
  }
}
BENCHMARK(BM_DecideUnfit)->Apply(Sizes);

// ---- kernels ------------------------------------------------------------------------------------

void BM_FilterByResources(benchmark::State& state) {
  Cluster& c = ClusterOf(state.range(0));
  const api::PodPtr pod = PodOf("web", "100m");
  const PodContext ctx{*pod, *c.cache.Info(*pod), c.cache};
  auto check = noderesources::PodFitsResources({})(ctx);
  RowSet errors;
  for (auto _ : state) {
    RowSet rows = c.cache.listed();
    check->Filter(&rows, &errors);
    benchmark::DoNotOptimize(rows);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_FilterByResources)->Apply(Sizes);

void BM_Map(benchmark::State& state, const PriorityFunction& function) {
  Cluster& c = ClusterOf(state.range(0));
  const api::PodPtr pod = PodOf("web", "100m");
  const PodContext ctx{*pod, *c.cache.Info(*pod), c.cache};
  auto scoring = function(ctx);
  const std::vector<Row>& rows = c.cache.by_name_descending();
  std::vector<int64_t> scores(rows.size());
  for (auto _ : state) {
    if (!scoring->Map(rows, scores).ok()) state.SkipWithError("no scores");
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK_CAPTURE(BM_Map, least_requested, noderesources::LeastRequested({}))->Apply(Sizes);
BENCHMARK_CAPTURE(BM_Map, balanced, noderesources::BalancedResourceAllocation({}))->Apply(Sizes);

// Selects the k-th of a set with nine of ten ranks, of which a hundred are left out.
void BM_SelectKth(benchmark::State& state) {
  const uint32_t limit = static_cast<uint32_t>(state.range(0));
  RankSet in(limit), out(limit);
  for (uint32_t r = 0; r < limit; ++r) {
    if (r % 10 != 3) in.Insert(r);
  }
  for (uint32_t r = 0; r < 1000; r += 10) out.Insert(r);
  const RankSet *ins[] = {&in}, *outs[] = {&out};
  uint32_t k = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(SelectKth({ins, {}}, {outs, {}}, limit, k));
    k = (k + 7919) % (in.size() - out.size());
  }
}
BENCHMARK(BM_SelectKth)->Apply(Sizes);

}  // namespace
}  // namespace berth::scheduler
