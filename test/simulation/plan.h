// What is done to a simulated cluster: steps, each a time, an actor and a seed of its own, so that leaving out one step
// changes nothing about what the others do. A plan that fails is shrunk to few steps and written as text that can be
// kept (kept/*.plan).
#pragma once
#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/release/release.h"

namespace berth::simulation {

class World;
class Random;

struct Step {
  int64_t at_millis = 0;
  std::string actor;
  uint64_t seed = 0;
};

struct Plan {
  uint64_t seed = 0;                             // of the network, the kubelets and the shape of the cluster
  std::string release{release::Default().name};  // that the schedulers emulate
  bool pod_priority = false;                     // true if the release always has them
  bool claims = false;                           // whether there are pods with claims, if the release can serve them
  bool living = false;                           // whether controllers and kubelets are those of pkg/world/living
  int schedulers = 2, servers = 2;
  int64_t length_millis = 0;
  std::vector<Step> steps;
};

// Workloads and faults, each in a file of actors/. `weight`: how often it is drawn, compared to others.
struct Actor {
  const char* name;
  int weight;
  void (*step)(World* world, Random* random);
};
// To be called from a static initialiser; returns true.
bool RegisterActor(Actor actor);
std::vector<Actor> Actors();  // by name

Plan MakePlan(uint64_t seed);
std::string WritePlan(const Plan& plan);
absl::StatusOr<Plan> ReadPlan(std::string_view text);

struct Outcome {
  std::string problem;  // empty: all is well
  uint64_t hash = 0, events = 0, faults = 0, binds = 0, decisions = 0;
  absl::Duration virtual_time;
};
// With a `record_dir`, the schedulers are recorded there for schedsim replay.
Outcome RunPlan(const Plan& plan, bool verbose, const std::string& record_dir = "");
// Leaves out steps while the plan still fails, for at most `runs` runs.
Plan Shrink(Plan plan, int runs);

}  // namespace berth::simulation
