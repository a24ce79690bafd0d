// The pods that workloads want: how many, and what each is like, as the controllers of a cluster make them.
//
// Everything is a function of values, so that controllers over a store can call it as well as programs that read files.
// Nothing is created here, and no name is random: whoever creates a pod chooses what follows metadata.generateName.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/world/objects.h"
#include "pkg/world/rules.h"

namespace berth::world {

// Returns whether this package knows the pods of the kind: Deployment, ReplicaSet, ReplicationController, StatefulSet,
// DaemonSet, Job.
bool IsWorkload(std::string_view kind);

// Returns a short text that is the same for equal pod templates and may be a label's value. The label pod-template-hash
// does not count.
std::string TemplateHash(const Value& pod_template);

// Returns a reference to the object as a controller. `uid` is used if it has none.
Value ControllerReference(const Value& owner, std::string_view uid = {});
// Returns a uid for an object that no server has given one. Equal names give equal uids.
std::string MadeUpUid(std::string_view kind, std::string_view ns, std::string_view name);

// Returns the pod of a template without a name: labels, annotations, finalizers, spec, and its controller.
Value PodOfTemplate(const Value& pod_template, const Value& owner);

// Returns the ReplicaSet that the Deployment makes for its present template, with all of its replicas: NAME-HASH, the
// label pod-template-hash in it, in its selector and in its template.
Value ReplicaSetOf(const Value& deployment);

// What a server adds to a Job when it is created: its own selector and the labels of its template. REQUIRES: it has a
// uid.
void CompleteJob(const Rules& rules, Value* job);

// What a workload wants.
struct WantedPods {
  int64_t count = 0;     // 0 for a DaemonSet, whose pods depend on the nodes (daemon_set.h)
  std::string why_none;  // a sentence without a subject, when it wants none for another reason than its number
  // The numbers of ordinals (StatefulSet) or completion indexes (Indexed Job), `count` of them; otherwise empty.
  std::vector<int64_t> numbers;
};

// Returns what a workload of this kind wants. For a Deployment that is the pods of its present ReplicaSet.
WantedPods PodsWantedBy(std::string_view kind, const Value& workload, const Rules& rules);

// Return a pod of the workload. Those of ReplicaSets, ReplicationControllers and plain Jobs are alike but for their
// names, so `number` is given for the others alone.
Value PodOf(std::string_view kind, const Value& workload, std::optional<int64_t> number, const Rules& rules);

// Returns the claims that a StatefulSet makes for the pod with this ordinal, one for each template.
std::vector<Value> ClaimsOfOrdinal(const Value& stateful_set, int64_t ordinal);
// Returns the claims that are made for the generic ephemeral volumes of a pod. REQUIRES: the pod has its name.
std::vector<Value> EphemeralClaims(const Value& pod);

// Returns the Job that a CronJob makes for a time, in Unix seconds; the annotation of that time is in UTC.
Value JobOfCronJob(const Value& cron_job, int64_t seconds, const Rules& rules);

}  // namespace berth::world
