// What the functions of the C ABI begin with: handles are taken into use, and arguments checked.
#pragma once
#include <absl/strings/str_cat.h>

#include "pkg/capi/cluster.h"
#include "pkg/capi/guard.h"

namespace berth::capi {

inline int32_t Null(const char* what) {
  return Fail(BERTH_INVALID, absl::StrCat(what, " is NULL"));
}

inline int32_t OutOfRange(const char* what, size_t index, size_t size) {
  return Fail(BERTH_INVALID, absl::StrCat(what, " index ", index, " out of range (size ", size, ")"));
}

// Returns BERTH_OK for a text of the caller that is a name: not NULL, and valid UTF-8.
inline int32_t CheckName(const char* text, const char* what) {
  if (text == nullptr) return Null(what);
  if (absl::Status s = NameProblem(text, what); !s.ok()) return Fail(s);
  return BERTH_OK;
}

// Runs f(cluster).
template <typename F>
int32_t WithCluster(berth_cluster* handle, F f) {
  return Guarded([&] {
    Use<Cluster> cluster(handle, "clusters");
    return cluster ? f(*cluster) : cluster.code();
  });
}
template <typename F>
int32_t WithPods(berth_pods* handle, F f) {
  return Guarded([&] {
    Use<Pods> pods(handle, "pods");
    return pods ? f(*pods) : pods.code();
  });
}
// Runs f(cluster, pods, pod) for one pod of the list. Both are used by one call, so that both break if an invariant
// does.
template <typename F>
int32_t WithPod(berth_cluster* c, berth_pods* p, size_t index, F f) {
  return Guarded([&] {
    Use<Cluster> cluster(c, "clusters");
    if (!cluster) return cluster.code();
    Use<Pods> pods(p, "pods");
    if (!pods) return pods.code();
    if (index >= pods->pods.size()) {
      return OutOfRange("pod", index, pods->pods.size());
    }
    if (pods->release != cluster->algorithm.release) {
      return Fail(BERTH_INVALID, "the pods were read for another release than the cluster's");
    }
    return f(*cluster, *pods, pods->pods[index]);
  });
}

inline int32_t CheckNodes(const Cluster& c, size_t nodes) {
  const size_t rows = const_cast<Cluster&>(c).cache().row_count();
  if (nodes == rows) return BERTH_OK;
  return Fail(BERTH_INVALID, absl::StrCat("arrays of ", nodes, " nodes: the cluster has ", rows));
}

// Writes the name of a listed node; empty for an unused index.
inline int32_t NameOf(Cluster& c, int64_t node, util::Symbol* name) {
  if (node < 0 || node >= static_cast<int64_t>(c.cache().row_count()) ||
      !c.cache().listed().Has(static_cast<scheduler::Row>(node))) {
    return Fail(BERTH_INVALID, absl::StrCat("there is no node of index ", node));
  }
  *name = c.cache().row(static_cast<scheduler::Row>(node)).name;
  return BERTH_OK;
}

}  // namespace berth::capi
