// The rows with pods whose volumes may be errors for a rule that counts them: a claim without a name, or an ephemeral
// volume, whose claim may be that of another pod. Hardly any row has such pods.
//
// Thread-safety: that of the Cache.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>

#include "pkg/scheduler/cache/cache.h"

namespace berth::scheduler::volumes {

class UnsureVolumes final : public PodHooks {
 public:
  using Rows = absl::flat_hash_map<Row, int32_t>;  // with how many such pods there are
  const Rows& rows() const { return rows_; }
  void Placed(Row row, const PlacedPod& pod, bool /*trial*/) override {
    if (IsUnsure(pod)) ++rows_[row];
  }
  void Left(Row row, const PlacedPod& pod, bool /*trial*/) override {
    if (IsUnsure(pod) && --rows_[row] == 0) rows_.erase(row);
  }

 private:
  static bool IsUnsure(const PlacedPod& pod);
  Rows rows_;
};

}  // namespace berth::scheduler::volumes
