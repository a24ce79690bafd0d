#include "pkg/scheduler/cache/node_tree.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "pkg/util/contract.h"

namespace berth::scheduler {

std::vector<NodeTree::Zone>::iterator NodeTree::Find(Symbol zone) {
  return std::find_if(zones_.begin(), zones_.end(), [&](const Zone& z) { return z.key.get() == zone; });
}

void NodeTree::BeginAnew() {
  for (Zone& z : zones_) z.next = 0;
  next_zone_ = 0;
}

// Brings the positions up to date.
void NodeTree::CatchUp() {
  if (!std::exchange(behind_, false)) return;
  const size_t place = place_;
  BeginAnew();
  for (place_ = 0; place_ < place;) Step();
}

// A change of the tree leaves the positions as they are.
void NodeTree::BeforeChange() {
  CatchUp();
  if (place_ > 0) regular_ = false;
}

void NodeTree::Add(Row row, Symbol zone) {
  BERTH_REQUIRES(std::ranges::none_of(zones_, [&](const Zone& z) { return std::ranges::count(z.rows, row) > 0; }));
  BeforeChange();
  auto it = Find(zone);
  if (it == zones_.end()) it = zones_.insert(it, Zone{util::SharedSymbol(zone), {}, 0});
  it->rows.push_back(row);
  ++size_;
}

// As upstream, the walk keeps its positions, which then refer to other nodes.
void NodeTree::Remove(Row row, Symbol zone) {
  BeforeChange();
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

// REQUIRES: there are rows, and the positions are up to date.
Row NodeTree::Step() {
  for (size_t exhausted = 0;;) {
    if (next_zone_ >= zones_.size()) next_zone_ = 0;
    Zone& zone = zones_[next_zone_++];
    if (zone.next < zone.rows.size()) {
      ++place_;
      return zone.rows[zone.next++];
    }
    if (++exhausted < zones_.size()) continue;
    BeginAnew();
    place_ = 0;
    regular_ = true;
  }
}

std::optional<Row> NodeTree::Next() {
  if (zones_.empty()) return std::nullopt;
  CatchUp();
  return Step();
}

void NodeTree::Skip(size_t steps) {
  BERTH_REQUIRES(regular_ && steps <= size_);
  if (steps == 0) return;
  place_ = (place_ + steps - 1) % size_ + 1;
  behind_ = true;
}

}  // namespace berth::scheduler
