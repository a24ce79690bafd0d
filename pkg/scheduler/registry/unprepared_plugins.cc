#include "pkg/scheduler/registry/unprepared_plugins.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <iterator>

#include "pkg/api/decode.h"
#include "pkg/util/status.h"

namespace berth::scheduler {
namespace {

// The error with which a plugin's Filter or Score fails in 1.29 if the state of its PreFilter or PreScore is missing.
struct Text {
  std::string_view plugin, error;
};
constexpr Text kNeedPreFilter[] = {
    {"NodePorts", "reading \"PreFilterNodePorts\" from cycleState: not found"},
    {"NodeResourcesFit", "error reading \"PreFilterNodeResourcesFit\" from cycleState: not found"},
    {"VolumeRestrictions", "cannot read \"PreFilterVolumeRestrictions\" from cycleState"},
    {"VolumeBinding", "not found"},
    {"PodTopologySpread", "reading \"PreFilterPodTopologySpread\" from cycleState: not found"},
    {"InterPodAffinity", "reading \"PreFilterInterPodAffinity\" from cycleState: not found"},
};
constexpr std::string_view kOtherPreFilters[] = {"NodeAffinity", "VolumeZone"};
constexpr Text kNeedPreScore[] = {
    {"TaintToleration", "failed to read \"PreScoreTaintToleration\" from cycleState: not found"},
    {"PodTopologySpread", "error reading \"PreScorePodTopologySpread\" from cycleState: not found"},
    {"InterPodAffinity", "failed to read \"PreScoreInterPodAffinity\" from cycleState: not found"},
};

template <typename Texts>
std::string_view Find(const Texts& texts, std::string_view plugin) {
  auto it = std::find_if(std::begin(texts), std::end(texts), [&](const Text& t) { return t.plugin == plugin; });
  return it == std::end(texts) ? std::string_view() : it->error;
}

// A Filter that needs the missing state of its PreFilter.
class FailsEverywhere final : public FitCheck {
 public:
  explicit FailsEverywhere(std::string_view error) : error_(error) {}
  bool MayError() const override { return true; }
  Verdict Check(Row) override { return Verdict::kError; }
  void Explain(Row, std::vector<FailureReason>*) override {}
  std::string Error(Row) override { return std::string(error_); }

 private:
  std::string_view error_;
};

// Passes on what Filter says and omits what PreFilter would say.
class FilterOnly final : public FitCheck {
 public:
  explicit FilterOnly(std::unique_ptr<FitCheck> check) : check_(std::move(check)) {}
  bool MayError() const override { return check_->MayError(); }
  bool FitsAlways() const override { return check_->FitsAlways(); }
  bool SkipsPod() override { return false; }
  Verdict Check(Row row) override { return check_->Check(row); }
  void Explain(Row row, std::vector<FailureReason>* out) override { check_->Explain(row, out); }
  std::string Error(Row row) override { return check_->Error(row); }

 private:
  std::unique_ptr<FitCheck> check_;
};

// Passes on what PreFilter says. If PreFilter rejects the pod, Check returns an error for every row, so that the
// rejection is not overlooked by code that only evaluates rows.
class PreFilterOnly final : public FitCheck {
 public:
  explicit PreFilterOnly(std::unique_ptr<FitCheck> check) : check_(std::move(check)) {
    rejects_ = check_->RejectsPod() != nullptr || !check_->PodError().empty();
    names_ = check_->OnlyNodes();
  }
  const PodRejection* RejectsPod() override { return check_->RejectsPod(); }
  std::string PodError() override { return check_->PodError(); }
  const std::vector<Symbol>* OnlyNodes() override { return names_; }
  bool MayError() const override { return rejects_ || names_ != nullptr; }
  bool FitsAlways() const override { return !MayError(); }
  Verdict Check(Row) override { return rejects_ ? Verdict::kError : Verdict::kFits; }
  void Explain(Row, std::vector<FailureReason>*) override {}

 private:
  std::unique_ptr<FitCheck> check_;
  bool rejects_ = false;
  const std::vector<Symbol>* names_ = nullptr;
};

// A Score that needs the missing state of its PreScore.
class FailsToScore final : public Scoring {
 public:
  FailsToScore(std::string_view plugin, std::string_view error)
      : text_(absl::StrCat("running Score plugins: plugin ", api::GoQuoted(plugin),
                           " failed with: ", util::ToAbsl(error))) {}
  absl::Status Map(std::span<const Row>, std::span<int64_t>) override { return util::InvalidArgument(text_); }
  bool OnePass() const override { return true; }

 private:
  std::string text_;
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

bool PreparesFilter(std::string_view plugin) {
  return !Find(kNeedPreFilter, plugin).empty() ||
         std::find(std::begin(kOtherPreFilters), std::end(kOtherPreFilters), plugin) != std::end(kOtherPreFilters);
}

FitPredicate WithoutPreFilter(std::string_view plugin, FitPredicate predicate) {
  const std::string_view error = Find(kNeedPreFilter, plugin);
  if (!error.empty()) return [error](const PodContext&) { return std::make_unique<FailsEverywhere>(error); };
  return [predicate](const PodContext& ctx) { return std::make_unique<FilterOnly>(predicate(ctx)); };
}

FitPredicate PreFilterAlone(FitPredicate predicate) {
  return [predicate](const PodContext& ctx) { return std::make_unique<PreFilterOnly>(predicate(ctx)); };
}

bool PreScoreMayFail(std::string_view plugin) {
  return plugin == "NodeAffinity" || plugin == "PodTopologySpread";
}

PriorityFunction PreScoreAlone(PriorityFunction function) {
  return [function](const PodContext& ctx) { return std::make_unique<PreScoreOnly>(function(ctx)); };
}

PriorityFunction WithoutPreScore(std::string_view plugin, PriorityFunction function) {
  const std::string_view error = Find(kNeedPreScore, plugin);
  if (error.empty()) return function;
  return [name = std::string(plugin), error](const PodContext&) { return std::make_unique<FailsToScore>(name, error); };
}

}  // namespace berth::scheduler
