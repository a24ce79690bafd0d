#include "pkg/scheduler/core/extender_calls.h"

#include <glog/logging.h>

#include <algorithm>

#include "pkg/util/log_line.h"
#include "pkg/util/status.h"

namespace berth::scheduler {
namespace {

std::vector<api::NodePtr> NodesOf(const Cache& cache, const std::vector<Row>& rows) {
  std::vector<api::NodePtr> nodes;
  nodes.reserve(rows.size());
  for (Row r : rows) nodes.push_back(cache.row(r).node);
  return nodes;
}

}  // namespace

bool ExtenderCalls::AnyIsInterested(const api::Pod& pod) const {
  return std::any_of(extenders_->begin(), extenders_->end(), [&](const auto& e) { return e->IsInterested(pod); });
}

// Erases the rows that an extender rejects. Extenders are called one after another with the nodes that are left;
// answers in `round` from an earlier decision of the attempt are used instead of a call. Returns false and sets
// round->error when an extender failed that is not ignorable.
bool ExtenderCalls::Filter(const api::Pod& pod, std::vector<Row>* feasible, ExtenderRound* round) const {
  round->failed.clear();
  round->unresolvable.clear();
  size_t asked = 0;
  for (const auto& extender : *extenders_) {
    if (feasible->empty()) break;
    if (!extender->IsInterested(pod)) continue;
    if (asked == round->answers.size()) {
      auto result = extender->Filter(pod, NodesOf(*cache_, *feasible));
      if (!result.ok() && extender->IsIgnorable()) {
        util::LogLine("Skipping extender as it returned error and has ignorable flag set")
            .Add("extender", extender->name())
            .AddObject("pod", pod.meta.ns.str(), pod.meta.name)
            .Warning(util::Message(result.status()));
        result = Extender::FilterResult();
        for (Row r : *feasible) result->nodes.push_back(cache_->columns().name[r]);
      }
      if (!result.ok()) {
        round->error = util::Message(result.status());
        return false;
      }
      round->answers.push_back(std::move(*result));
    }
    const Extender::FilterResult& answer = round->answers[asked++];
    RowSet kept;
    kept.Resize(cache_->row_count());
    for (Symbol node : answer.nodes) {
      if (Row r = cache_->FindRow(node); r != kNoRow) kept.Insert(r);
    }
    std::erase_if(*feasible, [&](Row r) { return !kept.Has(r); });
    round->failed.insert(round->failed.end(), answer.failed.begin(), answer.failed.end());
    round->unresolvable.insert(round->unresolvable.end(), answer.unresolvable.begin(), answer.unresolvable.end());
  }
  return true;
}

// Adds the extenders' scores to the totals. The request lists the nodes in ascending order of rows, whatever the order
// of `rows`, so that it is the same whichever scheduler decides. An extender that fails adds nothing, as in 1.10.
void ExtenderCalls::AddScores(const api::Pod& pod, std::span<const Row> rows, std::span<int64_t> totals) const {
  std::vector<size_t> place(cache_->row_count());
  RowSet set;
  set.Resize(cache_->row_count());
  for (size_t i = 0; i < rows.size(); ++i) {
    place[rows[i]] = i;
    set.Insert(rows[i]);
  }
  std::vector<Row> ascending;
  ascending.reserve(rows.size());
  set.ForEach([&](Row r) { ascending.push_back(r); });
  const std::vector<api::NodePtr> nodes = NodesOf(*cache_, ascending);
  const std::vector<Symbol>& names = cache_->columns().name;
  for (const auto& extender : *extenders_) {
    if (!extender->IsInterested(pod)) continue;
    auto result = extender->Prioritize(pod, nodes);
    if (!result.ok()) {
      if (VLOG_IS_ON(2)) {
        util::LogLine("An extender could not prioritize")
            .Add("extender", extender->name())
            .AddObject("pod", pod.meta.ns.str(), pod.meta.name)
            .Add("err", util::Message(result.status()))
            .Info(2);
      }
      continue;
    }
    if (result->empty()) continue;
    for (Row r : ascending) {
      if (auto it = result->find(names[r]); it != result->end()) totals[place[r]] += it->second;
    }
  }
}

}  // namespace berth::scheduler
