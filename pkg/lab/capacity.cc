#include "pkg/lab/capacity.h"

#include "pkg/lab/pod_specs.h"
#include "pkg/lab/simulation.h"
#include "pkg/util/contract.h"

namespace berth::lab {
absl::StatusOr<Filled> Fill(const Scenario& scenario, const std::vector<PodShare>& pods, int64_t max,
                            const std::function<void(size_t)>& step) {
  BERTH_REQUIRES(max >= 1);
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

}  // namespace berth::lab
