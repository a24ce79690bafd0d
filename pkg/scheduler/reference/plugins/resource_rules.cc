// The plugins NodeResourcesFit and NodeResourcesBalancedAllocation.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>

#include "pkg/scheduler/reference/plugins/cloned.h"

namespace berth::scheduler::reference::plugins {
namespace {

// One resource of a node with the pod on it. `requested` includes the pod.
struct Share {
  int64_t requested = 0, allocatable = 0;
  int64_t weight = 0;
};

// Which sums of the node are read: those in which containers without a request count with a default, or the requests.
enum class View { kNonZero, kReal };

// A resource of the plugin's arguments.
struct Listed {
  explicit Listed(const configuration::ResourceSpec& spec)
      : text(spec.name), name(spec.name), weight(spec.weight), scalar(IsScalarName(spec.name)) {}
  std::string text;
  Symbol name;
  int64_t weight;
  bool scalar;
};
std::vector<Listed> ListedOf(const std::vector<configuration::ResourceSpec>& specs) {
  return {specs.begin(), specs.end()};
}

// Returns the resources of the list that count on this node: those that it has and, if they are scalar, that the pod
// requests.
std::vector<Share> SharesOf(const std::vector<Listed>& resources, const Resource& pod, const NodeInfo& info,
                            View view) {
  std::vector<Share> out;
  for (const Listed& spec : resources) {
    Symbol name = spec.name;
    const Resource& used = info.requested();
    Share s;
    s.weight = spec.weight;
    if (spec.text == "cpu") {
      s.requested = (view == View::kNonZero ? info.non_zero().cpu : used.cpu) + pod.cpu;
      s.allocatable = info.allocatable().cpu;
    } else if (spec.text == "memory") {
      s.requested = (view == View::kNonZero ? info.non_zero().memory : used.memory) + pod.memory;
      s.allocatable = info.allocatable().memory;
    } else if (spec.text == "ephemeral-storage") {
      s.requested = used.ephemeral_storage + pod.ephemeral_storage;
      s.allocatable = info.allocatable().ephemeral_storage;
    } else if (spec.scalar) {
      if (pod.Scalar(name) == 0) continue;
      s.requested = used.Scalar(name) + pod.Scalar(name);
      s.allocatable = info.allocatable().Scalar(name);
    }
    if (s.allocatable != 0) out.push_back(s);
  }
  return out;
}

// Returns the score for a utilization by linear interpolation between the points, whose scores 0..10 become 0..100.
int64_t OnShape(const std::vector<configuration::UtilizationShapePoint>& shape, int64_t utilization) {
  for (size_t i = 0; i < shape.size(); ++i) {
    if (utilization > shape[i].utilization) continue;
    int64_t here = shape[i].score * 10;
    if (i == 0) return here;
    int64_t before = shape[i - 1].score * 10, from = shape[i - 1].utilization;
    return before + (here - before) * (utilization - from) / (shape[i].utilization - from);
  }
  return shape.back().score * 10;
}

class NodeResourcesFit final : public Cloned<NodeResourcesFit> {
 public:
  explicit NodeResourcesFit(configuration::NodeResourcesFitArgs args)
      : args_(std::move(args)), listed_(ListedOf(args_.scoring_strategy->resources)) {}

  Status PreFilter(const Cycle& c, std::optional<std::set<Symbol>>*) override {
    request_ = RequestOf(c.tmpl());
    return {};
  }

  Status Filter(const Cycle&, const NodeInfo& info) override {
    Status status;
    auto fail = [&](std::string reason) {
      status.code = Status::Code::kUnschedulable;
      status.reasons.push_back(std::move(reason));
    };
    const Resource &has = info.allocatable(), &used = info.requested();
    if (static_cast<int64_t>(info.pods().size()) + 1 > has.pods) fail("Too many pods");
    auto check = [&](int64_t want, int64_t allocatable, int64_t requested, std::string_view name) {
      if (want > 0 && want > allocatable - requested) fail("Insufficient " + std::string(name));
    };
    check(request_.cpu, has.cpu, used.cpu, "cpu");
    check(request_.memory, has.memory, used.memory, "memory");
    check(request_.ephemeral_storage, has.ephemeral_storage, used.ephemeral_storage, "ephemeral-storage");
    for (const auto& [name, want] : request_.scalars) {
      if (!Ignored(name.string())) check(want, has.Scalar(name), used.Scalar(name), name.str());
    }
    return status;
  }

