// ControllerRevisions: the templates that a StatefulSet or DaemonSet has had, as `kubectl rollout history` shows them.
#pragma once
#include <optional>
#include <set>
#include <string>

#include "pkg/world/living/world.h"

namespace berth::world::living {

// Returns the name of the revision of the owner's present template (NAME-HASH), which is kept as the newest one.
std::string KeepRevision(World* world, const Value& owner);
// Returns the pod template of a revision; none if it is gone.
std::optional<Value> TemplateOfRevision(World* world, std::string_view ns, std::string_view name);
// Deletes the oldest revisions beyond the owner's revisionHistoryLimit that are not among `used`.
void TrimRevisions(World* world, const Value& owner, const std::set<std::string>& used);

}  // namespace berth::world::living
