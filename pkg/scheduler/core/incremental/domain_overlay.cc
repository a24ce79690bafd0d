// Place, the decision by parts, in four steps:
//   1. Prepare sorts the terms of the domain rules into dense and sparse ones and finds the labels (keys) by which
//      nodes have to be grouped. It does this again only when the terms or the nodes have changed.
//   2. Refresh brings the class up to date and then the special rows, from the cache's log of changes.
//   3. ListParts adds up the sums of each part and drops the parts that a predicate does not admit; ScoreParts scores
//      the others.
//   4. Choose finds the sets of rows with the best total and takes one of them by counting, without listing them.
// Unless something has to be found from scratch, no step goes through all nodes: the cost depends on the number of
// changes, parts and special rows. Decisions that list the rows (PlaceAmong) are in domain_overlay_rows.cc.
#include "pkg/scheduler/core/incremental/domain_overlay.h"

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <limits>

#include "pkg/scheduler/algorithm/normalize.h"

namespace berth::scheduler {
namespace {

// A label makes sparse terms if it has more values than this, or more than two values for every three nodes.
constexpr size_t kMostValuesOfGroups = 1024;

// Rules about labels are evaluated once for each group if a group has at least this many nodes on average.
constexpr size_t kNodesOfLabelGroup = 16;

// Going through the changed rows is cheaper than going through the rows that count pods if there are at most this many
// for each of the latter.
constexpr uint64_t kChangesForOneCounted = 16;

bool IsDense(const LabelColumn& column, size_t nodes) {
  return column.distinct() <= kMostValuesOfGroups && 3 * column.distinct() <= 2 * nodes;
}

// Copies sums. Rules usually have one to three channels in all, and these are copied without a call of memmove.
void CopySums(const DomainSum* from, size_t count, DomainSum* to) {
  switch (count) {
    case 3:
      to[2] = from[2];
      [[fallthrough]];
    case 2:
      to[1] = from[1];
      [[fallthrough]];
    case 1:
      to[0] = from[0];
      [[fallthrough]];
    case 0:
      return;
    default:
      std::copy_n(from, count, to);
  }
}

}  // namespace

DomainOverlay::Scratch& DomainOverlay::scratch() {
  thread_local Scratch scratch;
  return scratch;
}

DomainOverlay::DomainOverlay(Cache* cache, const RuleSet& rules, CommonKeys* common, const api::PodPtr& pod)
    : cache_(cache),
      rules_(rules),
      common_(*common),
      pod_(pod),
      ctx_{*pod_, *cache->Info(pod->tmpl), *cache},
      max_score_(rules.max_score) {
  // A rule that declares kDomains must return a DomainCheck or DomainScoring. If a plugin's rule does not, the
  // reference scheduler decides.
  checks_.reserve(rules.domain_predicates.size());
  scorings_.reserve(rules.domain_priorities.size());
  for (const ConfiguredPredicate* p : rules.domain_predicates) {
    std::unique_ptr<FitCheck> check = p->predicate(ctx_);
    auto* domain = dynamic_cast<DomainCheck*>(check.get());
    if (domain == nullptr) {
      usable_ = usable_ && check->FitsAlways();
      continue;
    }
    check.release();
    checks_.emplace_back(domain);
  }
  for (const ConfiguredPriority* p : rules.domain_priorities) {
    std::unique_ptr<Scoring> scoring = p->function(ctx_);
    auto* domain = dynamic_cast<DomainScoring*>(scoring.get());
    usable_ = usable_ && domain != nullptr;
    if (domain == nullptr) continue;
    scoring.release();
    scorings_.push_back({std::unique_ptr<DomainScoring>(domain), p->weight});
  }
}

// Which terms are dense depends on the number of nodes, so the keys are found anew when nodes come or go.
bool DomainOverlay::Prepare() {
  if (!usable_) return false;
  bool changed = !found_;
  for (auto& check : checks_) changed |= check->Refresh();
  for (auto& s : scorings_) changed |= s.scoring->Refresh();
  if (changed || order_version_ != cache_->order_version()) FindKeys();
  return std::all_of(checks_.begin(), checks_.end(), [](const auto& c) { return c->usable(); }) &&
         std::all_of(scorings_.begin(), scorings_.end(), [](const auto& w) { return w.scoring->usable(); });
}

// ---- terms and keys -----------------------------------------------------------------------------

// Enters the term as a dense or a sparse one.
void DomainOverlay::Sort(const DomainTerm& term, size_t channel) {
  const LabelColumn* column = term.totals->column();
  if (column != nullptr && IsDense(*column, cache_->node_count())) {
    dense_.push_back({&term, channel, KeyOf(column, false), 0});
    return;
  }
  const auto [slot, is_new] = slot_of_.try_emplace(channel, slots_.size());
  const size_t place = slot->second;
  if (is_new) slots_.push_back(channel);
  sparse_.push_back({&term, channel, term.label == nullptr ? kNoKey : KeyOf(term.label, true), place});
  if (column != nullptr) sparse_columns_.push_back(column);  // FindKeys makes each of them one
}

// Finds the channels, terms and keys of all rules. The keys that other pods need come first, then those of the rules'
// scores, then those of the terms, so that overlays of different templates have the same keys where possible and share
// equivalence classes.
void DomainOverlay::FindKeys() {
  found_ = true;
  order_version_ = cache_->order_version();
  epoch_ = ~uint64_t{0};
  placed_checks_.clear();
  placed_scorings_.clear();
  checks_without_terms_.clear();
  channels_.clear();
  keys_.clear();
  first_key_.clear();
  first_value_key_.clear();
  dense_.clear();
  sparse_.clear();
  slots_.clear();
  slot_of_.clear();
  sparse_columns_.clear();
  for (const GroupKey& k : common_.Few()) {
    if (k.presence_only || IsDense(*k.column, cache_->node_count())) KeyOf(k.column, k.presence_only);
  }
  auto place = [&](const DomainRule& rule) {
    const size_t first = channels_.size();
    channels_.insert(channels_.end(), rule.channels().begin(), rule.channels().end());
    return first;
  };
  for (const auto& c : checks_) {
    if (c->terms().empty()) {
      checks_without_terms_.push_back(c.get());
    } else {
      placed_checks_.push_back({c.get(), place(*c), c->channels().size()});
    }
  }
  // Nodes are grouped by the keys of priorities (DomainScoring::keys) however many values these labels have. A priority
  // with neither terms nor keys is left out, because it gives every node the same score (DomainScoring::Score).
  for (const WeightedDomainScoring& w : scorings_) {
    const DomainScoring& rule = *w.scoring;
    if (rule.terms().empty() && rule.keys().empty()) continue;
    std::vector<size_t> keys;
    for (const LabelColumn* column : rule.keys()) keys.push_back(KeyOf(column, false));
    placed_scorings_.push_back({&rule, w.weight, place(rule), rule.channels().size(), std::move(keys), {}});
  }
  for (const PlacedCheck& p : placed_checks_) {
    for (const DomainTerm& t : p.check->terms()) Sort(t, p.first_channel + t.channel);
  }
  for (PlacedScoring& p : placed_scorings_) {
    for (const DomainTerm& t : p.scoring->terms()) Sort(t, p.first_channel + t.channel);
    for (size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i] >= p.first_channel && slots_[i] < p.first_channel + p.width) p.slots.push_back(i);
    }
  }
  absl::flat_hash_set<const LabelColumn*> seen;
  std::erase_if(sparse_columns_, [&](const LabelColumn* column) { return !seen.insert(column).second; });
  for (const GroupKey& k : keys_) common_.Add(k);
  signatures_.Reset(slots_.size());
  FindLabelRules();
}

