// MatchInterPodAffinity, taken apart for those who keep answers between pods (core/fast_path).
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler::predicates {

class InterPodAffinityCheck final : public FitCheck {
 public:
  InterPodAffinityCheck(const PodContext& ctx, Cache* cache);
  Scope scope() const override { return Scope::kAffinity; }
  Verdict Check(Row row) override;
  void Explain(Row row, std::vector<FailureReason>* out) override;
  std::string Error(Row row) override;
  void Filter(RowSet* candidates, RowSet* errors) override;
  FreedNeed NeedsFreed(Row row) override;

  // One required term of the pod, with the live count of pods that match it.
  struct OwnTerm {
    const api::PodAffinityTerm* term = nullptr;
    bool usable = false;
    bool per_node = false;  // 1.10 looks for hostname terms on the node itself only (B-09, kept)
    bool matches_self = false;
    std::shared_ptr<const PodCount> count;
    const Cache::LabelColumn* column = nullptr;

    // Pods that match are on nodes that share the topology domain of this row.
    bool InDomain(Row row) const;
    // The same by value of the topology label; not for per_node terms.
    bool InValue(Symbol value) const { return value != Cache::kNoValue && count->InValue(value) > 0; }
    // Nobody matches yet and the pod itself does: a required affinity term that asks nothing (not for per_node terms).
    bool Waived() const { return matches_self && count->total() == 0; }
  };
  const std::vector<OwnTerm>& affinity() const { return affinity_; }
  const std::vector<OwnTerm>& anti_affinity() const { return anti_; }
  bool usable() const;  // every own term is

  // Required anti-affinity terms of placed pods that the pod matches, as numbers of declared_terms().
  const std::vector<uint32_t>& existing() const { return existing_; }
  bool ExistingForbids(uint32_t term, Symbol value) const;
  // Looks again which those are; true when they are others than before.
  bool Refresh();

 private:
  enum class Answer { kFits, kExisting, kAffinity, kAnti, kError };
  OwnTerm Prepare(const api::PodAffinityTerm& t, Cache* cache) const;
  Answer Ask(Row row);

  PodContext ctx_;
  std::vector<OwnTerm> affinity_, anti_;
  std::vector<uint32_t> existing_;
  std::vector<const Cache::LabelColumn*> existing_columns_;
  uint64_t version_ = ~uint64_t{0};
};

}  // namespace berth::scheduler::predicates
