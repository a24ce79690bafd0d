#include "pkg/scheduler/cache/node_tree.h"

#include <glog/logging.h>

#include <algorithm>

namespace berth::scheduler {

std::vector<NodeTree::Zone>::iterator NodeTree::Find(Symbol zone) {
  return std::find_if(zones_.begin(), zones_.end(), [&](const Zone& z) { return z.key.get() == zone; });
}

void NodeTree::Add(Row row, Symbol zone) {
  auto it = Find(zone);
  if (it == zones_.end()) it = zones_.insert(it, Zone{util::SharedSymbol(zone), {}, 0});
  it->rows.push_back(row);
  ++size_;
}

// As upstream, the walk keeps its positions, which then refer to other nodes.
void NodeTree::Remove(Row row, Symbol zone) {
  auto it = Find(zone);
  CHECK(it != zones_.end()) << "a node is not in the tree";
  const auto at = std::find(it->rows.begin(), it->rows.end(), row);
  CHECK(at != it->rows.end()) << "a node is not in its zone";
  it->rows.erase(at);
  if (it->rows.empty()) zones_.erase(it);
  --size_;
}

std::vector<Row> NodeTree::InOrder() const {
  std::vector<Row> out;
  out.reserve(size_);
  for (size_t i = 0; out.size() < size_; ++i) {
    for (const Zone& zone : zones_) {
      if (i < zone.rows.size()) out.push_back(zone.rows[i]);
    }
  }
  return out;
}

std::optional<Row> NodeTree::Next() {
  if (zones_.empty()) return std::nullopt;
  for (size_t exhausted = 0;;) {
    if (next_zone_ >= zones_.size()) next_zone_ = 0;
    Zone& zone = zones_[next_zone_++];
    if (zone.next < zone.rows.size()) return zone.rows[zone.next++];
    if (++exhausted < zones_.size()) continue;
    for (Zone& z : zones_) z.next = 0;
    next_zone_ = 0;
  }
}

}  // namespace berth::scheduler
