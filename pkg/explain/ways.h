// Groups remedies into ways to make a pod fit: each way is a combination of kinds of changes, with the nodes where it
// helps.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "pkg/api/json_writer.h"
#include "pkg/explain/output.h"
#include "pkg/explain/remedies.h"

namespace berth::explain {

// A combination of changes and the nodes on which it makes the pod fit.
struct Way {
  std::vector<std::string> kinds;    // the changes without their amounts
  std::vector<std::string> changes;  // the changes on nodes[0]
  std::vector<std::string> nodes;    // in ascending order of effort, then by name
  std::vector<std::string> medians;  // by change: the median amount over all nodes; empty without an amount
  std::vector<std::string> moves;    // namespace/name of pods that could leave nodes[0]; may be empty
  std::vector<std::string> ending;   // and of those that are being deleted there, whose end is needed, too
  int cost = 0;                      // the sum over the changes
  double effort = 0;                 // on nodes[0]
  bool possible = true;
};

// Returns the ways in this order: possible ones first, then by cost, by effort on the nearest node, and by descending
// number of nodes. `moves` and `ending` are left empty. Nothing is tried (trial.h).
std::vector<Way> WaysToFit(const std::vector<std::pair<std::string, std::vector<Remedy>>>& by_node);

// Returns a sentence such as "free 20 example.com/gpu-milli on node-7; median 810; 191 nodes" or, if there are no
// amounts, "tolerate a=b:NoSchedule on 12 nodes (node-1, node-2, node-3 and 9 more)".
std::string Describe(const Way& way);

// Writes a way as one JSON object.
void WriteWay(const Way& way, api::JsonWriter* out);

}  // namespace berth::explain
