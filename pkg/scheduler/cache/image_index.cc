#include "pkg/scheduler/cache/image_index.h"

#include <algorithm>

namespace berth::scheduler {
namespace {

// Returns the first entry whose row is not below `row`.
auto FirstFrom(std::vector<ImageNodes::Size>& sizes, Row row) {
  return std::lower_bound(sizes.begin(), sizes.end(), row, [](const ImageNodes::Size& s, Row r) { return s.row < r; });
}

}  // namespace

// When the spread is noted, an update of the node notes anew how many nodes have its images. As upstream, the images
// are taken out and entered again.
void ImageIndex::Replace(Row r, const api::Node* before, const api::Node* after) {
  if (!indexed_) return;
  const bool same = before != nullptr && after != nullptr && before->images == after->images;
  if (same && !notes_spread_) return;
  if (before != nullptr) Remove(r, *before);
  if (after != nullptr) Add(r, *after);
}

void ImageIndex::Add(Row r, const api::Node& node) {
  for (const api::NodeImage& image : node.images) {
    for (Symbol name : image.names) {
      ImageNodes& nodes = images_[name];
      std::vector<ImageNodes::Size>& sizes = nodes.sizes;
      if (sizes.empty()) nodes.first_size = image.size_bytes;
      // When all nodes are indexed at once, rows come in ascending order and belong at the end.
      if (sizes.empty() || sizes.back().row < r) {
        sizes.push_back({r, image.size_bytes, static_cast<int32_t>(sizes.size()) + 1});
        continue;
      }
      auto at = FirstFrom(sizes, r);
      if (at != sizes.end() && at->row == r) {
        at->bytes = image.size_bytes;
      } else {
        at = sizes.insert(at, {r, image.size_bytes});
      }
      at->nodes = static_cast<int32_t>(sizes.size());
    }
  }
}

void ImageIndex::Remove(Row r, const api::Node& node) {
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

}  // namespace berth::scheduler
