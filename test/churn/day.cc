#include "test/churn/day.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <glog/logging.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "pkg/api/decode.h"
#include "pkg/recording/core.h"
#include "pkg/release/release.h"
#include "pkg/releases/releases.h"
#include "pkg/util/clock.h"

namespace berth::churn {
namespace {

template <typename T>
T Decoded(absl::StatusOr<T> (*decode)(api::Json, const api::DecodeOptions&), const std::string& json) {
  api::Document document;
  CHECK(document.Parse(json).ok()) << json;
  return decode(document.root(), {}).value();
}

int64_t ResidentBytes() {
  std::ifstream in("/proc/self/statm");
  int64_t size = 0, resident = 0;
  in >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

std::string NodeText(uint64_t i, uint64_t version) {
  return absl::StrFormat(
      R"({"metadata":{"name":"node-%d","uid":"node-%d","labels":{"kubernetes.io/hostname":"node-%d",)"
      R"("topology.kubernetes.io/zone":"zone-%d","pool":"pool-%d","revision":"r-%d"}},)"
      R"("spec":{"taints":[{"key":"team","value":"t%d","effect":"PreferNoSchedule"}]},)"
      R"("status":{"allocatable":{"cpu":"64","memory":"512Gi","pods":"500"}}})",
      i, i, i, i % 3, (i + version) % 20, version, version % 1000);
}

// Pods of one template differ in names alone; templates have labels, requests and terms of their own.
std::string PodText(uint64_t number, uint64_t tmpl) {
  std::string affinity;
  if (tmpl % 3 == 0) {
    absl::StrAppend(
        &affinity, R"("nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":5,"preference":)",
        R"({"matchExpressions":[{"key":"pool","operator":"In","values":["pool-)", tmpl % 20, R"("]}]}}]},)");
  }
  absl::StrAppend(
      &affinity, R"("podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":)", 1 + tmpl % 100,
      R"(,"podAffinityTerm":{"topologyKey":"kubernetes.io/hostname","labelSelector":{"matchLabels":{"job":"job-)", tmpl,
      R"("}}}}]})");
  return absl::StrCat(R"({"metadata":{"name":"job-)", tmpl, "-", number, R"(","namespace":"ns-)", tmpl % 50,
                      R"(","uid":"pod-)", number, R"(","labels":{"job":"job-)", tmpl, R"("}},"spec":{"affinity":{)",
                      affinity, R"(},"containers":[{"name":"c","image":"registry/job-)", tmpl,
                      R"(:1","resources":{"requests":{"cpu":")", 10 + tmpl % 990, R"(m","memory":"64Mi"}}}]}})");
}

// A cluster in which every bind succeeds.
class World final : public scheduler::Actions {
 public:
  World(const DayOptions& options, const std::string& release) {
    recording::CoreConfiguration config;
    config.release = release;
    const bool by_provider = releases::Of(*release::Named(release).value()).decides.plugins == nullptr;
    config.profiles = {{"default-scheduler", by_provider ? std::string(scheduler::kDefaultProvider) : "", "", ""}};
    recording::Core::Surroundings around;
    around.actions = this;
    around.clock = &clock_;
    auto made = recording::Core::Make(config, around);
    CHECK(made.ok()) << made.status();
    core_ = *std::move(made);
    if (options.kept_mib > 0) algorithm().LimitKeptAnswers(options.kept_mib << 20, 1);
    for (uint64_t i = 0; i < options.nodes; ++i) ChangeNode(i, 0);
  }
  ~World() override = default;

