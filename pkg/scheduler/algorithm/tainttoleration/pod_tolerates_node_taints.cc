#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/algorithm/keep_rows.h"
#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/algorithm/tainttoleration/tainttoleration.h"
#include "pkg/util/contract.h"

namespace berth::scheduler::tainttoleration {
namespace {

const Symbol kNoSchedule("NoSchedule"), kNoExecute("NoExecute"), kEqual("Equal"), kExists("Exists"), kGreater("Gt"),
    kLess("Lt");

// Returns the first NoSchedule or NoExecute taint that no toleration tolerates, or null. 1.29 reports the first one in
// the order of the node, not the most severe.
const api::Taint* Untolerated(const Tolerations& tolerations, const std::vector<api::Taint>& taints) {
  for (const api::Taint& taint : taints) {
    if (taint.effect != kNoSchedule && taint.effect != kNoExecute) continue;
    if (!tolerations.Tolerate(taint)) return &taint;
  }
  return nullptr;
}

// The failure reason: the fixed text of 1.10, that of 1.19 or 1.29 with the taint, or that of 1.36 without it.
enum class Reason : uint8_t { kPlain, kNamesTaintNotTolerated, kNamesTaint, kOnlyUntolerated };

// Parses a whole number as the comparing operators do: no plus sign and no leading zeros.
std::optional<int64_t> WholeNumber(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.empty() || (digits.size() > 1 && digits[0] == '0')) return std::nullopt;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// A node fits if the pod tolerates all of its NoSchedule and NoExecute taints. Source: PodToleratesNodeTaints in
// pkg/scheduler/algorithm/predicates/predicates.go (1.10) and
// pkg/scheduler/framework/plugins/tainttoleration/taint_toleration.go (1.29).
class TaintsCheck final : public ColumnCheck {
 public:
  TaintsCheck(const Cache& cache, const std::vector<api::Toleration>& t, Reason reason, TolerationRules rules)
      : cache_(cache), tolerations_(t, rules), reason_(reason) {}

  Verdict Check(Row row) override { return Fits(row) ? Verdict::kFits : Verdict::kFails; }
  // With taints in the reasons, each distinct pair of key and value gets the next number, which needs up to 31 bits.
  int ReasonBits() const override { return NamesTaint() ? 31 : 1; }
  void NumberReasons(std::span<const Row> rows, const AddedAmounts* beside, std::span<uint32_t> numbers) override {
    if (!NamesTaint()) return ColumnCheck::NumberReasons(rows, beside, numbers);
    const uint32_t* const taints = cache_.columns().taints.data();
    const size_t limit = cache_.taint_lists().limit();
    if (limit > rows.size()) {
      for (size_t i = 0; i < rows.size(); ++i) numbers[i] = NumberOf(taints[rows[i]]);
      return;
    }
    // As in KeepFitting.
    std::vector<uint32_t> number_of(limit);
    for (uint32_t list = 0; list < limit; ++list) number_of[list] = NumberOf(list);
    const uint32_t* const of = number_of.data();
    for (size_t i = 0; i < rows.size(); ++i) numbers[i] = of[taints[rows[i]]];
  }
  bool ReadsOnlyAmounts() const override { return true; }
  // What the pod makes of all lists is found first if there are fewer of them than rows, so that the loop over rows has
  // no branch.
  void Filter(RowSet* candidates, RowSet*) override {
    const size_t limit = cache_.taint_lists().limit();
    if (limit == 1) return;  // no node has taints
    const uint32_t* const taints = cache_.columns().taints.data();
    if (limit > candidates->Size()) {
      candidates->ForEach([&](Row row) {
        if (taints[row] != 0 && !Fits(row)) candidates->Erase(row);
      });
      return;
    }
    EraseByList(FittingLists(), candidates);
  }
  void KeepFitting(std::vector<Row>* rows) override {
    const size_t limit = cache_.taint_lists().limit();
    if (limit == 1) return;
    if (limit > rows->size()) {
      std::erase_if(*rows, [&](Row row) { return !Fits(row); });
      return;
    }
    const std::vector<uint8_t> fits = FittingLists();
    const uint32_t* const taints = cache_.columns().taints.data();
    KeepRows(rows, [taints, of = fits.data()](size_t, Row row) { return of[taints[row]]; });
  }
  FreedNeed NeedsFreed(Row row) override { return Unchangeable(row); }
  void Explain(Row row, std::vector<FailureReason>* out) override {
    if (reason_ == Reason::kPlain) return out->push_back(reasons::kTaintsTolerationsNotMatch);
    if (reason_ == Reason::kOnlyUntolerated) return out->push_back(reasons::kUntoleratedTaints);
    const api::Taint* taint = FirstOf(row);
    const std::string named = absl::StrCat("{", taint->key.string(), ": ", taint->value.string(), "}");
    out->push_back(
        {Symbol(reason_ == Reason::kNamesTaint ? "node(s) had untolerated taint " + named
                                               : "node(s) had taint " + named + ", that the pod didn't tolerate"),
         true, reasons::kUntoleratedTaint});
  }

