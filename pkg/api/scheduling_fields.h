// The fields of each kind of object that scheduling reads, as a table, and functions that reduce an object's JSON to
// them.
//
// Recordings and anonymised inputs contain only these fields: no environment variables, no annotations with secrets, no
// irrelevant status. The table is made of the marks in the rows of the API's types (validation/schema_types.h). If you
// make a decoder read another field, mark the field's row. Thread-safety: thread-safe.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/json.h"
#include "pkg/api/types.h"

namespace berth::api {

// What a text in an object names.
enum class NameClass : uint8_t {
  kName,           // objects, volumes, disks, schedulers, classes, topology keys of drivers
  kNode,           // nodes, wherever they are named
  kNamespace,      // namespaces
  kUid,            // uids
  kLabelKey,       // label and taint keys, topology keys
  kLabelValue,     // label and taint values
  kResource,       // resource names
  kImage,          // image references
  kSchedulerName,  // spec.schedulerName
  kText,           // free text in which names may occur, such as errors
  kWord,           // words of the API, amounts and times; and whatever else somebody has written there
  kAddress,        // addresses of hosts
  kDriver,         // drivers of volumes, alone or in a list with commas
};

// Maps each name to another text. Called for names in document order.
class Renamer {
 public:
  virtual ~Renamer() = default;
  virtual std::string Rename(NameClass what, std::string_view name) = 0;
};

// Returns whether scheduling reads objects of this kind ("Pod", "Node", ...).
bool IsSchedulingKind(std::string_view kind);

// Returns the kinds, and the paths of the fields that scheduling reads of one, with their classes as in the notation of
// the types, such as "spec.containers.image=image" or "spec.nodeName=node/". What the keys of a map are ends in a
// colon, before what its values are; a text that is JSON is JSON. REQUIRES: IsSchedulingKind(kind).
std::vector<std::string> SchedulingKinds();
std::vector<std::string> SchedulingFieldPaths(std::string_view kind);

// Returns the fields of `object` that scheduling reads, as compact JSON without kind and apiVersion, in document order.
// Decoding the result gives the same as decoding `object`. If `renamer` is null, names stay as they are. REQUIRES:
// IsSchedulingKind(kind).
std::string CutToSchedulingFields(std::string_view kind, Json object, Renamer* renamer = nullptr);

// Returns a Pod's fields without those that differ between pods of one template (name, uid, times, node, status).
// With `resized`, also what the status says about a resize in place.
std::string CutToTemplateFields(Json pod, Renamer* renamer = nullptr, bool resized = false);

// Makes every decoder keep the result of CutToSchedulingFields, so that decoded objects can be recorded: for pods by
// template (TemplateFields), for other kinds in meta.fields. This applies to the whole process and slows decoding. To
// be called at start. A test that is followed by others ends it again.
void KeepSchedulingFields(bool keep = true);
bool KeepsSchedulingFields();
// Returns the result of CutToTemplateFields for a pod of this template, or null if no such pod has been decoded since
// KeepSchedulingFields was called.
std::shared_ptr<const std::string> TemplateFields(const std::shared_ptr<const PodTemplate>& t);
// Called by DecodePod. `resized`: the template differs from the pod's spec, because the pod is resized in place.
void NoteTemplateFields(const std::shared_ptr<const PodTemplate>& t, Json pod, bool resized);

}  // namespace berth::api
