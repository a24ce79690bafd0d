#include "pkg/lab/capacity.h"

#include <algorithm>

#include "pkg/lab/edit.h"
#include "pkg/lab/pod_specs.h"
#include "pkg/lab/simulation.h"

namespace berth::lab {
namespace {

// The result of adding some number of nodes.
struct Attempt {
  int64_t pending = 0;
  std::string first_pending, error;
};

// Places the pending pods in the cluster with `nodes` more nodes.
absl::StatusOr<Attempt> TryNodes(const Scenario& scenario, const api::Node& like, int64_t nodes) {
  Scenario grown;
  grown.algorithm = scenario.algorithm;
  grown.cluster = scenario.cluster;
  grown.daemons = scenario.daemons;
  grown.bound_by_controller = scenario.bound_by_controller;
  AddNodes(like, nodes, &grown);
  auto sim = Simulation::Make(grown);
  if (!sim.ok()) return sim.status();
  Attempt attempt;
  for (const api::PodPtr& pod : scenario.pending) {
    scheduler::Decision d = (*sim)->Place(pod);
    if (d.outcome == scheduler::Decision::Outcome::kPlaced) continue;
    if (attempt.pending++ > 0) continue;
    attempt.first_pending = pod->meta.Key();
    attempt.error = d.error;
  }
  return attempt;
}

}  // namespace

absl::StatusOr<Filled> Fill(const Scenario& scenario, const std::vector<PodShare>& pods, int64_t max,
                            const std::function<void(size_t)>& step) {
  auto sim = Simulation::Make(scenario);
  if (!sim.ok()) return sim.status();
  for (const api::PodPtr& pod : scenario.pending) (*sim)->Place(pod);
  Filled f;
  f.replicas.resize(pods.size());
  size_t placed = 0;
  for (; f.rounds < max; ++f.rounds) {
    for (size_t i = 0; i < pods.size(); ++i) {
      for (int64_t k = 0; k < pods[i].ratio; ++k) {
        api::PodPtr pod = ReplicaOf(*pods[i].spec, f.replicas[i] + 1);
        scheduler::Decision d = (*sim)->Place(pod);
        if (d.outcome != scheduler::Decision::Outcome::kPlaced) {
          f.stopped_by = i;
          f.next = (*sim)->Explain(pod);
          return f;
        }
        ++f.replicas[i];
        ++f.by_node[d.host.string()];
        if (step) step(++placed);
      }
    }
  }
  f.limited = true;
  return f;
}

absl::StatusOr<NodesNeeded> NodesUntilAllFit(const Scenario& scenario, const std::vector<PodShare>& pods,
                                             int64_t rounds, const api::Node& like,
                                             const std::function<void(size_t)>& step) {
  Scenario all = scenario;
  for (int64_t round = 0; round < rounds; ++round) {
    for (const PodShare& p : pods) {
      for (int64_t k = 0; k < p.ratio; ++k) all.AddPending(ReplicaOf(*p.spec, round * p.ratio + k + 1));
    }
  }
  NodesNeeded needed;
  needed.pods = static_cast<int64_t>(all.pending.size());
  size_t tried = 0;
  auto attempt = [&](int64_t nodes) {
    if (step) step(++tried);
    return TryNodes(all, like, nodes);
  };
  auto without = attempt(0);
  if (!without.ok()) return without.status();
  needed.pending_before = without->pending;
  if (without->pending == 0) {
    needed.enough = true;
    return needed;
  }
  // Invariant: `few` nodes leave a pod pending. `many` is doubled until all pods fit, or until there are as many nodes
  // as pods. The binary search after that keeps the invariant that `few` fails and `many` succeeds, even where more
  // nodes do not always help.
  int64_t few = 0, many = 1;
  Attempt failed = std::move(*without);
  auto take = [&](int64_t nodes, bool* fits) -> absl::Status {
    auto a = attempt(nodes);
    if (!a.ok()) return a.status();
    *fits = a->pending == 0;
    if (*fits) {
      many = nodes;
    } else {
      few = nodes;
      failed = std::move(*a);
    }
    return absl::OkStatus();
  };
  for (bool fits = false; !fits;) {
    if (absl::Status s = take(many, &fits); !s.ok()) return s;
    if (fits) break;
    if (many == needed.pods) break;
    many = std::min(needed.pods, 2 * many);
  }
  needed.enough = few < many;
  while (needed.enough && many - few > 1) {
    bool fits = false;
    if (absl::Status s = take(few + (many - few) / 2, &fits); !s.ok()) return s;
  }
  needed.nodes = many;
  needed.pending = failed.pending;
  needed.first_pending = failed.first_pending;
  needed.error = failed.error;
  return needed;
}

}  // namespace berth::lab
