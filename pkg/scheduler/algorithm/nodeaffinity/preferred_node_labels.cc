// The Score of the plugin NodeAffinity of release 1.19. Source:
// pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go.
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "pkg/scheduler/algorithm/nodeaffinity/label_matcher.h"
#include "pkg/scheduler/algorithm/nodeaffinity/nodeaffinity.h"
#include "pkg/scheduler/algorithm/normalize.h"
#include "pkg/util/status.h"

namespace berth::scheduler::nodeaffinity {
namespace {

// Returns why the expressions of the term cannot be parsed, as 1.19 words it. 1.10 does not name the key of a label
// value that is not allowed, and later releases do so in another form: PATH[KEY]: Invalid value: "VALUE": WHY.
std::string ErrorWithKey(const api::NodeSelectorTerm& term) {
  constexpr std::string_view kInvalidValue = "invalid label value: ", kFieldError = "]: Invalid value: ";
  const std::string& error = term.match.error;
  if (!error.starts_with(kInvalidValue)) return error;
  for (const std::string& problem : term.problems) {
    const size_t end = problem.find(kFieldError);
    const size_t begin = end == std::string::npos ? end : problem.rfind('[', end);
    if (begin == std::string::npos) continue;
    // The value is quoted as in the error of 1.10, so it ends where that error goes on.
    const std::string value = problem.substr(end + kFieldError.size());
    const size_t why = value.find("\": ");
    if (why == std::string::npos || !error.substr(kInvalidValue.size()).starts_with(value.substr(0, why + 1))) continue;
    const std::string key = problem.substr(begin + 1, end - begin - 1);
    return absl::StrCat(error.substr(0, kInvalidValue.size()), value.substr(0, why + 1), ": at key: \"", key, "\"",
                        error.substr(kInvalidValue.size() + why + 1));
  }
  return error;
}

// A term that cannot be parsed is an error of the scheduling cycle, even if an earlier one matches.
class PreferredLabelsScoring final : public Scoring {
 public:
  PreferredLabelsScoring(const PodContext& ctx, int64_t max_score) : ctx_(ctx), max_score_(max_score) {
    if (!ctx.pod.tmpl->affinity.node) return;
    for (const api::PreferredSchedulingTerm& t : ctx.pod.tmpl->affinity.node->preferred) {
      if (t.weight == 0) continue;
      if (t.preference.has_expressions && !t.preference.match.ok()) {
        error_ = ErrorWithKey(t.preference);
        return;
      }
      if (t.preference.has_expressions) terms_.push_back(&t);
    }
  }
  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override {
    if (!error_.empty()) return util::InvalidArgument(error_);
    std::fill(scores.begin(), scores.end(), 0);
    Compile();
    for (size_t t = 0; t < terms_.size(); ++t) {
      matchers_[t].AddWeight(rows, terms_[t]->weight, scores);
    }
    return absl::OkStatus();
  }
  bool OnePass() const override { return true; }
  bool NodeLabels(std::vector<const LabelColumn*>* columns) override {
    if (!error_.empty()) return false;
    if (terms_.empty()) return true;
    Compile();
    const size_t before = columns->size();
    for (const LabelMatcher& m : matchers_) m.AppendColumns(columns);
    return columns->size() > before;  // without columns, all scores would have to be 0
  }
  absl::Status Reduce(std::span<const Row>, std::span<int64_t> scores) override {
    NormalizeReduce(scores, false, max_score_);
    return absl::OkStatus();
  }

 private:
  // Creates the matchers, one for each term, or updates them.
  void Compile() {
    for (LabelMatcher& m : matchers_) m.Refresh();
    if (!matchers_.empty()) return;
    for (const auto* t : terms_) matchers_.emplace_back(ctx_.cache, t->preference.match.selector);
  }

  PodContext ctx_;
  int64_t max_score_;
  std::string error_;                                       // of the first term that cannot be parsed
  std::vector<const api::PreferredSchedulingTerm*> terms_;  // those that can match
  std::vector<LabelMatcher> matchers_;
};

}  // namespace

PriorityFunction PreferredNodeLabels(const PluginFactoryArgs& args) {
  return [max = args.max_score](const PodContext& ctx) { return std::make_unique<PreferredLabelsScoring>(ctx, max); };
}

}  // namespace berth::scheduler::nodeaffinity
