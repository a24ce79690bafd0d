// Compares the states of budgets with those that a real disruption controller of release 1.36 wrote.
#include "pkg/world/budget.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "pkg/api/stream.h"
#include "pkg/util/status.h"

namespace berth::world {
namespace {

bool LabelsMatch(const Value& selector, const Value& object) {
  const Value& labels = validation::OrEmpty(object.At({"metadata", "labels"}));
  const Value& want = validation::OrEmpty(selector.Find("matchLabels"));
  for (size_t i = 0; i < want.keys.size(); ++i) {
    if (labels.Str(want.keys[i]) != want.items[i].text()) return false;
  }
  return true;
}

const Value* ControllerOf(const Value& object) {
  const Value* owners = object.At({"metadata", "ownerReferences"});
  return owners == nullptr || owners->empty() ? nullptr : &owners->items[0];
}

// Returns the pods of the recording that the budget selects. Deployments scale their ReplicaSets.
std::vector<PodOfBudget> PodsOf(const Value& budget, const Value& objects) {
  std::map<std::string, const Value*> by_name;
  auto key = [](std::string_view kind, std::string_view name) {
    return absl::StrCat(util::ToAbsl(kind), "/", util::ToAbsl(name));
  };
  for (const Value& o : objects.items) by_name[key(o.Str("kind"), NameOf(o))] = &o;
  std::vector<PodOfBudget> pods;
  for (const Value& o : objects.items) {
    if (o.Str("kind") != "Pod" || !LabelsMatch(validation::OrEmpty(budget.At({"spec", "selector"})), o)) continue;
    PodOfBudget pod;
    if (const Value* conditions = o.Find("conditions")) {
      for (const Value& c : conditions->items)
        pod.ready = pod.ready || (c.Str("type") == "Ready" && c.Str("status") == "True");
    } else {
      pod.ready = o.Str("phase") == "Running";  // the first recordings have no conditions
    }
    const Value* controller = ControllerOf(o);
    while (controller != nullptr) {
      pod.controller = key(controller->Str("kind"), controller->Str("name"));
      auto it = by_name.find(pod.controller);
      if (it == by_name.end()) break;
      const Value* replicas = it->second->At({"spec", "replicas"});
      pod.scale = replicas == nullptr ? std::nullopt : std::optional<int64_t>(replicas->AsInt());
      controller = ControllerOf(*it->second);
    }
    pods.push_back(std::move(pod));
  }
  return pods;
}

TEST_CASE("budgets have the states that a controller writes") {
  size_t compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator("test/testdata/world")) {
    const std::string file = entry.path().filename().string();
    // With two budgets for a pod a controller refreshes one of them. The pods of these are no longer as when the budget
    // was written, or recorded without what says whether they are ready.
    const bool old =
        file.starts_with("83") || file.starts_with("88") || file.starts_with("24") || file.starts_with("25");
    auto text = api::ReadInput(entry.path().string());
    REQUIRE(text.ok());
    auto recorded = validation::ParseJson(*text);
    REQUIRE(recorded.ok());
    const Value& objects = *recorded->At({"want", "objects"});
    // An evicted pod counts as disrupted until the controller sees that it is gone.
    const bool evictions = text->find("\"evict") != std::string::npos;
    for (const Value& budget : objects.items) {
      if (budget.Str("kind") != "PodDisruptionBudget" || old) continue;
      const auto want = StatusOfBudget(budget);
      if (!want) continue;
      INFO(file << ": " << NameOf(budget));
      ++compared;
      const BudgetState got = StateOfBudget(budget, PodsOf(budget, objects));
      CHECK(got.expected_pods == want->expected_pods);
      CHECK(got.desired_healthy == want->desired_healthy);
      if (evictions) continue;
      CHECK(got.current_healthy == want->current_healthy);
      CHECK(got.disruptions_allowed == want->disruptions_allowed);
    }
  }
  CHECK(compared >= 6);
}

TEST_CASE("a budget lets unready pods go past it as its policy says") {
  Rules rules;
  rules.unhealthy_pod_eviction_policy = true;
  const Value always = *validation::ParseJson(R"({"spec":{"unhealthyPodEvictionPolicy":"AlwaysAllow"}})");
  const Value if_healthy = *validation::ParseJson(R"({"spec":{}})");
  BudgetState too_few{.expected_pods = 2, .desired_healthy = 2, .current_healthy = 1};
  BudgetState enough{.expected_pods = 2, .desired_healthy = 1, .current_healthy = 1};
  CHECK(LetsUnreadyPodGo(rules, always, too_few));
  CHECK(!LetsUnreadyPodGo(rules, if_healthy, too_few));
  CHECK(LetsUnreadyPodGo(rules, if_healthy, enough));
  CHECK(!LetsUnreadyPodGo(Rules{}, always, enough));
}

}  // namespace
}  // namespace berth::world
