#include "pkg/scheduler/core/incremental/label_rules.h"

#include <algorithm>

#include "pkg/scheduler/algorithm/column_check.h"

namespace berth::scheduler {
namespace {

// Rules about labels are evaluated once for each group if a group has at least this many nodes on average.
constexpr size_t kNodesOfLabelGroup = 16;

}  // namespace

void LabelRules::Find(const RuleSet& rules, const PodContext& ctx, TermLayout* layout) {
  *this = {};
  std::vector<const LabelColumn*> columns;
  LeftOut found;
  for (size_t i = 0; i < std::min<size_t>(rules.node_predicates.size(), 64); ++i) {
    std::unique_ptr<FitCheck> check = rules.node_predicates[i]->predicate(ctx);
    if (!ReadsOnlyLabels(*check, &columns)) continue;
    found.predicates.Add(i);
    if (!check->FitsAlways()) checks_.push_back(std::move(check));
  }
  for (size_t i = 0; i < std::min<size_t>(rules.normalised_priorities.size(), 64); ++i) {
    const ConfiguredPriority& p = *rules.normalised_priorities[i];
    std::unique_ptr<Scoring> scoring = p.function(ctx);
    const size_t before = columns.size();
    if (!scoring->NodeLabels(&columns)) continue;
    found.normalised.Add(i);
    // A scoring that reads no label gives 0 to every node (Scoring::NodeLabels), which changes no order.
    if (columns.size() > before) scorings_.push_back({std::move(scoring), {p.weight, p.traits.normalisation}});
  }
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  size_t groups = 1;
  for (const LabelColumn* c : columns) groups = std::min(groups * (c->distinct() + 1), kMostValuesOfGroups);
  if (groups == kMostValuesOfGroups || (groups > 2 && groups > ctx.cache.node_count() / kNodesOfLabelGroup)) {
    *this = {};
    return;
  }
  left_out_ = found;
  for (const LabelColumn* c : columns) layout->KeyOf(c, false);
}

void LabelRules::Begin(size_t groups, Answers* answers) const {
  answers->rows.clear();
  answers->admits.assign(groups, checks_.empty() ? 1 : 0);
  answers->raw.assign(groups * scorings_.size(), 0);
}

// The other rows of a group have the same labels as the one that is evaluated.
bool LabelRules::Evaluate(const StaticNodeIndex& nodes, Answers* answers) const {
  for (const auto& check : checks_) KeepFitting(*check, &answers->rows);
  for (Row row : answers->rows) answers->admits[static_cast<size_t>(nodes.part(row).group)] = 1;
  answers->column.resize(answers->rows.size());
  bool ok = true;
  for (size_t i = 0; i < scorings_.size(); ++i) {
    ok = scorings_[i].scoring->Map(answers->rows, answers->column).ok() && ok;
    for (size_t k = 0; k < answers->rows.size(); ++k) {
      const auto group = static_cast<size_t>(nodes.part(answers->rows[k]).group);
      answers->raw[group * scorings_.size() + i] = answers->column[k];
    }
  }
  return ok;
}

}  // namespace berth::scheduler
