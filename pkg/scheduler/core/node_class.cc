#include "pkg/scheduler/core/node_class.h"

#include <algorithm>

namespace berth::scheduler {

NodeClass::NodeClass(Cache* cache, PreparedRules* rules, std::vector<Symbol> topology_keys)
    : cache_(cache),
      pod_(rules->pod),
      checks_(std::move(rules->node_checks)),
      scores_(std::move(rules->node_scores)),
      raw_scores_(std::move(rules->raw_scores)),
      normalised_(std::move(rules->normalised)),
      topology_keys_(std::move(topology_keys)) {
  for (Symbol key : topology_keys_) columns_.push_back(&cache->Label(key));
}

// Of the row whose raw scores stand in key_, behind the places for zone and labels.
int32_t NodeClass::GroupOf(Row row) {
  key_[0] = cache_->columns().zone[row].id();
  for (size_t k = 0; k < columns_.size(); ++k) key_[1 + k] = (*columns_[k])[row].id();
  if (auto known = group_index_.find(key_); known != group_index_.end()) return known->second;
  group_index_.emplace(key_, static_cast<int32_t>(groups_.size()));
  Group& g = groups_.emplace_back();
  g.zone = cache_->columns().zone[row];
  for (const Cache::LabelColumn* column : columns_) g.values.push_back((*column)[row]);
  g.raw.assign(key_.begin() + 1 + static_cast<ptrdiff_t>(columns_.size()), key_.end());
  return static_cast<int32_t>(groups_.size()) - 1;
}

void NodeClass::Judge(std::span<const Row> rows) {
  std::vector<Row> fit;
  for (Row row : rows) {
    parts_[row] = Part{};
    bool fits = (cache_->columns().flags[row] & kRowListed) != 0;
    for (size_t i = 0; fits && i < checks_.size(); ++i) fits = checks_[i]->Check(row) == Verdict::kFits;
    if (fits) fit.push_back(row);
  }
  std::vector<int64_t> raws(fit.size() * raw_scores_.size()), scores(fit.size());
  for (size_t i = 0; i < raw_scores_.size(); ++i) {
    raw_scores_[i].scoring->Map(fit, {raws.data() + i * fit.size(), fit.size()}).IgnoreError();
  }
  key_.resize(1 + columns_.size() + raw_scores_.size());
  for (size_t k = 0; k < fit.size(); ++k) {
    for (size_t i = 0; i < raw_scores_.size(); ++i) key_[1 + columns_.size() + i] = raws[i * fit.size() + k];
    parts_[fit[k]].group = GroupOf(fit[k]);
  }
  for (PreparedRules::Weighted& w : scores_) {
    w.scoring->Map(fit, scores).IgnoreError();
    for (size_t k = 0; k < fit.size(); ++k) parts_[fit[k]].score += static_cast<int32_t>(scores[k] * w.weight);
  }
}

void NodeClass::Rebuild() {
  ++epoch_;
  built_ = true;
  groups_.clear();
  group_index_.clear();
  parts_.assign(cache_->row_count(), Part{});
  Judge(cache_->by_name_descending());
  groups_at_first_ = groups_.size();
}

void NodeClass::Refresh() {
  if (seen_ == cache_->generation() && built_) return;
  parts_.resize(cache_->row_count());
  std::vector<Row> changed;
  bool known = built_ && cache_->ChangesSince(seen_, [&](Row row, bool node_changed) {
    if (node_changed) changed.push_back(row);
  });
  seen_ = cache_->generation();
  if (known && changed.empty()) return;
  listed_ = false;
  // Groups of nodes that are gone are forgotten when they have become many.
  if (!known || changed.size() > parts_.size() || groups_.size() > 2 * groups_at_first_ + 64) return Rebuild();
  std::sort(changed.begin(), changed.end());
  changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
  Judge(changed);
}

void NodeClass::List() {
  if (listed_) return;
  listed_ = true;
  rows_.clear();
  ranks_.clear();
  const std::vector<Row>& by_name = cache_->by_name_descending();
  for (uint32_t rank = 0; rank < by_name.size(); ++rank) {
    if (parts_[by_name[rank]].group < 0) continue;
    rows_.push_back(by_name[rank]);
    ranks_.push_back(rank);
  }
}

const std::vector<Row>& NodeClass::rows() {
  List();
  return rows_;
}
const std::vector<uint32_t>& NodeClass::ranks() {
  List();
  return ranks_;
}

}  // namespace berth::scheduler
