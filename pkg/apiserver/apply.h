// Server-side apply in a simple form: what a manager applies is merged into the object by the keys of its lists, what
// the same manager applied before and no longer does is removed, and a value that another manager applied otherwise is
// a conflict. Which fields a manager applied is kept in metadata.managedFields, as there. Unlike there, only applies
// are noted: writes by other means (PUT, other patches) neither take fields over nor give cause for conflicts.
#pragma once
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pkg/store/api_types.h"

namespace berth::apiserver {

struct ApplyRequest {
  std::string manager;
  std::string api_version;
  std::string subresource;
  std::string time;    // RFC 3339
  bool force = false;  // takes fields from other managers instead of being refused
};

// A field that another manager applied with another value.
struct ApplyConflict {
  std::string manager;
  std::string path;  // ".spec.replicas"
};

// Returns the object with what was applied. `live` is null if there is none yet. `applied` has been decoded as a
// `type`.
std::variant<Value, std::vector<ApplyConflict>> Apply(const Value* live, const Value& applied, const TypeDef& type,
                                                      const ApplyRequest& how);

// Returns the fields of an applied object as managedFields has them: {"f:spec":{"f:replicas":{}}}.
Value FieldsOf(const Value& applied, const TypeDef& type);

// Returns the text for such conflicts: "Apply failed with 1 conflict: conflict with \"kubectl\": .spec.replicas".
std::string ConflictText(const std::vector<ApplyConflict>& conflicts);

}  // namespace berth::apiserver
