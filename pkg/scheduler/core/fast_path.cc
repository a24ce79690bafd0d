#include "pkg/scheduler/core/fast_path.h"

#include <absl/hash/hash.h>

#include <algorithm>

#include "pkg/scheduler/core/pod_class.h"

namespace berth::scheduler {
namespace {

// Classes kept at most; beyond it those that were not used for longest go.
constexpr size_t kMostClasses = 4096;

// Which parts of a template this configuration's rules look at beyond those that every rule may.
uint8_t PartsRead(const AlgorithmConfig& config, const PodContext& ctx) {
  uint8_t parts = 0;
  for (const ConfiguredPriority& p : config.priorities) parts |= p.function(ctx)->parts();
  // Only nodes with the annotation make the pod's controller matter.
  if (ctx.cache.avoiding_nodes() == 0) parts &= static_cast<uint8_t>(~kController);
  return parts;
}

bool SameAmounts(const Resource& a, const Resource& b) {
  return a.milli_cpu == b.milli_cpu && a.memory == b.memory && a.nvidia_gpu == b.nvidia_gpu &&
         a.ephemeral_storage == b.ephemeral_storage && a.scalars == b.scalars;
}

// Do rows look the same to pods of both templates?
bool AlikeForRows(const TemplateInfo& a, const TemplateInfo& b, uint8_t parts) {
  const api::PodTemplate& x = *a.tmpl;
  const api::PodTemplate& y = *b.tmpl;
  if (!SameAmounts(a.request, b.request) || a.nonzero_milli_cpu != b.nonzero_milli_cpu ||
      a.nonzero_memory != b.nonzero_memory || a.best_effort != b.best_effort || a.host_ports != b.host_ports ||
      x.node_selector != y.node_selector || x.tolerations != y.tolerations || x.affinity.node != y.affinity.node) {
    return false;
  }
  if ((parts & kLimits) != 0 && !SameAmounts(a.limits, b.limits)) return false;
  if ((parts & kController) != 0 && x.controller != y.controller) return false;
  return (parts & kImages) == 0 ||
         std::equal(x.containers.begin(), x.containers.end(), y.containers.begin(), y.containers.end(),
                    [](const api::Container& c, const api::Container& d) { return c.image == d.image; });
}

size_t HashForRows(const TemplateInfo& i) {
  return absl::HashOf(i.request.milli_cpu, i.request.memory, i.nonzero_milli_cpu, i.nonzero_memory, i.host_ports.size(),
                      i.tmpl->tolerations.size(), i.tmpl->node_selector.size());
}

}  // namespace

FastPath::FastPath(Cache* cache, const AlgorithmConfig* config) : cache_(cache), config_(config) {}
FastPath::~FastPath() = default;

RowClass* FastPath::RowClassOf(const api::PodPtr& pod, const std::vector<Symbol>& topology_keys) {
  TemplateInfo* info = cache_->Info(pod->tmpl);
  uint8_t parts = PartsRead(*config_, PodContext{*pod, *info, *cache_});
  std::vector<RowClassEntry>& same_hash = row_classes_[HashForRows(*info)];
  for (RowClassEntry& e : same_hash) {
    if (e.topology_keys == topology_keys && AlikeForRows(*cache_->Info(e.like), *info, parts)) return e.rows.get();
  }
  same_hash.push_back({pod->tmpl, topology_keys, RowClass::Make(cache_, *config_, pod, topology_keys)});
  return same_hash.back().rows.get();
}

PodClass* FastPath::ClassOf(const api::PodPtr& pod) {
  std::unique_ptr<PodClass>& c = classes_[pod->tmpl.get()];
  if (c == nullptr) {
    c = std::make_unique<PodClass>(cache_, *config_, pod);
    if (classes_.size() > kMostClasses) DropOldClasses();
  }
  return classes_[pod->tmpl.get()].get();
}

void FastPath::DropOldClasses() {
  std::vector<uint64_t> uses;
  for (const auto& [tmpl, c] : classes_) uses.push_back(c->last_use);
  std::nth_element(uses.begin(), uses.begin() + static_cast<ptrdiff_t>(uses.size() / 2), uses.end());
  uint64_t limit = uses[uses.size() / 2];
  // The newest has not been used yet and stays.
  absl::erase_if(classes_,
                 [&](const auto& entry) { return entry.second->last_use != 0 && entry.second->last_use < limit; });
  absl::flat_hash_set<const RowClass*> used;
  for (const auto& [tmpl, c] : classes_) used.insert(c->rows());
  for (auto& [hash, entries] : row_classes_) {
    std::erase_if(entries, [&](const RowClassEntry& e) { return !used.contains(e.rows.get()); });
  }
  absl::erase_if(row_classes_, [](const auto& entry) { return entry.second.empty(); });
}

FastPath::Answer FastPath::Place(const api::PodPtr& pod, uint64_t* last_node_index) {
  if (!pod->tmpl->volumes.empty() || !pod->node_name.empty()) return {};
  if (bool avoiding = cache_->avoiding_nodes() != 0; avoiding != avoiding_) {
    avoiding_ = avoiding;
    classes_.clear();
    row_classes_.clear();
  }
  PodClass* c = ClassOf(pod);
  c->last_use = ++uses_;
  if (!c->Usable()) return {};
  if (c->rows() == nullptr || c->rows()->topology_keys() != c->dense_keys()) {
    c->SetRows(RowClassOf(pod, c->dense_keys()));
    if (c->rows() == nullptr) return {};
  }
  return c->Place(last_node_index);
}

}  // namespace berth::scheduler
