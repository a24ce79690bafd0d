// The ways to make a pod fit: kinds of changes, each with the nodes that it would open.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "pkg/explain/output.h"
#include "pkg/explain/remedies.h"

namespace berth::explain {

// The nodes that changes of the same kinds would open.
struct Way {
  std::vector<std::string> kinds;    // the changes without their amounts
  std::vector<std::string> changes;  // on nodes[0]
  std::vector<std::string> nodes;    // the nearest first: least effort, then by name
  std::vector<std::string> medians;  // of the amounts that run short over all nodes, by change; empty texts where none
  std::vector<std::string> moves;    // namespace/name of pods that could leave nodes[0] to make room; may be empty
  int cost = 0;                      // the sum over the changes
  double effort = 0;                 // on nodes[0]
  bool possible = true;
};

// Returns the ways by what they cost the user, the least first: possible ones, least cost, least effort on the nearest
// node, most nodes. `moves` is left empty.
std::vector<Way> WaysToFit(const std::vector<std::pair<std::string, std::vector<Remedy>>>& by_node);

// Returns "free 20 example.com/gpu-milli on node-7; median 810; 191 nodes", or "tolerate a=b:NoSchedule on 12 nodes
// (node-1, node-2, node-3 and 9 more)" where no amount is named.
std::string Describe(const Way& way);

// Writes a way as one JSON object.
void WriteWay(const Way& way, JsonOut* out);

}  // namespace berth::explain
