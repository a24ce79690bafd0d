// The rows of nodes that pending pods are nominated to, with what those pods would use there.
//
// 1.10 evaluates a node with nominated pods twice: with those that are at least as important as the pod, and without
// them. Where nothing but amounts can make a difference, both answers follow from adding the amounts. Threading: that
// of the Cache.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <vector>

#include "pkg/scheduler/algorithm/algorithm.h"
#include "pkg/scheduler/cache/nominated_pods.h"

namespace berth::scheduler {

class NominatedRows {
 public:
  // `pods` may be null: there are none. Both outlive this.
  NominatedRows(Cache* cache, const NominatedPods* pods) : cache_(cache), pods_(pods) {}

  // Brings the rows up to date. The cache knows the templates of all nominated pods afterwards, so that simulating one
  // of them adds no new affinity terms.
  void Refresh();

  struct Found {
    Row row;
    bool only_amounts;  // the pods matter to a pod without affinity by `beside` alone
    Beside beside;      // what the nominated pods use together
  };
  // Writes the listed rows with nominated pods that are at least as important as the pod and are not the pod itself.
  void For(const api::Pod& pod, std::vector<Found>* out) const;

 private:
  struct Nominee {
    api::PodPtr pod;
    const TemplateInfo* info;
  };
  void Update(Symbol node);

  Cache* cache_;
  const NominatedPods* pods_;
  bool known_ = false;
  uint64_t seen_ = 0, names_version_ = 0;
  struct Entry {
    Row row;
    std::vector<Nominee> nominees;
  };
  absl::flat_hash_map<Symbol, Entry> nodes_;
};

}  // namespace berth::scheduler
