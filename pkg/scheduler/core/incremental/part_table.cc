#include "pkg/scheduler/core/incremental/part_table.h"

#include <algorithm>
#include <span>

#include "pkg/scheduler/algorithm/normalize.h"

namespace berth::scheduler {
namespace {

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

void PartTable::Begin(const Source& source) {
  layout_ = &source.layout;
  signatures_ = &source.signatures;
  labels_ = &source.labels;
  answers_ = &source.answers;
  nodes_ = &source.nodes;
  max_score_ = source.max_score;
  parts_.clear();
  admits_any_ = true;
  for (const DomainCheck* check : layout_->checks_without_terms()) {
    part_sums_.assign(check->channels().size(), DomainSum{});
    admits_any_ = admits_any_ && (part_sums_.empty() || check->Admits(part_sums_));
  }
  part_sums_.resize(layout_->channels().size());
  SumUpGroups();
}

// Adds up the dense terms for each group, and finds for which channels a group lacks a label.
void PartTable::SumUpGroups() {
  const size_t groups = nodes_->group_count(), width = layout_->channels().size();
  group_sums_.assign(groups * width, DomainSum{});
  if (groups == 0) return;
  const std::span<const TermLayout::Term> dense = layout_->dense();
  for (size_t begin = 0, end = 0; begin < dense.size(); begin = end) {
    const TermLayout::Term& first = dense[begin];
    while (end < dense.size() && dense[end].key == first.key && dense[end].channel == first.channel) ++end;
    SumUpDense(dense.subspan(begin, end - begin));
  }
  for (const TermLayout::Need& need : layout_->needs()) {
    for (size_t g = 0; g < groups; ++g) {
      if (nodes_->domains(g)[need.key] == LabelColumn::kNoDomain) {
        group_sums_[g * width + need.channel].complete = false;
      }
    }
  }
}

// Adds up terms with the same key and channel, of which a pod may have many. Their numbers are first added up by
// domain, so that a group costs one read of an array, whatever the number of terms.
void PartTable::SumUpDense(std::span<const TermLayout::Term> terms) {
  const size_t key = terms[0].key, channel = terms[0].channel;
  const DomainChannel kind = layout_->channels()[channel];
  by_domain_.clear();
  for (const TermLayout::Term& t : terms) {
    for (const auto& [domain, number] : t.term->totals->numbers()) {
      if (domain >= by_domain_.size()) by_domain_.resize(domain + 1, 0);
      DomainSum sum{by_domain_[domain]};
      DomainRule::AddTo(&sum, kind, *t.term, number);
      by_domain_[domain] = sum.value;
    }
  }
  if (by_domain_.empty()) return;
  const size_t limit = by_domain_.size(), groups = nodes_->group_count();
  const size_t width = layout_->channels().size(), keys = layout_->keys().size();
  const uint32_t* domain = nodes_->domains(0) + key;
  DomainSum* sum = group_sums_.data() + channel;
  for (size_t g = 0; g < groups; ++g, domain += keys, sum += width) {
    if (*domain >= limit) continue;  // kNoDomain is larger than any limit
    if (kind == DomainChannel::kSum) {
      sum->value += by_domain_[*domain];
    } else if (by_domain_[*domain] > 0) {
      sum->value = 1;
    }
  }
}

// Returns whether the predicates admit the rows of the group with this signature, by the sums of the dense terms for
// the group plus those of the sparse terms, which the signature has.
bool PartTable::Admits(int32_t group, int32_t signature) {
  const size_t all = layout_->channels().size();
  const DomainSum* sums = group_sums_.data() + static_cast<size_t>(group) * all;
  if (signature != 0) {
    CopySums(sums, all, part_sums_.data());
    const std::span<const int64_t> values = signatures_->values(signature);
    for (size_t i = 0; i < values.size(); ++i) layout_->AddSlot(values, i, &part_sums_[layout_->slots()[i]]);
    sums = part_sums_.data();
  }
  const auto& checks = layout_->checks();
  return std::all_of(checks.begin(), checks.end(), [&](const TermLayout::PlacedCheck& p) {
    return p.check->Admits({sums + p.first_channel, p.width});
  });
}

int32_t PartTable::Add(int32_t group, int32_t signature, const ScoreBuckets* specials, uint32_t nodes) {
  if (!admits_any_ || answers_->admits[static_cast<size_t>(group)] == 0) return kNoPart;
  if (!layout_->checks().empty() && !Admits(group, signature)) return kNoPart;
  parts_.push_back({group, signature, nodes, specials});
  return static_cast<int32_t>(parts_.size()) - 1;
}

// Raw scores are normalised over the parts that have rows, which is the same as over all rows that fit. As in 1.10 and
// later, a single feasible node is not scored.
uint64_t PartTable::Score() {
  uint64_t feasible = 0;
  for (Part& p : parts_) {
    p.total = 0;
    feasible += p.nodes;
  }
  if (feasible <= 1) return feasible;
  const std::vector<Normalised>& normalised = nodes_->normalised();
  for (size_t i = 0; i < normalised.size(); ++i) {
    if (nodes_->most_raw(i) <= 0) continue;
    AddNormalised(normalised[i], [&](const Part& p) { return nodes_->raw(static_cast<size_t>(p.group))[i]; });
  }
  const size_t labels = labels_->priorities();
  const int64_t* label_raw = answers_->raw.data();
  for (size_t i = 0; i < labels; ++i) {
    AddNormalised(labels_->how(i), [&](const Part& p) { return label_raw[static_cast<size_t>(p.group) * labels + i]; });
  }
  counts_.resize(parts_.size());
  for (size_t p = 0; p < parts_.size(); ++p) counts_[p] = parts_[p].nodes;
  scores_.resize(parts_.size());
  for (const TermLayout::PlacedScoring& rule : layout_->scorings()) AddScores(rule);
  return feasible;
}

// Adds the scores of a priority whose raw scores are scaled by the largest one. If that is 0, all nodes get the same
// score, which changes no order.
template <typename Raws>
void PartTable::AddNormalised(const Normalised& how, Raws raw) {
  int64_t most = 0;
  for (const Part& p : parts_) {
    if (p.nodes > 0) most = std::max(most, raw(p));
  }
  if (most == 0) return;
  for (Part& p : parts_) p.total += how.weight * NormalizedScore(raw(p), most, how.how, max_score_);
}

// Adds the scores of a priority about topology domains.
void PartTable::AddScores(const TermLayout::PlacedScoring& rule) {
  domains_.resize(parts_.size() * rule.keys.size());
  uint32_t* domain = domains_.data();
  for (const Part& p : parts_) {
    const uint32_t* const domains = nodes_->domains(static_cast<size_t>(p.group));
    for (size_t key : rule.keys) *domain++ = domains[key];
  }
  SumUp(rule);
  rule.scoring->Score({parts_.size(), rule_sums_, domains_, counts_}, scores_);
  for (size_t p = 0; p < parts_.size(); ++p) parts_[p].total += rule.weight * scores_[p];
}

// Writes the sums of each part for the channels of one priority to rule_sums_.
void PartTable::SumUp(const TermLayout::PlacedScoring& rule) {
  const size_t all = layout_->channels().size();
  rule_sums_.resize(parts_.size() * rule.width);
  const DomainSum* const group_sums = group_sums_.data() + rule.first_channel;
  DomainSum* to = rule_sums_.data();
  if (rule.width == 1) {  // Most rules have one channel.
    for (const Part& p : parts_) {
      *to = group_sums[static_cast<size_t>(p.group) * all];
      if (p.signature != 0 && !rule.slots.empty()) {
        layout_->AddSlot(signatures_->values(p.signature), rule.slots[0], to);
      }
      ++to;
    }
    return;
  }
  for (const Part& p : parts_) {
    CopySums(group_sums + static_cast<size_t>(p.group) * all, rule.width, to);
    if (p.signature != 0) {
      const std::span<const int64_t> values = signatures_->values(p.signature);
      for (size_t slot : rule.slots) layout_->AddSlot(values, slot, to + (layout_->slots()[slot] - rule.first_channel));
    }
    to += rule.width;
  }
}

}  // namespace berth::scheduler
