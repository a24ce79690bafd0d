#include "pkg/scheduler/core/incremental/part_table.h"

#include <algorithm>
#include <span>

#include "pkg/scheduler/algorithm/normalize.h"
#include "pkg/util/contract.h"

namespace berth::scheduler {
namespace {

// Writes for each channel, and for the end, the index of the first of the elements that have this channel or a later
// one. REQUIRES: the elements are sorted by channel.
template <typename T>
void FindFirst(const std::vector<T>& elements, size_t channels, std::vector<size_t>* first) {
  first->clear();
  for (size_t i = 0; i < elements.size(); ++i) {
    while (first->size() <= elements[i].channel) first->push_back(i);
  }
  first->resize(channels + 1, elements.size());
}

}  // namespace

void PartTable::Begin(const Source& source) {
  layout_ = &source.layout;
  signatures_ = &source.signatures;
  labels_ = &source.labels;
  answers_ = &source.answers;
  nodes_ = &source.nodes;
  max_score_ = source.max_score;
  groups_.clear();
  part_signatures_.clear();
  nodes_of_.clear();
  specials_.clear();
  totals_.clear();
  ++decision_;
  admits_any_ = true;
  for (const DomainCheck* check : layout_->checks_without_terms()) {
    part_sums_.assign(check->channels().size(), DomainSum{});
    admits_any_ = admits_any_ && (part_sums_.empty() || check->Admits(part_sums_));
  }
  const std::vector<TermLayout::PlacedCheck>& checks = layout_->checks();
  part_sums_.resize(checks.empty() ? 0 : checks.back().first_channel + checks.back().width);
  SumUpDense();
}

// Adds up the dense terms by channel, key and domain.
void PartTable::SumUpDense() {
  tables_.clear();
  by_domain_.clear();
  const std::span<const TermLayout::Term> dense = layout_->dense();
  for (size_t begin = 0, end = 0; begin < dense.size(); begin = end) {
    const TermLayout::Term& first = dense[begin];
    while (end < dense.size() && dense[end].channel == first.channel && dense[end].key == first.key) ++end;
    AddTable(dense.subspan(begin, end - begin));
  }
  FindFirst(tables_, layout_->channels().size(), &first_table_);
  FindFirst(layout_->needs(), layout_->channels().size(), &first_need_);
}

// Adds the table of terms with the same key and channel, of which a pod may have many. There is none if all numbers are
// 0.
void PartTable::AddTable(std::span<const TermLayout::Term> terms) {
  const auto counts = [](const TermLayout::Term& t) { return !t.term->totals->numbers().empty(); };
  const auto first = std::ranges::find_if(terms, counts);
  if (first == terms.end()) return;
  const size_t begin = by_domain_.size();
  const DomainChannel kind = layout_->channels()[terms[0].channel];
  by_domain_.resize(begin + first->term->totals->column()->domain_limit() + 1, 0);
  int64_t* const of_domain = by_domain_.data() + begin + 1;
  for (const TermLayout::Term& t : terms) {
    t.term->totals->numbers().ForEach([&](uint32_t domain, int64_t number) {
      DomainSum sum{of_domain[domain]};
      DomainRule::AddTo(&sum, kind, *t.term, number);
      of_domain[domain] = sum.value;
    });
  }
  tables_.push_back({terms[0].channel, terms[0].key, kind, begin});
}

// Writes the sums of the dense terms of a group for the first `width` channels, and whether the group has the labels
// that they need.
void PartTable::DenseSums(int32_t group, size_t width, DomainSum* sums) const {
  std::fill_n(sums, width, DomainSum{});
  const uint32_t* const domains = nodes_->domains(static_cast<size_t>(group));
  for (size_t t = 0; t < first_table_[width]; ++t) {
    const Table& table = tables_[t];
    const int64_t value = by_domain_[table.begin + (domains[table.key] + 1)];
    DomainSum& sum = sums[table.channel];
    if (table.kind == DomainChannel::kSum) {
      sum.value += value;
    } else if (value > 0) {
      sum.value = 1;
    }
  }
  for (size_t n = 0; n < first_need_[width]; ++n) {
    const TermLayout::Need& need = layout_->needs()[n];
    if (domains[need.key] == LabelColumn::kNoDomain) sums[need.channel].complete = false;
  }
}

// Returns whether the predicates admit the rows of the group with this signature, by the sums of the dense terms for
// the group plus those of the sparse terms, which the signature has. The channels of the checks come first.
bool PartTable::Admits(int32_t group, int32_t signature) {
  const size_t width = part_sums_.size();
  DomainSum* const sums = part_sums_.data();
  DenseSums(group, width, sums);
  if (signature != 0) {
    const std::span<const int64_t> values = signatures_->values(signature);
    for (size_t i = 0; i < values.size(); ++i) {
      if (layout_->slots()[i] < width) layout_->AddSlot(values, i, &sums[layout_->slots()[i]]);
    }
  }
  const auto& checks = layout_->checks();
  return std::all_of(checks.begin(), checks.end(), [&](const TermLayout::PlacedCheck& p) {
    return p.check->Admits({sums + p.first_channel, p.width});
  });
}

int32_t PartTable::Add(int32_t group, int32_t signature, const ScoreBuckets* specials, uint32_t nodes) {
  if (!layout_->checks().empty() && admits_any_ && !Admits(group, signature)) return kNoPart;
  return AddCandidate(group, signature, specials, nodes);
}

// Advances the end of the output only for rows that have a part, so that there is no branch on it.
void PartTable::AddOfEach(std::span<const Row> rows, std::span<const RowState> states, const int32_t* signature_of,
                          int32_t* part_of) {
  const size_t before = size();
  groups_.resize(before + rows.size() + 1);
  part_signatures_.resize(before + rows.size() + 1);
  const uint8_t* const admits = answers_->admits.data();
  int32_t *const groups = groups_.data(), *const signatures = part_signatures_.data();
  const int32_t any = admits_any_ ? 1 : 0;
  const bool own = signature_of == nullptr;
  auto end = static_cast<int32_t>(before);
  for (size_t i = 0; i < rows.size(); ++i) {
    const int32_t group = states[i].group, has = any & admits[group];
    groups[end] = group;
    signatures[end] = own ? static_cast<int32_t>(rows[i]) + 1 : signature_of[rows[i]];
    part_of[i] = has != 0 ? end : kNoPart;
    end += has;
  }
  groups_.resize(static_cast<size_t>(end));
  part_signatures_.resize(static_cast<size_t>(end));
  nodes_of_.resize(static_cast<size_t>(end), 0);
}

// Keeps the elements of a column whose parts are admitted.
template <typename T>
void PartTable::KeepAdmitted(std::vector<T>* column) const {
  size_t kept = 0;
  for (size_t p = 0; p < column->size(); ++p) {
    (*column)[kept] = (*column)[p];
    kept += admits_[p];
  }
  column->resize(kept);
}

void PartTable::Admit(std::span<int32_t> part_of) {
  if (layout_->checks().empty() || empty()) return;
  admits_.assign(size(), 1);
  for (const TermLayout::PlacedCheck& p : layout_->checks()) {
    SumUp(p.first_channel, p.width, p.slots);
    p.check->AdmitEach(rule_sums_, admits_);
  }
  if (std::ranges::find(admits_, 0) == admits_.end()) return;
  new_index_.resize(size() + 1);
  new_index_[0] = kNoPart;  // for kNoPart itself
  int32_t kept = 0;
  for (size_t p = 0; p < size(); ++p) {
    new_index_[p + 1] = admits_[p] != 0 ? kept : kNoPart;
    kept += admits_[p] != 0 ? 1 : 0;
  }
  KeepAdmitted(&groups_);
  KeepAdmitted(&part_signatures_);
  KeepAdmitted(&nodes_of_);
  KeepAdmitted(&specials_);
  for (int32_t& part : part_of) part = new_index_[static_cast<size_t>(part + 1)];
}

// Raw scores are normalised over the parts that have rows, which is the same as over all rows that fit. As in 1.10 and
// later, a single feasible node is not scored.
uint64_t PartTable::Score() {
  uint64_t feasible = 0;
  for (const uint32_t nodes : nodes_of_) feasible += nodes;
  totals_.assign(size(), 0);
  if (feasible <= 1) return feasible;
  const std::vector<Normalised>& normalised = nodes_->normalised();
  for (size_t i = 0; i < normalised.size(); ++i) {
    if (nodes_->most_raw(i) <= 0) continue;
    AddNormalised(normalised[i], [&](size_t group) { return nodes_->raw(group)[i]; });
  }
  const size_t labels = labels_->priorities();
  const int64_t* label_raw = answers_->raw.data();
  for (size_t i = 0; i < labels; ++i) {
    AddNormalised(labels_->how(i), [&](size_t group) { return label_raw[group * labels + i]; });
  }
  scores_.resize(size());
  for (const TermLayout::PlacedScoring& rule : layout_->scorings()) AddScores(rule);
  return feasible;
}

// Adds the scores of a priority whose raw scores are scaled by the largest one. If that is 0, all nodes get the same
// score, which changes no order.
template <typename Raws>
void PartTable::AddNormalised(const Normalised& how, Raws raw) {
  const size_t size = this->size();
  raws_.resize(size);
  int64_t most = 0;
  for (size_t p = 0; p < size; ++p) {
    raws_[p] = raw(static_cast<size_t>(groups_[p]));
    most = std::max(most, nodes_of_[p] > 0 ? raws_[p] : 0);
  }
  if (most == 0) return;
  const auto score_of = [&](int64_t of) { return how.weight * NormalizedScore(of, most, how.how, max_score_); };
  constexpr size_t kPartsOfValue = 4;
  if (static_cast<size_t>(most) >= size / kPartsOfValue) {
    for (size_t p = 0; p < size; ++p) totals_[p] += score_of(raws_[p]);
    return;
  }
  // Fewer divisions are needed for each value that there may be than for each part.
  scores_.resize(static_cast<size_t>(most) + 1);
  for (int64_t of = 0; of <= most; ++of) scores_[static_cast<size_t>(of)] = score_of(of);
  for (size_t p = 0; p < size; ++p) {
    const int64_t of = raws_[p];
    totals_[p] += of >= 0 && of <= most ? scores_[static_cast<size_t>(of)] : score_of(of);
  }
}

// Returns by part the place of its domain in the tables with this key. The places are found once for all rules, unless
// parts are dropped in between.
const uint32_t* PartTable::PlacesOf(size_t key) {
  if (places_.size() <= key) places_.resize(key + 1);
  Places& places = places_[key];
  const size_t size = this->size();
  if (places.decision == decision_ && places.of_part.size() == size) return places.of_part.data();
  places.decision = decision_;
  places.of_part.resize(size);
  const uint32_t* const domains = nodes_->domains(0) + key;
  const size_t width = nodes_->keys().size();
  uint32_t* const to = places.of_part.data();
  const int32_t* const groups = groups_.data();
  for (size_t p = 0; p < size; ++p) to[p] = domains[static_cast<size_t>(groups[p]) * width] + 1;
  return places.of_part.data();
}

// Adds the scores of a priority about topology domains.
void PartTable::AddScores(const TermLayout::PlacedScoring& rule) {
  const size_t size = this->size(), keys = rule.keys.size();
  domains_.resize(size * keys);
  for (size_t k = 0; k < keys; ++k) {
    const uint32_t* const places = PlacesOf(rule.keys[k]);
    uint32_t* to = domains_.data() + k;
    for (size_t p = 0; p < size; ++p, to += keys) *to = places[p] - 1;
  }
  SumUp(rule.first_channel, rule.width, rule.slots);
  BERTH_REQUIRES(scores_.size() == size);
  rule.scoring->Score({size, rule_sums_, domains_, nodes_of_}, scores_);
  for (size_t p = 0; p < size; ++p) totals_[p] += rule.weight * scores_[p];
}

// Writes the sums of each part for the channels of one rule to rule_sums_. Does what DenseSums does for all parts at
// once, one channel and one table after another.
void PartTable::SumUp(size_t first_channel, size_t width, std::span<const size_t> slots) {
  const size_t end = first_channel + width, size = this->size();
  rule_sums_.resize(size * width);
  for (size_t channel = first_channel; channel < end; ++channel) {
    SumUpChannel(channel, slots);
    DomainSum* to = rule_sums_.data() + (channel - first_channel);
    for (size_t p = 0; p < size; ++p, to += width) *to = {sums_[p], true};
  }
  for (size_t n = first_need_[first_channel]; n < first_need_[end]; ++n) {
    const TermLayout::Need& need = layout_->needs()[n];
    const uint32_t* const places = PlacesOf(need.key);
    DomainSum* to = rule_sums_.data() + (need.channel - first_channel);
    for (size_t p = 0; p < size; ++p, to += width) to->complete = to->complete && places[p] != 0;
  }
}

// Writes the sum of each part for the channel to sums_. `slots` are those of its rule.
void PartTable::SumUpChannel(size_t channel, std::span<const size_t> slots) {
  const size_t size = this->size();
  sums_.assign(size, 0);
  int64_t* const sums = sums_.data();
  for (size_t t = first_table_[channel]; t < first_table_[channel + 1]; ++t) {
    const Table& table = tables_[t];
    const int64_t* const values = by_domain_.data() + table.begin;
    const uint32_t* const places = PlacesOf(table.key);
    if (table.kind == DomainChannel::kSum) {
      for (size_t p = 0; p < size; ++p) sums[p] += values[places[p]];
    } else {
      for (size_t p = 0; p < size; ++p) sums[p] |= values[places[p]] > 0 ? 1 : 0;
    }
  }
  if (signatures_->size() == 1) return;  // there is none but 0
  for (const size_t slot : slots) {
    if (layout_->slots()[slot] == channel) AddSlots(slot);
  }
}

// Adds a value of the signatures to sums_. That of signature 0, which most parts may have, is 0.
void PartTable::AddSlots(size_t slot) {
  const int64_t* const values = signatures_->values(0).data() + slot;
  const size_t slots = layout_->slots().size(), size = this->size();
  int64_t* const sums = sums_.data();
  const int32_t* const signatures = part_signatures_.data();
  if (layout_->channels()[layout_->slots()[slot]] == DomainChannel::kSum) {
    for (size_t p = 0; p < size; ++p) sums[p] += values[static_cast<size_t>(signatures[p]) * slots];
  } else {
    for (size_t p = 0; p < size; ++p) sums[p] |= values[static_cast<size_t>(signatures[p]) * slots] > 0 ? 1 : 0;
  }
}

}  // namespace berth::scheduler