// Finds the rules about nodes that read nothing but labels, and takes them out of the StaticNodeIndex if grouping nodes
// by these labels makes few groups. Then pods whose node selectors name the same labels with different values share one
// index; the rules themselves are evaluated here, once for each group (AskLabelRules).
void DomainOverlay::FindLabelRules() {
  left_out_ = {};
  label_checks_.clear();
  label_scorings_.clear();
  std::vector<const LabelColumn*> columns;
  LeftOut found;
  for (size_t i = 0; i < std::min<size_t>(rules_.node_predicates.size(), 64); ++i) {
    std::unique_ptr<FitCheck> check = rules_.node_predicates[i]->predicate(ctx_);
    if (!check->NodeLabels(&columns)) continue;
    found.predicates.Add(i);
    if (!check->FitsAlways()) label_checks_.push_back(std::move(check));
  }
  for (size_t i = 0; i < std::min<size_t>(rules_.normalised_priorities.size(), 64); ++i) {
    const ConfiguredPriority& p = *rules_.normalised_priorities[i];
    std::unique_ptr<Scoring> scoring = p.function(ctx_);
    const size_t before = columns.size();
    if (!scoring->NodeLabels(&columns)) continue;
    found.normalised.Add(i);
    // A scoring that reads no label gives 0 to every node (Scoring::NodeLabels), which changes no order.
    if (columns.size() > before) label_scorings_.push_back({std::move(scoring), {p.weight, p.traits.normalisation}});
  }
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  size_t groups = 1;
  for (const LabelColumn* c : columns) groups = std::min(groups * (c->distinct() + 1), kMostValuesOfGroups);
  if (groups == kMostValuesOfGroups || (groups > 2 && groups > cache_->node_count() / kNodesOfLabelGroup)) {
    label_checks_.clear();
    label_scorings_.clear();
    return;
  }
  left_out_ = found;
  for (const LabelColumn* c : columns) KeyOf(c, false);
}

