// A price below which no mix of nodes can hold the given pods: a linear program in which pods may be cut into pieces,
// and each resource of a pod may be taken from another node. For use in this package.
#pragma once
#include <cstdint>
#include <vector>

namespace berth::lab {

// What is to be placed, and what with. Amounts are in any unit, the same for all amounts of a resource.
struct MixProblem {
  // Pods that fit the same offers: what they request together.
  struct Demand {
    std::vector<bool> fits;      // by offer
    std::vector<double> amount;  // by resource
  };
  std::vector<Demand> demands;
  std::vector<double> free;                // by resource: what is free in the cluster
  std::vector<std::vector<double>> empty;  // by offer and resource: what an empty node has
  std::vector<double> price;               // by offer
};

struct MixBound {
  double price = 0;
  std::vector<double> nodes;  // by offer: how many nodes reach the price, in fractions
};

MixBound BoundOf(const MixProblem& problem);

}  // namespace berth::lab
