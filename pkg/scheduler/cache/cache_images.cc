// The index of the images that nodes have.
#include <algorithm>

#include "pkg/scheduler/cache/cache.h"

namespace berth::scheduler {
namespace {

// Returns the first entry whose row is not below `row`.
auto FirstFrom(std::vector<Cache::ImageNodes::Size>& sizes, Row row) {
  return std::lower_bound(sizes.begin(), sizes.end(), row,
                          [](const Cache::ImageNodes::Size& s, Row r) { return s.row < r; });
}

}  // namespace

// Adds the images of the row's node to the index.
void Cache::IndexImages(Row r) const {
  for (const api::NodeImage& image : rows_[r].node->images) {
    for (Symbol name : image.names) {
      ImageNodes& nodes = images_[name];
      std::vector<ImageNodes::Size>& sizes = nodes.sizes;
      if (sizes.empty()) nodes.first_size = image.size_bytes;
      // When all nodes are indexed at once, rows come in ascending order and belong at the end.
      auto at = sizes.end();
      if (!sizes.empty() && sizes.back().row >= r) at = FirstFrom(sizes, r);
      if (at != sizes.end() && at->row == r) {
        at->bytes = image.size_bytes;
      } else {
        at = sizes.insert(at, {r, image.size_bytes});
      }
      at->nodes = static_cast<int32_t>(sizes.size());
    }
  }
}

// An update of the node notes anew how many nodes have its images. As upstream, the images are taken out and entered
// again.
void Cache::RenewImages(Row r) {
  ForgetImages(r, *rows_[r].node);
  IndexImages(r);
}

void Cache::ForgetImages(Row r, const api::Node& node) {
  for (const api::NodeImage& image : node.images) {
    for (Symbol name : image.names) {
      auto it = images_.find(name);
      if (it == images_.end()) continue;
      std::vector<ImageNodes::Size>& sizes = it->second.sizes;
      const auto at = FirstFrom(sizes, r);
      if (at != sizes.end() && at->row == r) sizes.erase(at);
      if (sizes.empty()) images_.erase(it);
    }
  }
}

const Cache::ImageNodes* Cache::Image(Symbol name) const {
  if (!images_indexed_) {
    images_indexed_ = true;
    listed_.ForEach([&](Row r) { IndexImages(r); });
  }
  auto it = images_.find(name);
  return it == images_.end() ? nullptr : &it->second;
}

}  // namespace berth::scheduler