 private:
  bool NamesTaint() const { return reason_ == Reason::kNamesTaint || reason_ == Reason::kNamesTaintNotTolerated; }
  bool Fits(Row row) { return FirstOf(row) == nullptr; }
  void EraseByList(const std::vector<uint8_t>& fits, RowSet* candidates) const {
    const uint32_t* const taints = cache_.columns().taints.data();
    uint64_t* const words = candidates->words().data();
    candidates->ForEach(
        [=, of = fits.data()](Row row) { words[row / 64] &= ~(uint64_t{of[taints[row]] == 0} << (row % 64)); });
  }
  // Returns, by number of a list of taints, whether nodes with the list fit.
  std::vector<uint8_t> FittingLists() {
    std::vector<uint8_t> fits(cache_.taint_lists().limit());
    for (uint32_t number = 0; number < fits.size(); ++number) fits[number] = FirstIn(number) == nullptr ? 1 : 0;
    return fits;
  }
  // Returns the number of the reasons of nodes with this list of taints, or 0 if they fit.
  uint32_t NumberOf(uint32_t list) {
    const api::Taint* taint = FirstIn(list);
    if (taint == nullptr) return 0;
    uint32_t& number = first_[list].reason;
    if (number == 0) number = numbers_.try_emplace({taint->key, taint->value}, numbers_.size() + 1).first->second;
    return number;
  }
  // Returns the first taint of the node that the pod does not tolerate, or null.
  const api::Taint* FirstOf(Row row) { return FirstIn(cache_.columns().taints[row]); }
  // Returns the first taint in the list with this number that the pod does not tolerate, or null. It is looked for
  // once.
  const api::Taint* FirstIn(uint32_t number) {
    if (number == 0) return nullptr;
    const TaintLists& lists = cache_.taint_lists();
    if (lists_version_ != lists.version()) {
      lists_version_ = lists.version();
      first_.assign(lists.limit(), {});
    }
    int32_t& first = first_[number].place;
    if (first == kNotLooked) {
      const api::Taint* taint = Untolerated(tolerations_, lists[number]);
      first = taint == nullptr ? kNone : static_cast<int32_t>(taint - lists[number].data());
    }
    return first == kNone ? nullptr : &lists[number][static_cast<size_t>(first)];
  }

