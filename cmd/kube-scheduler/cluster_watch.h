// Follows all kinds that the scheduler reads and puts their changes into its inbox.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cmd/kube-scheduler/inbox.h"
#include "pkg/client/informer.h"

namespace berth::kube_scheduler {

class ClusterWatch {
 public:
  struct Options {
    // Whether the objects are followed that own pods: ReplicationControllers, ReplicaSets and StatefulSets.
    bool owners = true;
    bool storage_classes = true;            // gate VolumeScheduling
    const api::Dialect* dialect = nullptr;  // which kinds are followed, and how; outlives the watch
    bool node_json = false;                 // keep the JSON of nodes, for an extender that needs whole nodes
    // Returns numbers uniform in [0, 1), for the jitter of retries and the lengths of watches. If empty, an own
    // generator.
    std::function<double()> random = {};
  };
  // All arguments must outlive the object. It is created and destroyed on the I/O thread, or while that does not
  // run.
  ClusterWatch(client::Executor* executor, client::HttpClient* client, Inbox* inbox, Options options);
  ~ClusterWatch();

  void Start();
  // Returns how many resources are followed. That many batches arrive with initial_list_done.
  int resources() const;
  // Return the stores, which include everything that has been put into the inbox. Called on the I/O thread.
  std::vector<api::NodePtr> Nodes() const;
  std::vector<api::PodPtr> Pods() const;

  // Counters of one resource. stats() may be called from any thread.
  struct Stats {
    std::string resource;
    const client::ReflectorStats* reflector;
    uint64_t dropped_updates;
  };
  std::vector<Stats> stats() const;

 private:
  struct Informers;
  std::unique_ptr<Informers> informers_;
};

}  // namespace berth::kube_scheduler
