// The nodes in the order in which Kubernetes walks them from 1.12 on: one node of each zone in turn, so that a decision
// that does not look at all nodes looks at all zones. Source: pkg/scheduler/internal/cache/node_tree.go (1.13).
//
// Zones are in the order in which their first node came, and the nodes of a zone in the order in which they came. A
// zone whose last node goes is dropped, and comes last when it returns. Thread-safety: that of the Cache.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "pkg/scheduler/cache/template_info.h"
#include "pkg/util/symbol.h"

namespace berth::scheduler {

class NodeTree {
 public:
  // REQUIRES: the row is not in the tree. `zone` is empty for a node without a zone.
  void Add(Row row, Symbol zone);
  // REQUIRES: the row is in this zone.
  void Remove(Row row, Symbol zone);
  size_t size() const { return size_; }

  // Returns all rows in the order of a walk that begins anew.
  std::vector<Row> InOrder() const;

  // Returns the next row of a walk that goes on for ever. The walk begins anew when all zones are exhausted. A node
  // that joins a zone that the walk has passed comes next, so that the next size() steps may visit a node twice and
  // another not at all (bug 13-01, kept). Returns nothing if there are no nodes.
  std::optional<Row> Next();

  // Returns how many rows the walk has visited since it began anew, if these are the first ones of InOrder() and the
  // others come next. Returns nothing if rows came or went since, until the walk begins anew.
  std::optional<size_t> Place() const { return regular_ ? std::optional(place_) : std::nullopt; }
  // Goes on by this many rows, as that many calls of Next. REQUIRES: Place() returns a place; `steps` is at most
  // size().
  void Skip(size_t steps);

 private:
  struct Zone {
    util::SharedSymbol key;
    std::vector<Row> rows;
    size_t next = 0;  // index of the row that the walk visits next
  };
  std::vector<Zone>::iterator Find(Symbol zone);
  Row Step();
  void BeginAnew();
  void CatchUp();
  void BeforeChange();

  std::vector<Zone> zones_;
  size_t next_zone_ = 0;
  size_t size_ = 0;
  size_t place_ = 0;     // number of steps since the walk began anew
  bool regular_ = true;  // whether the tree has not changed since then
  bool behind_ = false;  // whether next_zone_ and Zone::next are those of an earlier place, because of Skip
};

}  // namespace berth::scheduler
