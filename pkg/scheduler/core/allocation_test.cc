// A decision allocates no memory once the scheduler has seen the cluster and its pod templates.
#include <cstdlib>
#include <deque>
#include <new>

#include <catch2/catch.hpp>

#include "pkg/scheduler/testing/world.h"

namespace {
thread_local uint64_t allocations = 0;
}  // namespace

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// The sanitizers replace the allocation functions, so the calls are counted by a hook of theirs.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void*, size_t),
                                                         void (*)(const volatile void*));
namespace {
const int hooked = __sanitizer_install_malloc_and_free_hooks([](const volatile void*, size_t) { ++allocations; },
                                                             [](const volatile void*) {});
}  // namespace
#else
// Not inlined, because the compiler would warn about memory from `new` that is given to `free`. The array forms call
// these functions.
[[gnu::noinline]] void* operator new(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}
#endif

namespace berth::scheduler {
namespace {

using testing::Asks;
using testing::Bound;
using testing::Cat;
using testing::NodeOf;
using testing::PodOf;
using testing::World;

constexpr int kNodes = 120;
constexpr size_t kRunning = 300;  // number of pods that run at the same time

// Counts the allocations during decisions in a cluster where pods start and end at the same rate.
struct Traffic {
  World world;
  std::unique_ptr<GenericScheduler> scheduler;
  std::vector<api::PodPtr> kinds;
  std::deque<api::PodPtr> running;
  int next = 0;

  Traffic() {
    for (int i = 0; i < kNodes; ++i) {
      std::string name = Cat("node-", std::to_string(i));
      world.Nodes({NodeOf(name,
                          Cat("'kubernetes.io/hostname':'", name, "','failure-domain.beta.kubernetes.io/zone':'z",
                              std::to_string(i % 3), "'"),
                          i % 5 == 0 ? "'taints':[{'key':'soft','effect':'PreferNoSchedule'}]" : "")});
    }
    world.Service("web", "'app':'web'");
    world.Service("db", "'app':'db'");
    scheduler = world.Provider();
  }

  uint64_t Decide(int decisions) {
    uint64_t sum = 0;
    for (int i = 0; i < decisions; ++i) {
      auto pod = std::make_shared<api::Pod>(*kinds[static_cast<size_t>(next) % kinds.size()]);
      pod->meta.uid = Cat("uid-", std::to_string(next++));
      const api::PodPtr pending = pod;
      const uint64_t before = allocations;
      Decision d = scheduler->Schedule(pending);
      sum += allocations - before;
      REQUIRE(d.outcome == Decision::Outcome::kPlaced);
      running.push_back(Bound(pending, d.host.str()));
      REQUIRE(world.cache.AddPod(running.back()).ok());
      if (running.size() <= kRunning) continue;
      REQUIRE(world.cache.RemovePod(*running.front()).ok());
      running.pop_front();
    }
    return sum;
  }
};

}  // namespace

TEST_CASE("a decision for a known kind of pod allocates nothing") {
  Traffic traffic;
  traffic.kinds = {
      PodOf("web", Asks("'cpu':'100m','memory':'100Mi'"), "'app':'web'"),
      PodOf("db", Asks("'cpu':'200m'"), "'app':'db'"),
      PodOf("plain"),
      PodOf("near",
            Cat(Asks("'cpu':'50m'"),
                ",'affinity':{'podAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':10,"
                "'podAffinityTerm':{'topologyKey':'failure-domain.beta.kubernetes.io/zone',"
                "'labelSelector':{'matchLabels':{'app':'web'}}}}]}}"),
            "'app':'near'"),
      PodOf("apart",
            Cat(Asks("'cpu':'50m'"),
                ",'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{"
                "'topologyKey':'kubernetes.io/hostname','labelSelector':{'matchLabels':{'app':'apart'}}}]}}"),
            "'app':'apart'"),
  };
  CHECK(traffic.Decide(6000) > 0);  // the first decision for each kind of pod allocates
  CHECK(traffic.Decide(3000) == 0);
}

}  // namespace berth::scheduler
