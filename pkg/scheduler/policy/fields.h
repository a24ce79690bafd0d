// The members of a Policy by their names in a file. The decoder (decode.cc) and the JSON Schema (schema.cc) both use
// this description (api/members.h).
#pragma once
#include <limits>
#include <string>
#include <string_view>

#include "pkg/api/members.h"
#include "pkg/release/history.h"
#include "pkg/scheduler/policy/policy.h"

namespace berth::scheduler::policy {

inline constexpr int64_t kMostWeight = std::numeric_limits<int64_t>::max() / 10;

using api::Base64;
// The URL of an extender.
struct Url {
  std::string* text;
};
// A weight; one that cannot be read counts as 1.
struct Weight {
  int64_t* value;
};
// An object that is accepted, whatever it contains.
struct Ignored {};

// A whole Policy, with the members that say what the document is.
struct Document {
  Policy* policy;
  std::string kind = {}, api_version = {};
};

template <typename V>
void VisitFields(V& v, PredicatePolicy::Argument::ServiceAffinity& t) {
  v("labels", t.labels, "The labels.", {.required = true});
}
template <typename V>
void VisitFields(V& v, PredicatePolicy::Argument::LabelsPresence& t) {
  v("labels", t.labels, "The labels.", {.required = true});
  v("presence", t.presence, "Whether they must be there.");
}
template <typename V>
void VisitFields(V& v, PredicatePolicy::Argument& t) {
  v("serviceAffinity", t.service_affinity, "Pods of a service go to nodes with equal values of these labels.");
  v("labelsPresence", t.labels_presence, "Nodes must have, or must not have, all of these labels.");
}
template <typename V>
void VisitFields(V& v, PredicatePolicy& t) {
  v("name", t.name, "A registered predicate, or a new name with an argument.", {.required = true});
  v("argument", t.argument, "Makes a new predicate.");
}

template <typename V>
void VisitFields(V& v, PriorityPolicy::Argument::ServiceAntiAffinity& t) {
  v("label", t.label, "The label.", {.required = true});
}
template <typename V>
void VisitFields(V& v, PriorityPolicy::Argument::LabelPreference& t) {
  v("label", t.label, "The label.", {.required = true});
  v("presence", t.presence, "Whether nodes with it are better.");
}
template <typename V>
void VisitFields(V& v, PriorityPolicy::Argument::RequestedToCapacityRatio::Point& t) {
  v("utilization", t.utilization, "Percent of the node that is requested.", {.least = 0, .most = 100});
  v("score", t.score, "The score at this utilization.", {.least = 0, .most = 10});
}
template <typename V>
void VisitFields(V& v, PriorityPolicy::Argument::RequestedToCapacityRatio::Resource& t) {
  v("name", t.name, "The resource.", {.required = true});
  v("weight", t.weight, "How much it counts; 0 and absent mean 1.", {.least = 0, .most = 100});
}
template <typename V>
void VisitFields(V& v, PriorityPolicy::Argument::RequestedToCapacityRatio& t) {
  v("shape", t.shape, "The points of the scoring function, by increasing utilization.", {.required = true});
  v("resources", t.resources, "The resources that count; cpu and memory when absent.");
}
template <typename V>
void VisitFields(V& v, PriorityPolicy::Argument& t) {
  v("serviceAntiAffinity", t.service_anti_affinity, "Pods of a service spread over the values of this label.");
  v("requestedToCapacityRatioArguments", t.requested_to_capacity_ratio,
    "Nodes are scored by what is requested of them.", {.span = &release::history::kRatioArguments});
  v("labelPreference", t.label_preference, "Nodes that have, or do not have, this label are better.");
}
template <typename V>
void VisitFields(V& v, PriorityPolicy& t) {
  v("name", t.name, "A registered priority, or a new name with an argument.", {.required = true});
  v("weight", Weight{&t.weight}, "How much its scores count, 1 and up.",
    {.required = true, .least = 1, .most = kMostWeight - 1});
  v("argument", t.argument, "Makes a new priority.");
}

template <typename V>
void VisitFields(V& v, ExtenderManagedResource& t) {
  v("name", t.name, "The extended resource.", {.required = true});
  v("ignoredByScheduler", t.ignored_by_scheduler, "Whether PodFitsResources ignores it.");
}
// The members of tlsConfig have Go's capitalised names in release 1.10 and begin with a small letter in later ones.
template <typename V>
void VisitFields(V& v, ExtenderTls& t) {
  v("Insecure", t.insecure, "Whether the server's certificate is taken unchecked.", {.new_name = "insecure"});
  v("ServerName", t.server_name, "The name that the server's certificate must have.", {.new_name = "serverName"});
  v("CertFile", t.cert_file, "The file of the client's certificate, PEM.", {.new_name = "certFile"});
  v("KeyFile", t.key_file, "The file of the client's private key, PEM.", {.new_name = "keyFile"});
  v("CAFile", t.ca_file, "The file of the authorities that may sign the server's certificate, PEM.",
    {.new_name = "caFile"});
  v("CertData", Base64{&t.cert_data}, "The client's certificate, PEM in base64.", {.new_name = "certData"});
  v("KeyData", Base64{&t.key_data}, "The client's private key, PEM in base64.", {.new_name = "keyData"});
  v("CAData", Base64{&t.ca_data}, "The authorities, PEM in base64.", {.new_name = "caData"});
}
template <typename V>
void VisitFields(V& v, ExtenderConfig& t) {
  v("urlPrefix", Url{&t.url_prefix}, "Where the extender is called.", {.required = true});
  v("filterVerb", t.filter_verb, "Appended to urlPrefix for filtering; empty: it does not filter.");
  v("prioritizeVerb", t.prioritize_verb, "The same for scoring.");
  v("BindVerb", t.bind_verb, "The same for binding; one extender at most.", {.new_name = "bindVerb"});
  v("preemptVerb", t.preempt_verb, "The same for preemption.", {.span = &release::history::kExtenderFailures});
  v("ignorable", t.ignorable, "Whether pods are scheduled without it when it fails.",
    {.span = &release::history::kExtenderFailures});
  v("weight", Weight{&t.weight}, "How much its scores count, 1 and up.", {.least = 0, .most = kMostWeight - 1});
  v("enableHttps", t.enable_https, "Whether it is called by HTTPS.");
  v("httpTimeout", t.http_timeout_nanos, "How long a call may take, in nanoseconds; 5 seconds when absent.");
  v("nodeCacheCapable", t.node_cache_capable, "Whether it needs only the names of nodes.");
  v("tlsConfig", t.tls, "Certificates for HTTPS.");
  v("managedResources", t.managed_resources,
    "The extended resources that it manages; empty: it is called for every pod.");
}

template <typename V>
void VisitFields(V& v, Document& t) {
  v("kind", t.kind, "Policy.");
  v("apiVersion", t.api_version, "v1.");
  v("metadata", Ignored{}, "Accepted.");
  v("predicates", t.policy->predicates, "The predicates that run; those of DefaultProvider when absent.");
  v("priorities", t.policy->priorities, "The priorities that run; those of DefaultProvider when absent.");
  v("extenders", t.policy->extenders, "Webhooks that take part in decisions.");
  v("hardPodAffinitySymmetricWeight", t.policy->hard_pod_affinity_symmetric_weight,
    "Weight of placed pods' required affinity, 1 to 100; 0: the flag's value.", {.least = 0, .most = 100});
  v("alwaysCheckAllPredicates", t.policy->always_check_all_predicates,
    "Whether the remaining predicates are called for a node after one has rejected it.");
}

// The names that types have in Go, which strict decoders say.
inline std::string_view GoTypeOf(const PredicatePolicy&) {
  return "v1.PredicatePolicy";
}
inline std::string_view GoTypeOf(const PredicatePolicy::Argument::ServiceAffinity&) {
  return "v1.ServiceAffinity";
}
inline std::string_view GoTypeOf(const PredicatePolicy::Argument::LabelsPresence&) {
  return "v1.LabelsPresence";
}
inline std::string_view GoTypeOf(const PriorityPolicy&) {
  return "v1.PriorityPolicy";
}
inline std::string_view GoTypeOf(const PriorityPolicy::Argument::ServiceAntiAffinity&) {
  return "v1.ServiceAntiAffinity";
}
inline std::string_view GoTypeOf(const PriorityPolicy::Argument::LabelPreference&) {
  return "v1.LabelPreference";
}
inline std::string_view GoTypeOf(const PriorityPolicy::Argument::RequestedToCapacityRatio&) {
  return "v1.RequestedToCapacityRatioArguments";
}
inline std::string_view GoTypeOf(const PriorityPolicy::Argument::RequestedToCapacityRatio::Point&) {
  return "v1.UtilizationShapePoint";
}
inline std::string_view GoTypeOf(const PriorityPolicy::Argument::RequestedToCapacityRatio::Resource&) {
  return "v1.ResourceSpec";
}

}  // namespace berth::scheduler::policy
