// The nodes that a required node affinity names by metadata.name, as each pod of a DaemonSet does.
#pragma once
#include <vector>

#include "pkg/api/types.h"
#include "pkg/scheduler/cache/cache.h"

namespace berth::scheduler::nodeaffinity {

// If each of the required terms names the nodes that it may select (metadata.name In ...), writes a superset of the
// rows of the nodes that they select, each row once, and returns true. Returns false if there is no affinity
// (`required` is null), or if it has no term.
bool NamedCandidates(const api::NodeSelector* required, const Cache& cache, std::vector<Row>* rows);

// Removes from `candidates` all rows but those in `rows`. `row_count` is the number of rows of the cache.
void NarrowToRows(const std::vector<Row>& rows, uint32_t row_count, RowSet* candidates);

}  // namespace berth::scheduler::nodeaffinity
