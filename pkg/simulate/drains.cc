#include "pkg/simulate/drains.h"

#include <algorithm>
#include <utility>

#include "pkg/util/contract.h"

namespace berth::simulate {
namespace {

// How long `kubectl drain` waits before it asks again for an eviction that a budget has refused.
constexpr Micros kEvictionRetry = 5 * kSecond;

}  // namespace

bool Drains::IsDraining(const std::string& node) const {
  auto it = nodes_.find(node);
  return it != nodes_.end() && it->second.draining;
}

void Drains::Roll(Micros back_after, std::vector<std::string> nodes) {
  while (!nodes.empty()) {
    const std::string name = std::move(nodes.back());
    nodes.pop_back();
    if (cluster_->HasNode(name) && !IsDraining(name)) return Start(name, back_after, std::move(nodes));
    measures_->NoteIdleStep("roll", name, IsDraining(name) ? "is being drained already" : "is not there");
  }
}

void Drains::Start(const std::string& node, Micros back_after, std::vector<std::string> next) {
  std::vector<Drain>& all = measures_->counts().drains;
  State& state = nodes_[node];
  BERTH_REQUIRES(!state.draining);
  state.draining = true;
  state.back_after = back_after;
  state.next = std::move(next);
  state.refused.clear();
  state.number = all.size();
  all.push_back({node, timeline_->now(), kNever, 0});
  ++under_way_;
  cluster_->Cordon(node, true);
  Retry(node);
}

void Drains::Retry(const std::string& node) {
  State& state = nodes_[node];
  Outcome& counts = measures_->counts();
  for (const std::string& uid : cluster_->PodsToLeave(node)) {
    switch (cluster_->Evict(node, uid)) {
      case Drainable::Eviction::kDone:
        ++counts.drains[state.number].evictions;
        break;
      case Drainable::Eviction::kRefused:
        if (state.refused.insert(uid).second) ++counts.refusals;
        break;
      case Drainable::Eviction::kNotNeeded:
        break;
    }
    if (!state.draining) return;
  }
  state.retried_at = session_->changes();
  Continue(node);
  if (!state.draining) return;
  timeline_->TryAfter(kEvictionRetry, [this, node, number = state.number] {
    const State& now = nodes_[node];
    if (now.draining && now.number == number) Retry(node);
  });
}

// Ends the drain if the node is empty.
void Drains::Continue(const std::string& node) {
  if (IsDraining(node) && cluster_->PodsToLeave(node).empty()) End(node);
}

void Drains::OnLeft(const std::string& node) {
  if (IsDraining(node)) End(node);
}

void Drains::End(const std::string& node) {
  State& state = nodes_[node];
  state.draining = false;
  --under_way_;
  measures_->counts().drains[state.number].empty = timeline_->now();
  if (state.back_after == kNever) return Roll(kNever, std::move(state.next));
  timeline_->After(std::max<Micros>(state.back_after, 1), [this, node, number = state.number] {
    if (nodes_[node].number == number) Return(node);
  });
}

void Drains::Return(const std::string& node) {
  State& state = nodes_[node];
  if (cluster_->HasNode(node)) cluster_->Cordon(node, false);
  Roll(state.back_after, std::move(state.next));
}

bool Drains::HaveTried() const {
  return under_way_ == 0 || std::all_of(nodes_.begin(), nodes_.end(), [this](const auto& n) {
           return !n.second.draining || n.second.retried_at == session_->changes();
         });
}

}  // namespace berth::simulate
