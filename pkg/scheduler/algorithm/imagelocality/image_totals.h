// Adds up how many bytes of a pod's images each node already has. The image rules of all releases share it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "pkg/scheduler/cache/cache.h"
#include "pkg/scheduler/cache/image_names.h"

namespace berth::scheduler::imagelocality {

// Returns, for each row, the sum of bytes_of(image, what the cache has of it on the node) over those of the images that
// the node has. Sums saturate at the largest int64. BytesOf is int64_t(const Cache::ImageNodes&, const
// Cache::ImageNodes::Size&).
template <typename BytesOf>
std::vector<int64_t> ImageTotals(const Cache& cache, std::span<const Row> rows,
                                 std::span<const Cache::ImageNodes* const> images, BytesOf bytes_of) {
  std::vector<int64_t> totals(rows.size(), 0);
  if (images.empty()) return totals;
  // For few rows, it is cheaper to search for each row among the nodes of an image; for many, to visit all of these
  // nodes.
  constexpr size_t kFew = 64;
  if (rows.size() <= kFew) {
    for (size_t i = 0; i < rows.size(); ++i) {
      for (const Cache::ImageNodes* nodes : images) {
        const auto at = std::lower_bound(nodes->sizes.begin(), nodes->sizes.end(), rows[i],
                                         [](const Cache::ImageNodes::Size& s, Row row) { return s.row < row; });
        if (at == nodes->sizes.end() || at->row != rows[i]) continue;
        totals[i] = SaturatingAdd(totals[i], bytes_of(*nodes, *at));
      }
    }
    return totals;
  }
  std::vector<int64_t> by_row(cache.row_count(), 0);
  for (const Cache::ImageNodes* nodes : images) {
    for (const auto& size : nodes->sizes) by_row[size.row] = SaturatingAdd(by_row[size.row], bytes_of(*nodes, size));
  }
  for (size_t i = 0; i < rows.size(); ++i) totals[i] = by_row[rows[i]];
  return totals;
}

// What the scores of a node read of other nodes: how many there are in all, and for each image that a node has how many
// nodes have it and which size it has.
class SeenImages {
 public:
  // Notes what the images are now, of those of these names that some node has. Returns whether that may change the
  // score of a node that has not changed since the last call. While no node has any of the images, all scores are 0,
  // and the nodes that get the first of them or lose the last of them have changed themselves.
  bool Changed(const Cache& cache, std::span<const util::SharedSymbol> names, bool count_nodes) {
    std::swap(before_, now_);
    now_.clear();
    for (const util::SharedSymbol& name : names) {
      const Cache::ImageNodes* nodes = cache.Image(name);
      if (nodes == nullptr) continue;
      now_.push_back(count_nodes ? static_cast<int64_t>(nodes->sizes.size()) : 0);
      now_.push_back(nodes->first_size);
    }
    if (!now_.empty()) now_.push_back(static_cast<int64_t>(cache.node_count()));
    return !now_.empty() && !before_.empty() && now_ != before_;
  }

 private:
  std::vector<int64_t> before_, now_;
};

}  // namespace berth::scheduler::imagelocality
