#include <algorithm>
#include <vector>

#include "pkg/scheduler/algorithm/serviceaffinity/serviceaffinity.h"

namespace berth::scheduler::serviceaffinity {
namespace {

// serviceAntiAffinity: the score of a node is the fraction of the pods of the first service, among those on feasible
// nodes, that are outside its domain of the label. Nodes without the label score 0, but their pods count for the total,
// and so do terminating pods unless they are skipped. One channel counts the pods of the service on the node, and the label is a key. Source:
// ServiceAntiAffinity in pkg/scheduler/algorithm/priorities/selector_spreading.go (1.10).
class ServiceAntiAffinityScoring final : public DomainScoring {
 public:
  ServiceAntiAffinityScoring(const PodContext& ctx, Cache* cache, Symbol label, int64_t max_score,
                             bool skips_terminating)
      : ctx_(ctx), cache_(cache), max_score_(max_score), skips_terminating_(skips_terminating) {
    channels_ = {DomainChannel::kSum};
    keys_ = {&cache->Label(label)};
    Refresh();
  }

  bool Refresh() override {
    const api::PodTemplate& pod = *ctx_.pod.tmpl;
    const uint64_t version = ctx_.cache.listers().SelectorsVersion(pod.ns);
    if (known_ && version == version_) return false;
    known_ = true;
    version_ = version;
    std::shared_ptr<const PodCount> count;
    // If several services select the pod, the first by name counts.
    if (const auto services = ctx_.cache.listers().ServicesOf(pod); !services.empty()) {
      PodQuery query;
      query.namespaces = {pod.ns};
      query.any_of = {api::Selector::FromMapValidated(*services.front()->selector)};
      query.skip_terminating = skips_terminating_;
      count = cache_->Count(query);
    }
    const bool changed = terms_.empty() ? count != nullptr : terms_[0].totals != count;
    terms_.clear();
    if (count != nullptr) terms_.push_back({count, nullptr, 1, 0});
    return changed;
  }

  void Score(const DomainParts& parts, std::span<int64_t> scores) const override {
    int64_t total = 0;
    thread_local std::vector<int64_t> in_domain, domain_scores;
    in_domain.assign(keys_[0]->domain_limit(), 0);
    for (size_t i = 0; i < parts.size; ++i) {
      const int64_t pods = parts.sums[i].value * parts.nodes[i];
      total += pods;
      if (pods != 0 && parts.domains[i] != LabelColumn::kNoDomain) in_domain[parts.domains[i]] += pods;
    }
    domain_scores.assign(in_domain.size(), max_score_);
    for (size_t d = 0; total != 0 && d < in_domain.size(); ++d) {
      const double share = static_cast<double>(total - in_domain[d]) / static_cast<double>(total);
      domain_scores[d] = static_cast<int64_t>(static_cast<double>(max_score_) * share);
    }
    for (size_t i = 0; i < parts.size; ++i) {
      scores[i] = parts.domains[i] == LabelColumn::kNoDomain ? 0 : domain_scores[parts.domains[i]];
    }
  }

 private:
  PodContext ctx_;
  Cache* cache_;
  int64_t max_score_;
  bool skips_terminating_;
  bool known_ = false;
  uint64_t version_ = 0;  // version of the selectors in the pod's namespace
};

}  // namespace

PriorityFunction ServiceAntiAffinity(const PluginFactoryArgs& args, Symbol label) {
  return [cache = args.cache, label, max = args.max_score](const PodContext& ctx) {
    return std::make_unique<ServiceAntiAffinityScoring>(ctx, cache, label, max, false);
  };
}

PriorityFunction ServiceAntiAffinityOfLivePods(const PluginFactoryArgs& args, Symbol label) {
  return [cache = args.cache, label, max = args.max_score](const PodContext& ctx) {
    return std::make_unique<ServiceAntiAffinityScoring>(ctx, cache, label, max, true);
  };
}

}  // namespace berth::scheduler::serviceaffinity
