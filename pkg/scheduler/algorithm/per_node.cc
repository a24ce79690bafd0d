#include "pkg/scheduler/algorithm/per_node.h"

#include <utility>

#include "pkg/util/status.h"

namespace berth::scheduler {
namespace {

// Stores the answer for the last row, because Explain and Error are called right after Check for the same row, and a
// user's predicate may be slow.
class PerNodeCheck final : public FitCheck {
 public:
  PerNodeCheck(const PodContext& ctx, const std::string& name, const PerNodePredicate& predicate)
      : ctx_(ctx), name_(name), predicate_(predicate) {}

  Verdict Check(Row row) override {
    last_row_ = row;
    last_ = predicate_(ctx_.pod, NodeInfo(ctx_.cache, row));
    if (!last_.error.empty()) return Verdict::kError;
    return last_.fit ? Verdict::kFits : Verdict::kFails;
  }
  void Explain(Row row, std::vector<FailureReason>* reasons) override {
    if (row != last_row_) Check(row);
    for (const std::string& r : last_.reasons) reasons->push_back({Symbol::InternBriefly(r), last_.unresolvable});
    if (last_.reasons.empty()) {
      reasons->push_back({Symbol("node(s) didn't satisfy predicate " + name_), last_.unresolvable});
    }
  }
  RuleError Error(Row row) override {
    if (row != last_row_) Check(row);
    return last_.error;
  }
  bool MayError() const override { return true; }

 private:
  PodContext ctx_;
  const std::string& name_;
  const PerNodePredicate& predicate_;
  Row last_row_ = kNoRow;
  PredicateResult last_;
};

// Scores are matched to nodes by their position, so the reduce function must return as many as it was given.
class MapReduceScoring final : public Scoring {
 public:
  MapReduceScoring(const PodContext& ctx, const PriorityMapFunction& map, const PriorityReduceFunction& reduce)
      : ctx_(ctx), map_(map), reduce_(reduce) {}

  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override {
    for (size_t i = 0; i < rows.size(); ++i) {
      absl::StatusOr<int64_t> score = map_(ctx_.pod, NodeInfo(ctx_.cache, rows[i]));
      if (!score.ok()) return score.status();
      scores[i] = *score;
    }
    return absl::OkStatus();
  }
  absl::Status Reduce(std::span<const Row> rows, std::span<int64_t> scores) override {
    if (reduce_ == nullptr) return absl::OkStatus();
    std::vector<HostPriority> list;
    list.reserve(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) list.push_back({ctx_.cache.row(rows[i]).node.get(), scores[i]});
    BERTH_RETURN_IF_ERROR(reduce_(ctx_.pod, &list));
    if (list.size() != rows.size()) return util::Internal("a reduce function must keep the list's length");
    for (size_t i = 0; i < rows.size(); ++i) scores[i] = list[i].score;
    return absl::OkStatus();
  }

 private:
  PodContext ctx_;
  const PriorityMapFunction& map_;
  const PriorityReduceFunction& reduce_;
};

}  // namespace

// The native resources are stored in columns, and only the scalar resources in the row.
Resource NodeInfo::requested() const {
  const Columns& c = cache_.columns();
  Resource r{cache_.row(row_).requested};
  r.milli_cpu = c.used_cpu[row_];
  r.memory = c.used_memory[row_];
  r.nvidia_gpu = c.used_gpu[row_];
  r.ephemeral_storage = c.used_ephemeral[row_];
  return r;
}

Resource NodeInfo::allocatable() const {
  const Columns& c = cache_.columns();
  Resource r{cache_.row(row_).allocatable};
  r.milli_cpu = c.alloc_cpu[row_];
  r.memory = c.alloc_memory[row_];
  r.nvidia_gpu = c.alloc_gpu[row_];
  r.ephemeral_storage = c.alloc_ephemeral[row_];
  r.allowed_pods = c.alloc_pods[row_];
  return r;
}

Resource NodeInfo::nonzero_request() const {
  Resource r;
  r.milli_cpu = cache_.columns().nonzero_cpu[row_];
  r.memory = cache_.columns().nonzero_memory[row_];
  return r;
}

FitPredicate FromPerNode(std::string name, PerNodePredicate predicate) {
  auto shared = std::make_shared<std::pair<std::string, PerNodePredicate>>(std::move(name), std::move(predicate));
  return [shared](const PodContext& ctx) { return std::make_unique<PerNodeCheck>(ctx, shared->first, shared->second); };
}

PriorityFunction FromMapReduce(PriorityMapFunction map, PriorityReduceFunction reduce) {
  auto shared =
      std::make_shared<std::pair<PriorityMapFunction, PriorityReduceFunction>>(std::move(map), std::move(reduce));
  return [shared](const PodContext& ctx) {
    return std::make_unique<MapReduceScoring>(ctx, shared->first, shared->second);
  };
}

}  // namespace berth::scheduler
