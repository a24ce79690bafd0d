// The KubeSchedulerConfiguration of releases without profiles: componentconfig/v1alpha1, and v1alpha1 of its own API
// group. Its members are a table, so that the daemon's reader, `schedsim check` and the JSON Schema know the same ones.
//
// The releases read such a file leniently: names of members may be in any case, and unknown members are ignored.
// Thread-safety: thread-safe, without state.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/json.h"
#include "pkg/release/release.h"
#include "pkg/scheduler/configuration/problem.h"

namespace berth::scheduler::configuration {

// What is wrong with the members of a document, in its order. Of a document without problems every member can be read.
struct ComponentMistakes {
  std::vector<Problem> problems;
  std::vector<std::string> warnings;  // what is accepted and ignored, or completed
};
// Checks the types of all members, and what can be said of a value by itself. REQUIRES: the document is an object.
ComponentMistakes CheckComponentMembers(api::Json document);
// Checks what the daemon finds only when it uses a value: locks and their times, back-off, names of schedulers.
// REQUIRES: CheckComponentMembers found no problem. `leads_by_default`: what leaderElect is where the file has none.
std::vector<Problem> CheckComponentValues(api::Json document, bool leads_by_default);

// Returns the JSON Schema (draft 7) of what a release reads that is not configured by profiles.
std::string ComponentSchema(release::Version release);

}  // namespace berth::scheduler::configuration
