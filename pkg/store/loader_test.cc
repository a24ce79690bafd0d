#include "pkg/store/loader.h"

#include <catch2/catch.hpp>

#include "pkg/util/status.h"
#include "pkg/world/living/fields.h"

namespace berth::apiserver {
namespace {

using world::living::TextAt;

struct Loaded {
  util::ManualClock clock{absl::FromUnixSeconds(1'700'000'000)};
  Store store{Version{29}};
  Registry registry{&store, &clock};

  void Load(std::string_view text) {
    const auto report = LoadText("file", text, &registry);
    INFO(util::Message(report.status()));
    REQUIRE(report.ok());
  }
  Value Get(const ResourceInfo& r, std::string_view name) {
    const ObjectPtr o = store.Get(r, "default", name);
    REQUIRE(o != nullptr);
    return ToValue(r, 0, *o);
  }
};

constexpr char kJobText[] =
    R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"sum"},"spec":{"template":{"spec":{
        "restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})";

}  // namespace

TEST_CASE("a Job of a file has what a server adds to a new one, so that its controller can work with it") {
  Loaded l;
  l.Load(kJobText);
  const Value job = l.Get(*l.store.catalog().Find("batch", "v1", "jobs"), "sum");
  const std::string uid(TextAt(job, {"metadata", "uid"}));
  CHECK(TextAt(job, {"spec", "selector", "matchLabels", "batch.kubernetes.io/controller-uid"}) == uid);
  CHECK(TextAt(job, {"spec", "template", "metadata", "labels", "batch.kubernetes.io/controller-uid"}) == uid);
}

TEST_CASE("a budget of a file has a generation, so that its status counts when pods are evicted") {
  Loaded l;
  l.Load(R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"web"},
             "spec":{"maxUnavailable":1,"selector":{"matchLabels":{"app":"web"}}}})");
  const Value budget = l.Get(*l.store.catalog().Find("policy", "v1", "poddisruptionbudgets"), "web");
  CHECK(world::living::NumberAt(budget, {"metadata", "generation"}) == 1);
}

TEST_CASE("equal seeds make up the same uids") {
  const auto uid_with = [](uint64_t seed) {
    Loaded l;
    l.registry.Seed(seed);
    l.Load(kJobText);
    return std::string(TextAt(l.Get(*l.store.catalog().Find("batch", "v1", "jobs"), "sum"), {"metadata", "uid"}));
  };
  CHECK(uid_with(7) == uid_with(7));
  CHECK(uid_with(7) != uid_with(8));
}

}  // namespace berth::apiserver
