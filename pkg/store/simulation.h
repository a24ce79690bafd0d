// Controllers and kubelets (pkg/world/living) over the store of this server.
//
// They hear of changes as a watch does, and write as clients do, on the store's thread between requests.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/store/registry.h"
#include "pkg/world/living/kubelets.h"
#include "pkg/world/living/world.h"

namespace berth::apiserver {

struct SimulationOptions {
  bool kubelets = false, controllers = false;
  world::living::KubeletOptions kubelet;
  // In simulated time: nodes report nothing that has not changed, no events are written, and services have no
  // endpoints, so that a time in which nothing happens costs nothing.
  bool quiet = false;
  std::optional<absl::Duration> node_grace{};  // how long a node may be silent; none: as long as in the release
  // Asked before each write of a kind by controllers and kubelets, whether it creates an object or not: what it returns
  // is the answer, and nothing is written. Null in servers; tests let writes fail.
  std::function<world::living::Written(std::string_view kind, bool creates)> refuses{};
  bool any() const { return kubelets || controllers; }
};

class Simulation {
 public:
  // `registry` and `clock` must outlive the simulation. Objects that exist already are taken as new.
  Simulation(Registry* registry, const util::Clock* clock, SimulationOptions options);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  world::living::World& world();
  // Reads and writes as controllers do, for others than the world's actors.
  world::living::Cluster& cluster();

 private:
  class Access;
  class Follower;
  std::unique_ptr<Access> access_;
  std::unique_ptr<world::living::World> world_;
  std::vector<std::unique_ptr<Follower>> followers_;
};

}  // namespace berth::apiserver
