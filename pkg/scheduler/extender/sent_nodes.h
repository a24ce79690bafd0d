// The list of nodes in a request to an extender, and how the nodes in its answer are found in that list.
//
// Thread-safety: SentNodes does not change once it is complete; a SentNames is for one thread.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/strings/string_view.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/util/symbol.h"

namespace berth::scheduler {

// A list of nodes as it is sent to an extender.
struct SentNodes {
  std::vector<api::NodePtr> nodes;
  std::vector<util::Symbol> names;
  std::string json;          // the elements of the list, separated by commas
  std::vector<size_t> ends;  // by node: the end of its element in `json`

  std::string_view Text(size_t place) const {
    const size_t begin = place == 0 ? 0 : ends[place - 1] + 1;
    return std::string_view(json).substr(begin, ends[place] - begin);
  }
};

// Finds the nodes in an answer among those that were sent. Most answers keep the order of the request, so the search
// begins after the node that was found last; a map is built only when that fails.
class SentNames {
 public:
  static constexpr size_t kNone = ~size_t{0};
  // `sent` must outlive the object.
  explicit SentNames(const SentNodes& sent) : sent_(sent) {}

  // Returns the index of the node in the request, or kNone.
  size_t Find(std::string_view name);
  // Returns the index after the node that was found last.
  size_t next() const { return next_; }
  // Notes that the node at this index was found by other means.
  void Found(size_t place) { next_ = place + 1; }

 private:
  const SentNodes& sent_;
  size_t next_ = 0;
  absl::flat_hash_map<absl::string_view, size_t> places_;
};

}  // namespace berth::scheduler
