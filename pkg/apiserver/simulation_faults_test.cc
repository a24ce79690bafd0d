// Controllers and kubelets while writes fail, others change and delete what they are working on, and the scheduler is
// not there for a while. Whatever happens, nothing is made twice, and in the end everything is as it was asked for.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "pkg/apiserver/testing/recorded_objects.h"
#include "pkg/store/simulation.h"

namespace berth::apiserver {
namespace {

using testing::kPlayedNamespace;
using testing::Parse;
using testing::PlayedCluster;
using world::living::TextAt;

const std::string kTemplate =
    R"("selector":{"matchLabels":{"app":"NAME"}},"template":{"metadata":{"labels":{"app":"NAME"}},
       "spec":{"containers":[{"name":"c","image":"x"}]}})";

Value Workload(const std::string& kind, const std::string& name, const std::string& more) {
  std::string text = R"({"apiVersion":"apps/v1","kind":")" + kind + R"(","metadata":{"name":"NAME"},"spec":{)" + more +
                     kTemplate + "}}";
  for (size_t at; (at = text.find("NAME")) != std::string::npos;) text.replace(at, 4, name);
  return Parse(text);
}

// A cluster around which everything goes wrong, from a seed.
class Troubled {
 public:
  explicit Troubled(uint32_t seed) : random_(seed) {
    cluster_.Create(Workload("Deployment", "web", R"("replicas":5,)"));
    cluster_.Create(Workload("StatefulSet", "db", R"("replicas":3,"serviceName":"db",)"));
    cluster_.Create(Workload("DaemonSet", "agent", ""));
    cluster_.Create(Parse(R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"work"},"spec":{"completions":6,
      "parallelism":3,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"x"}]}}}})"));
    cluster_.Create(Parse(R"({"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"cron"},"spec":{
      "schedule":"*/2 * * * *","jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never",
      "containers":[{"name":"c","image":"x"}]}}}}}})"));
  }

  void Run() {
    cluster_.refuses = [this](std::string_view, bool creates) -> world::living::Written {
      if (!Chance(0.25)) return std::nullopt;
      return !creates && Chance(0.5) ? world::living::Refused{409, "the object has been modified"}
                                     : world::living::Refused{500, "etcdserver: request timed out"};
    };
    // What others do is bounded, so that the controllers can come to an end with it.
    int64_t more = 0;
    cluster_.between = [&] {
      Note();
      if (more > 0 && Chance(0.05)) {
        --more;
        Meddle();
      }
    };
    constexpr int kPeriods = 20;
    for (int i = 0; i < kPeriods; ++i) {
      if (Chance(0.3)) cluster_.has_scheduler = !cluster_.has_scheduler;
      more = 3;
      cluster_.Run(absl::Seconds(2));
    }
    cluster_.refuses = nullptr;
    cluster_.between = [this] { Note(); };
    cluster_.has_scheduler = true;
    cluster_.Run(absl::Seconds(70));
  }

  // Pods made for the owner whose name begins so, without those that were made because somebody deleted one.
  int64_t Made(const std::string& owner) const {
    int64_t n = 0;
    for (const auto& [uid, of] : made_) n += of.starts_with(owner);
    for (const auto& [uid, of] : deleted_) n -= of.starts_with(owner);
    return n;
  }
  int64_t Running(const std::string& owner) const {
    const auto pods = cluster_.All("Pod");
    return std::count_if(pods.begin(), pods.end(), [&](const Value& pod) {
      return OwnerOf(pod).starts_with(owner) && TextAt(pod, {"status", "phase"}) == "Running" &&
             !world::living::IsTerminating(pod);
    });
  }
  std::string Of(std::string_view kind, std::string_view name, std::initializer_list<std::string_view> path) const {
    const auto v = cluster_.Get(kind, name);
    const Value* at = v ? v->At(path) : nullptr;
    return at == nullptr ? "" : at->text();
  }
  size_t Jobs() const { return jobs_.size(); }
  absl::Duration Time() const { return cluster_.clock().Steady(); }

 private:
  bool Chance(double p) { return std::uniform_real_distribution<>(0, 1)(random_) < p; }
  static std::string OwnerOf(const Value& pod) {
    const Value* owner = world::living::ControllerOf(pod);
    return owner == nullptr ? "" : std::string(owner->Str("kind")) + "/" + std::string(owner->Str("name"));
  }

  // Notes each pod and Job that there ever was.
  void Note() {
    for (const auto& [uid, pod] : cluster_.world().PodsIn(kPlayedNamespace)) {
      auto [it, is_new] = made_.try_emplace(uid);
      if (is_new) it->second = pod->controller_kind + "/" + pod->controller_name;
      if (it->second.starts_with("Job/cron")) jobs_.insert(pod->controller_uid);
    }
  }

  // What somebody else does: changes an object that a controller is working on, or deletes a pod.
  void Meddle() {
    static const std::pair<const char*, const char*> kObjects[] = {
        {"Deployment", "web"}, {"StatefulSet", "db"}, {"DaemonSet", "agent"}, {"Job", "work"}, {"CronJob", "cron"}};
    if (Chance(0.7)) {
      const auto& [kind, name] = kObjects[random_() % std::size(kObjects)];
      return cluster_.Annotate(kind, name, "example.com/seen", std::to_string(++notes_));
    }
    std::vector<Value> pods = cluster_.All("Pod");
    std::erase_if(
        pods, [](const Value& pod) { return world::living::IsTerminating(pod) || OwnerOf(pod).starts_with("Job/"); });
    if (pods.empty()) return;
    const Value& pod = pods[random_() % pods.size()];
    deleted_[std::string(TextAt(pod, {"metadata", "uid"}))] = OwnerOf(pod);
    cluster_.Delete("Pod", world::NameOf(pod), "");
  }

  PlayedCluster cluster_;
  std::mt19937 random_;
  std::map<std::string, std::string> made_, deleted_;  // the owner by uid
  std::set<std::string> jobs_;
  int64_t notes_ = 0;
};

TEST_CASE("controllers and kubelets make nothing twice while writes fail and others meddle", "[no-threads]") {
  constexpr uint32_t kSeeds = 4;
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    INFO("seed " << seed);
    Troubled t(seed);
    t.Run();
    CHECK(t.Made("ReplicaSet/web") == 5);
    CHECK(t.Running("ReplicaSet/web") == 5);
    CHECK(t.Of("Deployment", "web", {"status", "availableReplicas"}) == "5");
    CHECK(t.Made("StatefulSet/db") == 3);
    CHECK(t.Running("StatefulSet/db") == 3);
    CHECK(t.Made("DaemonSet/agent") == 4);
    CHECK(t.Running("DaemonSet/agent") == 4);
    CHECK(t.Made("Job/work") == 6);
    CHECK(t.Of("Job", "work", {"status", "succeeded"}) == "6");
    CHECK(t.Jobs() == static_cast<size_t>(t.Made("Job/cron")));
    CHECK(t.Jobs() <= static_cast<size_t>(t.Time() / absl::Minutes(2)) + 1);
    CHECK(t.Jobs() >= 1);
  }
}

}  // namespace
}  // namespace berth::apiserver
