// Says why rows do not fit: builds the failures of all rows from the checks and the numbers with which filtering has
// entered them.
#include <absl/container/node_hash_map.h>

#include <algorithm>
#include <array>

#include "pkg/scheduler/core/filtering.h"

namespace berth::scheduler {
namespace {

// Finds the list of reasons of a check and a number. The pairs that were looked up most recently are in a small table,
// which saves most lookups in the map, of which there would be one for each row.
class KnownLists {
 public:
  // Returns where the index of the list is, and whether the pair was not known yet. Valid until the next call. If the
  // pair is new, the caller must set the index.
  std::pair<uint32_t*, bool> Find(uint32_t check, uint32_t number) {
    const std::pair key(check, number);
    Recent& recent = recent_[(check * 31 + number + (number >> 6)) % recent_.size()];
    if (recent.list != nullptr && recent.key == key) return {recent.list, false};
    auto [it, fresh] = lists_.try_emplace(key);
    recent = {key, &it->second};
    return {recent.list, fresh};
  }

 private:
  struct Recent {
    std::pair<uint32_t, uint32_t> key;
    uint32_t* list = nullptr;  // the value of the key in lists_; null: none
  };
  std::array<Recent, 64> recent_;
  absl::node_hash_map<std::pair<uint32_t, uint32_t>, uint32_t> lists_;
};

}  // namespace

// Writes the predicates that rejected the rows.
void Filtering::Trace(const Checks& checks, const Filtered& filtered, DecisionTrace* trace) const {
  const std::vector<Symbol>& names = cache_->columns().name;
  const auto is_final = [](const FailureReason& r) { return r.unresolvable; };
  std::vector<FailureReason> reasons;
  for (const Filtered::Failed& f : filtered.failed) {
    trace->rejected_by.emplace_back(names[f.row], checks.rules[f.check]->name);
    if (filtered.combinations.empty()) continue;
    for (const uint32_t check : filtered.combinations.ChecksOf(f.number)) {
      reasons.clear();
      AppendReasons(checks, check, f.row, &reasons);
      const bool unresolvable = std::any_of(reasons.begin(), reasons.end(), is_final);
      trace->rejections.push_back({names[f.row], checks.rules[check]->name, unresolvable});
    }
  }
  for (const auto& [row, why] : filtered.explained) {
    trace->rejected_by.emplace_back(names[row], checks.rules[why.check]->name);
    for (const auto& [check, unresolvable] : why.all) {
      trace->rejections.push_back({names[row], checks.rules[check]->name, unresolvable});
    }
  }
}

// Adds the rows that failed, with a list of reasons for all rows with the same check and number of reasons. Rows with
// number 0 may have different reasons, so each of them is explained by itself.
void Filtering::AddByCheck(const api::Pod& pod, const Checks& checks, const Filtered& filtered,
                           NodeFailures* failures) const {
  std::vector<FailureReason> reasons;
  KnownLists lists;
  // Most rows have the list of the row before.
  uint32_t last_check = 0, last_number = 0, last_list = 0;
  const Symbol* const name_of = cache_->columns().name.data();
  failures->AddNew(filtered.failed.size(), [&, failed = filtered.failed.data()](size_t i) {
    const Filtered::Failed& f = failed[i];
    if (f.number == last_number && f.check == last_check && f.number != 0) return std::pair(name_of[f.row], last_list);
    auto [list, fresh] = lists.Find(f.check, f.number);
    if (fresh || f.number == 0) {
      reasons.clear();
      std::optional<Cache::Simulation> simulation;
      if (f.beside) AddNominated(pod, f.row, &simulation.emplace(cache_, f.row));
      AppendReasons(checks, f.check, f.row, &reasons);
      *list = failures->ListOf(reasons);
    }
    last_check = f.check;
    last_number = f.number;
    last_list = *list;
    return std::pair(name_of[f.row], last_list);
  });
}

// The same for the rows with the same combination of checks.
void Filtering::AddByCombination(const Checks& checks, const Filtered& filtered, NodeFailures* failures) const {
  constexpr uint32_t kUnknown = ~uint32_t{0};
  std::vector<uint32_t> lists(filtered.combinations.limit(), kUnknown);
  std::vector<FailureReason> reasons;
  const Symbol* const name_of = cache_->columns().name.data();
  failures->AddNew(filtered.failed.size(), [&, failed = filtered.failed.data(), list_of = lists.data()](size_t i) {
    const Filtered::Failed& f = failed[i];
    if (list_of[f.number] != kUnknown) return std::pair(name_of[f.row], list_of[f.number]);
    reasons.clear();
    for (const uint32_t check : filtered.combinations.ChecksOf(f.number)) AppendReasons(checks, check, f.row, &reasons);
    const uint32_t list = failures->ListOf(reasons);
    if (filtered.combinations.at(f.number).numbered) list_of[f.number] = list;
    return std::pair(name_of[f.row], list);
  });
}

// Builds the failures of all rows.
std::shared_ptr<NodeFailures> Filtering::Explain(const api::Pod& pod, Checks& checks, const Filtered& filtered,
                                                 DecisionTrace* trace) const {
  auto failures = std::make_shared<NodeFailures>();
  failures->Reserve(filtered.failed.size() + filtered.explained.size());
  const std::vector<Symbol>& names = cache_->columns().name;
  if (filtered.combinations.empty()) {
    AddByCheck(pod, checks, filtered, failures.get());
  } else {
    AddByCombination(checks, filtered, failures.get());
  }
  for (const auto& [row, why] : filtered.explained) failures->AddNew(names[row], why.reasons);
  if (trace != nullptr) Trace(checks, filtered, trace);
  return failures;
}

}  // namespace berth::scheduler
