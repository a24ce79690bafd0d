// The pods that rows of a file of arrivals describe.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/simulate/arrival_file.h"
#include "pkg/simulate/csv.h"

namespace berth::simulate {

// What a column is about.
enum class Role : uint8_t {
  kTime,
  kDuration,
  kName,
  kNamespace,
  kPriority,
  kCount,
  kTemplate,
  kResource,
  // Of the openb trace.
  kDeletionTime,
  kScheduledTime,
  kCpuMilli,
  kMemoryMib,
  kGpus,
  kGpuMilli,
  kGpuModels,
  kQos,
  kUnread,
};

struct Column {
  std::string name;
  Role role = Role::kUnread;
};

// Returns what the columns are about. An error is about the header.
absl::StatusOr<std::vector<Column>> RolesOf(const std::vector<std::string_view>& header);
// Returns whether the columns are those of the openb trace.
bool IsOpenb(const std::vector<Column>& columns);

// Makes the pods, one for all rows that differ in nothing but name and times. Thread-safety: not thread-safe.
class RowPods {
 public:
  RowPods(const std::vector<Column>* columns, const KnownPods* known) : columns_(columns), known_(known) {}

  // Returns a pod like that of the row. The cell tells file and line for errors. REQUIRES: as many fields as columns.
  absl::StatusOr<api::PodPtr> Of(const std::vector<std::string_view>& fields, Cell cell);

 private:
  absl::StatusOr<api::PodPtr> Make(const std::vector<std::string_view>& fields, const Cell& cell) const;

  const std::vector<Column>* columns_;
  const KnownPods* known_;
  absl::flat_hash_map<std::string, api::PodPtr> made_;
  std::string key_;
};

}  // namespace berth::simulate
