// Adds up how many bytes of a pod's images each node already has. The image rules of all releases share it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
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

}  // namespace berth::scheduler::imagelocality
