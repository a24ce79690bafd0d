// GpuShareFits: a fit predicate with a state of its own. A pod asks for thousandths of a GPU as an extended resource,
// and fits a node where a single GPU has that much left. The name of the resource is an argument:
//
//   {"name": "GpuShareFits", "argument": {"resource": "example.com/gpu-milli"}}
#include "plugin/examples/gpu_share.h"

#include <algorithm>
#include <memory>

#include "pkg/scheduler/algorithm/algorithm.h"
#include "pkg/scheduler/algorithm/arguments.h"
#include "pkg/scheduler/factory/factory.h"

namespace plugin::examples {

using berth::scheduler::ClusterPart;
using berth::scheduler::FailureReason;
using berth::scheduler::FitCheck;
using berth::scheduler::FitPredicate;
using berth::scheduler::PlacedPod;
using berth::scheduler::PluginFactoryArgs;
using berth::scheduler::PodContext;
using berth::scheduler::PredicateTraits;
using berth::scheduler::Row;
using berth::scheduler::Verdict;
using berth::util::Symbol;

std::vector<int64_t> Devices::Used(Row row) const {
  std::vector<int64_t> used;
  if (auto known = used_.find(row); known != used_.end()) used = known->second;
  const auto devices = static_cast<size_t>(cache_->row(row).allocatable.Scalar(resource_) / kWhole);
  used.resize(std::max(used.size(), devices));
  // A device that is gone has nothing left.
  for (size_t i = devices; i < used.size(); ++i) used[i] = std::max(used[i], kWhole);
  return used;
}

int Devices::Choose(Row row, int64_t share) const {
  const std::vector<int64_t> used = Used(row);
  int best = -1;
  for (size_t i = 0; i < used.size(); ++i) {
    if (used[i] + share > kWhole) continue;
    if (best < 0 || used[i] > used[static_cast<size_t>(best)]) best = static_cast<int>(i);
  }
  return best;
}

int Devices::DeviceOf(const std::string& uid) const {
  auto it = shares_.find(uid);
  return it == shares_.end() ? -1 : it->second.device;
}

void Devices::Placed(Row row, const PlacedPod& pod, bool trial) {
  const int64_t share = pod.info->used.Scalar(resource_);
  if (share == 0) return;
  const auto [it, fresh] = shares_.try_emplace(pod.pod->meta.uid, Share{-1, trial});
  // Who comes back from a trial gets what it had.
  if (fresh) it->second.device = Choose(row, share);
  if (it->second.device < 0) return;
  const auto device = static_cast<size_t>(it->second.device);
  std::vector<int64_t>& used = used_[row];
  if (used.size() <= device) used.resize(device + 1);
  used[device] += share;
}

void Devices::Left(Row row, const PlacedPod& pod, bool trial) {
  auto it = shares_.find(pod.pod->meta.uid);
  if (it == shares_.end()) return;
  if (it->second.device >= 0) used_[row][static_cast<size_t>(it->second.device)] -= pod.info->used.Scalar(resource_);
  if (!trial || it->second.of_trial) shares_.erase(it);
}

namespace {

class ShareCheck final : public FitCheck {
 public:
  ShareCheck(const PodContext& ctx, std::shared_ptr<const Devices> devices)
      : devices_(std::move(devices)), share_(ctx.info.request.Scalar(devices_->resource())) {}
  bool FitsAlways() const override { return share_ == 0; }
  Verdict Check(Row row) override {
    return share_ == 0 || devices_->Choose(row, share_) >= 0 ? Verdict::kFits : Verdict::kFails;
  }
  void Explain(Row, std::vector<FailureReason>* reasons) override {
    reasons->push_back({Symbol("node(s) had no GPU with enough left"), /*unresolvable=*/false});
  }

 private:
  std::shared_ptr<const Devices> devices_;
  int64_t share_;
};

FitPredicate GpuShareFits(const PluginFactoryArgs& args) {
  berth::scheduler::Arguments arguments(args);
  const Symbol resource(arguments.Text("resource", /*otherwise=*/"example.com/gpu-milli"));
  arguments.Finish();
  auto devices = std::make_shared<Devices>(args.cache, resource);
  args.cache->Tell(devices);
  return [devices](const PodContext& ctx) { return std::make_unique<ShareCheck>(ctx, devices); };
}

// The traits: what a pod asks for, and the pods on the node.
const std::string kRegistered = berth::scheduler::RegisterFitPredicateFactory(
    "GpuShareFits", GpuShareFits, PredicateTraits(berth::scheduler::kPodRequests, ClusterPart::kNodePods));

}  // namespace
}  // namespace plugin::examples
