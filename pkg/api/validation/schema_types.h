// The table of types: those of Kubernetes 1.10 and 1.29 that a scheduler, kubectl and their users send and read.
//
// One line for each type, followed by one line for each member, in the order in which the server writes them:
//   name type [key=MERGEKEY] [merge] [retain] [go=NAME] [n=NUMBER] [in=NUMBER]
// The type is one of string bool int32 int64 quantity time microtime intstr any rl (name -> quantity) map (name ->
// string), or a type of this table; []T is a list, map[T] a map, *T a pointer (written when present, even if zero), and
// T! is always written. A struct or time that is not a pointer is always written, as in Go. A type marked proto can be
// read from protobuf; its members are numbered in their order, or by n=. Those marked in= are there in a message of
// their own, which has that number. Which releases have a member stands in pkg/release/history.h.
#pragma once

namespace berth::validation {

extern const char* const kPodTypes;      // metadata, selectors, pods, bindings
extern const char* const kClusterTypes;  // nodes, services, workloads, volumes
extern const char* const kGroupTypes;    // the kinds that only 1.29 has here, and reviews

}  // namespace berth::validation
