// The types themselves: those of Kubernetes 1.10 that a scheduler, kubectl and their users send and read.
//
// One line a type, below it one a member, in the order in which the server writes them:
//   name type [key=MERGEKEY] [merge] [retain] [go=NAME] [n=NUMBER]
// type: string bool int32 int64 quantity time microtime intstr any rl (name -> quantity) map (name -> string) or a type
// of this table; []T a list, map[T] a map, *T a pointer (written when present, even when zero), T! written always.
// A struct or time that is no pointer is always written, as Go does. A type marked proto can be read from protobuf; its
// members are numbered in their order, or by n=.
#pragma once

namespace berth::apiserver {

extern const char* const kPodTypes;      // metadata, selectors, pods, bindings
extern const char* const kClusterTypes;  // everything else

}  // namespace berth::apiserver
