// Amounts of all nodes as arrays of the embedding program, which the library writes.
#pragma once
#include <absl/status/status.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pkg/scheduler/cache/cache.h"

namespace berth::capi {

// The caller's arrays: a row for each node, a column for each resource. Of a row that no node uses all amounts are 0.
class Columns {
 public:
  // Writes to these arrays from now on; null pointers: to none. They must stay valid until the next call.
  void Use(std::vector<std::string> resources, size_t nodes, double* allocatable, double* free);
  bool used() const { return allocatable_ != nullptr; }
  // Writes what changed in the cache since the last call. Fails if the arrays have not one row for each node.
  absl::Status Refresh(const scheduler::Cache& cache);
  // Returns what a pod requests of each resource. Valid until the next call.
  const double* Requests(const scheduler::Resource& of);
  const std::vector<std::string>& resources() const { return resources_; }

 private:
  void Write(const scheduler::Cache& cache, scheduler::Row r);

  std::vector<std::string> resources_;
  std::vector<util::Symbol> symbols_;  // by resource
  std::vector<util::SharedSymbol> kept_;
  size_t nodes_ = 0;
  double* allocatable_ = nullptr;
  double* free_ = nullptr;
  bool fresh_ = false;  // whether all rows were written once
  uint64_t seen_ = 0;   // the cache's generation at the last call
  std::vector<scheduler::Row> changed_;
  std::vector<double> requests_;
};

// Returns an amount of a resource by its name; pods count as one.
int64_t AmountOf(const scheduler::Resource& of, std::string_view resource, util::Symbol symbol);
// Returns the names of all resources that a node offers or a placed pod requests: the four that every node has, then
// the others in ascending order.
std::vector<std::string> ResourcesOf(const scheduler::Cache& cache);

}  // namespace berth::capi
