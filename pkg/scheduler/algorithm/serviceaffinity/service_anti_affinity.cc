#include <algorithm>
#include <vector>

#include "pkg/scheduler/algorithm/serviceaffinity/serviceaffinity.h"

namespace berth::scheduler::serviceaffinity {
namespace {

// serviceAntiAffinity: the score of a node is the fraction of the pods of the first service, among those on feasible
// nodes, that are outside its domain of the label. Nodes without the label score 0, but their pods count for the total,
// and so do terminating pods unless they are skipped. One channel counts the pods of the service on the node, and the
// label is a key. Source: ServiceAntiAffinity in pkg/scheduler/algorithm/priorities/selector_spreading.go (1.10).
class ServiceAntiAffinityScoring final : public DomainScoring {
 public:
  ServiceAntiAffinityScoring(const PodContext& ctx, Cache* cache, Symbol label, int64_t max_score,
                             bool skips_terminating, bool total_is_everywhere = false)
      : ctx_(ctx),
        cache_(cache),
        max_score_(max_score),
        skips_terminating_(skips_terminating),
        total_is_everywhere_(total_is_everywhere) {
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
    count_ = std::move(count);
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
    if (total_is_everywhere_ && count_ != nullptr) total = count_->total_all();
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
  bool total_is_everywhere_;               // up to 1.9
  std::shared_ptr<const PodCount> count_;  // null if no service selects the pod
  bool known_ = false;
  uint64_t version_ = 0;  // version of the selectors in the pod's namespace
};

// The score by several labels. Every label is a key; each gives a node its part of the score. Source:
// pkg/scheduler/framework/plugins/serviceaffinity/service_affinity.go (1.19).
class ByLabelsScoring final : public DomainScoring {
 public:
  ByLabelsScoring(const PodContext& ctx, Cache* cache, const std::vector<Symbol>& labels, int64_t max_score)
      : ctx_(ctx), cache_(cache), max_score_(static_cast<double>(max_score)) {
    channels_ = {DomainChannel::kSum};
    for (Symbol label : labels) keys_.push_back(&cache->Label(label));
    Refresh();
  }

  bool Refresh() override {
    const api::PodTemplate& pod = *ctx_.pod.tmpl;
    const uint64_t version = ctx_.cache.listers().SelectorsVersion(pod.ns);
    if (known_ && version == version_) return false;
    known_ = true;
    version_ = version;
    std::shared_ptr<const PodCount> count;
    // If several services select the pod, the first by name counts; upstream takes any of them. A service that selects
    // every pod counts none.
    if (const auto services = ctx_.cache.listers().ServicesOf(pod);
        !services.empty() && !services.front()->selector->empty()) {
      PodQuery query;
      query.namespaces = {pod.ns};
      query.any_of = {api::Selector::FromMap(*services.front()->selector)};
      query.skip_terminating = true;
      count = cache_->Count(query);
    }
    const bool changed = terms_.empty() ? count != nullptr : terms_[0].totals != count;
    terms_.clear();
    if (count != nullptr) terms_.push_back({count, nullptr, 1, 0});
    return changed;
  }

  void Score(const DomainParts& parts, std::span<int64_t> scores) const override {
    const size_t n = keys_.size();
    thread_local std::vector<double> sums;
    thread_local std::vector<int64_t> in_domain;
    sums.assign(parts.size, 0);
    for (size_t k = 0; k < n; ++k) {
      int64_t total = 0;
      in_domain.assign(keys_[k]->domain_limit(), 0);
      for (size_t i = 0; i < parts.size; ++i) {
        const int64_t pods = parts.sums[i].value * parts.nodes[i];
        total += pods;
        const uint32_t domain = parts.domains[i * n + k];
        if (pods != 0 && domain != LabelColumn::kNoDomain) in_domain[domain] += pods;
      }
      for (size_t i = 0; i < parts.size; ++i) {
        const uint32_t domain = parts.domains[i * n + k];
        if (domain == LabelColumn::kNoDomain) continue;
        double score = max_score_;
        if (total > 0)
          score = max_score_ * (static_cast<double>(total - in_domain[domain]) / static_cast<double>(total));
        sums[i] += score / static_cast<double>(n);
      }
    }
    for (size_t i = 0; i < parts.size; ++i) scores[i] = static_cast<int64_t>(sums[i]);
  }

 private:
  PodContext ctx_;
  Cache* cache_;
  double max_score_;
  bool known_ = false;
  uint64_t version_ = 0;  // version of the selectors in the pod's namespace
};

}  // namespace

PriorityFunction ServiceAntiAffinityByLabels(const PluginFactoryArgs& args, std::vector<Symbol> labels) {
  auto shared = std::make_shared<const std::vector<Symbol>>(std::move(labels));
  return [cache = args.cache, shared, max = args.max_score](const PodContext& ctx) {
    return std::make_unique<ByLabelsScoring>(ctx, cache, *shared, max);
  };
}

PriorityFunction ServiceAntiAffinity(const PluginFactoryArgs& args, Symbol label) {
  return [cache = args.cache, label, max = args.max_score](const PodContext& ctx) {
    return std::make_unique<ServiceAntiAffinityScoring>(ctx, cache, label, max, false);
  };
}

PriorityFunction ServiceAntiAffinityOfAllPods(const PluginFactoryArgs& args, Symbol label) {
  return [cache = args.cache, label, max = args.max_score](const PodContext& ctx) {
    return std::make_unique<ServiceAntiAffinityScoring>(ctx, cache, label, max, false, true);
  };
}

PriorityFunction ServiceAntiAffinityOfLivePods(const PluginFactoryArgs& args, Symbol label) {
  return [cache = args.cache, label, max = args.max_score](const PodContext& ctx) {
    return std::make_unique<ServiceAntiAffinityScoring>(ctx, cache, label, max, true);
  };
}

}  // namespace berth::scheduler::serviceaffinity
