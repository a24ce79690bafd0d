// Which fields of each kind of object scheduling reads, as a table; and cutting an object's JSON down to them.
//
// Recordings and anonymised inputs keep these fields and nothing else: no environment variables, no annotations with
// secrets, no status that does not matter. The table is scheduling_fields.cc; whoever makes a decoder read another
// field adds it there (scheduling_fields_test.cc fails otherwise for the objects of the recorded scenarios).
// Thread-safe.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "pkg/api/json.h"
#include "pkg/api/types.h"

namespace berth::api {

// What a text in an object names. Texts of all other fields are words of the API or numbers.
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
  kText,           // free text in which names may occur
};

// Gives another text for each name. Called for names in document order.
class Renamer {
 public:
  virtual ~Renamer() = default;
  virtual std::string Rename(NameClass what, std::string_view name) = 0;
};

// True for kinds that scheduling reads ("Pod", "Node", ...).
bool IsSchedulingKind(std::string_view kind);

// Returns the fields of `object` that scheduling reads, as compact JSON without kind and apiVersion, in document order.
// Decoding the result gives what decoding `object` gives. `renamer` may be null: names stay as they are.
// REQUIRES: IsSchedulingKind(kind).
std::string CutToSchedulingFields(std::string_view kind, Json object, Renamer* renamer = nullptr);

// A Pod's fields apart from those that differ between pods of one template (name, uid, times, node, status).
std::string CutToTemplateFields(Json pod, Renamer* renamer = nullptr);

// From now on every decoder keeps what CutToSchedulingFields gives, so that decoded objects can be recorded: for pods
// by template (TemplateFields), for other kinds in meta.fields. For the whole process, at start: decoding is slower.
void KeepSchedulingFields();
bool KeepsSchedulingFields();
// Returns what CutToTemplateFields gave for a pod of this template; null when no such pod was decoded since
// KeepSchedulingFields was called.
std::shared_ptr<const std::string> TemplateFields(const std::shared_ptr<const PodTemplate>& t);
// Called by DecodePod.
void NoteTemplateFields(const std::shared_ptr<const PodTemplate>& t, Json pod);

}  // namespace berth::api