  void ChangeNode(uint64_t i, uint64_t version) {
    const auto known = nodes_.find(i);
    api::NodePtr node = Decoded(api::DecodeNode, NodeText(i, version));
    core_->scheduler->Apply(scheduler::Change<api::Node>{known == nodes_.end() ? nullptr : known->second, node});
    nodes_[i] = std::move(node);
  }
  // Shows the pod, and lets it be decided and bound.
  void Come(uint64_t number, uint64_t tmpl) {
    core_->scheduler->Apply(scheduler::Change<api::Pod>{nullptr, Decoded(api::DecodePod, PodText(number, tmpl))});
    clock_.Advance(absl::Milliseconds(86));  // a million in a day
    core_->scheduler->Tick();
    while (core_->scheduler->ScheduleOne()) {
    }
    for (const auto& [id, pod] : std::exchange(binds_, {})) {
      core_->scheduler->Apply(scheduler::Reply{id, {}, nullptr});
      auto before = std::make_shared<api::Pod>(*pod);
      before->node_name = util::SharedSymbol();
      core_->scheduler->Apply(scheduler::Change<api::Pod>{std::move(before), pod});
      live_.push_back(pod);
      ++placed_;
    }
  }
  // Ends the oldest pods until there are `count` left.
  void Leave(size_t count) {
    for (; live_.size() > count; live_.pop_front()) {
      core_->scheduler->Apply(scheduler::Change<api::Pod>{live_.front(), nullptr});
    }
  }
  uint64_t placed() const { return placed_; }
  scheduler::GenericScheduler& algorithm() { return *core_->profiles.begin()->second.algorithm; }

  void Bind(scheduler::RequestId id, const api::PodPtr& pod, scheduler::Extender*) override {
    binds_.emplace_back(id, pod);
  }
  void UpdatePodCondition(scheduler::RequestId, const api::PodPtr&, const api::PodCondition&) override {}
  void SetNominatedNode(scheduler::RequestId, const api::PodPtr&, util::Symbol) override {}
  void DeletePod(scheduler::RequestId, const api::PodPtr&) override {}
  void GetPod(scheduler::RequestId, const api::Pod&) override {}
  void GetNode(scheduler::RequestId, util::Symbol) override {}
  void UpdateVolume(scheduler::RequestId, const scheduler::VolumeBinder::Binding&) override {}
  void RecordEvent(const api::PodPtr&, scheduler::EventType, std::string_view, std::string) override {}

 private:
  util::ManualClock clock_;
  std::unique_ptr<recording::Core> core_;
  std::map<uint64_t, api::NodePtr> nodes_;
  std::deque<api::PodPtr> live_;
  std::vector<std::pair<scheduler::RequestId, api::PodPtr>> binds_;
  uint64_t placed_ = 0;
};

}  // namespace

int RunDay(const DayOptions& options, std::ostream& out) {
  const auto named = release::Named(options.release.empty() ? release::Default().name : options.release);
  if (!named.ok()) {
    out << "churn: " << named.status().message() << "\n";
    return 2;
  }
  World world(options, std::string((*named)->name));
  std::mt19937_64 random(options.seed);
  int64_t first = 0, last = 0, most = 0;
  const uint64_t tenth = std::max<uint64_t>(1, options.pods / 10);
  for (uint64_t n = 0; n < options.pods; ++n) {
    if (n % 10 == 0) world.ChangeNode(random() % options.nodes, n / 10);
    world.Come(n, random() % options.templates);
    world.Leave(options.live);
    if ((n + 1) % tenth != 0) continue;
    last = ResidentBytes();
    most = std::max(most, last);
    if ((n + 1) / tenth == 2) first = last;
    out << absl::StrFormat("%9d pods came: %d MiB, of which %d MiB kept answers", n + 1, last >> 20,
                           world.algorithm().kept_answers_bytes() >> 20)
        << std::endl;
  }
  const double grown = first == 0 ? 0 : static_cast<double>(last) / static_cast<double>(first) - 1;
  out << absl::StrFormat(
      "{\"pods\":%d,\"placed\":%d,\"firstBytes\":%d,\"lastBytes\":%d,\"mostBytes\":%d,\"grown\":%.4f}\n", options.pods,
      world.placed(), first, last, most, grown);
  return grown > 0.05 ? 1 : 0;
}

}  // namespace berth::churn
