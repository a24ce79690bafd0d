#include "pkg/scheduler/core/row_class.h"

#include <algorithm>

namespace berth::scheduler {

RowClass::RowClass(Cache* cache, const api::PodPtr& pod, std::vector<Symbol> topology_keys)
    : cache_(cache), pod_(pod), ctx_{*pod_, *cache->Info(pod->tmpl), *cache}, topology_keys_(std::move(topology_keys)) {
  for (Symbol key : topology_keys_) columns_.push_back(&cache->Label(key));
}

std::unique_ptr<RowClass> RowClass::Make(Cache* cache, const AlgorithmConfig& config, const api::PodPtr& pod,
                                         std::vector<Symbol> topology_keys) {
  std::unique_ptr<RowClass> c(new RowClass(cache, pod, std::move(topology_keys)));
  for (const ConfiguredPredicate& p : config.predicates) {
    std::unique_ptr<FitCheck> check = p.predicate(c->ctx_);
    switch (check->scope()) {
      case Scope::kNode:
        c->node_checks_.push_back(std::move(check));
        break;
      case Scope::kRow:
        c->row_checks_.push_back(std::move(check));
        break;
      case Scope::kAffinity:
        break;
      case Scope::kSpread:
      case Scope::kAnything:
        return nullptr;
    }
  }
  for (const ConfiguredPriority& p : config.priorities) {
    std::unique_ptr<Scoring> scoring = p.function(c->ctx_);
    Scope scope = scoring->scope();
    if (scope == Scope::kAffinity || scope == Scope::kSpread) continue;
    if (scope == Scope::kAnything) return nullptr;
    Weighted w{std::move(scoring), p.weight};
    switch (w.scoring->reduce_kind()) {
      case ReduceKind::kNone:
        (scope == Scope::kNode ? c->node_scores_ : c->row_scores_).push_back(std::move(w));
        break;
      case ReduceKind::kNormalize:
      case ReduceKind::kNormalizeReversed:
        if (scope != Scope::kNode) return nullptr;
        c->normalised_.push_back({w.weight, w.scoring->reduce_kind() == ReduceKind::kNormalizeReversed});
        c->raw_scores_.push_back(std::move(w));
        break;
      case ReduceKind::kOwn:
        return nullptr;
    }
  }
  // An error in mapping is the pod's own and comes for every row; the plain path words it.
  if (const std::vector<Row>& rows = cache->by_name_descending(); !rows.empty()) {
    int64_t score;
    for (auto* list : {&c->node_scores_, &c->row_scores_, &c->raw_scores_}) {
      for (Weighted& w : *list) {
        if (!w.scoring->Map({rows.data(), 1}, {&score, 1}).ok()) return nullptr;
      }
    }
  }
  return c;
}

int32_t RowClass::GroupOf(Row row, std::span<const int64_t> raw) {
  // Few groups are found sooner by looking than by hashing.
  if (groups_.size() <= 16) {
    for (size_t i = 0; i < groups_.size(); ++i) {
      const Group& g = groups_[i];
      bool same = g.zone == cache_->columns().zone[row] && std::equal(raw.begin(), raw.end(), g.raw.begin());
      for (size_t k = 0; same && k < columns_.size(); ++k) same = (*columns_[k])[row] == g.values[k];
      if (same) return static_cast<int32_t>(i);
    }
  }
  std::vector<int64_t>& key = scratch_key_;
  key.clear();
  key.push_back(cache_->columns().zone[row].id());
  for (const Cache::LabelColumn* column : columns_) key.push_back((*column)[row].id());
  key.insert(key.end(), raw.begin(), raw.end());
  if (auto known = group_index_.find(key); known != group_index_.end()) return known->second;
  group_index_.emplace(key, static_cast<int32_t>(groups_.size()));
  Group& g = groups_.emplace_back();
  g.zone = cache_->columns().zone[row];
  for (const Cache::LabelColumn* column : columns_) g.values.push_back((*column)[row]);
  g.raw.assign(raw.begin(), raw.end());
  return static_cast<int32_t>(groups_.size()) - 1;
}

void RowClass::Insert(Row row) {
  const RowState& s = states_[row];
  Group& g = groups_[static_cast<size_t>(s.group)];
  auto bucket = g.buckets.find(s.score);
  if (bucket == g.buckets.end()) {
    bucket = g.buckets.emplace(s.score, RankSet(static_cast<uint32_t>(cache_->by_name_descending().size()))).first;
  }
  bucket->second.Insert(cache_->NameRank(row));
  ++g.size;
  ++feasible_;
}

void RowClass::Remove(Row row) {
  RowState& s = states_[row];
  if (s.group < 0) return;
  Group& g = groups_[static_cast<size_t>(s.group)];
  auto bucket = g.buckets.find(s.score);
  bucket->second.Erase(cache_->NameRank(row));
  if (bucket->second.size() == 0) g.buckets.erase(bucket);
  --g.size;
  --feasible_;
  s.group = -1;
}

void RowClass::Judge(Row row, bool node_changed) {
  if ((cache_->columns().flags[row] & kRowListed) == 0) {
    Remove(row);
    return;
  }
  NodePart& part = node_parts_[row];
  if (node_changed) {
    part = NodePart{};
    bool fits = true;
    for (auto& check : node_checks_) fits = fits && check->Check(row) == Verdict::kFits;
    if (fits) {
      std::vector<int64_t> raw(raw_scores_.size(), 0);
      for (size_t i = 0; i < raw.size(); ++i) raw_scores_[i].scoring->Map({&row, 1}, {&raw[i], 1}).IgnoreError();
      part.group = GroupOf(row, raw);
      for (Weighted& w : node_scores_) {
        int64_t score = 0;
        w.scoring->Map({&row, 1}, {&score, 1}).IgnoreError();
        part.score += score * w.weight;
      }
    }
  }
  RowState next;
  if (part.group >= 0) {
    bool fits = true;
    for (auto& check : row_checks_) {
      if (check->Check(row) != Verdict::kFits) {
        fits = false;
        break;
      }
    }
    if (fits) {
      next.group = part.group;
      next.score = part.score;
      for (Weighted& w : row_scores_) {
        int64_t score = 0;
        w.scoring->Map({&row, 1}, {&score, 1}).IgnoreError();
        next.score += score * w.weight;
      }
    }
  }
  RowState& now = states_[row];
  if (now.group == next.group && (now.group < 0 || now.score == next.score)) return;
  Remove(row);
  now = next;
  if (now.group >= 0) Insert(row);
}

void RowClass::Rebuild() {
  ++epoch_;
  names_version_ = cache_->names_version();
  seen_ = cache_->generation();
  groups_.clear();
  group_index_.clear();
  feasible_ = 0;
  states_.assign(cache_->row_count(), RowState{});
  node_parts_.assign(cache_->row_count(), NodePart{});

  // Whole columns at once, and rows in name order, so that sets are filled at their ends.
  RowSet candidates = cache_->listed(), errors;
  candidates.Resize(cache_->row_count());
  for (auto& check : node_checks_) check->Filter(&candidates, &errors);
  std::vector<Row> rows;
  for (Row row : cache_->by_name_descending()) {
    if (candidates.Has(row)) rows.push_back(row);
  }
  std::vector<int64_t> scores(rows.size()), raws(rows.size() * raw_scores_.size()), raw(raw_scores_.size());
  for (size_t i = 0; i < raw_scores_.size(); ++i) {
    raw_scores_[i].scoring->Map(rows, {raws.data() + i * rows.size(), rows.size()}).IgnoreError();
  }
  for (size_t k = 0; k < rows.size(); ++k) {
    for (size_t i = 0; i < raw.size(); ++i) raw[i] = raws[i * rows.size() + k];
    node_parts_[rows[k]].group = GroupOf(rows[k], raw);
  }
  for (Weighted& w : node_scores_) {
    w.scoring->Map(rows, scores).IgnoreError();
    for (size_t k = 0; k < rows.size(); ++k) node_parts_[rows[k]].score += scores[k] * w.weight;
  }
  for (auto& check : row_checks_) check->Filter(&candidates, &errors);
  std::erase_if(rows, [&](Row row) { return !candidates.Has(row); });
  for (Row row : rows) states_[row] = {node_parts_[row].group, node_parts_[row].score};
  scores.resize(rows.size());
  for (Weighted& w : row_scores_) {
    w.scoring->Map(rows, scores).IgnoreError();
    for (size_t k = 0; k < rows.size(); ++k) states_[rows[k]].score += scores[k] * w.weight;
  }
  // As Insert, with the bucket last used in each group at hand.
  std::vector<std::pair<int64_t, RankSet*>> last(groups_.size(), {0, nullptr});
  uint32_t rank = 0;
  RankSet none(static_cast<uint32_t>(cache_->by_name_descending().size()));
  const std::vector<Row>& by_name = cache_->by_name_descending();
  for (Row row : rows) {
    while (by_name[rank] != row) ++rank;
    const RowState& state = states_[row];
    Group& g = groups_[static_cast<size_t>(state.group)];
    auto& [score, bucket] = last[static_cast<size_t>(state.group)];
    if (bucket == nullptr || score != state.score) {
      score = state.score;
      bucket = &g.buckets.try_emplace(score, none).first->second;
    }
    bucket->Insert(rank);
    ++g.size;
  }
  feasible_ = static_cast<uint32_t>(rows.size());
}

void RowClass::Refresh() {
  if (names_version_ != cache_->names_version() || states_.size() < cache_->row_count()) return Rebuild();
  if (!cache_->ChangesSince(seen_, [&](Row row, bool node_changed) { Judge(row, node_changed); })) return Rebuild();
  seen_ = cache_->generation();
}

}  // namespace berth::scheduler