void DomainOverlay::SetClass(std::shared_ptr<EquivalenceClass> rows) {
  if (rows_ == rows) return;
  rows_ = std::move(rows);
  epoch_ = ~uint64_t{0};
}

// ---- special rows -------------------------------------------------------------------------------

// Returns the signature of a row. The result is valid until the next call.
std::span<const int64_t> DomainOverlay::SparseSumsOf(Row row) {
  std::vector<int64_t>& values = scratch().signature;
  values.assign(slots_.size(), 0);
  for (const Term& t : sparse_) {
    if (t.term->label != nullptr && t.term->label->Domain(row) == LabelColumn::kNoDomain) continue;
    const uint32_t domain = t.term->totals->DomainOf(row);
    if (domain == LabelColumn::kNoDomain) continue;
    DomainSum sum{values[t.slot]};
    DomainRule::AddTo(&sum, channels_[t.channel], *t.term, t.term->totals->In(domain));
    values[t.slot] = sum.value;
  }
  return values;
}

// Calls f(row, signature) once for each row that may have a signature other than 0. Goes through the numbers of the
// terms, of which there are few, and not through all rows.
void DomainOverlay::AddUpSparse(absl::FunctionRef<void(Row, std::span<const int64_t>)> f) {
  if (sparse_.empty()) return;
  Scratch& s = scratch();
  const size_t width = slots_.size();
  const bool single = sparse_.size() == 1;
  for (Row row : s.added) s.added_at[row] = 0;
  s.added.clear();
  s.added_values.clear();
  if (s.added_at.size() < cache_->row_count()) s.added_at.resize(cache_->row_count(), 0);
  for (const Term& t : sparse_) {
    auto add = [&](Row row, int64_t number) {
      if (t.term->label != nullptr && t.term->label->Domain(row) == LabelColumn::kNoDomain) return;
      DomainSum sum;
      if (single) {
        DomainRule::AddTo(&sum, channels_[t.channel], *t.term, number);
        return f(row, {&sum.value, 1});
      }
      uint32_t& at = s.added_at[row];
      if (at == 0) {
        s.added.push_back(row);
        s.added_values.resize(s.added_values.size() + width, 0);
        at = static_cast<uint32_t>(s.added.size());
      }
      int64_t& value = s.added_values[(at - 1) * width + t.slot];
      sum.value = value;
      DomainRule::AddTo(&sum, channels_[t.channel], *t.term, number);
      value = sum.value;
    };
    const LabelColumn* column = t.term->totals->column();
    for (const auto& [domain, number] : t.term->totals->numbers()) {
      if (column == nullptr) {
        add(domain, number);
      } else {
        for (Row row : column->Rows(domain)) add(row, number);
      }
    }
  }
  for (size_t i = 0; i < s.added.size(); ++i) f(s.added[i], {s.added_values.data() + i * width, width});
}

