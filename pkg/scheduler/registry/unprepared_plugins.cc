#include "pkg/scheduler/registry/unprepared_plugins.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <iterator>

#include "pkg/util/status.h"

namespace berth::scheduler {
namespace {

const UnpreparedPlugins::Text* Find(std::span<const UnpreparedPlugins::Text> texts, std::string_view plugin) {
  auto it = std::find_if(texts.begin(), texts.end(), [&](const auto& t) { return t.plugin == plugin; });
  return it == texts.end() ? nullptr : &*it;
}
bool Contains(std::span<const std::string_view> names, std::string_view plugin) {
  return std::find(names.begin(), names.end(), plugin) != names.end();
}

// A Filter that needs the missing state of its PreFilter.
class FailsEverywhere final : public FitCheck {
 public:
  explicit FailsEverywhere(std::string_view error) : error_(error) {}
  bool MayError() const override { return true; }
  Verdict Check(Row) override { return Verdict::kError; }
  void Explain(Row, std::vector<FailureReason>*) override {}
  RuleError Error(Row) override { return std::string(error_); }

 private:
  std::string_view error_;
};

// Passes on what Filter says and omits what PreFilter would say.
class FilterOnly final : public FitCheck {
 public:
  explicit FilterOnly(std::unique_ptr<FitCheck> check) : check_(std::move(check)) {}
  bool MayError() const override { return check_->MayError(); }
  bool FitsAlways() const override { return check_->FitsAlways(); }
  PreFilterResult PreFilter() override { return {}; }
  Verdict Check(Row row) override { return check_->Check(row); }
  void Explain(Row row, std::vector<FailureReason>* out) override { check_->Explain(row, out); }
  RuleError Error(Row row) override { return check_->Error(row); }

 private:
  std::unique_ptr<FitCheck> check_;
};

// Passes on what PreFilter says. If PreFilter rejects the pod, Check returns an error for every row, and if it names
// the nodes, no other node fits, so that neither is overlooked by code that only evaluates rows.
class PreFilterOnly final : public FitCheck {
 public:
  PreFilterOnly(const Cache& cache, std::unique_ptr<FitCheck> check) : cache_(cache), check_(std::move(check)) {
    const PreFilterResult result = check_->PreFilter();
    rejects_ = result.rejection != nullptr || !result.error.empty();
    names_ = result.only_nodes;
  }
  PreFilterResult PreFilter() override {
    PreFilterResult result = check_->PreFilter();
    result.only_nodes = names_;
    result.skip = FitsAlways();
    return result;
  }
  bool MayError() const override { return rejects_ || names_ != nullptr; }
  bool FitsAlways() const override { return !MayError(); }
  Verdict Check(Row row) override {
    if (rejects_) return Verdict::kError;
    const bool named =
        names_ == nullptr || std::find(names_->begin(), names_->end(), cache_.row(row).name) != names_->end();
    return named ? Verdict::kFits : Verdict::kFails;
  }
  void Explain(Row, std::vector<FailureReason>*) override {}

 private:
  const Cache& cache_;
  std::unique_ptr<FitCheck> check_;
  bool rejects_ = false;
  const std::vector<Symbol>* names_ = nullptr;
};

// A Score that needs the missing state of its PreScore.
class FailsToScore final : public Scoring {
 public:
  explicit FailsToScore(std::string_view error) : error_(error) {}
  absl::Status Map(std::span<const Row>, std::span<int64_t>) override { return util::InvalidArgument(error_); }
  bool OnePass() const override { return true; }

 private:
  std::string_view error_;
};

// Passes on the error of PreScore. It skips the pod otherwise, so that it does not appear among the scores.
class PreScoreOnly final : public Scoring {
 public:
  explicit PreScoreOnly(std::unique_ptr<Scoring> scoring) : scoring_(std::move(scoring)) {}
  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override {
    absl::Status status = scoring_->Map(rows, scores);
    std::fill(scores.begin(), scores.end(), 0);
    return status;
  }
  bool OnePass() const override { return true; }
  bool Skips(std::span<const Row> rows) override {
    std::vector<int64_t> scores(rows.size());
    return Map(rows, scores).ok();
  }

 private:
  std::unique_ptr<Scoring> scoring_;
};

}  // namespace

bool UnpreparedPlugins::PreparesFilter(std::string_view plugin) const {
  return Find(filters, plugin) != nullptr || Contains(other_pre_filters, plugin);
}

bool UnpreparedPlugins::FilterFails(std::string_view plugin) const {
  return Find(filters, plugin) != nullptr;
}

FitPredicate UnpreparedPlugins::WithoutPreFilter(std::string_view plugin, FitPredicate predicate) const {
  const Text* text = Find(filters, plugin);
  if (text == nullptr) {
    return [predicate](const PodContext& ctx) { return std::make_unique<FilterOnly>(predicate(ctx)); };
  }
  return [text, predicate](const PodContext& ctx) -> std::unique_ptr<FitCheck> {
    if (text->spares_others) {
      if (auto check = predicate(ctx); check->FitsAlways()) return check;
    }
    return std::make_unique<FailsEverywhere>(text->error);
  };
}

FitPredicate PreFilterAlone(FitPredicate predicate) {
  return [predicate](const PodContext& ctx) { return std::make_unique<PreFilterOnly>(ctx.cache, predicate(ctx)); };
}

bool UnpreparedPlugins::PreScoreMayFail(std::string_view plugin) const {
  return Contains(failing_pre_scores, plugin);
}

PriorityFunction PreScoreAlone(PriorityFunction function) {
  return [function](const PodContext& ctx) { return std::make_unique<PreScoreOnly>(function(ctx)); };
}

PriorityFunction UnpreparedPlugins::WithoutPreScore(std::string_view plugin, PriorityFunction function) const {
  const Text* text = Find(scores, plugin);
  if (text == nullptr) return function;
  return [text, function](const PodContext& ctx) -> std::unique_ptr<Scoring> {
    if (text->spares_others) {
      if (auto scoring = function(ctx); scoring->Skips({})) return scoring;
    }
    return std::make_unique<FailsToScore>(text->error);
  };
}

}  // namespace berth::scheduler
