// The nodes of a Cache by the names of the images that they have. All nodes are indexed when an image is asked for
// first or, if the spread of images is noted, from the start; from then on the index is kept up to date. Thread-safety:
// that of the Cache.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/scheduler/cache/template_info.h"

namespace berth::scheduler {

// The nodes that have an image of one name.
struct ImageNodes {
  struct Size {
    Row row;
    int64_t bytes;  // if one node lists the name several times, the size of the last entry
    // With CacheOptions::notes_image_spread: how many nodes had the image when this node was last added or updated,
    // itself included.
    int32_t nodes = 0;
  };
  std::vector<Size> sizes;  // in ascending order of rows
  int64_t first_size = 0;   // bytes, on the node that was indexed first
};

class ImageIndex {
 public:
  explicit ImageIndex(bool notes_spread) : notes_spread_(notes_spread), indexed_(notes_spread) {}

  // The node object of a row is replaced; null stands for none.
  void Replace(Row r, const api::Node* before, const api::Node* after);
  // Returns the nodes that have the image, or null when none has it. `for_each_node` is called if nothing was indexed
  // yet, with a function that is to be called with each row and its node, rows in ascending order.
  template <typename ForEachNode>
  const ImageNodes* Find(Symbol name, ForEachNode for_each_node) {
    if (!indexed_) {
      indexed_ = true;
      for_each_node([this](Row r, const api::Node& node) { Add(r, node); });
    }
    const auto it = images_.find(name);
    return it == images_.end() ? nullptr : &it->second;
  }

 private:
  void Add(Row r, const api::Node& node);
  void Remove(Row r, const api::Node& node);

  const bool notes_spread_;
  bool indexed_;
  absl::flat_hash_map<Symbol, ImageNodes> images_;
};

}  // namespace berth::scheduler
