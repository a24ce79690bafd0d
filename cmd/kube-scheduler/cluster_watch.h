// Follows everything the scheduler looks at, and puts the news into its inbox.
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
    bool storage_classes = true;  // gate VolumeScheduling
    bool later_kinds = false;     // those that release 1.29 follows beyond 1.10's, in their stable versions
    bool node_json = false;       // an extender wants whole nodes
    // Uniform in [0, 1), for the jitter of retries and the lengths of watches; empty: a generator of its own.
    std::function<double()> random = {};
  };
  // All outlive it. Created and destroyed on the I/O thread, or before and after it runs.
  ClusterWatch(client::Executor* executor, client::HttpClient* client, Inbox* inbox, Options options);
  ~ClusterWatch();

  void Start();
  // How many resources are followed: as many batches come with initial_list_done.
  int resources() const;
  // The stores, as new as what was put into the inbox last. On the I/O thread.
  std::vector<api::NodePtr> Nodes() const;
  std::vector<api::PodPtr> Pods() const;

  // From any thread: name of the resource and its numbers.
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
