#include "pkg/scheduler/algorithm/nodeaffinity/named_nodes.h"

#include <algorithm>

namespace berth::scheduler::nodeaffinity {
namespace {

// Returns the first requirement that names nodes, or null. The others can only exclude some of these.
const api::FieldRequirement* NamesOf(const api::NodeSelectorTerm& term) {
  static const Symbol kName("metadata.name");
  for (const api::FieldRequirement& f : term.fields) {
    if (f.key == kName && f.op == "In") return &f;
  }
  return nullptr;
}

}  // namespace

bool NamedCandidates(const api::NodeSelector* required, const Cache& cache, std::vector<Row>* rows) {
  if (required == nullptr || required->terms.empty()) return false;
  rows->clear();
  for (const api::NodeSelectorTerm& term : required->terms) {
    const api::FieldRequirement* names = NamesOf(term);
    if (names == nullptr) return false;
    for (Symbol name : names->values) {
      if (const Row row = cache.FindRow(name); row != kNoRow) rows->push_back(row);
    }
  }
  std::sort(rows->begin(), rows->end());
  rows->erase(std::unique(rows->begin(), rows->end()), rows->end());
  return true;
}

void NarrowToRows(const std::vector<Row>& rows, uint32_t row_count, RowSet* candidates) {
  RowSet only;
  only.Resize(row_count);
  for (Row row : rows) only.Insert(row);
  candidates->IntersectWith(only);
}

}  // namespace berth::scheduler::nodeaffinity
