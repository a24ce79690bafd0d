// The input of schedsim: a cluster, the pods to place, and the algorithm to place them with.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pkg/api/decode.h"
#include "pkg/lab/algorithm.h"
#include "pkg/lab/annotations.h"
#include "pkg/lab/expand.h"
#include "pkg/lab/manifests.h"
#include "pkg/lab/validate.h"
#include "pkg/world/objects.h"

namespace berth::lab {

// What edits of a cluster need to know of bound pods and what scheduling does not read. Bits.
enum PodNote : uint8_t {
  kMirrorPod = 1,    // the mirror of a static pod
  kEmptyDirPod = 2,  // it has an emptyDir volume
  kNotReadyPod = 4,  // its condition Ready is not True
};

// An object as the input has it.
struct Given {
  world::ValuePtr object;  // with its kind and apiVersion
  std::string place;       // FILE:LINE
  bool verbatim = false;   // a server has stored it, or it is to be taken as if one had
};

// A cluster with pods to place.
struct Scenario {
  std::string name;
  bool is_scenario = false;  // whether it comes from a Scenario document and not from plain objects
  Algorithm algorithm;
  std::vector<api::Object> cluster;  // includes the bound pods
  std::vector<api::PodPtr> pending;  // in the order in which they are tried
  std::string error;                 // if not empty, why it cannot be run
  // By pending pod: how many objects of `cluster` precede it in the input. SIZE_MAX for the pods of a Scenario's own
  // list and for those created from workloads, which come last.
  std::vector<size_t> pending_after;
  // Pending pods that their controller binds without the scheduler: those of DaemonSets up to Kubernetes 1.11.
  absl::flat_hash_set<const api::Pod*> bound_by_controller;
  std::vector<Daemon> daemons;                              // the DaemonSets of the input, whose pods new nodes get
  absl::flat_hash_map<const api::Pod*, uint8_t> pod_notes;  // of bound pods; those without a note are absent
  std::map<std::string, world::ValuePtr> budgets;           // PodDisruptionBudgets by "namespace/name"
  std::map<std::string, Scale> scales;                      // by ObjectKey of the controller
  std::shared_ptr<Manifests> manifests;    // admits further pods of this cluster; null for a Scenario document
  std::shared_ptr<const Origins> origins;  // what pods got from admission; may be null
  std::vector<Given> given;                // all objects in input order, with ReadOptions::keep_given
  // What makes further pods in the course of time, by ObjectKey, or empty: the first Job whose pods end, as an
  // annotation says, and that has more completions than pods at one time; and the first CronJob.
  std::string goes_on, repeats;

  void AddPending(api::PodPtr pod, size_t after = SIZE_MAX) {
    pending.push_back(std::move(pod));
    pending_after.push_back(after);
  }
};

// Everything that was read.
struct Input {
  std::vector<Scenario> scenarios;         // in input order; the plain objects of all inputs form one scenario
  std::map<std::string, int64_t> skipped;  // kinds that do not matter for scheduling, and how many there are of each
  std::vector<std::string> warnings;       // one sentence each
  std::vector<std::string> mistakes;       // with Validate::kStrict; if there are any, the input must not be used
};

struct ReadOptions {
  Algorithm defaults;  // what the flags say
  Expand expand = Expand::kAuto;
  Validate validate = Validate::kOff;
  bool keep_raw = false;  // whether objects keep their JSON, for output that repeats them
  // Whether `given` is filled, for those who run the controllers of the input themselves. No pods are made then.
  bool keep_given = false;
  bool autoscaled = false;  // whether targets of HorizontalPodAutoscalers have at least their minReplicas
  bool as_queue = false;    // whether pending pods are put into the order of the scheduler's queue
  bool queued = false;      // whether the scheduler's queue orders the pods, so that nothing is said of their order
  bool recursive = false;   // whether folders are read with the folders in them
  std::vector<AnnotationCheck> annotations;  // which are checked; an error names file, line and column
  bool more_pods = false;  // whether pods come from elsewhere, so that an input without pending pods is no mistake
};

// Reads files ("-" is standard input) and folders: Kubernetes objects as JSON or YAML, one or several documents, Lists,
// plain or compressed with gzip, or Scenario documents. Objects that were never stored (documents, and items of Lists
// without uid and resourceVersion) become what an API server would make of them (manifests.h); stored ones and those of
// Scenarios are taken as they are. For plain objects, workloads are expanded (expand.h), pending pods that are being
// deleted are left out as in the daemon, and warnings say what is missing. An invalid Scenario is returned with its
// error; any other error names the file, line and column.
absl::StatusOr<Input> ReadInputs(const std::vector<std::string>& files, const ReadOptions& options);

// A text that was read already.
struct NamedText {
  std::string name;                         // for messages
  std::shared_ptr<const std::string> text;  // uncompressed; never null
};
// The same for texts in memory.
absl::StatusOr<Input> ReadTexts(const std::vector<NamedText>& texts, const ReadOptions& options);

}  // namespace berth::lab
