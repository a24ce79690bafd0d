// The rows of nodes that pending pods are nominated to, with the amounts that those pods would use there.
//
// 1.10 evaluates a node with nominated pods twice: once with the nominated pods whose priority is at least that of the
// pod, and once without them; the pod must fit both times. If nothing but amounts can make a difference, it is enough
// to evaluate the node once with these amounts added, without a simulation. This class computes them.
//
// Thread-safety: that of the Cache.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <vector>

#include "pkg/scheduler/algorithm/algorithm.h"
#include "pkg/scheduler/cache/nominated_pods.h"

namespace berth::scheduler {

class NominatedRows {
 public:
  // `pods` is null when there are no nominated pods. Both pointers must outlive this object.
  NominatedRows(Cache* cache, const NominatedPods* pods) : cache_(cache), pods_(pods) {}

  // Brings the rows up to date. Afterwards the cache has the templates of all nominated pods, so that simulating one of
  // them adds no new affinity terms while rules are prepared.
  void Refresh();

  struct Found {
    Row row;
    bool only_amounts;    // the nominated pods have no affinity terms, and no amount of them or the row was cut
    AddedAmounts beside;  // the sum of what they use
  };
  // Writes the listed rows with nominated pods whose priority is at least that of the pod, other than the pod itself.
  // REQUIRES: Refresh was called since the nominations changed last.
  void For(const api::Pod& pod, std::vector<Found>* out) const;

 private:
  struct Nominee {
    api::PodPtr pod;
    const TemplateInfo* info;
  };
  // What is added up over the nominated pods of one node.
  struct Sum {
    Row row;
    bool only_amounts;    // of the pods alone
    int32_t least, most;  // priorities of the pods
    AddedAmounts beside;
  };
  void Update(Symbol node);
  void Drop(Symbol node);
  static Sum NoSum(Row row);
  static void AddTo(Sum* sum, const TemplateInfo& info);

  Cache* cache_;
  const NominatedPods* pods_;
  // The rest is up to date if known_ is set and both versions are the current ones.
  bool known_ = false;
  uint64_t seen_ = 0, order_version_ = 0;
  // Invariant: places_[nodes_[i]] == i, and sums_[i] is the sum of nominees_[i], of which there is at least one.
  absl::flat_hash_map<Symbol, uint32_t> places_;
  std::vector<Symbol> nodes_;
  std::vector<Sum> sums_;
  std::vector<std::vector<Nominee>> nominees_;
};

}  // namespace berth::scheduler
