#include <algorithm>

#include "pkg/scheduler/algorithm/priorities/priorities.h"
#include "pkg/util/status.h"

namespace berth::scheduler::priorities {
namespace {

class InterPodAffinityScoring final : public Scoring {
 public:
  InterPodAffinityScoring(const PodContext& ctx, Cache* cache, int hard_weight) : ctx_(ctx), hard_weight_(hard_weight) {
    const api::Affinity& a = ctx.pod.tmpl->affinity;
    if (a.pod) {
      for (const auto& t : a.pod->preferred) AddOwn(t, +1, cache);
    }
    if (a.pod_anti) {
      for (const auto& t : a.pod_anti->preferred) AddOwn(t, -1, cache);
    }
    const DeclaredTerms& declared = ctx.cache.declared_terms();
    if (declared.scoring() == 0) return;
    for (const DeclaredTerms::Term& t : declared.terms()) {
      // An unusable selector of a placed pod is that pod's problem (B-17, mended).
      if (t.scoring > 0 && !t.term.topology_key.empty() && t.Matches(*ctx.pod.tmpl)) {
        theirs_.push_back({&t, &ctx.cache.Label(t.term.topology_key)});
      }
    }
  }

  bool OnePass() const override { return true; }

  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override {
    if (!error_.empty()) return util::InvalidArgument(error_);
    std::fill(scores.begin(), scores.end(), 0);
    for (const Own& own : own_) {
      for (size_t i = 0; i < rows.size(); ++i) {
        Symbol value = (*own.column)[rows[i]];
        if (value != Cache::kNoValue) scores[i] += own.weight * own.count->InValue(value);
      }
    }
    for (const Theirs& their : theirs_) {
      for (size_t i = 0; i < rows.size(); ++i) {
        auto domain = their.term->domains.find((*their.column)[rows[i]]);
        if (domain == their.term->domains.end()) continue;
        scores[i] += domain->second.preferred_weight + int64_t{hard_weight_} * domain->second.affinity_required;
      }
    }
    return absl::OkStatus();
  }

  absl::Status Reduce(std::span<const Row>, std::span<int64_t> scores) override {
    int64_t max = 0, min = 0;
    for (int64_t s : scores) {
      max = std::max(max, s);
      min = std::min(min, s);
    }
    for (int64_t& s : scores) {
      if (max - min <= 0) {
        s = 0;
        continue;
      }
      double share = static_cast<double>(s - min) / static_cast<double>(max - min);
      s = static_cast<int64_t>(static_cast<double>(kMaxPriority) * share);
    }
    return absl::OkStatus();
  }

 private:
  struct Own {
    std::shared_ptr<const PodCount> count;
    const Cache::LabelColumn* column;
    int64_t weight;
  };
  struct Theirs {
    const DeclaredTerms::Term* term;
    const Cache::LabelColumn* column;
  };

  void AddOwn(const api::WeightedPodAffinityTerm& t, int sign, Cache* cache) {
    // A bad selector is noticed when there is a pod to compare with.
    if (!t.term.selector.ok()) {
      if (cache->pod_count() > 0) error_ = t.term.selector.error;
      return;
    }
    if (t.term.topology_key.empty()) return;
    PodQuery query;
    query.namespaces = t.term.namespaces;
    query.any_of = {t.term.selector.selector};
    query.topology_key = t.term.topology_key;
    int32_t weight = static_cast<int32_t>(static_cast<uint32_t>(t.weight) * static_cast<uint32_t>(sign));
    own_.push_back({cache->Count(query), &cache->Label(t.term.topology_key), weight});
  }

  PodContext ctx_;
  int hard_weight_;
  std::vector<Own> own_;       // the pod's preferences, with the pods that they are about
  std::vector<Theirs> theirs_;  // terms of placed pods that are about this pod
  std::string error_;
};

}  // namespace

PriorityFunction InterPodAffinity(const PluginFactoryArgs& args) {
  return [cache = args.cache, weight = args.hard_pod_affinity_symmetric_weight](const PodContext& ctx) {
    return std::make_unique<InterPodAffinityScoring>(ctx, cache, weight);
  };
}

}  // namespace berth::scheduler::priorities
