#include "pkg/scheduler/core/fast_path.h"

#include <absl/hash/hash.h>

#include <algorithm>

#include "pkg/scheduler/core/pod_class.h"

namespace berth::scheduler {
namespace {

// Classes kept at most; beyond it those that were not used for longest go.
constexpr size_t kMostClasses = 4096;

bool SameAmounts(const Resource& a, const Resource& b) {
  return a.milli_cpu == b.milli_cpu && a.memory == b.memory && a.nvidia_gpu == b.nvidia_gpu &&
         a.ephemeral_storage == b.ephemeral_storage && a.scalars == b.scalars;
}

// Do nodes look the same to pods of both templates, to rules that read these parts?
bool AlikeForNodes(const TemplateInfo& a, const TemplateInfo& b, uint8_t parts) {
  const api::PodTemplate& x = *a.tmpl;
  const api::PodTemplate& y = *b.tmpl;
  if (a.best_effort != b.best_effort || x.node_selector != y.node_selector || x.tolerations != y.tolerations ||
      x.affinity.node != y.affinity.node) {
    return false;
  }
  if ((parts & kLimits) != 0 && !SameAmounts(a.limits, b.limits)) return false;
  if ((parts & kController) != 0 && x.controller != y.controller) return false;
  return (parts & kImages) == 0 ||
         std::equal(x.containers.begin(), x.containers.end(), y.containers.begin(), y.containers.end(),
                    [](const api::Container& c, const api::Container& d) { return c.image == d.image; });
}

size_t HashForNodes(const TemplateInfo& i) {
  size_t hash = absl::HashOf(i.best_effort, i.tmpl->tolerations.size(), i.tmpl->affinity.node.has_value());
  for (const api::Toleration& t : i.tmpl->tolerations) hash = absl::HashOf(hash, t.key.id(), t.value.id());
  for (const auto& [key, value] : i.tmpl->node_selector) hash = absl::HashOf(hash, key.id(), value.id());
  return hash;
}

// The same for rows: nodes and what is on them.
bool AlikeForRows(const TemplateInfo& a, const TemplateInfo& b, uint8_t parts) {
  return SameAmounts(a.request, b.request) && a.nonzero_milli_cpu == b.nonzero_milli_cpu &&
         a.nonzero_memory == b.nonzero_memory && a.host_ports == b.host_ports && AlikeForNodes(a, b, parts);
}

size_t HashForRows(const TemplateInfo& i) {
  return absl::HashOf(i.request.milli_cpu, i.request.memory, i.nonzero_milli_cpu, i.nonzero_memory, i.host_ports.size(),
                      HashForNodes(i));
}

api::PodPtr WithoutVolumes(const api::PodPtr& pod) {
  if (pod->tmpl->volumes.empty()) return pod;
  api::PodTemplate tmpl = *pod->tmpl;
  tmpl.volumes.clear();
  auto out = std::make_shared<api::Pod>(*pod);
  out->tmpl = api::PodTemplate::Intern(std::move(tmpl));
  return out;
}

}  // namespace

FastPath::FastPath(Cache* cache, const AlgorithmConfig* config) : cache_(cache), config_(config) {}
FastPath::~FastPath() = default;

// Only nodes with the annotation make the pod's controller matter.
uint8_t FastPath::parts() const {
  return avoiding_ ? rules_->parts : rules_->parts & static_cast<uint8_t>(~kController);
}

std::shared_ptr<NodeClass> FastPath::NodeClassOf(PreparedRules* rules, const std::vector<Symbol>& topology_keys) {
  const TemplateInfo& info = *cache_->Info(rules->pod->tmpl);
  auto& same_hash = node_classes_[HashForNodes(info)];
  for (auto& e : same_hash) {
    if (e.topology_keys == topology_keys && AlikeForNodes(*cache_->Info(e.like), info, parts())) return e.shared;
  }
  same_hash.push_back({rules->pod->tmpl, topology_keys, std::make_shared<NodeClass>(cache_, rules, topology_keys)});
  return same_hash.back().shared;
}

RowClass* FastPath::RowClassOf(const api::PodPtr& pod, const std::vector<Symbol>& topology_keys) {
  const TemplateInfo& info = *cache_->Info(pod->tmpl);
  auto& same_hash = row_classes_[HashForRows(info)];
  for (auto& e : same_hash) {
    if (e.topology_keys == topology_keys && AlikeForRows(*cache_->Info(e.like), info, parts())) return e.shared.get();
  }
  PreparedRules rules(cache_, rules_->about_nodes, pod);
  std::unique_ptr<RowClass> rows;
  if (rules.known) {
    std::shared_ptr<NodeClass> nodes = NodeClassOf(&rules, topology_keys);
    rows = std::make_unique<RowClass>(cache_, &rules, std::move(nodes), &scratch_);
  }
  same_hash.push_back({pod->tmpl, topology_keys, std::move(rows)});
  return same_hash.back().shared.get();
}

PodClass* FastPath::ClassOf(const api::PodPtr& pod) {
  std::unique_ptr<PodClass>& c = classes_[pod->tmpl.get()];
  if (c == nullptr) {
    c = std::make_unique<PodClass>(cache_, rules_->about_pods, pod);
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
    std::erase_if(entries, [&](const auto& e) { return !used.contains(e.shared.get()); });
  }
  absl::erase_if(row_classes_, [](const auto& entry) { return entry.second.empty(); });
  for (auto& [hash, entries] : node_classes_) {
    std::erase_if(entries, [](const auto& e) { return e.shared.use_count() == 1; });
  }
  absl::erase_if(node_classes_, [](const auto& entry) { return entry.second.empty(); });
}

// What can fail of the rules about the pod's volumes; nothing when one may have an error to tell.
std::optional<std::vector<std::unique_ptr<FitCheck>>> FastPath::AboutVolumes(const api::PodPtr& pod) const {
  std::vector<std::unique_ptr<FitCheck>> checks;
  if (pod->tmpl->volumes.empty()) return checks;
  PodContext ctx{*pod, *cache_->Info(pod->tmpl), *cache_};
  for (const ConfiguredPredicate* p : rules_->about_volumes.predicates) {
    std::unique_ptr<FitCheck> check = p->predicate(ctx);
    if (check->FitsAlways()) continue;
    if (check->MayError()) return std::nullopt;
    checks.push_back(std::move(check));
  }
  return checks;
}

FastPath::Answer FastPath::Place(const api::PodPtr& the_pod, const Narrow* nominated, uint64_t* last_node_index) {
  if (!the_pod->node_name.empty()) return {};
  if (!rules_) rules_.emplace(cache_, *config_, the_pod);
  auto volumes = AboutVolumes(the_pod);
  if (!volumes) return {};
  const api::PodPtr pod = WithoutVolumes(the_pod);
  if (bool avoiding = cache_->avoiding_nodes() != 0; avoiding != avoiding_) {
    avoiding_ = avoiding;
    classes_.clear();
    row_classes_.clear();
    node_classes_.clear();
  }
  PodClass* c = ClassOf(pod);
  c->last_use = ++uses_;
  if (!c->Usable()) return {};
  if (c->rows() == nullptr || c->rows()->topology_keys() != c->dense_keys()) {
    c->SetRows(RowClassOf(pod, c->dense_keys()));
    if (c->rows() == nullptr) return {};
  }
  if (volumes->empty() && nominated == nullptr) return c->Place(last_node_index);
  auto narrow = [&](RowSet* rows) {
    RowSet errors;
    for (auto& check : *volumes) check->Filter(rows, &errors);
    return errors.empty() && (nominated == nullptr || (*nominated)(rows));
  };
  return c->PlaceAmong(narrow, last_node_index);
}

}  // namespace berth::scheduler
