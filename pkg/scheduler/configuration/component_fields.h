// The members of a KubeSchedulerConfiguration without profiles by their names in a file (api/members.h).
#pragma once
#include "pkg/api/members.h"
#include "pkg/scheduler/configuration/component.h"

namespace berth::scheduler::configuration {

// Where something is served: an IP address, or host:port.
struct BindAddress {
  std::string* text;
};

template <typename V>
void VisitFields(V& v, ComponentConfiguration::PolicyFile& t) {
  v("path", t.path, "Its path.");
}
template <typename V>
void VisitFields(V& v, ComponentConfiguration::PolicyMap& t) {
  v("namespace", t.ns, "Its namespace; kube-system when absent.");
  v("name", t.name, "Its name.");
}
template <typename V>
void VisitFields(V& v, ComponentConfiguration::PolicySource& t) {
  v("file", t.file, "A file.");
  v("configMap", t.config_map, "The key policy.cfg of a ConfigMap.");
}
template <typename V>
void VisitFields(V& v, ComponentConfiguration::AlgorithmSource& t) {
  v("provider", t.provider, "The name of a provider.");
  v("policy", t.policy, "Where a Policy is; a file counts if both are given.");
}
template <typename V>
void VisitFields(V& v, ComponentConfiguration::LeaderElection& t) {
  v("leaderElect", t.leader_elect, "Whether there is an election.");
  v("leaseDuration", t.lease_duration, "How long others wait for a leader that is silent.");
  v("renewDeadline", t.renew_deadline, "How long a leader tries to renew its lock.");
  v("retryPeriod", t.retry_period, "How long to wait between attempts.");
  v("resourceLock", t.resource_lock, "The kind of the lock: endpoints, configmaps or leases.");
  v("lockObjectNamespace", t.lock_object_namespace, "The namespace of the lock.");
  v("lockObjectName", t.lock_object_name, "The name of the lock.");
  v("resourceNamespace", t.resource_namespace, "The name of lockObjectNamespace in later versions.");
  v("resourceName", t.resource_name, "The name of lockObjectName in later versions.");
}
template <typename V>
void VisitFields(V& v, ComponentConfiguration::ClientConnection& t) {
  v("kubeconfig", t.kubeconfig, "The path of a kubeconfig.");
  v("acceptContentTypes", t.accept_content_types, "Accepted and not used.");
  v("contentType", t.content_type, "Accepted; JSON is always used.");
  v("qps", t.qps, "Requests a second; below 0: no limit.");
  v("burst", t.burst, "How many requests may be sent at once.", {.least = 0});
}
template <typename V>
void VisitFields(V& v, ComponentConfiguration::Profile& t) {
  v("schedulerName", t.scheduler_name, "The pods with this schedulerName are placed.", {.required = true});
  v("algorithmSource", t.algorithm_source, "As above.");
}
template <typename V>
void VisitFields(V& v, ComponentConfiguration& t) {
  v("apiVersion", t.api_version, "The version of the file.", {.required = true});
  v("kind", t.kind, "KubeSchedulerConfiguration.", {.required = true});
  v("schedulerName", t.scheduler_name, "The pods with this schedulerName are placed.");
  v("algorithmSource", t.algorithm_source, "A provider or a Policy; a provider counts if both are given.");
  v("hardPodAffinitySymmetricWeight", t.hard_pod_affinity_symmetric_weight,
    "Weight of placed pods' required affinity, 1 to 100.");
  v("leaderElection", t.leader_election, "How one of several processes becomes the one that schedules.");
  v("clientConnection", t.client_connection, "How the API server is reached.");
  v("healthzBindAddress", BindAddress{&t.healthz_bind_address}, "host:port where health is served.");
  v("metricsBindAddress", BindAddress{&t.metrics_bind_address}, "host:port where metrics are served.");
  v("enableProfiling", t.enable_profiling, "Whether profiles of the process are served.");
  v("enableContentionProfiling", t.enable_contention_profiling, "Accepted and not used.");
  v("failureDomains", t.failure_domains, "Accepted and not used.");
  v("percentageOfNodesToScore", t.percentage_of_nodes_to_score, "Counts with --percentage-of-nodes-to-score=release.");
  v("disablePreemption", t.disable_preemption, "Whether no pod is evicted for another one.");
  v("bindTimeoutSeconds", t.bind_timeout_seconds, "How long the claims of a pod may take to be bound.");
  v("podInitialBackoffSeconds", t.pod_initial_backoff_seconds, "How long a pod waits after its first failure.",
    {.least = 0});
  v("podMaxBackoffSeconds", t.pod_max_backoff_seconds, "How long it waits at most.", {.least = 0});
  v("podMaxInUnschedulablePodsDuration", t.pod_max_in_unschedulable_pods_duration,
    "After how long a pod is tried again without an event.");
  v("parallelism", t.parallelism, "Accepted; a decision uses one core.", {.least = 0});
  v("delayCacheUntilActive", t.delay_cache_until_active, "Whether only a leader follows the API server.");
  v("profiles", t.profiles, "More schedulers in the same process.");
}

}  // namespace berth::scheduler::configuration
