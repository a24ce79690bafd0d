// MaxReplicasPerNode: the same fit predicate as MaxReplicasPerNodePlain, in the prepared form. It looks up once what it
// needs for a pod and then answers for one row of the node table after another, without visiting the pods there.
#include <memory>
#include <utility>
#include <vector>

#include "pkg/scheduler/algorithm/algorithm.h"
#include "pkg/scheduler/factory/factory.h"
#include "plugin/examples/replica_limit.h"

namespace plugin::examples {
namespace {

using berth::scheduler::Cache;
using berth::scheduler::FailureReason;
using berth::scheduler::FitCheck;
using berth::scheduler::FitPredicate;
using berth::scheduler::PluginFactoryArgs;
using berth::scheduler::PodContext;
using berth::scheduler::PodCount;
using berth::scheduler::PodQuery;
using berth::scheduler::Row;
using berth::scheduler::RowSet;
using berth::scheduler::RuleError;
using berth::scheduler::Verdict;

class ReplicaCheck final : public FitCheck {
 public:
  ReplicaCheck(const PodContext& ctx, Cache* cache) : limit_(ReplicaLimitOf(*ctx.pod.tmpl)) {
    if (!limit_.wanted || !limit_.error.empty()) return;
    // A live count, which the cache keeps up to date when pods come and go. Equal queries share one count.
    PodQuery query;
    query.namespaces = {ctx.pod.tmpl->ns};
    query.any_of = {berth::api::Selector::FromMap(berth::api::Labels({{kAppLabel(), limit_.app}}))};
    query.sees_nominated = true;  // pods that are nominated after a preemption count, too
    replicas_ = cache->Count(query);
  }

  Verdict Check(Row row) override {
    if (!limit_.wanted) return Verdict::kFits;
    if (!limit_.error.empty()) return Verdict::kError;
    return replicas_->OnRow(row) < limit_.max ? Verdict::kFits : Verdict::kFails;
  }
  void Explain(Row, std::vector<FailureReason>* reasons) override {
    reasons->push_back({berth::util::Symbol(kTooManyReplicas), /*unresolvable=*/false});
  }
  RuleError Error(Row) override { return limit_.error; }
  bool MayError() const override { return !limit_.error.empty(); }
  // Most pods have no limit, so that all rows fit without being visited.
  void Filter(RowSet* candidates, RowSet* errors) override {
    if (limit_.wanted) FitCheck::Filter(candidates, errors);
  }

 private:
  ReplicaLimit limit_;
  std::shared_ptr<const PodCount> replicas_;
};

FitPredicate MaxReplicasPerNode(const PluginFactoryArgs& args) {
  return [cache = args.cache](const PodContext& ctx) { return std::make_unique<ReplicaCheck>(ctx, cache); };
}

const std::string kRegistered =
    berth::scheduler::RegisterFitPredicateFactory("MaxReplicasPerNode", MaxReplicasPerNode, kReplicaLimitTraits);

}  // namespace
}  // namespace plugin::examples
