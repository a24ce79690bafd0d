// The forms in which people have clusters and manifests: folders, dumps, exports of other programs, and what is often
// given by mistake.
#pragma once
#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/input_text.h"
#include "pkg/api/json.h"

namespace berth::lab {

class LineCounter;
class Validator;

// Returns the files to read: in the place of a folder its files that end in .json, .yaml or .yml, or those with .gz
// behind it, by name. Folders in it are read if `recursive`, or if it is one that `kubectl cluster-info dump` has
// written. A folder without such a file is an error.
absl::StatusOr<std::vector<std::string>> FilesOf(const std::vector<std::string>& given, bool recursive);

// Splits a text at lines that begin with a brace and follow one that ends with a brace, so that an invalid document
// fails alone. Leaves out the logs of `kubectl cluster-info dump`.
std::vector<std::string_view> DocumentsOf(api::InputText& input);

// Returns whether a text may be a Scenario document.
bool LooksLikeScenario(std::string_view text);
// Returns where the next Scenario begins after an invalid one: at the beginning of a line. If there is none, returns
// the size of the text.
size_t NextScenarioLine(std::string_view text);
// Adds `lines`, the number of lines that precede the text in its file, to the number in a message "line 3, column 7:
// ...".
std::string MoveDown(std::string_view message, size_t lines);

// Returns whether a text is an export of kube-scheduler-simulator: an object without a kind, with lists of pods, nodes,
// pvs, pvcs, storageClasses, priorityClasses and namespaces. Exports from which people have cut all but pods and nodes
// count as well.
bool LooksLikeSimulatorExport(std::string_view text);
struct ExportedKind {
  std::string_view kind, version;
};
// Returns what the objects in a list of such an export are; empty for members that are no such lists.
ExportedKind KindOfExported(std::string_view member);

// Returns a sentence that says what an object is and what to do with it, if it is one that is often given by mistake or
// makes pods in a way that is not known here; otherwise an empty text. Its kind and version may be those of a list.
std::string WhatItIs(api::Json object, std::string_view kind, std::string_view version);
// The same for a ConfigMap that holds a configuration of the scheduler.
std::string WhatConfigMapHolds(api::Json object);
// Returns the kind of Kubernetes that a misspelt one was probably meant to be; empty if there is none.
std::string KindMeant(api::Json object, std::string_view kind);

// Calls `f` for each member of the object whose name an earlier member of the same object has: with its path
// ("spec.containers[0].image") and the values of both.
void EachDuplicate(api::Json object,
                   const std::function<void(const std::string& path, api::Json first, api::Json second)>& f);

// Notes keys that stand twice in one object: of those, the second value is what is read.
void NoteDuplicates(api::Json object, std::string_view kind, LineCounter* lines, Validator* validator);

// Returns what edits of the cluster need to know of a bound pod: bits of PodNote.
uint8_t NotesOfPod(api::Json pod);

// Returns why a text cannot be read, if it is in a form that is not for this program: an unrendered template.
std::string WhyUnreadable(std::string_view text);

}  // namespace berth::lab
