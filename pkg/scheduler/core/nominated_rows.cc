#include "pkg/scheduler/core/nominated_rows.h"

#include <algorithm>
#include <limits>

#include "pkg/util/contract.h"

namespace berth::scheduler {

NominatedRows::Sum NominatedRows::NoSum(Row row) {
  return {row, true, std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::min(), {}};
}

void NominatedRows::AddTo(Sum* sum, const TemplateInfo& info) {
  const Resource& used = info.used;
  sum->only_amounts = sum->only_amounts && info.terms.empty() && !info.saturated;
  sum->least = std::min(sum->least, info.priority);
  sum->most = std::max(sum->most, info.priority);
  AddedAmounts& beside = sum->beside;
  beside.milli_cpu = SaturatingAdd(beside.milli_cpu, used.milli_cpu);
  beside.memory = SaturatingAdd(beside.memory, used.memory);
  beside.nvidia_gpu = SaturatingAdd(beside.nvidia_gpu, used.nvidia_gpu);
  beside.ephemeral_storage = SaturatingAdd(beside.ephemeral_storage, used.ephemeral_storage);
  ++beside.pods;
}

// Erases what is known of one node. The last node takes its place.
void NominatedRows::Drop(Symbol node) {
  const auto it = places_.find(node);
  if (it == places_.end()) return;
  const uint32_t place = it->second;
  places_.erase(it);
  if (place + 1 < nodes_.size()) {
    places_[nodes_.back()] = place;
    nodes_[place] = nodes_.back();
    sums_[place] = sums_.back();
    nominees_[place] = std::move(nominees_.back());
  }
  nodes_.pop_back();
  sums_.pop_back();
  nominees_.pop_back();
}

// Looks up the nominated pods of one node.
void NominatedRows::Update(Symbol node) {
  const std::vector<api::PodPtr>& pods = pods_->For(node);
  if (pods.empty()) return Drop(node);
  const auto [it, fresh] = places_.try_emplace(node, static_cast<uint32_t>(nodes_.size()));
  if (fresh) {
    nodes_.push_back(node);
    sums_.emplace_back();
    nominees_.emplace_back();
  }
  std::vector<Nominee>& nominees = nominees_[it->second];
  nominees.clear();
  Sum sum = NoSum(cache_->FindRow(node));
  for (const api::PodPtr& p : pods) {
    nominees.push_back({p, cache_->Info(*p)});
    AddTo(&sum, *nominees.back().info);
  }
  sums_[it->second] = sum;
}

// Rows are looked up anew when nodes have come or gone, because a row may then be that of another node.
void NominatedRows::Refresh() {
  if (pods_ == nullptr) return;
  if (known_ && order_version_ == cache_->order_version()) {
    if (seen_ == pods_->version()) return;
    known_ = pods_->ChangesSince(seen_, [&](Symbol node) { Update(node); });
  } else {
    known_ = false;
  }
  if (!known_) {
    places_.clear();
    nodes_.clear();
    sums_.clear();
    nominees_.clear();
    for (const auto& [node, pods] : pods_->nodes()) Update(node);
  }
  known_ = true;
  seen_ = pods_->version();
  order_version_ = cache_->order_version();
}

// Usually all pods of a node count or none does, and then their sum is known.
void NominatedRows::For(const api::Pod& pod, std::vector<Found>* out) const {
  BERTH_REQUIRES(pods_ == nullptr || (known_ && seen_ == pods_->version()));
  out->clear();
  if (nodes_.empty()) return;
  const int32_t priority = pod.Priority();
  const bool nominated = pods_->Has(pod);
  for (size_t i = 0; i < sums_.size(); ++i) {
    const Sum& all = sums_[i];
    if (all.most < priority || all.row == kNoRow || !cache_->listed().Has(all.row)) continue;
    const bool saturated = cache_->row(all.row).saturated;
    if (!nominated && all.least >= priority) {
      out->push_back({all.row, all.only_amounts && !saturated, all.beside});
      continue;
    }
    Sum some = NoSum(all.row);
    for (const Nominee& n : nominees_[i]) {
      if (n.info->priority < priority || (nominated && n.pod->meta.uid == pod.meta.uid)) continue;
      AddTo(&some, *n.info);
    }
    if (some.beside.pods > 0) out->push_back({some.row, some.only_amounts && !saturated, some.beside});
  }
}

}  // namespace berth::scheduler
