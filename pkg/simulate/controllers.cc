#include "pkg/simulate/controllers.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "pkg/lab/edit.h"
#include "pkg/lab/expand.h"

namespace berth::simulate {

Controllers::Controllers(const Case& what, Timeline* timeline, Pods* pods, Budgets* budgets, Workloads* workloads)
    : what_(what), timeline_(timeline), pods_(pods), budgets_(budgets), workloads_(workloads) {}

// Where the release tries pods before their back-off ends, one may be evicted and placed again for ever, and time would
// never go on. After a few times its controller needs a second, and then longer, up to about a minute.
void Controllers::Replace(const PodState& gone) {
  constexpr uint8_t kFew = 8, kMostDoublings = 6;
  const Micros now = timeline_->now();
  const uint8_t brief = gone.arrived == now ? std::min<uint8_t>(gone.brief + 1, kFew + kMostDoublings) : 0;
  if (brief < kFew) return ComeAgain(gone, brief, now);
  timeline_->After(kSecond << (brief - kFew), [this, gone, brief, now] { ComeAgain(gone, brief, now); });
}

void Controllers::ComeAgain(const PodState& gone, uint8_t brief, Micros evicted_at) {
  PodState& p = pods_->AddLike(gone);
  p.evicted_at = evicted_at;
  p.brief = brief;
}

// As a ReplicaSet does it: pods without a node go first, then those that have not started, then the youngest.
void Controllers::ScaleDown(std::vector<PodState*> pods, int64_t replicas) {
  const auto rank = [](const PodState* p) {
    return std::tuple(p->node != nullptr, p->ready, -p->arrived, p->object->meta.name);
  };
  std::sort(pods.begin(), pods.end(), [&](const PodState* a, const PodState* b) { return rank(a) < rank(b); });
  pods.resize(pods.size() - static_cast<size_t>(replicas));
  std::vector<PodHandle> going;
  for (const PodState* p : pods) going.push_back(PodTable::HandleOf(*p));
  for (PodHandle h : going) {
    PodState* const p = pods_->table().Find(h);
    if (p != nullptr && !p->was_placed) pods_->NeverPlaced(p);
    if (p != nullptr) pods_->Leave(p, false);
  }
}

void Controllers::ScaleTo(const std::string& workload, int64_t replicas) {
  workloads_->Scale(workload, replicas);
  std::vector<PodState*> pods;
  pods_->table().ForEach([&](PodState* p) {
    if (!p->leaving && workloads_->Of(*p->object) == workload) pods.push_back(p);
  });
  budgets_->NoteScale();
  const auto have = static_cast<int64_t>(pods.size());
  if (have > replicas) return ScaleDown(std::move(pods), replicas);
  const auto like = what_.workload_pods->find(workload);
  for (int64_t i = have; i < replicas && like != what_.workload_pods->end(); ++i) {
    Arrival a;
    a.pod = like->second;
    a.name = absl::StrCat(like->second->meta.name, "-scaled-", ++scaled_);
    pods_->Arrive(a);
  }
}

void Controllers::StartDaemons(NodeState* node) {
  for (const api::PodPtr& pod : lab::DaemonPodsOn(*node->plain, *what_.scenario)) {
    auto own = std::make_shared<api::Pod>(*pod);
    own->meta.name = pods_->table().TakeName(own->meta.ns.string(), std::move(own->meta.name));
    own->meta.resource_version = pods_->NextVersion();
    if (!pods_->table().HasUid(own->meta.uid)) pods_->AddBound(std::move(own), node);
  }
}

}  // namespace berth::simulate
