// The independent reference: the rules and the scheduler of Kubernetes 1.10, written as simply as possible. Each
// evaluation goes through all nodes and pods. Tests compare the production code, both the incremental scheduler and the
// reference scheduler of core/, with it on random clusters. For tests only.
//
// Upstream bugs that the production code fixes are fixed here, too: B-01, B-02, B-06, B-10, B-15, B-17 (where another
// object is at fault), B-18, B-19.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/scheduler/reference/cluster.h"

namespace berth::scheduler::reference {

struct PredicateKey {
  std::string name;
  // The arguments of the Policy, of which at most one is set. `presence` belongs to labels_presence.
  std::optional<std::vector<std::string>> service_affinity;
  std::optional<std::vector<std::string>> labels_presence;
  bool presence = false;
};
struct PriorityKey {
  std::string name;
  int64_t weight = 1;
  std::optional<std::string> service_anti_affinity;
  std::optional<std::string> label_preference;
  bool presence = false;
};

struct Settings {
  std::vector<PredicateKey> predicates;  // in any order
  std::vector<PriorityKey> priorities;   // in any order
  bool always_check_all = false;
  bool pod_priority = false;
  bool volume_scheduling = true;
  int hard_pod_affinity_weight = 1;
  std::set<std::string> ignored_resources;
  size_t max_ebs = 39, max_gce = 16, max_azure = 16;
};
// Return the settings of DefaultProvider and ClusterAutoscalerProvider.
Settings DefaultProviderSettings();
Settings ClusterAutoscalerProviderSettings();
// Returns the predicates in the order in which they are evaluated.
std::vector<PredicateKey> InOrder(std::vector<PredicateKey> keys);

struct Answer {
  bool fit = true;
  std::vector<std::string> reasons;
  std::string error;
};
// The input of a predicate: the pod and the cluster, with `here` in the place of one of its nodes. `here` may be a copy
// with simulated changes.
struct Question {
  const Cluster& cluster;
  const Settings& settings;
  const api::Pod& pod;
  const NodeState& here;
};
Answer Evaluate(const PredicateKey& key, const Question& q);
// Returns whether the reason is one that removing pods cannot change.
bool Unresolvable(const std::string& reason);

// Scores from 0 to 10 by feasible node. Score appends each message that 1.10 would list to `*errors`.
using Scores = std::map<std::string, int64_t>;
Scores Score(const PriorityKey& key, const Cluster& cluster, const Settings& settings, const api::Pod& pod,
             const std::vector<std::string>& feasible, std::vector<std::string>* errors);

struct Decision {
  std::string host, error;
  bool unfit = false;  // no node fits (FitError)
  std::map<std::string, std::vector<std::string>> failures;
  std::vector<std::string> feasible;
  std::map<std::string, Scores> scores;  // by priority
  Scores totals;
};
struct Preemption {
  std::string node;
  std::vector<std::string> victims;             // uids, in the order in which 1.10 lists the victims
  std::vector<std::string> nominated_to_clear;  // uids
};

class Scheduler {
 public:
  explicit Scheduler(Settings settings) : settings_(std::move(settings)) {}
  const Settings& settings() const { return settings_; }
  Decision Schedule(const Cluster& cluster, const api::Pod& pod);
  Preemption Preempt(const Cluster& cluster, const api::Pod& pod,
                     const std::map<std::string, std::vector<std::string>>& failures) const;
  uint64_t last_node_index() const { return last_node_index_; }

 private:
  Answer Fits(const Cluster& cluster, const api::Pod& pod, const NodeState& here, bool check_all) const;
  Settings settings_;
  uint64_t last_node_index_ = 0;
};

// ---- helpers that several rules use ---------------------------------------------------------------
bool SelectorMatches(const api::Selector& selector, const api::Labels& labels);
// Returns whether a selector that is made from a map matches. If a key or value is not valid, it matches everything
// (B-35).
bool ValidatedMapMatches(const api::Labels& map, const api::Labels& labels);
bool TermMatchesPod(const api::PodAffinityTerm& term, const api::Pod& pod);
bool ShareTopology(const api::Node& a, const api::Node& b, const std::string& key);
bool TermToleratesTaint(const api::Toleration& toleration, const api::Taint& taint);
std::optional<std::string> Label(const api::Labels& labels, const std::string& key);
std::vector<std::shared_ptr<const api::Service>> ServicesOf(const Cluster& cluster, const api::Pod& pod);  // by name
int64_t Clamp(__int128_t sum);

// Amounts of resources. The amount of cpu is in milliCPU.
struct Amounts {
  std::map<std::string, int64_t> by_name;  // a scalar resource may have an entry with 0
  int64_t Get(const std::string& name) const {
    auto it = by_name.find(name);
    return it == by_name.end() ? 0 : it->second;
  }
};
Amounts SumOf(const std::vector<const api::ResourceList*>& lists);
// Return the sum over the containers, raised to the amount of each init container.
Amounts RequestOf(const api::Pod& pod);
Amounts LimitsOf(const api::Pod& pod);
// Returns what placed pods use. Init containers do not count (B-03).
Amounts UsedBy(const std::vector<api::PodPtr>& pods);
// Returns the request with 1.10's defaults for containers without one; cpu in milliCPU.
int64_t NonZero(const api::Pod& pod, const std::string& resource);

}  // namespace berth::scheduler::reference