// Removes a special row from shadows_, overlays_ and signatures_, but not from specials_.
void DomainOverlay::Withdraw(Row row, const Special& s) {
  const uint32_t rank = cache_->Rank(row);
  RankSet* const shadow = shadows_.Find(s.group, s.score);
  shadow->Erase(rank);
  if (shadow->size() == 0) shadows_.Drop(s.group, s.score);
  --specials_in_group_[static_cast<size_t>(s.group)];
  Overlay* const overlay = overlays_.Find(s.group, s.signature);
  overlay->buckets.Erase(s.score, rank);
  if (--overlay->size == 0) overlays_.Drop(s.group, s.signature);
  signatures_.Release(s.signature);
}

// Brings one row up to date: with the state that the class has for it and these sums of the sparse terms, the row is
// plain, or special with a group, score and signature.
void DomainOverlay::Update(Row row, std::span<const int64_t> sums) {
  const EquivalenceClass::RowState& state = rows_->state(row);
  const bool plain = state.group < 0 || std::all_of(sums.begin(), sums.end(), [](int64_t n) { return n == 0; });
  auto known = specials_.find(row);
  if (known == specials_.end()) {
    if (plain) return;
    known = specials_.try_emplace(row).first;
    special_filter_.Insert(row, specials_);
  } else {
    const Special& k = known->second;
    if (k.group == state.group && k.score == state.score && std::ranges::equal(sums, signatures_.values(k.signature))) {
      return;
    }
    Withdraw(row, k);
    if (plain) {
      specials_.erase(known);
      return;
    }
  }
  const Special special{state.group, state.score, signatures_.Use(sums)};
  known->second = special;
  const uint32_t rank = cache_->Rank(row);
  const uint32_t limit = static_cast<uint32_t>(cache_->in_order().size());
  shadows_.Get(special.group, special.score, [&] { return RankSet(limit); }).Insert(rank);
  if (specials_in_group_.size() <= static_cast<size_t>(special.group)) {
    specials_in_group_.resize(rows_->groups().size(), 0);
  }
  ++specials_in_group_[static_cast<size_t>(special.group)];
  Overlay& overlay = overlays_.Get(special.group, special.signature, [&] { return Overlay{ScoreBuckets(limit)}; });
  overlay.buckets.Insert(special.score, rank);
  ++overlay.size;
}

void DomainOverlay::Evaluate(Row row) {
  Update(row, SparseSumsOf(row));
}

// Brings up to date all rows that share a domain of a sparse term with a row that has changed, because the number of
// the domain may have changed.
void DomainOverlay::EvaluateDomains(Row row) {
  Evaluate(row);
  for (const LabelColumn* column : sparse_columns_) {
    const uint32_t domain = column->Domain(row);
    if (domain == LabelColumn::kNoDomain) continue;
    for (Row other : column->Rows(domain)) {
      if (other != row) Evaluate(other);
    }
  }
}

void DomainOverlay::DropSpecials() {
  epoch_ = ~uint64_t{0};
  specials_.clear();
  special_filter_.Clear();
  shadows_.Clear();
  overlays_.Clear();
}

// Finds the special rows from scratch.
void DomainOverlay::Rebuild() {
  DropSpecials();
  epoch_ = rows_->epoch();
  seen_ = cache_->generation();
  signatures_.Reset(slots_.size());
  specials_in_group_.assign(rows_->groups().size(), 0);
  // If each domain is a single row, there are no more special rows than domains. Without this, the table would be
  // copied each time it is full.
  if (sparse_columns_.empty()) {
    size_t most = 0;
    for (const Term& t : sparse_) most += t.term->totals->numbers().size();
    specials_.reserve(most);
  }
  AddUpSparse([&](Row row, std::span<const int64_t> sums) { Update(row, sums); });
}

