// InterPodAffinityPriority, taken apart for those who keep scores between pods (core/fast_path).
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler::priorities {

// 0..10 for a raw sum between the smallest and the largest of all feasible nodes (both counted from 0).
int64_t AffinityScore(int64_t raw, int64_t min, int64_t max);

class InterPodAffinityScoring final : public Scoring {
 public:
  InterPodAffinityScoring(const PodContext& ctx, Cache* cache, int hard_weight);
  Scope scope() const override { return Scope::kAffinity; }
  bool OnePass() const override { return true; }
  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override;
  absl::Status Reduce(std::span<const Row> rows, std::span<int64_t> scores) override;

  // The terms that weigh in. What one adds to a node's raw sum depends on the value of a node label alone.
  size_t term_count() const { return own_.size() + theirs_.size(); }
  Symbol TopologyKey(size_t term) const;
  int64_t InValue(size_t term, Symbol value) const;
  // The values for which that is not zero, perhaps among others.
  std::vector<Symbol> Values(size_t term) const;
  // Looks again which terms of placed pods are about this pod; true when they are others than before.
  bool Refresh();
  // What is wrong with the pod's own preferred terms; empty when nothing is.
  const std::string& error() const { return error_; }

 private:
  struct Own {
    std::shared_ptr<const PodCount> count;
    Symbol key;
    int64_t weight;
  };
  void AddOwn(const api::WeightedPodAffinityTerm& t, int sign, Cache* cache);

  PodContext ctx_;
  int hard_weight_;
  std::vector<Own> own_;             // the pod's preferences, with the pods that they are about
  std::vector<uint32_t> theirs_;     // terms of placed pods that are about this pod
  uint64_t version_ = ~uint64_t{0};  // of the declared terms
  std::string error_;
};

}  // namespace berth::scheduler::priorities
