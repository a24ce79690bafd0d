// Every field of a pod's spec up to Kubernetes 1.36, and what scheduling makes of it.
//
// A scheduler that passes over a field in silence may overcommit a node or send a pod where it cannot run. So each
// field is read by the decoders, or makes the pod wait where the release does not understand it
// (pkg/scheduler/pod_fields.h), or stands here with the reason why it cannot matter. A field that is in no row comes
// from a newer API and is reported. What is read is what recordings keep of a spec (scheduling_fields.h). If you make a
// decoder read another field, mark it there and remove its reason here; pod_spec_fields_test.cc compares the rows with
// what DecodePod reads. Thread-safety: thread-safe.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/json.h"

namespace berth::api {

struct PodSpecField {
  enum class Use : uint8_t {
    kRead,   // the decoders read it, and the rules of the release or pod_fields.h say what follows
    kOther,  // it cannot matter to where the pod runs; `why` says why
  };
  std::string_view path;  // below spec, without indices: "containers.resources.limits"
  Use use = Use::kOther;
  std::string_view why;  // of kOther
};

// Returns the rows, in no order. A row covers all that is below its path, unless another row begins with that path.
std::span<const PodSpecField> PodSpecFields();

// Returns the paths of the members of a pod's spec that are in no row, sorted, each once, and at most 32 of them:
// "spec.containers[].fromTheFuture". Members that are null count as absent.
std::vector<std::string> UnknownPodSpecFields(Json spec);

}  // namespace berth::api
