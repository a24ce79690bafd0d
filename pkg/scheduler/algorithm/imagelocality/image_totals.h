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

// No node with fewer bytes of a pod's images has a score above 0.
inline constexpr int64_t kLeastBytes = int64_t{23} * 1024 * 1024;

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

// What the scores of a node depend on that other nodes decide, such as how many nodes have an image: a list of numbers
// for each image of the pod that some node has, which is compared with the list before.
class SeenImages {
 public:
  // Calls fill(&numbers), which lists them: equal numbers, in lists that are not empty, mean that no node has another
  // score by images that it had before. Returns whether the numbers have changed since the last call. While no node has
  // any of the images, which an empty list says, all scores are 0, and the nodes that get the first of them or lose the
  // last of them have changed themselves.
  template <typename Fill>
  bool Changed(Fill fill) {
    std::swap(before_, now_);
    now_.clear();
    fill(&now_);
    return !now_.empty() && !before_.empty() && now_ != before_;
  }

 private:
  std::vector<int64_t> before_, now_;
};

// Lists for SeenImages what scores by noted numbers of nodes depend on: for each image that a node has, its size; and
// the number of all nodes, unless no node has a score above 0, because not even the largest noted number of each image
// makes a sum above kLeastBytes.
inline void ListNoted(const Cache& cache, std::span<const util::SharedSymbol> names, std::vector<int64_t>* numbers) {
  const double all = static_cast<double>(cache.node_count());
  int64_t most = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    const Cache::ImageNodes* nodes = cache.Image(names[i]);
    if (nodes == nullptr) continue;
    int32_t noted = 0;
    for (const auto& size : nodes->sizes) noted = std::max(noted, size.nodes);
    most = SaturatingAdd(most, static_cast<int64_t>(static_cast<double>(nodes->first_size) * (noted / all)));
    numbers->push_back(static_cast<int64_t>(i));
    numbers->push_back(nodes->first_size);
  }
  if (numbers->empty()) return;
  if (most <= kLeastBytes) {
    numbers->assign(1, 0);
  } else {
    numbers->push_back(static_cast<int64_t>(cache.node_count()));
  }
}

}  // namespace berth::scheduler::imagelocality
