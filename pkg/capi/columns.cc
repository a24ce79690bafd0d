#include "pkg/capi/columns.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <set>
#include <utility>

#include "pkg/util/status.h"

namespace berth::capi {
namespace {

constexpr const char* kOfEveryNode[] = {"cpu", "memory", "ephemeral-storage", "pods"};

}  // namespace

int64_t AmountOf(const scheduler::Resource& of, std::string_view resource, util::Symbol symbol) {
  if (resource == "cpu") return of.milli_cpu;
  if (resource == "memory") return of.memory;
  if (resource == "ephemeral-storage") return of.ephemeral_storage;
  if (resource == "pods") return 1;
  return of.Scalar(symbol);
}

std::vector<std::string> ResourcesOf(const scheduler::Cache& cache) {
  std::set<std::string> others;
  for (scheduler::Row r = 0; r < cache.row_count(); ++r) {
    const scheduler::NodeRow& row = cache.row(r);
    for (const auto* amounts : {&row.allocatable, &row.requested}) {
      for (const auto& [name, amount] : amounts->scalars) others.insert(name.string());
    }
  }
  std::vector<std::string> all(std::begin(kOfEveryNode), std::end(kOfEveryNode));
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

void Columns::Use(std::vector<std::string> resources, size_t nodes, double* allocatable, double* free) {
  resources_ = std::move(resources);
  kept_.clear();
  symbols_.clear();
  for (const std::string& r : resources_) {
    kept_.emplace_back(r);
    symbols_.push_back(kept_.back().get());
  }
  nodes_ = nodes;
  allocatable_ = allocatable;
  free_ = free;
  fresh_ = false;
}

void Columns::Write(const scheduler::Cache& cache, scheduler::Row r) {
  const scheduler::Columns& k = cache.columns();
  const scheduler::NodeRow& row = cache.row(r);
  double* allocatable = allocatable_ + r * resources_.size();
  double* free = free_ + r * resources_.size();
  const auto put = [&](size_t i, int64_t of, int64_t used) {
    allocatable[i] = static_cast<double>(of);
    free[i] = static_cast<double>(of) - static_cast<double>(used);
  };
  for (size_t i = 0; i < resources_.size(); ++i) {
    const std::string& name = resources_[i];
    if (name == "cpu") {
      put(i, k.alloc_cpu[r], k.used_cpu[r]);
    } else if (name == "memory") {
      put(i, k.alloc_memory[r], k.used_memory[r]);
    } else if (name == "ephemeral-storage") {
      put(i, k.alloc_ephemeral[r], k.used_ephemeral[r]);
    } else if (name == "pods") {
      put(i, k.alloc_pods[r], k.pod_count[r]);
    } else {
      put(i, row.allocatable.Scalar(symbols_[i]), row.requested.Scalar(symbols_[i]));
    }
  }
}

absl::Status Columns::Refresh(const scheduler::Cache& cache) {
  if (!used()) return absl::OkStatus();
  if (nodes_ != cache.row_count()) {
    return util::InvalidArgument(absl::StrCat("columns of ", nodes_, " nodes: the cluster has ", cache.row_count()));
  }
  if (fresh_ && cache.RowsChangedSince(seen_, &changed_)) {
    for (scheduler::Row r : changed_) Write(cache, r);
  } else {
    for (scheduler::Row r = 0; r < cache.row_count(); ++r) Write(cache, r);
  }
  fresh_ = true;
  seen_ = cache.generation();
  return absl::OkStatus();
}

const double* Columns::Requests(const scheduler::Resource& of) {
  requests_.resize(resources_.size());
  for (size_t i = 0; i < resources_.size(); ++i) {
    requests_[i] = static_cast<double>(AmountOf(of, resources_[i], symbols_[i]));
  }
  return requests_.data();
}

}  // namespace berth::capi
