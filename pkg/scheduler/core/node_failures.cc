#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>

#include "pkg/scheduler/core/generic_scheduler.h"

namespace berth::scheduler {

uint32_t NodeFailures::ListOf(std::vector<FailureReason> reasons) {
  auto [it, fresh] = list_index_.try_emplace(std::move(reasons), static_cast<uint32_t>(lists_.size()));
  if (fresh) lists_.push_back(&it->first);
  return it->second;
}

void NodeFailures::Add(Symbol node, std::vector<FailureReason> reasons) {
  auto [it, fresh] = index_.try_emplace(node, static_cast<uint32_t>(nodes_.size()));
  if (fresh) {
    nodes_.emplace_back(node, ListOf(std::move(reasons)));
    return;
  }
  std::vector<FailureReason> all = *lists_[nodes_[it->second].second];
  all.insert(all.end(), reasons.begin(), reasons.end());
  nodes_[it->second].second = ListOf(std::move(all));
}

const std::vector<FailureReason>* NodeFailures::Find(Symbol node) const {
  auto it = index_.find(node);
  return it == index_.end() ? nullptr : lists_[nodes_[it->second].second];
}

std::vector<std::pair<std::string, int64_t>> NodeFailures::Histogram() const {
  std::vector<int64_t> nodes_of_list(lists_.size(), 0);
  for (const auto& [node, list] : nodes_) ++nodes_of_list[list];
  absl::flat_hash_map<Symbol, int64_t> counts;
  for (size_t i = 0; i < lists_.size(); ++i) {
    for (const FailureReason& r : *lists_[i]) counts[r.text] += nodes_of_list[i];
  }
  std::vector<std::pair<std::string, int64_t>> out;
  for (const auto& [text, n] : counts) {
    if (n > 0) out.emplace_back(text.string(), n);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string NodeFailures::FitErrorText(size_t nodes) const {
  std::vector<std::string> lines;
  for (const auto& [text, n] : Histogram()) lines.push_back(absl::StrCat(n, " ", text));
  std::sort(lines.begin(), lines.end());
  return absl::StrCat("0/", nodes, " nodes are available: ", absl::StrJoin(lines, ", "), ".");
}

}  // namespace berth::scheduler