// A change of a node object may have moved the node to another domain, whose old rows are not known any more, so it
// makes a rebuild necessary when there are domains of several rows.
void DomainOverlay::RefreshSpecials() {
  if (epoch_ != rows_->epoch()) return Rebuild();
  if (sparse_columns_.empty()) return RefreshOwnRows();
  bool rebuild = false;
  const bool known = cache_->ChangesSince(seen_, [&](Row row, bool node_changed) {
    rebuild = rebuild || node_changed;
    if (!rebuild) EvaluateDomains(row);
  });
  if (!known || rebuild) return Rebuild();
  seen_ = cache_->generation();
}

// Returns whether the row is special or a sparse term counts pods on it. REQUIRES: the domains of all sparse terms are
// single rows.
bool DomainOverlay::Matters(Row row) const {
  return specials_.contains(row) ||
         std::any_of(sparse_.begin(), sparse_.end(), [&](const Term& t) { return t.term->totals->In(row) != 0; });
}

// RefreshSpecials for the common case that the domains of all sparse terms are single rows. A row whose numbers were 0
// and still are 0 needs no work. If far more rows have changed than have numbers other than 0, it is cheaper to go
// through the latter.
void DomainOverlay::RefreshOwnRows() {
  const uint64_t changes = cache_->generation() - seen_;
  if (changes == 0) return;
  if (sparse_.empty()) {
    seen_ = cache_->generation();
    return;
  }
  size_t counted = 0;
  for (const Term& t : sparse_) counted += t.term->totals->numbers().size();
  if (changes > kChangesForOneCounted * (specials_.size() + counted)) {
    std::vector<Row>& rows = scratch().rows;
    rows.clear();
    for (const auto& [row, special] : specials_) {
      auto counts = [row = row](const Term& t) { return t.term->totals->In(row) != 0; };
      if (std::none_of(sparse_.begin(), sparse_.end(), counts)) rows.push_back(row);
    }
    for (Row row : rows) Evaluate(row);
    AddUpSparse([&](Row row, std::span<const int64_t> sums) { Update(row, sums); });
    seen_ = cache_->generation();
    return;
  }
  const bool known = cache_->ChangesSince(seen_, [&](Row row, bool) {
    bool may = special_filter_.MayHave(row);
    for (const Term& t : sparse_) may = may || t.term->totals->MayCount(row);
    if (may && Matters(row)) Evaluate(row);
  });
  if (!known) return Rebuild();
  seen_ = cache_->generation();
}

// ---- parts --------------------------------------------------------------------------------------

void DomainOverlay::BeginParts() {
  Scratch& s = scratch();
  s.parts.clear();
  s.admits_any = true;
  for (const DomainCheck* check : checks_without_terms_) {
    s.part_sums.assign(check->channels().size(), DomainSum{});
    s.admits_any = s.admits_any && (s.part_sums.empty() || check->Admits(s.part_sums));
  }
  s.part_sums.resize(channels_.size());
  SumUpGroups();
}

