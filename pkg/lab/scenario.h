// What schedsim works on: a cluster, the pods to place, and the scheduler to place them with.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pkg/api/decode.h"
#include "pkg/lab/expand.h"
#include "pkg/lab/validate.h"
#include "pkg/scheduler/configuration/plugins.h"
#include "pkg/scheduler/configuration/profile.h"
#include "pkg/scheduler/factory/factory.h"
#include "pkg/scheduler/policy/policy.h"

namespace berth::lab {

// How to schedule; from flags, or from a Scenario, whose fields win.
struct Algorithm {
  std::string release = "1.10";  // emulatedVersion
  // Release 1.29: what its configuration says; without one its default profile runs.
  std::optional<std::vector<scheduler::configuration::ResolvedProfile>> profiles;
  std::vector<scheduler::ExtenderConfig> extenders;  // of that configuration
  std::optional<std::string> provider;
  std::optional<scheduler::Policy> policy;
  std::map<std::string, bool> gates;  // those named
  int hard_pod_affinity_symmetric_weight = 1;
  bool preempt = false;
  bool ignore_unknown_fields = false;  // pods are taken as release 1.10 saw them

  bool chosen() const { return provider.has_value() || policy.has_value(); }
  // Release 1.29 is set up by configurations; its only provider is what it does without any.
  absl::Status CheckFor1_29() const;
  // A Policy or a configuration given by a flag may have extenders, and they are called. One inside a Scenario may not:
  // it comes too late for objects to be kept whole.
  bool policy_from_flag = false;
  bool call_extenders() const {
    return policy_from_flag && (!extenders.empty() || (policy && !policy->extenders.empty()));
  }
  // Gates not named have 1.10's defaults.
  scheduler::SchedulerGates Gates() const;
  // Gates of release 1.29 that change what its configuration means; those not named have 1.29's defaults.
  scheduler::configuration::Gates ConfigurationGates() const;
};

struct Scenario {
  std::string name;
  bool is_scenario = false;  // a Scenario document, or plain objects
  Algorithm algorithm;
  std::vector<api::Object> cluster;  // bound pods among them
  std::vector<api::PodPtr> pending;  // in the order to be tried
  std::string error;                 // not empty: it cannot be run, and why
  // For each pending pod how many objects of `cluster` stood before it in the input; SIZE_MAX for those of a Scenario's
  // own list and those made from workloads, which come last.
  std::vector<size_t> pending_after;

  void AddPending(api::PodPtr pod, size_t after = SIZE_MAX) {
    pending.push_back(std::move(pod));
    pending_after.push_back(after);
  }
};

struct Input {
  std::vector<Scenario> scenarios;         // in input order; plain objects of all inputs together are one
  std::map<std::string, int64_t> skipped;  // kinds that scheduling does not know, and how many
  std::vector<std::string> warnings;       // what the reader should know about the input, a sentence each
  std::vector<std::string> mistakes;       // with Validate::kStrict: the input must not be used when there are any
};

struct ReadOptions {
  Algorithm defaults;  // what flags say
  Expand expand = Expand::kAuto;
  Validate validate = Validate::kOff;
  bool keep_raw = false;  // objects keep their JSON, for output that repeats them
};

// Reads files ("-": standard input): Kubernetes objects as JSON or YAML, one or many documents, Lists, gzip or plain;
// or Scenario documents. Loose documents get the server's defaulting and a made-up uid; objects of Lists and Scenarios
// are taken as stored. Of plain objects, workloads are expanded (expand.h), pending pods that are being deleted are
// left out as the daemon does, and warnings say what is missing. A bad Scenario is returned with its error; anything
// else wrong is an error naming file, line and column.
absl::StatusOr<Input> ReadInputs(const std::vector<std::string>& files, const ReadOptions& options);

}  // namespace berth::lab
