#include "pkg/scheduler/algorithm/node_failures.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "pkg/util/contract.h"

namespace berth::scheduler {

uint32_t NodeFailures::ListOf(const std::vector<FailureReason>& reasons) {
  // Consecutive nodes often fail for the same reasons; comparing with the last list is cheaper than a lookup.
  if (last_list_ < lists_.size() && *lists_[last_list_] == reasons) return last_list_;
  auto [it, fresh] = list_index_.try_emplace(reasons, static_cast<uint32_t>(lists_.size()));
  if (fresh) {
    lists_.push_back(&it->first);
    nodes_of_list_.push_back(0);
  }
  return last_list_ = it->second;
}

void NodeFailures::Index() const {
  for (size_t i = index_.size(); i < nodes_.size(); ++i) index_.emplace(nodes_[i].first, static_cast<uint32_t>(i));
  BERTH_REQUIRES(index_.size() == nodes_.size());  // AddNew has added no node twice
}

void NodeFailures::AddNew(Symbol node, const std::vector<FailureReason>& reasons) {
  const uint32_t list = ListOf(reasons);
  AddNew(1, [&](size_t) { return std::pair(node, list); });
}

void NodeFailures::Add(Symbol node, const std::vector<FailureReason>& reasons) {
  Index();
  auto it = index_.find(node);
  if (it == index_.end()) return AddNew(node, reasons);
  // Lists are shared, so that a node whose reasons grow moves to another list.
  std::vector<FailureReason> all = *lists_[nodes_[it->second].second];
  all.insert(all.end(), reasons.begin(), reasons.end());
  uint32_t& list = nodes_[it->second].second;
  --nodes_of_list_[list];
  list = ListOf(all);
  ++nodes_of_list_[list];
}

const std::vector<FailureReason>* NodeFailures::Find(Symbol node) const {
  Index();
  auto it = index_.find(node);
  return it == index_.end() ? nullptr : lists_[nodes_[it->second].second];
}

std::vector<Symbol> NodeFailures::Rules() const {
  std::vector<Symbol> rules;
  ForEachList([&](const std::vector<FailureReason>& reasons, int64_t) {
    for (const FailureReason& r : reasons) {
      if (!r.rule.empty() && std::find(rules.begin(), rules.end(), r.rule) == rules.end()) rules.push_back(r.rule);
    }
  });
  return rules;
}

std::vector<std::pair<std::string, int64_t>> NodeFailures::Histogram() const {
  absl::flat_hash_map<Symbol, int64_t> counts;
  for (size_t i = 0; i < lists_.size(); ++i) {
    for (const FailureReason& r : *lists_[i]) counts[r.text] += nodes_of_list_[i];
  }
  std::vector<std::pair<std::string, int64_t>> out;
  // A list that all of its nodes have left contributes nothing.
  for (const auto& [text, n] : counts) {
    if (n > 0) out.emplace_back(text.string(), n);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> NodeFailures::CountedReasons() const {
  std::vector<std::string> out;
  for (const auto& [text, n] : Histogram()) out.push_back(absl::StrCat(n, " ", text));
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace berth::scheduler