// Adds up the dense terms for each group, and finds for which channels a group lacks a label. Goes term by term: the
// numbers of a term are first copied into an array by domain, so that a group costs one read of this array instead of a
// lookup in a hash table.
void DomainOverlay::SumUpGroups() {
  Scratch& s = scratch();
  const StaticNodeIndex& index = rows_->nodes();
  const size_t groups = index.group_count(), width = channels_.size(), keys = keys_.size();
  s.group_sums.assign(groups * width, DomainSum{});
  if (groups == 0) return;
  for (const Term& t : dense_) {
    const auto& numbers = t.term->totals->numbers();
    const bool needs_label = t.term->label != nullptr;
    if (numbers.empty() && !needs_label) continue;
    uint32_t limit = 0;
    for (const auto& [domain, number] : numbers) limit = std::max(limit, domain + 1);
    s.by_domain.assign(limit, 0);
    for (const auto& [domain, number] : numbers) s.by_domain[domain] = number;
    const uint32_t* domain = index.domains(0) + t.key;
    DomainSum* sum = s.group_sums.data() + t.channel;
    for (size_t g = 0; g < groups; ++g, domain += keys, sum += width) {
      if (*domain < limit) {
        DomainRule::AddTo(sum, channels_[t.channel], *t.term, s.by_domain[*domain]);
      } else if (*domain == LabelColumn::kNoDomain && needs_label) {
        sum->complete = false;
      }
    }
  }
  for (const Term& t : sparse_) {
    if (t.key == kNoKey) continue;
    for (size_t g = 0; g < groups; ++g) {
      if (index.domains(g)[t.key] == LabelColumn::kNoDomain) s.group_sums[g * width + t.channel].complete = false;
    }
  }
}

// Resets the results of AskLabelRules. Without label checks every group admits the pod.
void DomainOverlay::BeginGroups() {
  Scratch& s = scratch();
  s.group_rows.clear();
  s.group_admits.assign(rows_->nodes().group_count(), label_checks_.empty() ? 1 : 0);
  s.group_raw.assign(s.group_admits.size() * label_scorings_.size(), 0);
}

// Evaluates the rules about labels for one row of each group in group_rows; the other rows of a group have the same
// labels.
void DomainOverlay::AskLabelRules() {
  Scratch& s = scratch();
  for (auto& check : label_checks_) check->KeepFitting(&s.group_rows);
  for (Row row : s.group_rows) s.group_admits[static_cast<size_t>(rows_->nodes().part(row).group)] = 1;
  s.label_raw.resize(s.group_rows.size());
  for (size_t i = 0; i < label_scorings_.size(); ++i) {
    usable_ = label_scorings_[i].scoring->Map(s.group_rows, s.label_raw).ok() && usable_;
    for (size_t k = 0; k < s.group_rows.size(); ++k) {
      const auto group = static_cast<size_t>(rows_->nodes().part(s.group_rows[k]).group);
      s.group_raw[group * label_scorings_.size() + i] = s.label_raw[k];
    }
  }
}

// Returns whether the predicates admit the rows of the group with this signature, by the sums of the dense terms for
// the group plus those of the sparse terms, which the signature has.
bool DomainOverlay::Admits(int32_t group, int32_t signature) const {
  Scratch& s = scratch();
  const size_t all = channels_.size();
  const DomainSum* sums = s.group_sums.data() + static_cast<size_t>(group) * all;
  if (signature != 0) {
    CopySums(sums, all, s.part_sums.data());
    for (size_t i = 0; i < slots_.size(); ++i) AddSignature(signature, i, &s.part_sums[slots_[i]]);
    sums = s.part_sums.data();
  }
  return std::all_of(placed_checks_.begin(), placed_checks_.end(), [&](const PlacedCheck& p) {
    return p.check->Admits({sums + p.first_channel, p.width});
  });
}

// Adds a part. Returns false, and adds nothing, when a predicate does not admit it.
bool DomainOverlay::AddPart(int32_t group, int32_t signature, const Overlay* overlay, uint32_t nodes) {
  Scratch& s = scratch();
  if (!s.admits_any || s.group_admits[static_cast<size_t>(group)] == 0) return false;
  if (!placed_checks_.empty() && !Admits(group, signature)) return false;
  s.parts.push_back({group, signature, nodes, overlay});
  return true;
}

