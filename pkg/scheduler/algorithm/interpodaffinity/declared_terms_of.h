// The affinity terms that placed pods declare and that are about one pod.
#pragma once
#include <memory>
#include <vector>

#include "pkg/scheduler/cache/cache.h"

namespace berth::scheduler::interpodaffinity {

class DeclaredTermsOf {
 public:
  // `anti`: the required anti-affinity terms. Otherwise all terms that are scored, with `required_weight` for a
  // required affinity term.
  // `namespace_selectors`: terms may pick namespaces by label (1.29).
  DeclaredTermsOf(bool anti, int64_t required_weight, bool namespace_selectors = false)
      : anti_(anti), namespace_selectors_(namespace_selectors), required_weight_(required_weight) {}

  // Looks again which terms match a pod of the template; returns true when they are others than before.
  bool Refresh(const api::PodTemplate& pod, Cache* cache);
  // The sums over the terms, one for each topology key.
  const std::vector<std::shared_ptr<const TermTotals>>& sums() const { return sums_; }

 private:
  bool anti_, namespace_selectors_;
  int64_t required_weight_;
  uint64_t version_ = ~uint64_t{0};     // of the declared terms
  uint64_t namespaces_ = ~uint64_t{0};  // of the namespaces
  std::vector<uint32_t> candidates_;
  std::vector<std::shared_ptr<const TermTotals>> sums_;
};

}  // namespace berth::scheduler::interpodaffinity