  Status Score(const Cycle& c, const NodeInfo& info, int64_t* score) override {
    const configuration::ScoringStrategy& strategy = *args_.scoring_strategy;
    if (!scored_) scored_ = RequestOf(c.tmpl(), Missing::kIsDefault);
    int64_t sum = 0, weights = 0;
    bool by_shape = strategy.type == "RequestedToCapacityRatio";
    for (const Share& s : SharesOf(listed_, *scored_, info, View::kNonZero)) {
      int64_t one = by_shape                           ? Shaped(s)
                    : strategy.type == "MostAllocated" ? std::min(s.requested, s.allocatable) * 100 / s.allocatable
                    : s.requested > s.allocatable      ? 0
                                                       : (s.allocatable - s.requested) * 100 / s.allocatable;
      if (by_shape && one <= 0) continue;
      sum += one * s.weight;
      weights += s.weight;
    }
    *score = weights == 0 ? 0
             : by_shape   ? static_cast<int64_t>(std::round(static_cast<double>(sum) / static_cast<double>(weights)))
                          : sum / weights;
    return {};
  }

  std::string_view NeedsPreFilter() const override {
    return "error reading \"PreFilterNodeResourcesFit\" from cycleState: not found";
  }

 private:
  bool Ignored(const std::string& name) const {
    if (!IsExtendedName(name)) return false;
    const auto &names = args_.ignored_resources, &groups = args_.ignored_resource_groups;
    return std::find(names.begin(), names.end(), name) != names.end() ||
           std::find(groups.begin(), groups.end(), name.substr(0, name.find('/'))) != groups.end();
  }
  int64_t Shaped(const Share& s) const {
    const auto& shape = args_.scoring_strategy->requested_to_capacity_ratio->shape;
    return OnShape(shape, s.requested > s.allocatable ? 100 : s.requested * 100 / s.allocatable);
  }

  configuration::NodeResourcesFitArgs args_;
  std::vector<Listed> listed_;
  Resource request_;
  std::optional<Resource> scored_;  // the request with defaults
};

class BalancedAllocation final : public Cloned<BalancedAllocation> {
 public:
  explicit BalancedAllocation(const configuration::NodeResourcesBalancedAllocationArgs& args)
      : listed_(ListedOf(args.resources)) {}

  Status Score(const Cycle& c, const NodeInfo& info, int64_t* score) override {
    if (!request_) request_ = RequestOf(c.tmpl());
    std::vector<double> fractions;
    double total = 0;
    for (const Share& s : SharesOf(listed_, *request_, info, View::kReal)) {
      double f = static_cast<double>(s.requested) / static_cast<double>(s.allocatable);
      fractions.push_back(std::min(f, 1.0));
      total += fractions.back();
    }
    double deviation = 0;
    if (fractions.size() == 2) {
      deviation = std::fabs((fractions[0] - fractions[1]) / 2);
    } else if (fractions.size() > 2) {
      double k = static_cast<double>(fractions.size()), mean = total / k, sum = 0;
      for (double f : fractions) sum = sum + (f - mean) * (f - mean);
      deviation = std::sqrt(sum / k);
    }
    *score = static_cast<int64_t>((1 - deviation) * 100.0);
    return {};
  }

 private:
  std::vector<Listed> listed_;
  std::optional<Resource> request_;
};

}  // namespace

std::unique_ptr<Plugin> MakeNodeResourcesFit(const configuration::NodeResourcesFitArgs& args) {
  return std::make_unique<NodeResourcesFit>(args);
}
std::unique_ptr<Plugin> MakeBalancedAllocation(const configuration::NodeResourcesBalancedAllocationArgs& args) {
  return std::make_unique<BalancedAllocation>(args);
}

}  // namespace berth::scheduler::reference::plugins