// Lists the parts of the built class. `once` says that the special rows are those of FindSpecials.
void DomainOverlay::ListParts(bool once) {
  BeginParts();
  const std::vector<EquivalenceClass::Group>& groups = rows_->groups();
  specials_in_group_.resize(groups.size(), 0);
  BeginGroups();
  if (!label_checks_.empty() || !label_scorings_.empty()) {
    const std::vector<Row>& in_order = cache_->in_order();
    for (const EquivalenceClass::Group& g : groups) {
      if (g.size > 0) scratch().group_rows.push_back(in_order[g.buckets.ranks(0).Any()]);
    }
    AskLabelRules();
  }
  if (once) scratch().plain_part.assign(groups.size(), kNoPart);
  for (int32_t i = 0; i < static_cast<int32_t>(groups.size()); ++i) {
    const EquivalenceClass::Group& g = groups[static_cast<size_t>(i)];
    if (g.size == 0 || scratch().group_admits[static_cast<size_t>(i)] == 0) continue;
    const uint32_t plain = g.size - specials_in_group_[static_cast<size_t>(i)];
    const bool added = plain > 0 && AddPart(i, 0, nullptr, plain);
    if (once) {
      if (added) scratch().plain_part[static_cast<size_t>(i)] = static_cast<int32_t>(scratch().parts.size()) - 1;
      continue;
    }
    for (const auto& [signature, overlay] : overlays_.Of(i)) AddPart(i, signature, &overlay, overlay.size);
  }
  if (once) AddFoundParts();
}

// Writes the sums of each part for the channels of one priority to scratch().rule_sums.
void DomainOverlay::SumUpParts(const PlacedScoring& rule) {
  Scratch& s = scratch();
  const size_t all = channels_.size();
  s.rule_sums.resize(s.parts.size() * rule.width);
  const DomainSum* const group_sums = s.group_sums.data() + rule.first_channel;
  DomainSum* to = s.rule_sums.data();
  if (rule.width == 1) {  // Most rules have one channel.
    for (const Part& p : s.parts) {
      *to = group_sums[static_cast<size_t>(p.group) * all];
      if (p.signature != 0 && !rule.slots.empty()) AddSignature(p.signature, rule.slots[0], to);
      ++to;
    }
    return;
  }
  for (const Part& p : s.parts) {
    CopySums(group_sums + static_cast<size_t>(p.group) * all, rule.width, to);
    if (p.signature != 0) {
      for (size_t slot : rule.slots) AddSignature(p.signature, slot, to + (slots_[slot] - rule.first_channel));
    }
    to += rule.width;
  }
}

// Sets Part::total by all priorities that the rows of a part share, and returns how many rows fit. Raw scores are
// normalised over the parts that have rows, which is the same as over all rows that fit.
uint64_t DomainOverlay::ScoreParts() {
  Scratch& s = scratch();
  const StaticNodeIndex& index = rows_->nodes();
  const std::vector<Normalised>& normalised = index.normalised();
  const size_t labels = label_scorings_.size();
  auto raw = [&](const Part& p) { return index.raw(static_cast<size_t>(p.group)); };
  auto label_raw = [&](const Part& p) { return s.group_raw.data() + static_cast<size_t>(p.group) * labels; };
  uint64_t feasible = 0;
  for (Part& p : s.parts) {
    p.total = 0;
    feasible += p.nodes;
  }
  // As in 1.10 and 1.29, a single feasible node is not scored.
  if (feasible <= 1) return feasible;
  auto add = [&](const Normalised& how, size_t i, auto raws) {
    int64_t most = 0;
    for (const Part& p : s.parts) {
      if (p.nodes > 0) most = std::max(most, raws(p)[i]);
    }
    // If the largest raw score is 0, all nodes get the same score, which changes no order.
    if (most == 0) return;
    for (Part& p : s.parts) p.total += how.weight * NormalizedScore(raws(p)[i], most, how.how, max_score_);
  };
  for (size_t i = 0; i < normalised.size(); ++i) {
    if (index.most_raw(i) > 0) add(normalised[i], i, raw);
  }
  for (size_t i = 0; i < labels; ++i) add(label_scorings_[i].how, i, label_raw);
  s.nodes.resize(s.parts.size());
  for (size_t p = 0; p < s.parts.size(); ++p) s.nodes[p] = s.parts[p].nodes;
  s.scores.resize(s.parts.size());
  for (const PlacedScoring& rule : placed_scorings_) {
    s.domains.resize(s.parts.size() * rule.keys.size());
    uint32_t* domain = s.domains.data();
    for (const Part& p : s.parts) {
      const uint32_t* const domains = index.domains(static_cast<size_t>(p.group));
      for (size_t key : rule.keys) *domain++ = domains[key];
    }
    SumUpParts(rule);
    rule.scoring->Score({s.parts.size(), s.rule_sums, s.domains, s.nodes}, s.scores);
    for (size_t p = 0; p < s.parts.size(); ++p) s.parts[p].total += rule.weight * s.scores[p];
  }
  return feasible;
}

