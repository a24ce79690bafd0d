#include <algorithm>

#include "pkg/scheduler/algorithm/interpodaffinity/affinity_scores.h"
#include "pkg/scheduler/algorithm/interpodaffinity/declared_terms_of.h"
#include "pkg/scheduler/algorithm/interpodaffinity/interpodaffinity.h"
#include "pkg/util/status.h"

namespace berth::scheduler::interpodaffinity {
namespace {

// Upstream parses a selector only when there is a pod to compare with it. Without pods on nodes, an invalid one goes
// unnoticed.
bool AnyPodOnANode(const Cache& cache) {
  bool any = false;
  cache.listed().ForEach([&](Row row) { any |= !cache.row(row).pods.empty(); });
  return any;
}

// InterPodAffinityPriority. One channel sums up the weights of all terms that apply to the domains of a node: the
// preferred terms of the pod, and the preferred terms and required affinity terms of placed pods that match the pod.
// Preferred anti-affinity counts negative. Pods on all nodes count, not only those on feasible nodes. The required
// terms of the pod itself are not scored. Source: pkg/scheduler/algorithm/priorities/interpod_affinity.go (1.10).
class InterPodAffinityScoring final : public DomainScoring {
 public:
  InterPodAffinityScoring(const PodContext& ctx, Cache* cache, int hard_weight, int64_t max_score)
      : ctx_(ctx), cache_(cache), max_score_(max_score), theirs_(/*anti=*/false, hard_weight) {
    channels_ = {DomainChannel::kSum};
    const api::Affinity& a = ctx.pod.tmpl->affinity;
    if (a.pod) {
      for (const auto& t : a.pod->preferred) AddOwn(t, +1);
    }
    if (a.pod_anti) {
      for (const auto& t : a.pod_anti->preferred) AddOwn(t, -1);
    }
    theirs_.Refresh(*ctx.pod.tmpl, cache);
    ListTerms();
  }

  bool Refresh() override {
    if (!theirs_.Refresh(*ctx_.pod.tmpl, cache_)) return false;
    ListTerms();
    return true;
  }
  bool usable() const override { return error_.empty(); }
  bool OnePass() const override { return true; }
  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override {
    if (!error_.empty() && AnyPodOnANode(ctx_.cache)) return util::InvalidArgument(error_);
    return DomainScoring::Map(rows, scores);
  }
  // Both the smallest and the largest sum start at 0, so that a single common sum above 0 scores the highest score
  // everywhere.
  void Score(const DomainParts& parts, std::span<int64_t> scores) const override {
    ScoreByRange(parts, 0, max_score_, scores);
  }

 private:
  // Adds a preferred term of the pod as a term of the channel.
  void AddOwn(const api::WeightedPodAffinityTerm& t, int sign) {
    if (!t.term.selector.ok()) {
      if (error_.empty()) error_ = t.term.selector.error;  // the first of several is reported
      return;
    }
    // An empty topology key is in no domain, so that the term adds nothing.
    if (t.term.topology_key.empty()) return;
    PodQuery query;
    query.namespaces = t.term.namespaces;
    query.any_of = {t.term.selector.selector};
    query.topology_key = t.term.topology_key;
    // Upstream computes the weight in int32. The most negative weight stays negative when its sign is changed.
    const int32_t weight = static_cast<int32_t>(static_cast<uint32_t>(t.weight) * static_cast<uint32_t>(sign));
    if (weight != 0) own_.push_back({cache_->Count(query), nullptr, weight, 0});
  }
  // The totals of placed pods' terms contain the weights already.
  void ListTerms() {
    terms_ = own_;
    for (const auto& sum : theirs_.sums()) terms_.push_back({sum, nullptr, 1, 0});
  }

  PodContext ctx_;
  Cache* cache_;
  int64_t max_score_;
  std::vector<DomainTerm> own_;  // the preferred terms of the pod
  DeclaredTermsOf theirs_;
  std::string error_;
};

}  // namespace

PriorityFunction InterPodAffinity(const PluginFactoryArgs& args) {
  return [cache = args.cache, weight = args.hard_pod_affinity_symmetric_weight, max = args.max_score](
             const PodContext& ctx) { return std::make_unique<InterPodAffinityScoring>(ctx, cache, weight, max); };
}

}  // namespace berth::scheduler::interpodaffinity
