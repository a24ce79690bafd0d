// The table of types: those of the emulated releases of Kubernetes that a scheduler, kubectl and their users send and
// read. How objects are decoded, checked, patched and described, and what recordings keep of them, comes from it.
//
// One line for each type, followed by one line for each member, in the order in which the server writes them:
//   name type [key=MERGEKEY] [merge] [retain] [go=NAME] [n=NUMBER] [in=NUMBER] [s...]
// The type is one of string bool int32 int64 quantity time microtime intstr any rl (name -> quantity) map (name ->
// string), or a type of this table; []T is a list, map[T] a map, *T a pointer (written when present, even if zero), and
// T! is always written. A struct or time that is not a pointer is always written, as in Go. A type marked proto can be
// read from protobuf; its members are numbered in their order, or by n=. Those marked in= are there in a message of
// their own, which has that number. Which releases have a member stands in pkg/release/history.h.
//
// An s marks what scheduling reads: kinds of objects (at the end of their line), and members. Recordings and anonymised
// input have nothing else of an object (pkg/api/scheduling_fields.h), so what a decoder there reads needs a mark here.
//   s           a number, time or word of the API; a map or rl, whose keys and values are labels or resources; or a
//               type, of which the members with an s are read
//   s=CLASS     a text, a list of texts or the keys of a map, which name something: name, node, namespace, uid, key,
//               value, resource, image, scheduler, text, address, driver, or word for none of them (NameClass). A type
//               as the class says that the text is JSON of it.
//   s/ s=CLASS/ this differs between the pods of one template
//   s+ s=CLASS+ this belongs to a pod's template only while the pod is resized in place
//   s{MEMBERS}  only these members of the type or the map: *, which is all with an s, or NAME with =CLASS, / or + and
//               {MEMBERS} as behind an s. Without class and members, NAME is read as its row says, or as an s alone
//               would. A name that the type does not have is a member of a release that is not emulated.
// The mark ends the row. A line that begins with four spaces continues it.
#pragma once

namespace berth::validation {

extern const char* const kPodTypes;      // metadata, selectors, pods, bindings
extern const char* const kClusterTypes;  // nodes, services, workloads, volumes
extern const char* const kGroupTypes;    // the kinds of API groups that came after 1.10, and reviews

}  // namespace berth::validation
