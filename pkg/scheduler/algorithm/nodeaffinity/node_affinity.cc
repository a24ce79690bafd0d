#include <algorithm>

#include "pkg/scheduler/algorithm/nodeaffinity/label_matcher.h"
#include "pkg/scheduler/algorithm/nodeaffinity/nodeaffinity.h"
#include "pkg/scheduler/algorithm/normalize.h"
#include "pkg/util/status.h"

namespace berth::scheduler::nodeaffinity {
namespace {

// For fewer rows than this, matching the labels of every row is cheaper than preparing answers by label value.
constexpr size_t kFewRowsToScore = 16;

// NodeAffinityPriority: the sum of the weights of the matching preferred terms, normalised. An empty list of
// expressions matches no node. An invalid term is an error for the pod. Source:
// pkg/scheduler/algorithm/priorities/node_affinity.go (1.10).
class NodeAffinityScoring final : public Scoring {
 public:
  NodeAffinityScoring(const PodContext& ctx, int64_t max_score, bool reads_fields)
      : ctx_(ctx), max_score_(max_score), reads_fields_(reads_fields) {}
  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override {
    const auto& affinity = ctx_.pod.tmpl->affinity.node;
    if (!affinity || affinity->preferred.empty()) {
      std::fill(scores.begin(), scores.end(), 0);
      return absl::OkStatus();
    }
    if (rows.size() >= kFewRowsToScore && Compile(affinity->preferred))
      return MapByValue(affinity->preferred, rows, scores);
    for (size_t i = 0; i < rows.size(); ++i) {
      uint32_t sum = 0;  // upstream adds in int32, which may wrap
      if (affinity) {
        for (const api::PreferredSchedulingTerm& t : affinity->preferred) {
          if (t.weight == 0) continue;
          if (!t.preference.match.ok()) return util::InvalidArgument(t.preference.match.error);
          const api::Node& node = *ctx_.cache.row(rows[i]).node;
          if (reads_fields_ ? TermMatches(t.preference, node) : t.preference.match.selector.Matches(node.labels)) {
            sum += static_cast<uint32_t>(t.weight);
          }
        }
      }
      scores[i] = static_cast<int32_t>(sum);
    }
    return absl::OkStatus();
  }
  bool NodeLabels(std::vector<const LabelColumn*>* columns) override {
    const auto& affinity = ctx_.pod.tmpl->affinity.node;
    if (!affinity || affinity->preferred.empty()) return true;
    if (!Compile(affinity->preferred)) return false;
    const size_t before = columns->size();
    for (const LabelMatcher& m : matchers_) m.AppendColumns(columns);
    return columns->size() > before;  // without columns, all scores would have to be 0
  }
  absl::Status Reduce(std::span<const Row>, std::span<int64_t> scores) override {
    NormalizeReduce(scores, false, max_score_);
    return absl::OkStatus();
  }

 private:
  // Creates or updates the matchers, one for each term. Returns false if a term is invalid or has matchFields, which
  // need the node itself.
  bool Compile(const std::vector<api::PreferredSchedulingTerm>& terms) {
    for (const api::PreferredSchedulingTerm& t : terms) {
      if (!t.preference.match.ok() || (reads_fields_ && !t.preference.fields.empty())) return false;
    }
    for (LabelMatcher& m : matchers_) m.Refresh();
    if (!matchers_.empty()) return true;
    for (const api::PreferredSchedulingTerm& t : terms) {
      matchers_.emplace_back(ctx_.cache, t.preference.match.selector);
    }
    return true;
  }
  // The same as the loop in Map, from the label columns.
  absl::Status MapByValue(const std::vector<api::PreferredSchedulingTerm>& terms, std::span<const Row> rows,
                          std::span<int64_t> scores) const {
    std::fill(scores.begin(), scores.end(), 0);
    for (size_t t = 0; t < terms.size(); ++t) matchers_[t].AddWeight(rows, terms[t].weight, scores);
    for (int64_t& score : scores) score = static_cast<int32_t>(score);  // upstream adds in int32, which may wrap
    return absl::OkStatus();
  }

  PodContext ctx_;
  int64_t max_score_;
  bool reads_fields_;
  std::vector<LabelMatcher> matchers_;
};

}  // namespace

PriorityFunction NodeAffinity(const PluginFactoryArgs& args) {
  return
      [max = args.max_score](const PodContext& ctx) { return std::make_unique<NodeAffinityScoring>(ctx, max, true); };
}

PriorityFunction NodeAffinityByLabels(const PluginFactoryArgs& args) {
  return
      [max = args.max_score](const PodContext& ctx) { return std::make_unique<NodeAffinityScoring>(ctx, max, false); };
}

}  // namespace berth::scheduler::nodeaffinity
