// Determines which nodes a cluster lacks: the cheapest mix of several kinds of nodes that is found, and a price below
// which no mix can be enough.
#pragma once
#include <absl/status/statusor.h>

#include <functional>
#include <string>
#include <vector>

#include "pkg/lab/capacity.h"
#include "pkg/lab/scenario.h"

namespace berth::lab {

// A kind of node that can be added.
struct NodeOffer {
  std::string name;  // as it was asked for
  api::NodePtr like;
  double price = 1;  // above 0
};

// The result of CheapestMix.
struct Mix {
  int64_t pods = 0;            // number of pods to place
  int64_t pending_before = 0;  // how many of them stay pending without a new node
  // Pods that stay pending and fit no empty node of the offers, by kind of pod. The mix is for the others.
  struct CannotFit {
    std::string pod;    // the first one, as namespace/name
    int64_t pods = 0;   // how many of its kind stay pending
    std::string error;  // why it does not fit, on the first offer
  };
  std::vector<CannotFit> cannot_fit;
  bool enough = false;         // whether all others fit with `nodes`
  std::vector<int64_t> nodes;  // by offer
  double price = 0;            // of `nodes`
  double bound = 0;            // no mix with which all others fit costs less
  // With one node fewer (of the offer `fewer`) or, if not enough, with `nodes`: how many others stay pending, and the
  // first of them.
  size_t fewer = 0;
  int64_t pending = 0;
  std::string first_pending;  // as namespace/name
  std::string error;          // why it stays pending
};

// Returns how many nodes of each offer must be added until the pending pods of the scenario and `rounds` rounds of
// `pods` fit, apart from those that fit no empty node of any offer. With a single offer the number is such that one
// node fewer is not enough; with several, the mix is the cheapest of those that were tried. There are never more new
// nodes than pods. REQUIRES: there is an offer.
absl::StatusOr<Mix> CheapestMix(const Scenario& scenario, const std::vector<PodShare>& pods, int64_t rounds,
                                const std::vector<NodeOffer>& offers, const std::function<void(size_t)>& step = {});

}  // namespace berth::lab
