// The members of a KubeSchedulerConfiguration by their names in a file. The decoder (decode.cc), the JSON Schema
// (schema.cc) and the body of /configz all use this description (api/members.h).
#pragma once
#include <string_view>

#include "pkg/api/members.h"
#include "pkg/scheduler/configuration/types.h"

namespace berth::scheduler::configuration {

using api::Base64;
// A duration that is stored in nanoseconds.
struct Nanoseconds {
  int64_t* nanos;
};
// An object whose contents do not matter. Reading it records that it is present.
struct AnyObject {
  bool* present;
};
// The args of a plugin. Their type depends on the name of the plugin.
struct ArgsOf {
  PluginConfig* config;
};

template <typename V>
void VisitFields(V& v, ResourceSpec& t) {
  v("name", t.name, "The resource, such as cpu, memory or example.com/gpu.");
  v("weight", t.weight, "How much it counts, 1 to 100; 0 and absent mean 1.");
}
template <typename V>
void VisitFields(V& v, UtilizationShapePoint& t) {
  v("utilization", t.utilization, "Percent of the node that is requested, 0 to 100.", {.least = 0, .most = 100});
  v("score", t.score, "The score at this utilization, 0 to 10.", {.least = 0, .most = 10});
}
template <typename V>
void VisitFields(V& v, RequestedToCapacityRatioParam& t) {
  v("shape", t.shape, "The points of the scoring function, by increasing utilization.");
}
template <typename V>
void VisitFields(V& v, DefaultPreemptionArgs& t) {
  v("minCandidateNodesPercentage", t.min_candidate_nodes_percentage, "Share of the nodes to try, 0 to 100.",
    {.least = 0, .most = 100});
  v("minCandidateNodesAbsolute", t.min_candidate_nodes_absolute, "Number of nodes to try at least.", {.least = 0});
}
template <typename V>
void VisitFields(V& v, InterPodAffinityArgs& t, Version version) {
  v("hardPodAffinityWeight", t.hard_pod_affinity_weight, "Weight of placed pods' required affinity, 0 to 100.",
    {.least = 0, .most = 100});
  if (version == Version::kV1Beta1) return;
  v("ignorePreferredTermsOfExistingPods", t.ignore_preferred_terms_of_existing_pods,
    "Whether placed pods' preferred terms count only for pods that have terms of their own.");
}
template <typename V>
void VisitFields(V& v, NodeSelectorRequirement& t) {
  v("key", t.key, "The label or field.");
  v("operator", t.op, "In, NotIn, Exists, DoesNotExist, Gt or Lt.", {.one_of = "In NotIn Exists DoesNotExist Gt Lt"});
  v("values", t.values, "What the operator compares with.");
}
template <typename V>
void VisitFields(V& v, NodeSelectorTerm& t) {
  v("matchExpressions", t.match_expressions, "Requirements on the node's labels.");
  v("matchFields", t.match_fields, "Requirements on the node's metadata.name.");
}
template <typename V>
void VisitFields(V& v, NodeSelector& t) {
  v("nodeSelectorTerms", t.node_selector_terms, "Terms of which one must match.");
}
template <typename V>
void VisitFields(V& v, PreferredSchedulingTerm& t) {
  v("weight", t.weight, "What a matching node gains, 1 to 100.");
  v("preference", t.preference, "The nodes that are preferred.");
}
template <typename V>
void VisitFields(V& v, NodeAffinity& t) {
  v("requiredDuringSchedulingIgnoredDuringExecution", t.required, "The nodes that pods may go to.");
  v("preferredDuringSchedulingIgnoredDuringExecution", t.preferred, "The nodes that pods should go to.");
}
template <typename V>
void VisitFields(V& v, NodeAffinityArgs& t) {
  v("addedAffinity", t.added_affinity, "Node affinity of every pod of the profile, besides the pod's own.");
}
template <typename V>
void VisitFields(V& v, NodeResourcesBalancedAllocationArgs& t) {
  v("resources", t.resources, "The resources whose use is to be even; all weights are 1.");
}
template <typename V>
void VisitFields(V& v, ScoringStrategy& t) {
  v("type", t.type, "LeastAllocated, MostAllocated or RequestedToCapacityRatio.",
    {.one_of = "LeastAllocated MostAllocated RequestedToCapacityRatio"});
  v("resources", t.resources, "The resources that count.");
  v("requestedToCapacityRatio", t.requested_to_capacity_ratio, "For type RequestedToCapacityRatio.");
}
template <typename V>
void VisitFields(V& v, NodeResourcesFitArgs& t, Version version) {
  v("ignoredResources", t.ignored_resources, "Extended resources that do not keep a pod from a node.");
  v("ignoredResourceGroups", t.ignored_resource_groups, "The same for all extended resources of a group.");
  if (version == Version::kV1Beta1) return;
  v("scoringStrategy", t.scoring_strategy, "How nodes are scored by what is requested.");
}
template <typename V>
void VisitFields(V& v, TopologySpreadConstraint& t, Version version) {
  v("maxSkew", t.max_skew, "By how many pods domains may differ, 1 and up.", {.least = 1});
  v("topologyKey", t.topology_key, "The node label whose values are the domains.");
  v("whenUnsatisfiable", t.when_unsatisfiable, "DoNotSchedule or ScheduleAnyway.",
    {.one_of = "DoNotSchedule ScheduleAnyway"});
  v("labelSelector", AnyObject{&t.has_label_selector},
    "Must be absent: it follows from the pod's services and owners.");
  if (version == Version::kV1Beta1) return;
  v("minDomains", t.min_domains, "How many domains there must be.");
  v("nodeAffinityPolicy", t.node_affinity_policy, "Honor or Ignore.", {.one_of = "Honor Ignore"});
  v("nodeTaintsPolicy", t.node_taints_policy, "Honor or Ignore.", {.one_of = "Honor Ignore"});
  v("matchLabelKeys", t.match_label_keys, "Labels of the pod whose values select the pods that count.");
}
template <typename V>
void VisitFields(V& v, PodTopologySpreadArgs& t, Version version) {
  v("defaultConstraints", t.default_constraints, "Constraints of pods without any, with defaultingType List.");
  if (version == Version::kV1Beta1) return;
  v("defaultingType", t.defaulting_type, "System (the built-in constraints) or List.", {.one_of = "System List"});
}
template <typename V>
void VisitFields(V& v, VolumeBindingArgs& t, Version version) {
  v("bindTimeoutSeconds", t.bind_timeout_seconds, "How long binding volumes may take.", {.least = 0});
  if (version == Version::kV1Beta1) return;
  v("shape", t.shape, "How nodes are scored by storage; needs feature gate VolumeCapacityPriority.");
}
template <typename V>
void VisitFields(V& v, NodeResourcesLeastAllocatedArgs& t) {
  v("resources", t.resources, "The resources that count.");
}
template <typename V>
void VisitFields(V& v, NodeResourcesMostAllocatedArgs& t) {
  v("resources", t.resources, "The resources that count.");
}
template <typename V>
void VisitFields(V& v, RequestedToCapacityRatioArgs& t) {
  v("shape", t.shape, "The points of the scoring function, by increasing utilization.");
  v("resources", t.resources, "The resources that count.");
}
template <typename V>
void VisitFields(V& v, NodeLabelArgs& t) {
  v("presentLabels", t.present_labels, "Labels that a node must have.");
  v("absentLabels", t.absent_labels, "Labels that a node must not have.");
  v("presentLabelsPreference", t.present_labels_preference, "Labels that a node should have.");
  v("absentLabelsPreference", t.absent_labels_preference, "Labels that a node should not have.");
}
template <typename V>
void VisitFields(V& v, ServiceAffinityArgs& t) {
  v("affinityLabels", t.affinity_labels, "Node labels whose values the pods of a service share.");
  v("antiAffinityLabelsPreference", t.anti_affinity_labels_preference,
    "Node labels over whose values the pods of a service should be spread.");
}

template <typename V>
void VisitFields(V& v, DynamicResourcesArgs& t) {
  v("filterTimeout", t.filter_timeout, "Limit of the search for devices on one node; 10s when absent, 0: none.");
  v("bindingTimeout", t.binding_timeout, "Limit of the wait for devices before a binding; 600s when absent.");
}

template <typename V>
void VisitFields(V& v, Plugin& t) {
  v("name", t.name, "The plugin.");
  v("weight", t.weight, "How much its scores count; absent means 1.");
}
template <typename V>
void VisitFields(V& v, PluginSet& t) {
  v("enabled", t.enabled, "Plugins to call besides the default ones, or in another order.");
  v("disabled", t.disabled, "Default plugins not to call; \"*\" is all of them.");
}
template <typename V>
void VisitFields(V& v, Plugins& t, Version version) {
  if (version != Version::kV1Beta1) v("preEnqueue", t.pre_enqueue, "Called before a pod enters the queue.");
  v("queueSort", t.queue_sort, "Orders the queue; one plugin, the same in all profiles.");
  v("preFilter", t.pre_filter, "Called for a pod before its nodes are looked at.");
  v("filter", t.filter, "Says which nodes a pod fits on.");
  v("postFilter", t.post_filter, "Called when a pod fits nowhere.");
  v("preScore", t.pre_score, "Called for a pod before its nodes are scored.");
  v("score", t.score, "Says which of the nodes that fit are best.");
  v("reserve", t.reserve, "Called when a node is chosen.");
  v("permit", t.permit, "May hold up the binding of a pod.");
  v("preBind", t.pre_bind, "Called before a pod is bound.");
  v("bind", t.bind, "Binds a pod to its node.");
  v("postBind", t.post_bind, "Called when a pod is bound.");
  if (version == Version::kV1Beta1) return;
  if (version == Version::kV1) {
    v("placementGenerate", t.placement_generate, "Proposes nodes for a group of pods; accepted.");
    v("placementScore", t.placement_score, "Says which of the nodes for a group are best; accepted.");
  }
  v("multiPoint", t.multi_point, "Plugins to call wherever they have something to do.");
}
template <typename V>
void VisitFields(V& v, PluginConfig& t) {
  v("name", t.name, "The plugin.", {.required = true});
  v("args", ArgsOf{&t}, "Its arguments.");
}
template <typename V>
void VisitFields(V& v, Profile& t, Version version) {
  v("schedulerName", t.scheduler_name, "Which pods it is for: those with this spec.schedulerName.");
  if (version == Version::kV1) {
    v("percentageOfNodesToScore", t.percentage_of_nodes_to_score, "Accepted; every node is scored.",
      {.least = 0, .most = 100});
  }
  v("plugins", t.plugins, "Which plugins run, and where.");
  v("pluginConfig", t.plugin_config, "Arguments of plugins.");
}

template <typename V>
void VisitFields(V& v, ExtenderManagedResource& t) {
  v("name", t.name, "The extended resource.");
  v("ignoredByScheduler", t.ignored_by_scheduler, "Whether NodeResourcesFit ignores it.");
}
template <typename V>
void VisitFields(V& v, ExtenderTls& t) {
  v("insecure", t.insecure, "Whether the server's certificate is taken unchecked.");
  v("serverName", t.server_name, "The name that the server's certificate must have.");
  v("certFile", t.cert_file, "The client's certificate.");
  v("keyFile", t.key_file, "The client's private key.");
  v("caFile", t.ca_file, "The authorities that may sign the server's certificate.");
  v("certData", Base64{&t.cert_data}, "The client's certificate, PEM in base64.");
  v("keyData", Base64{&t.key_data}, "The client's private key, PEM in base64.");
  v("caData", Base64{&t.ca_data}, "The authorities, PEM in base64.");
}
template <typename V>
void VisitFields(V& v, ExtenderConfig& t) {
  v("urlPrefix", t.url_prefix, "Where the extender is called.");
  v("filterVerb", t.filter_verb, "Appended to urlPrefix for filtering; empty: it does not filter.");
  v("preemptVerb", t.preempt_verb, "The same for preemption.");
  v("prioritizeVerb", t.prioritize_verb, "The same for scoring.");
  v("weight", t.weight, "How much its scores count, 1 and up.");
  v("bindVerb", t.bind_verb, "The same for binding; one extender at most.");
  v("enableHTTPS", t.enable_https, "Whether it is called by HTTPS.");
  v("tlsConfig", t.tls, "Certificates for HTTPS.");
  v("httpTimeout", Nanoseconds{&t.http_timeout_nanos}, "How long a call may take; 5s when absent.");
  v("nodeCacheCapable", t.node_cache_capable, "Whether it needs only the names of nodes.");
  v("managedResources", t.managed_resources,
    "The extended resources that it manages; empty: it is called for every pod.");
  v("ignorable", t.ignorable, "Whether scheduling goes on when it fails.");
}

template <typename V>
void VisitFields(V& v, LeaderElection& t) {
  v("leaderElect", t.leader_elect, "Whether to hold a lease while scheduling.");
  v("leaseDuration", t.lease_duration, "How long others wait for a leader that is silent.");
  v("renewDeadline", t.renew_deadline, "How long a leader tries to renew before it gives up.");
  v("retryPeriod", t.retry_period, "How often the lease is tried.");
  v("resourceLock", t.resource_lock, "leases.");
  v("resourceName", t.resource_name, "The name of the Lease.");
  v("resourceNamespace", t.resource_namespace, "The namespace of the Lease.");
}
template <typename V>
void VisitFields(V& v, ClientConnection& t) {
  v("kubeconfig", t.kubeconfig, "The kubeconfig file.");
  v("acceptContentTypes", t.accept_content_types, "Accepted; JSON is spoken.");
  v("contentType", t.content_type, "Accepted; JSON is spoken.");
  v("qps", t.qps, "Requests a second to the API server.");
  v("burst", t.burst, "Requests that may come at once.", {.least = 0});
}
template <typename V>
void VisitFields(V& v, KubeSchedulerConfiguration& t, Version version) {
  if (version == Version::kV1Beta1) {
    v("healthzBindAddress", t.healthz_bind_address, "Where health is served without TLS; empty: nowhere.");
    v("metricsBindAddress", t.metrics_bind_address, "Where metrics are served without TLS; empty: nowhere.");
  }
  if (version != Version::kV1Beta1)
    v("parallelism", t.parallelism, "Accepted; a decision takes one core.", {.least = 1});
  v("leaderElection", t.leader_election, "Which of several schedulers is the active one.");
  v("clientConnection", t.client_connection, "How the API server is reached.");
  v("enableProfiling", t.enable_profiling, "Whether profiles are served.");
  v("enableContentionProfiling", t.enable_contention_profiling, "Accepted.");
  v("percentageOfNodesToScore", t.percentage_of_nodes_to_score, "Accepted; every node is scored.",
    {.least = 0, .most = 100});
  v("podInitialBackoffSeconds", t.pod_initial_backoff_seconds, "First pause of a pod that fits nowhere.", {.least = 1});
  v("podMaxBackoffSeconds", t.pod_max_backoff_seconds, "Longest pause.", {.least = 1});
  v("profiles", t.profiles, "The schedulers of this process; one with the default plugins when absent.");
  v("extenders", t.extenders, "Webhooks that take part in decisions.");
  if (version == Version::kV1)
    v("delayCacheUntilActive", t.delay_cache_until_active, "Whether a standby watches nothing.");
}

// The names that types have in Go, which the decoder of v1beta1 says.
inline std::string_view GoTypeOf(const ResourceSpec&) {
  return "v1beta1.ResourceSpec";
}
inline std::string_view GoTypeOf(const UtilizationShapePoint&) {
  return "v1beta1.UtilizationShapePoint";
}
inline std::string_view GoTypeOf(const TopologySpreadConstraint&) {
  return "v1.TopologySpreadConstraint";
}
inline std::string_view GoTypeOf(const Plugin&) {
  return "v1beta1.Plugin";
}
inline std::string_view GoTypeOf(const PluginSet&) {
  return "v1beta1.PluginSet";
}
inline std::string_view GoTypeOf(const Plugins&) {
  return "v1beta1.Plugins";
}
inline std::string_view GoTypeOf(const PluginConfig&) {
  return "v1beta1.PluginConfig";
}
inline std::string_view GoTypeOf(const Profile&) {
  return "v1beta1.KubeSchedulerProfile";
}
inline std::string_view GoTypeOf(const ExtenderManagedResource&) {
  return "v1.ExtenderManagedResource";
}
inline std::string_view GoTypeOf(const ExtenderTls&) {
  return "v1.ExtenderTLSConfig";
}
inline std::string_view GoTypeOf(const ExtenderConfig&) {
  return "v1beta1.Extender";
}
inline std::string_view GoTypeOf(const LeaderElection&) {
  return "v1alpha1.LeaderElectionConfiguration";
}
inline std::string_view GoTypeOf(const ClientConnection&) {
  return "v1alpha1.ClientConnectionConfiguration";
}

}  // namespace berth::scheduler::configuration
