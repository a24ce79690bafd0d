// Finds the affinity terms of placed pods that match one pod.
#pragma once
#include <memory>
#include <vector>

#include "pkg/scheduler/cache/cache.h"

namespace berth::scheduler::interpodaffinity {

// The matching terms of one kind. Invariant: sums() is what the last call of Refresh found.
class DeclaredTermsOf {
 public:
  // If `anti` is true, looks for required anti-affinity terms. Otherwise looks for the terms that are scored: preferred
  // terms with their weights, and required affinity terms with `required_weight`. If `namespace_selectors` is true,
  // terms may also select namespaces by label (1.29).
  DeclaredTermsOf(bool anti, int64_t required_weight, bool namespace_selectors = false)
      : anti_(anti), namespace_selectors_(namespace_selectors), required_weight_(required_weight) {}

  // Recomputes which terms match a pod of the template. Returns true if the result differs from that of the last call.
  bool Refresh(const api::PodTemplate& pod, Cache* cache);
  // The totals of the matching terms by topology domain, one element for each topology key.
  const std::vector<std::shared_ptr<const TermTotals>>& sums() const { return sums_; }

 private:
  bool anti_, namespace_selectors_;
  int64_t required_weight_;
  uint64_t version_ = ~uint64_t{0};     // of the declared terms, when Refresh last ran
  uint64_t namespaces_ = ~uint64_t{0};  // of the namespaces, when Refresh last ran
  std::vector<uint32_t> candidates_;    // indices into DeclaredTerms::terms(); a buffer of Refresh
  std::vector<std::shared_ptr<const TermTotals>> sums_;
};

}  // namespace berth::scheduler::interpodaffinity
