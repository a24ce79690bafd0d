#include "pkg/scheduler/algorithm/priorities/inter_pod_affinity.h"

#include <algorithm>

#include "pkg/scheduler/algorithm/priorities/priorities.h"
#include "pkg/util/status.h"

namespace berth::scheduler::priorities {
namespace {

// A bad selector is noticed when there is a pod to compare with.
bool AnyPodOnANode(const Cache& cache) {
  bool any = false;
  cache.listed().ForEach([&](Row row) { any |= !cache.row(row).pods.empty(); });
  return any;
}

}  // namespace

int64_t AffinityScore(int64_t raw, int64_t min, int64_t max) {
  if (max - min <= 0) return 0;
  double share = static_cast<double>(raw - min) / static_cast<double>(max - min);
  return static_cast<int64_t>(static_cast<double>(kMaxPriority) * share);
}

InterPodAffinityScoring::InterPodAffinityScoring(const PodContext& ctx, Cache* cache, int hard_weight)
    : ctx_(ctx), hard_weight_(hard_weight) {
  const api::Affinity& a = ctx.pod.tmpl->affinity;
  if (a.pod) {
    for (const auto& t : a.pod->preferred) AddOwn(t, +1, cache);
  }
  if (a.pod_anti) {
    for (const auto& t : a.pod_anti->preferred) AddOwn(t, -1, cache);
  }
  Refresh();
}

void InterPodAffinityScoring::AddOwn(const api::WeightedPodAffinityTerm& t, int sign, Cache* cache) {
  if (!t.term.selector.ok()) {
    if (error_.empty()) error_ = t.term.selector.error;  // of several the first is told
    return;
  }
  if (t.term.topology_key.empty()) return;
  PodQuery query;
  query.namespaces = t.term.namespaces;
  query.any_of = {t.term.selector.selector};
  query.topology_key = t.term.topology_key;
  int32_t weight = static_cast<int32_t>(static_cast<uint32_t>(t.weight) * static_cast<uint32_t>(sign));
  own_.push_back({cache->Count(query), t.term.topology_key, weight});
}

bool InterPodAffinityScoring::Refresh() {
  const DeclaredTerms& declared = ctx_.cache.declared_terms();
  if (version_ == declared.version()) return false;
  version_ = declared.version();
  std::vector<uint32_t> found;
  for (uint32_t i = 0; i < declared.terms().size(); ++i) {
    const DeclaredTerms::Term& t = declared.terms()[i];
    // An unusable selector of a placed pod is that pod's problem (B-17, mended).
    if (t.declares_scoring && !t.term.topology_key.empty() && t.Matches(*ctx_.pod.tmpl)) found.push_back(i);
  }
  bool changed = found != theirs_;
  theirs_ = std::move(found);
  return changed;
}

Symbol InterPodAffinityScoring::TopologyKey(size_t term) const {
  if (term < own_.size()) return own_[term].key;
  return ctx_.cache.declared_terms().terms()[theirs_[term - own_.size()]].term.topology_key;
}

int64_t InterPodAffinityScoring::InValue(size_t term, Symbol value) const {
  if (value == Cache::kNoValue) return 0;
  if (term < own_.size()) return own_[term].weight * own_[term].count->InValue(value);
  const auto& domains = ctx_.cache.declared_terms().terms()[theirs_[term - own_.size()]].domains;
  auto in = domains.find(value);
  return in == domains.end() ? 0 : in->second.preferred_weight + int64_t{hard_weight_} * in->second.affinity_required;
}

std::vector<Symbol> InterPodAffinityScoring::Values(size_t term) const {
  std::vector<Symbol> out;
  if (term < own_.size()) {
    for (const auto& [value, n] : own_[term].count->values()) out.push_back(value);
  } else {
    for (const auto& [value, in] : ctx_.cache.declared_terms().terms()[theirs_[term - own_.size()]].domains) {
      out.push_back(value);
    }
  }
  return out;
}

absl::Status InterPodAffinityScoring::Map(std::span<const Row> rows, std::span<int64_t> scores) {
  if (!error_.empty() && AnyPodOnANode(ctx_.cache)) return util::InvalidArgument(error_);
  Refresh();
  std::fill(scores.begin(), scores.end(), 0);
  for (size_t t = 0; t < term_count(); ++t) {
    const Cache::LabelColumn& column = ctx_.cache.Label(TopologyKey(t));
    for (size_t i = 0; i < rows.size(); ++i) scores[i] += InValue(t, column[rows[i]]);
  }
  return absl::OkStatus();
}

absl::Status InterPodAffinityScoring::Reduce(std::span<const Row>, std::span<int64_t> scores) {
  int64_t max = 0, min = 0;
  for (int64_t s : scores) {
    max = std::max(max, s);
    min = std::min(min, s);
  }
  for (int64_t& s : scores) s = AffinityScore(s, min, max);
  return absl::OkStatus();
}

PriorityFunction InterPodAffinity(const PluginFactoryArgs& args) {
  return [cache = args.cache, weight = args.hard_pod_affinity_symmetric_weight](const PodContext& ctx) {
    return std::make_unique<InterPodAffinityScoring>(ctx, cache, weight);
  };
}

}  // namespace berth::scheduler::priorities
