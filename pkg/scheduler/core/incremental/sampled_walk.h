// How a decision that does not look at all nodes goes through them (core/node_sampler.h).
#pragma once
#include <cstddef>

namespace berth::scheduler {

// A walk through all nodes that begins at index `start` of Cache::in_tree_order(), goes on with the first row after the
// last one, and ends when `most` rows that fit were found and one more.
struct SampledWalk {
  size_t start = 0, most = 0;
  // Set by the one who walks.
  bool walked = false;   // whether the walk was made
  size_t looked = 0;     // number of rows that were looked at
  size_t found = 0;      // number of rows that fit, without the one that is too many
  bool stopped = false;  // whether the last row that was looked at is the one that is too many
};

}  // namespace berth::scheduler
