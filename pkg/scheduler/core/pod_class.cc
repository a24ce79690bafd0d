#include "pkg/scheduler/core/pod_class.h"

#include <algorithm>
#include <limits>
#include <set>

namespace berth::scheduler {
namespace {

// A topology label with at most this many values makes groups; one with more (hostname) makes special rows.
constexpr size_t kMostValuesOfGroups = 32;

uint64_t OwnersVersion(const Listers& l) {
  return l.services.version() + l.replication_controllers.version() + l.replica_sets.version() +
         l.stateful_sets.version();
}

}  // namespace

PodClass::PodClass(Cache* cache, const RuleList& list, const api::PodPtr& pod)
    : cache_(cache), pod_(pod), ctx_{*pod_, *cache->Info(pod->tmpl), *cache} {
  PreparedRules rules(cache, list, pod);
  known_rules_ = rules.known;
  affinity_check_ = std::move(rules.affinity_check);
  spread_ = std::move(rules.spread);
  affinity_scoring_ = std::move(rules.affinity_scoring);
  spread_weight_ = rules.spread_weight;
  affinity_weight_ = rules.affinity_weight;
  owners_version_ = OwnersVersion(cache->listers());
}

bool PodClass::Usable() {
  if (!known_rules_) return false;
  if (uint64_t version = OwnersVersion(cache_->listers()); version != owners_version_) {
    owners_version_ = version;
    if (spread_ != nullptr) {
      auto fresh = std::make_unique<priorities::SpreadScoring>(ctx_, cache_);
      if (fresh->count() != spread_->count()) epoch_ = ~uint64_t{0};
      spread_ = std::move(fresh);
    }
  }
  bool terms_changed = affinity_check_ != nullptr && affinity_check_->Refresh();
  terms_changed |= affinity_scoring_ != nullptr && affinity_scoring_->Refresh();
  if (terms_changed || names_version_ != cache_->names_version()) {
    names_version_ = cache_->names_version();
    epoch_ = ~uint64_t{0};
    FindKeys();
  }
  return supported_;
}

void PodClass::FindKeys() {
  dense_keys_.clear();
  dense_affinity_.clear();
  dense_anti_.clear();
  dense_existing_.clear();
  dense_scoring_.clear();
  sparse_anti_.clear();
  sparse_existing_.clear();
  sparse_scoring_.clear();
  sparse_columns_.clear();
  supported_ = true;
  auto sort_in = [&](Symbol key, auto term, auto* dense, auto* sparse, bool never_dense) {
    const Cache::LabelColumn* column = &cache_->Label(key);
    if (never_dense || column->distinct() > kMostValuesOfGroups) {
      sparse->push_back({column, term});
      if (std::find(sparse_columns_.begin(), sparse_columns_.end(), column) == sparse_columns_.end()) {
        sparse_columns_.push_back(column);
      }
      return;
    }
    auto it = std::find(dense_keys_.begin(), dense_keys_.end(), key);
    dense->push_back({static_cast<size_t>(it - dense_keys_.begin()), term});
    if (it == dense_keys_.end()) dense_keys_.push_back(key);
  };
  if (affinity_check_ != nullptr) {
    std::vector<In<OwnTerm>> sparse_affinity;
    for (const auto& t : affinity_check_->affinity()) {
      sort_in(t.term->topology_key, &t, &dense_affinity_, &sparse_affinity, t.per_node);
    }
    // Required affinity in small domains forbids nearly every row: such pods take the plain path.
    supported_ = sparse_affinity.empty();
    for (const auto& t : affinity_check_->anti_affinity()) {
      sort_in(t.term->topology_key, &t, &dense_anti_, &sparse_anti_, t.per_node);
    }
    for (uint32_t t : affinity_check_->existing()) {
      sort_in(cache_->declared_terms().terms()[t].term.topology_key, t, &dense_existing_, &sparse_existing_, false);
    }
  }
  if (affinity_scoring_ != nullptr) {
    for (size_t t = 0; t < affinity_scoring_->term_count(); ++t) {
      sort_in(affinity_scoring_->TopologyKey(t), t, &dense_scoring_, &sparse_scoring_, false);
    }
  }
}

void PodClass::SetRows(RowClass* rows) {
  if (rows_ == rows) return;
  rows_ = rows;
  epoch_ = ~uint64_t{0};
}

// ---- special rows -------------------------------------------------------------------------------

void PodClass::Drop(Row row) {
  auto it = specials_.find(row);
  if (it == specials_.end()) return;
  const Special& s = it->second;
  uint32_t rank = cache_->NameRank(row);
  auto shadow = shadows_.Find({s.group, s.score});
  shadow->second.Erase(rank);
  if (shadow->second.size() == 0) shadows_.Drop(shadow);
  --specials_in_group_[static_cast<size_t>(s.group)];
  if (!s.forbidden) {
    auto overlay = overlay_.Find({s.group, s.count, s.affinity});
    overlay->second.buckets.Erase(s.score, rank);
    if (--overlay->second.size == 0) overlay_.Drop(overlay);
  }
  specials_.erase(it);
}

void PodClass::Judge(Row row) {
  Judge(row, spread_ != nullptr && spread_->count() != nullptr ? spread_->count()->OnRow(row) : 0);
}

void PodClass::Judge(Row row, int32_t count) {
  const RowClass::RowState& state = rows_->state(row);
  Special s{state.group, state.score};
  bool special = false;
  if (state.group >= 0) {
    s.count = count;
    for (const auto& [column, term] : sparse_anti_) s.forbidden = s.forbidden || term->InDomain(row);
    for (const auto& [column, term] : sparse_existing_) {
      s.forbidden = s.forbidden || affinity_check_->ExistingForbids(term, (*column)[row]);
    }
    for (const auto& [column, term] : sparse_scoring_) s.affinity += affinity_scoring_->InValue(term, (*column)[row]);
    special = s.count != 0 || s.forbidden || s.affinity != 0;
  }
  auto known = specials_.find(row);
  if (known != specials_.end()) {
    const Special& k = known->second;
    if (special && k.group == s.group && k.score == s.score && k.count == s.count && k.affinity == s.affinity &&
        k.forbidden == s.forbidden) {
      return;
    }
    Drop(row);
  }
  if (!special) return;
  uint32_t rank = cache_->NameRank(row);
  const uint32_t limit = static_cast<uint32_t>(cache_->by_name_descending().size());
  shadows_.Get({s.group, s.score}, [&] { return RankSet(limit); }).Insert(rank);
  if (specials_in_group_.size() <= static_cast<size_t>(s.group)) {
    specials_in_group_.resize(rows_->groups().size(), 0);
  }
  ++specials_in_group_[static_cast<size_t>(s.group)];
  if (!s.forbidden) {
    Overlay& overlay = overlay_.Get({s.group, s.count, s.affinity}, [&] { return Overlay{ScoreBuckets(limit)}; });
    overlay.buckets.Insert(s.score, rank);
    ++overlay.size;
    s.overlay = &overlay;
  }
  specials_.emplace(row, s);
}

void PodClass::JudgeDomains(Row row) {
  Judge(row);
  for (const Cache::LabelColumn* column : sparse_columns_) {
    Symbol value = (*column)[row];
    if (value == Cache::kNoValue) continue;
    for (Row other : column->RowsWith(value)) {
      if (other != row) Judge(other);
    }
  }
}

std::vector<Row> PodClass::PossibleSpecials() const {
  std::vector<Row> out;
  auto add_value = [&](const Cache::LabelColumn* column, Symbol value) {
    const std::vector<Row>& rows = column->RowsWith(value);
    out.insert(out.end(), rows.begin(), rows.end());
  };
  auto add_rows = [&](const PodCount& count) {
    for (const auto& [row, n] : count.rows()) out.push_back(row);
  };
  if (spread_ != nullptr && spread_->count() != nullptr) add_rows(*spread_->count());
  for (const auto& [column, term] : sparse_anti_) {
    if (term->per_node) {
      add_rows(*term->count);
    } else {
      for (const auto& [value, n] : term->count->values()) add_value(column, value);
    }
  }
  for (const auto& [column, term] : sparse_existing_) {
    for (const auto& [value, in] : cache_->declared_terms().terms()[term].domains) add_value(column, value);
  }
  for (const auto& [column, term] : sparse_scoring_) {
    for (Symbol value : affinity_scoring_->Values(term)) add_value(column, value);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void PodClass::Rebuild() {
  epoch_ = rows_->epoch();
  seen_ = cache_->generation();
  specials_.clear();
  shadows_.Clear();
  overlay_.Clear();
  specials_in_group_.assign(rows_->groups().size(), 0);
  if (!sparse_columns_.empty()) {
    for (Row row : PossibleSpecials()) Judge(row);
  } else if (spread_ != nullptr && spread_->count() != nullptr) {
    for (const auto& [row, n] : spread_->count()->rows()) Judge(row, n);
  }
}

void PodClass::Refresh() {
  rows_->Refresh();
  if (epoch_ != rows_->epoch()) return Rebuild();
  if (sparse_columns_.empty()) return RefreshCounted();
  bool rebuild = false;
  bool known = cache_->ChangesSince(seen_, [&](Row row, bool node_changed) {
    rebuild = rebuild || node_changed;
    if (!rebuild) JudgeDomains(row);
  });
  if (!known || rebuild) return Rebuild();
  seen_ = cache_->generation();
}

// Where only the pods to spread from make rows special: rows that had none and have none are no matter.
void PodClass::RefreshCounted() {
  const PodCount* count = spread_ != nullptr ? spread_->count() : nullptr;
  const uint64_t changes = cache_->generation() - seen_;
  if (count == nullptr && specials_.empty()) {
    seen_ = cache_->generation();
    return;
  }
  // All that can be special, if they are fewer than the changes.
  if (changes > specials_.size() + (count != nullptr ? count->rows().size() : 0)) {
    std::vector<Row>& gone = scratch_.rows;
    gone.clear();
    for (const auto& [row, special] : specials_) {
      if (count == nullptr || count->OnRow(row) == 0) gone.push_back(row);
    }
    for (Row row : gone) Judge(row, 0);
    if (count != nullptr) {
      for (const auto& [row, n] : count->rows()) Judge(row, n);
    }
    seen_ = cache_->generation();
    return;
  }
  bool known = cache_->ChangesSince(seen_, [&](Row row, bool) {
    const int32_t n = count != nullptr ? count->OnRow(row) : 0;
    if (n != 0 || specials_.contains(row)) Judge(row, n);
  });
  if (!known) return Rebuild();
  seen_ = cache_->generation();
}

// ---- deciding -----------------------------------------------------------------------------------

bool PodClass::GroupForbidden(const RowClass::Group& g) const {
  for (const auto& [key, term] : dense_affinity_) {
    if (!term->InValue(g.values[key]) && !term->Waived()) return true;
  }
  for (const auto& [key, term] : dense_anti_) {
    if (term->InValue(g.values[key])) return true;
  }
  for (const auto& [key, term] : dense_existing_) {
    if (affinity_check_->ExistingForbids(term, g.values[key])) return true;
  }
  return false;
}

int64_t PodClass::GroupAffinity(const RowClass::Group& g) const {
  int64_t sum = 0;
  for (const auto& [key, term] : dense_scoring_) sum += affinity_scoring_->InValue(term, g.values[key]);
  return sum;
}

// Which (group, count, affinity) there are with rows that fit.
void PodClass::ListParts() {
  const std::vector<RowClass::Group>& groups = rows_->groups();
  specials_in_group_.resize(groups.size(), 0);
  std::vector<Part>& parts = scratch_.parts;
  parts.clear();
  auto overlay = overlay_.begin();
  for (int32_t i = 0; i < static_cast<int32_t>(groups.size()); ++i) {
    const RowClass::Group& g = groups[static_cast<size_t>(i)];
    bool open = g.size > 0 && !GroupForbidden(g);
    int64_t affinity = open ? GroupAffinity(g) : 0;
    if (uint32_t plain = g.size - specials_in_group_[static_cast<size_t>(i)]; open && plain > 0) {
      parts.push_back({&g, i, 0, affinity, nullptr, plain});
    }
    for (; overlay != overlay_.end() && std::get<0>(overlay->first) == i; ++overlay) {
      const auto& [group, count, own] = overlay->first;
      overlay->second.part = open ? static_cast<int32_t>(parts.size()) : -1;
      if (open) parts.push_back({&g, i, count, affinity + own, &overlay->second, overlay->second.size});
    }
  }
}

// How many rows fit; reducing looks at all of them.
uint64_t PodClass::ScoreParts() {
  std::vector<int64_t>& max_raw = scratch_.max_raw;
  std::vector<std::pair<Symbol, int64_t>>& zones = scratch_.zones;
  max_raw.assign(rows_->normalised().size(), 0);
  zones.clear();
  int64_t min_affinity = 0, max_affinity = 0;
  priorities::SpreadInput spread;
  uint64_t feasible = 0;
  for (const Part& p : scratch_.parts) {
    if (p.size == 0) continue;
    feasible += p.size;
    for (size_t i = 0; i < max_raw.size(); ++i) max_raw[i] = std::max(max_raw[i], p.group->raw[i]);
    min_affinity = std::min(min_affinity, p.affinity);
    max_affinity = std::max(max_affinity, p.affinity);
    spread.max_count = std::max<int64_t>(spread.max_count, p.count);
    if (p.count != 0 && !p.group->zone.empty()) {
      auto zone = std::find_if(zones.begin(), zones.end(), [&](const auto& z) { return z.first == p.group->zone; });
      if (zone == zones.end()) zone = zones.insert(zones.end(), {p.group->zone, 0});
      zone->second += int64_t{p.count} * p.size;
    }
  }
  for (const auto& [zone, n] : zones) spread.max_in_zone = std::max(spread.max_in_zone, n);

  for (Part& p : scratch_.parts) {
    if (p.size == 0) continue;
    p.total = 0;
    for (size_t i = 0; i < max_raw.size(); ++i) {
      const Normalised& n = rows_->normalised()[i];
      int64_t score =
          max_raw[i] == 0 ? (n.reversed ? kMaxPriority : p.group->raw[i]) : kMaxPriority * p.group->raw[i] / max_raw[i];
      if (n.reversed && max_raw[i] != 0) score = kMaxPriority - score;
      p.total += n.weight * score;
    }
    p.total += affinity_weight_ * priorities::AffinityScore(p.affinity, min_affinity, max_affinity);
    if (spread_ == nullptr) continue;
    spread.count = p.count;
    spread.zoned = !p.group->zone.empty();
    spread.in_zone = 0;
    for (const auto& [zone, n] : zones) {
      if (zone == p.group->zone) spread.in_zone = n;
    }
    p.total += spread_weight_ * priorities::SpreadScore(spread);
  }
  return feasible;
}

FastPath::Answer PodClass::Place(uint64_t* last_node_index) {
  Refresh();
  ListParts();
  FastPath::Answer answer;
  answer.feasible = ScoreParts();
  if (answer.feasible == 0) return answer;

  // The best total, and the sets whose rows reach it.
  int64_t best = std::numeric_limits<int64_t>::min();
  std::vector<const RankSet*>& in = scratch_.in;
  std::vector<const RankSet*>& out = scratch_.out;
  in.clear();
  out.clear();
  uint64_t ties = 0;
  for (const Part& p : scratch_.parts) {
    int64_t total = p.total;
    const RankSet* rows = nullptr;
    const RankSet* shadow = nullptr;
    if (p.overlay != nullptr) {
      total += p.overlay->buckets.score(0);
      rows = &p.overlay->buckets.ranks(0);
    } else {
      const ScoreBuckets& buckets = p.group->buckets;
      for (size_t i = 0; i < buckets.size(); ++i) {
        auto special = shadows_.Find({p.number, buckets.score(i)});
        shadow = special == shadows_.end() ? nullptr : &special->second;
        if (shadow != nullptr && shadow->size() == buckets.ranks(i).size()) continue;
        total += buckets.score(i);
        rows = &buckets.ranks(i);
        break;
      }
    }
    if (total < best) continue;
    if (total > best) {
      best = total;
      in.clear();
      out.clear();
      ties = 0;
    }
    in.push_back(rows);
    ties += rows->size();
    if (shadow != nullptr) {
      out.push_back(shadow);
      ties -= shadow->size();
    }
  }
  uint32_t rank = SelectKth(in, out, static_cast<uint32_t>(*last_node_index % ties));
  if (answer.feasible > 1) ++*last_node_index;
  answer.decided = true;
  answer.host = cache_->row(cache_->by_name_descending()[rank]).name;
  return answer;
}

// The rows that fit as far as this class knows, and the part of each.
void PodClass::ListCandidates() {
  std::vector<int32_t>& part_of = scratch_.part_of;
  std::vector<int32_t>& plain_part = scratch_.plain_part;
  plain_part.assign(rows_->groups().size(), -1);
  for (size_t i = 0; i < scratch_.parts.size(); ++i) {
    const Part& p = scratch_.parts[i];
    if (p.overlay == nullptr) plain_part[static_cast<size_t>(p.number)] = static_cast<int32_t>(i);
  }
  part_of.assign(cache_->row_count(), -1);
  for (Row row : cache_->by_name_descending()) {
    const int32_t group = rows_->state(row).group;
    if (group >= 0) part_of[row] = plain_part[static_cast<size_t>(group)];
  }
  for (const auto& [row, s] : specials_) {
    part_of[row] = s.overlay == nullptr ? -1 : s.overlay->part;
  }
  scratch_.candidates.Clear();
  scratch_.candidates.Resize(cache_->row_count());
  for (Row row = 0; row < part_of.size(); ++row) {
    if (part_of[row] >= 0) scratch_.candidates.Insert(row);
  }
}

FastPath::Answer PodClass::PlaceAmong(FastPath::Narrow narrow, uint64_t* last_node_index) {
  Refresh();
  ListParts();
  ListCandidates();
  const RowSet& rows = scratch_.candidates;
  FastPath::Answer answer;
  if (!narrow(&scratch_.candidates)) return answer;
  auto part = [&](Row row) -> Part& { return scratch_.parts[static_cast<size_t>(scratch_.part_of[row])]; };
  for (Part& p : scratch_.parts) p.size = 0;
  rows.ForEach([&](Row row) { ++part(row).size; });
  answer.feasible = ScoreParts();
  if (answer.feasible == 0) return answer;

  int64_t best = std::numeric_limits<int64_t>::min();
  std::vector<uint32_t>& ties = scratch_.ranks;
  rows.ForEach([&](Row row) {
    const int64_t total = part(row).total + rows_->state(row).score;
    if (total < best) return;
    if (total > best) ties.clear();
    best = total;
    ties.push_back(cache_->NameRank(row));
  });
  auto chosen = ties.begin() + static_cast<ptrdiff_t>(*last_node_index % ties.size());
  std::nth_element(ties.begin(), chosen, ties.end());
  if (answer.feasible > 1) ++*last_node_index;
  answer.decided = true;
  answer.host = cache_->row(cache_->by_name_descending()[*chosen]).name;
  return answer;
}

}  // namespace berth::scheduler
