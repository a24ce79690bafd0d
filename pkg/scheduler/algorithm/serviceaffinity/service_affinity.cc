#include <algorithm>

#include "pkg/scheduler/algorithm/serviceaffinity/serviceaffinity.h"
#include "pkg/scheduler/algorithm/reasons.h"

namespace berth::scheduler::serviceaffinity {
namespace {

class ServiceAffinityCheck final : public FitCheck {
 public:
  ServiceAffinityCheck(const PodContext& ctx, const std::vector<Symbol>& labels) : cache_(ctx.cache), labels_(labels) {
    const api::PodTemplate& t = *ctx.pod.tmpl;
    for (Symbol label : labels) {
      if (auto value = t.node_selector.Get(label)) given_.emplace_back(label, *value);
    }
    std::sort(given_.begin(), given_.end());
    given_.erase(std::unique(given_.begin(), given_.end()), given_.end());
    if (labels.size() <= given_.size() || ctx.cache.listers().ServicesOf(t).empty()) return;
    api::Selector like = api::Selector::FromMapValidated(t.labels);
    for (const auto& [tmpl, info] : ctx.cache.templates()) {
      if (tmpl->ns != t.ns || info->pods == 0 || !like.Matches(tmpl->labels)) continue;
      for (const auto& [row, placed] : info->rows) {
        for (const PlacedPod& p : ctx.cache.row(row).pods) {
          if (p.info == info.get() && ctx.cache.row(row).node != nullptr) references_.push_back({p.pod, row});
        }
      }
    }
    // Upstream takes any (B-14, mended): ours is the first by name.
    std::sort(references_.begin(), references_.end(),
              [](const Reference& a, const Reference& b) { return a.pod->meta.name < b.pod->meta.name; });
  }

  Verdict Check(Row row) override {
    const api::Labels& node = cache_.row(row).node->labels;
    for (const auto& [label, value] : given_) {
      if (node.Get(label) != value) return Verdict::kFails;
    }
    const Reference* reference = Find(row);
    if (reference == nullptr) return Verdict::kFits;
    const api::Labels& theirs = cache_.row(reference->row).node->labels;
    for (Symbol label : labels_) {
      if (std::any_of(given_.begin(), given_.end(), [&](const auto& g) { return g.first == label; })) continue;
      if (auto value = theirs.Get(label); value && node.Get(label) != *value) return Verdict::kFails;
    }
    return Verdict::kFits;
  }
  void Explain(Row, std::vector<FailureReason>* out) override { out->push_back(reasons::kServiceAffinityViolated); }

 private:
  struct Reference {
    api::PodPtr pod;
    Row row;
  };
  // The first reference pod that is still where it was: preemption asks with pods of this very row taken away.
  const Reference* Find(Row row) const {
    for (const Reference& r : references_) {
      if (r.row != row) return &r;
      const auto& pods = cache_.row(row).pods;
      if (std::any_of(pods.begin(), pods.end(), [&](const PlacedPod& p) { return p.pod == r.pod; })) return &r;
    }
    return nullptr;
  }

  const Cache& cache_;
  const std::vector<Symbol>& labels_;
  std::vector<std::pair<Symbol, Symbol>> given_;  // from the pod's own nodeSelector
  std::vector<Reference> references_;
};

}  // namespace

FitPredicate ServiceAffinity(std::vector<Symbol> labels) {
  auto shared = std::make_shared<const std::vector<Symbol>>(std::move(labels));
  return [shared](const PodContext& ctx) { return std::make_unique<ServiceAffinityCheck>(ctx, *shared); };
}

}  // namespace berth::scheduler::serviceaffinity
