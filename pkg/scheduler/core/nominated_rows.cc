#include "pkg/scheduler/core/nominated_rows.h"

namespace berth::scheduler {

// Looks up the nominated pods of one node.
void NominatedRows::Update(Symbol node) {
  const std::vector<api::PodPtr>& pods = pods_->For(node);
  if (pods.empty()) {
    nodes_.erase(node);
    return;
  }
  Entry& entry = nodes_[node];
  entry.row = cache_->FindRow(node);
  entry.nominees.clear();
  for (const api::PodPtr& p : pods) entry.nominees.push_back({p, cache_->Info(p->tmpl)});
}

// Rows are looked up anew when nodes have come or gone, because a row may then be that of another node.
void NominatedRows::Refresh() {
  if (pods_ == nullptr) return;
  if (known_ && names_version_ == cache_->names_version()) {
    if (seen_ == pods_->version()) return;
    known_ = pods_->ChangesSince(seen_, [&](Symbol node) { Update(node); });
  } else {
    known_ = false;
  }
  if (!known_) {
    nodes_.clear();
    for (const auto& [node, pods] : pods_->nodes()) Update(node);
  }
  known_ = true;
  seen_ = pods_->version();
  names_version_ = cache_->names_version();
}

void NominatedRows::For(const api::Pod& pod, std::vector<Found>* out) const {
  out->clear();
  if (nodes_.empty()) return;
  const int32_t priority = pod.Priority();
  const bool nominated = pods_->Has(pod);
  for (const auto& [node, entry] : nodes_) {
    if (entry.row == kNoRow || !cache_->listed().Has(entry.row)) continue;
    Found found{entry.row, !cache_->row(entry.row).saturated, {}};
    for (const Nominee& n : entry.nominees) {
      if (n.info->priority < priority || (nominated && n.pod->meta.uid == pod.meta.uid)) continue;
      const Resource& used = n.info->used;
      found.only_amounts = found.only_amounts && n.info->terms.empty() && !n.info->saturated;
      found.beside.milli_cpu = SaturatingAdd(found.beside.milli_cpu, used.milli_cpu);
      found.beside.memory = SaturatingAdd(found.beside.memory, used.memory);
      found.beside.nvidia_gpu = SaturatingAdd(found.beside.nvidia_gpu, used.nvidia_gpu);
      found.beside.ephemeral_storage = SaturatingAdd(found.beside.ephemeral_storage, used.ephemeral_storage);
      ++found.beside.pods;
    }
    if (found.beside.pods > 0) out->push_back(found);
  }
}

}  // namespace berth::scheduler