// ---- deciding -----------------------------------------------------------------------------------

DomainOverlay::Answer DomainOverlay::Place(uint64_t* last_node_index) {
  rows_->Refresh();
  const Way way = ChooseWay();
  if (way == Way::kByRow) return PlaceInRows({}, false, last_node_index);
  const bool once = way == Way::kListed && FindSpecials();
  if (!once) RefreshSpecials();
  if (!rows_->usable()) return {};
  ListParts(once);
  if (on_filtered_ != nullptr) (*on_filtered_)();
  const uint64_t feasible = ScoreParts();
  if (feasible == 0) return {Answer::Outcome::kUnfit, {}, 0, 0};
  return once ? ChooseOnce(feasible, last_node_index) : Choose(feasible, last_node_index);
}

// Finds the best total and the sets of rows that reach it (`in` without `out`), and takes the row that round robin
// chooses. In each part only the best bucket with a plain row can win: the score of a bucket whose rows are all special
// is skipped.
DomainOverlay::Answer DomainOverlay::Choose(uint64_t feasible, uint64_t* last_node_index) {
  Scratch& s = scratch();
  int64_t best = std::numeric_limits<int64_t>::min();
  s.in.clear();
  s.out.clear();
  uint64_t ties = 0;
  for (const Part& p : s.parts) {
    int64_t total = p.total;
    const RankSet* rows = nullptr;
    const RankSet* shadow = nullptr;
    if (p.overlay != nullptr) {
      total += p.overlay->buckets.score(0);
      rows = &p.overlay->buckets.ranks(0);
    } else {
      const ScoreBuckets& buckets = rows_->groups()[static_cast<size_t>(p.group)].buckets;
      if (total + buckets.top() < best) continue;
      const bool with_specials = specials_in_group_[static_cast<size_t>(p.group)] > 0;
      for (size_t i = 0; i < buckets.size(); ++i) {
        if (with_specials) {
          shadow = shadows_.Find(p.group, static_cast<int32_t>(buckets.score(i)));
          if (shadow != nullptr && shadow->size() == buckets.ranks(i).size()) continue;
        }
        total += buckets.score(i);
        rows = &buckets.ranks(i);
        break;
      }
    }
    if (total < best) continue;
    if (total > best) {
      best = total;
      s.in.clear();
      s.out.clear();
      ties = 0;
    }
    s.in.push_back(rows);
    ties += rows->size();
    if (shadow != nullptr) {
      s.out.push_back(shadow);
      ties -= shadow->size();
    }
  }
  const uint32_t limit = static_cast<uint32_t>(cache_->in_order().size());
  const uint32_t rank = SelectKth({s.in, {}}, {s.out, {}}, limit, static_cast<uint32_t>(*last_node_index % ties));
  if (feasible > 1) ++*last_node_index;
  return {Answer::Outcome::kPlaced, cache_->row(cache_->in_order()[rank]).name, feasible, ties};
}

size_t DomainOverlay::bytes() const {
  size_t bytes = sizeof(*this) + specials_.capacity() * (sizeof(Row) + sizeof(Special)) + signatures_.bytes() +
                 special_filter_.bytes() + specials_in_group_.capacity() * sizeof(uint32_t);
  overlays_.ForEach([&](const Overlay& overlay) { bytes += sizeof(overlay) + overlay.buckets.bytes() + 64; });
  shadows_.ForEach([&](const RankSet& shadow) { bytes += sizeof(shadow) + shadow.bytes() + 64; });
  return bytes;
}

}  // namespace berth::scheduler
