// Members of objects by their paths, conditions, times and numbers.
#pragma once
#include <absl/time/time.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/world/objects.h"

namespace berth::world::living {

using Path = std::initializer_list<std::string_view>;

// Return the member at the path; the number, or `otherwise` when there is none; the text, or "".
int64_t NumberAt(const Value& v, Path path, int64_t otherwise = 0);
std::string_view TextAt(const Value& v, Path path);
bool TrueAt(const Value& v, Path path);
absl::Time TimeAt(const Value& v, Path path);  // InfinitePast when there is none

std::string TimeText(absl::Time t);  // RFC 3339, whole seconds, UTC
std::string_view UidOf(const Value& object);
bool IsTerminating(const Value& object);

bool HasFinalizer(const Value& object, std::string_view finalizer);
// Returns whether it was there.
bool RemoveFinalizer(Value* object, std::string_view finalizer);

// Returns the names of the claims that a pod uses, those of its ephemeral volumes too.
std::vector<std::string> ClaimsUsedBy(const Value& pod);

// Returns the controller among the owner references, or null.
const Value* ControllerOf(const Value& object);
// Removes references to the owner. Returns whether there was one.
bool RemoveOwner(std::string_view uid, Value* object);

const Value* ConditionOf(const Value& object, std::string_view type);
bool IsConditionTrue(const Value& object, std::string_view type);
struct Condition {
  std::string_view type, status, reason, message;
  bool has_update_time = false;  // conditions of Deployments have a lastUpdateTime
};
// Writes a condition into status.conditions. Its lastTransitionTime is `now` if its status changes, else as before.
// Returns whether anything changed.
bool SetCondition(const Condition& c, absl::Time now, Value* object);
void RemoveCondition(std::string_view type, Value* object);

// Returns a number or a percentage of `whole`, rounded up or down; `otherwise` if it is absent.
int64_t ShareOf(const Value* number_or_percent, int64_t whole, bool up, int64_t otherwise);

// Returns whether a label selector (matchLabels, matchExpressions) selects the labels. `none` is the result for an
// absent selector; one without requirements selects everything.
bool Selects(const Value* selector, const Value* labels, bool none);

// Sets an integer member of status, or removes it when it is 0, as servers leave it out.
void SetCount(std::string_view member, int64_t n, Value* status);

}  // namespace berth::world::living