  const Cache& cache_;
  const Tolerations tolerations_;
  Reason reason_;
  static constexpr int32_t kNotLooked = -2, kNone = -1;
  // The first taint of a list that is not tolerated.
  struct First {
    int32_t place = kNotLooked;  // or kNone
    uint32_t reason = 0;         // its number in numbers_, or 0 if that was not asked for yet
  };
  std::vector<First> first_;  // by number of a list of taints
  uint64_t lists_version_ = ~uint64_t{0};
  absl::flat_hash_map<std::pair<Symbol, Symbol>, uint32_t> numbers_;  // by key and value of the taint
};

}  // namespace

// Source: ToleratesTaint in the API helpers of both releases. An empty effect or key matches every taint's. An empty
// operator means Equal; an unknown operator tolerates nothing. Exists ignores the value.
bool Tolerates(const api::Toleration& toleration, const api::Taint& taint, TolerationRules rules) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.op.empty() || toleration.op == kEqual) return toleration.value == taint.value;
  if (toleration.op == kExists) return true;
  if (!rules.compares || (toleration.op != kGreater && toleration.op != kLess)) return false;
  const auto have = WholeNumber(taint.value.str()), bound = WholeNumber(toleration.value.str());
  if (!have || !bound) return false;
  return toleration.op == kGreater ? *have > *bound : *have < *bound;
}

bool Tolerations::Tolerate(const api::Taint& taint) const {
  constexpr size_t kFew = 16;
  if (all_.size() <= kFew) {
    return std::any_of(all_.begin(), all_.end(), [&](const api::Toleration& t) { return Tolerates(t, taint, rules_); });
  }
  if (!indexed_) {
    for (const api::Toleration& t : all_) {
      const bool exists = t.op == kExists;
      if (exists || t.op.empty() || t.op == kEqual) {
        exact_.insert({t.effect, t.key, exists ? Symbol() : t.value, exists});
      } else {
        comparing_.push_back(&t);
      }
    }
    indexed_ = true;
  }
  for (const Symbol effect : {taint.effect, Symbol()}) {
    for (const Symbol key : {taint.key, Symbol()}) {
      if (exact_.contains({effect, key, Symbol(), true}) || exact_.contains({effect, key, taint.value, false}))
        return true;
    }
  }
  return std::any_of(comparing_.begin(), comparing_.end(),
                     [&](const api::Toleration* t) { return Tolerates(*t, taint, rules_); });
}

bool ToleratesAll(const api::PodTemplate& pod, const api::Node& node, TolerationRules rules) {
  return Untolerated(Tolerations(pod.tolerations, rules), node.taints) == nullptr;
}

void KeepTolerated(const api::PodTemplate& pod, const Cache& cache, TolerationRules rules, RowSet* rows) {
  BERTH_REQUIRES([&] {
    RowSet listed = *rows;
    listed.IntersectWith(cache.listed());
    return listed.Size() == rows->Size();
  }());
  TaintsCheck(cache, pod.tolerations, Reason::kPlain, rules).Filter(rows, nullptr);
}

FitPredicate PodToleratesNodeTaints(const PluginFactoryArgs&) {
  return [](const PodContext& ctx) {
    return std::make_unique<TaintsCheck>(ctx.cache, ctx.pod.tmpl->tolerations, Reason::kPlain, TolerationRules());
  };
}

FitPredicate TaintsNotTolerated(const PluginFactoryArgs&) {
  return [](const PodContext& ctx) {
    return std::make_unique<TaintsCheck>(ctx.cache, ctx.pod.tmpl->tolerations, Reason::kNamesTaintNotTolerated,
                                         TolerationRules());
  };
}

FitPredicate UntoleratedTaints(const PluginFactoryArgs&) {
  return [](const PodContext& ctx) {
    return std::make_unique<TaintsCheck>(ctx.cache, ctx.pod.tmpl->tolerations, Reason::kNamesTaint, TolerationRules());
  };
}

FitPredicate HasUntoleratedTaints(const PluginFactoryArgs&, TolerationRules rules) {
  return [rules](const PodContext& ctx) {
    return std::make_unique<TaintsCheck>(ctx.cache, ctx.pod.tmpl->tolerations, Reason::kOnlyUntolerated, rules);
  };
}

}  // namespace berth::scheduler::tainttoleration
