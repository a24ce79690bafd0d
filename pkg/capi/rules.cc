// Rules of the embedding program, called once a pod with all nodes.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "pkg/capi/cluster.h"
#include "pkg/util/status.h"

namespace berth::capi {

using scheduler::Row;
using scheduler::RowSet;

bool OwnRules::Filters() const {
  return std::any_of(rules.begin(), rules.end(), [](const OwnRule& r) { return !r.is_priority; });
}
bool OwnRules::HasPriorities() const {
  return std::any_of(rules.begin(), rules.end(), [](const OwnRule& r) { return r.is_priority; });
}
bool OwnRules::Chooses() const {
  return ties != Ties::kTurn || HasPriorities();
}

// Returns false and notes the error when the rule fails.
bool OwnRules::Call(const OwnRule& rule, const api::Pod& pod, std::vector<uint8_t>* feasible,
                    std::vector<double>* scores) {
  if (absl::Status s = columns.Refresh(*cache); !s.ok()) {
    error_ = util::Message(s);
    return false;
  }
  const std::string key = pod.meta.Key();
  char why[512] = "";
  berth_question q{};
  q.pod = key.c_str();
  q.template_ = reinterpret_cast<uintptr_t>(pod.tmpl.get());
  q.nodes = feasible->size();
  q.feasible = feasible->data();
  q.scores = scores == nullptr ? nullptr : scores->data();
  q.resources = columns.resources().size();
  q.requests = columns.Requests(cache->Info(pod.tmpl)->request);
  q.error = why;
  q.error_size = sizeof(why);
  const int32_t code = rule.function(rule.user, &q);
  why[sizeof(why) - 1] = '\0';
  if (code != 0) {
    error_ = absl::StrCat("rule ", rule.name, ": ", why[0] == '\0' ? "failed without saying why" : why);
    return false;
  }
  return true;
}

bool OwnRules::Filter(const api::PodPtr& pod, RowSet* rows, std::vector<Rejected>* rejected) {
  for (const OwnRule& rule : rules) {
    if (rule.is_priority) continue;
    feasible_.assign(cache->row_count(), 0);
    rows->ForEach([&](Row r) { feasible_[r] = 1; });
    if (!Call(rule, *pod, &feasible_, nullptr)) return false;
    rows->ForEach([&](Row r) {
      if (feasible_[r] != 0) return;
      rows->Erase(r);
      if (rejected != nullptr) rejected->push_back({r, rule.symbol});
    });
  }
  return true;
}

// Returns one of the best, which are indexes of `rows`, in the order in which the release numbers them.
size_t OwnRules::Pick(const std::vector<size_t>& best, std::span<const Row> rows, uint64_t turn) {
  std::vector<size_t> order = best;
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return cache->Rank(rows[a]) < cache->Rank(rows[b]); });
  switch (ties) {
    case Ties::kFirst:
      return order[0];
    case Ties::kTurn:
      return order[turn % order.size()];
    case Ties::kRandom:
      break;
  }
  // SplitMix64, so that equal seeds give equal choices everywhere.
  uint64_t z = random += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return order[(z ^ (z >> 31)) % order.size()];
}

bool OwnRules::AddScores(const api::Pod& pod, std::span<const Row> rows, std::vector<double>* sums) {
  for (const OwnRule& rule : rules) {
    if (!rule.is_priority) continue;
    feasible_.assign(cache->row_count(), 0);
    for (Row r : rows) feasible_[r] = 1;
    scores_.assign(cache->row_count(), 0);
    if (!Call(rule, pod, &feasible_, &scores_)) return false;
    for (size_t i = 0; i < rows.size(); ++i) {
      double& sum = (*sums)[i];
      sum += rule.weight * scores_[rows[i]];
      if (std::isfinite(sum)) continue;
      error_ = absl::StrCat("rule ", rule.name, ": the score of node ", cache->row(rows[i]).name.string(), " is ",
                            scores_[rows[i]], ", which times ", rule.weight,
                            " makes no finite total: must be a finite number");
      return false;
    }
  }
  return true;
}

std::optional<size_t> OwnRules::Choose(const api::PodPtr& pod, std::span<const Row> rows,
                                       std::span<const int64_t> totals, uint64_t turn, size_t* ties_out) {
  std::vector<double> sums(totals.begin(), totals.end());
  if (!AddScores(*pod, rows, &sums)) return std::nullopt;
  double most = -std::numeric_limits<double>::infinity();
  for (double s : sums) most = std::max(most, s);
  std::vector<size_t> best;
  for (size_t i = 0; i < sums.size(); ++i) {
    if (sums[i] == most) best.push_back(i);
  }
  *ties_out = best.size();
  return Pick(best, rows, turn);
}

}  // namespace berth::capi
