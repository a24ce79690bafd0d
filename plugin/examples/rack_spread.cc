// RackSpread: a fit predicate about the pods in topology domains. It spreads the replicas of an app over racks, so that
// no rack has more than maxSkew replicas more than the rack with the fewest. It has arguments; maxSkew is 1 and label
// is "rack" unless given:
//
//   {"name": "RackSpread", "argument": {"maxSkew": 2, "label": "topology.example.com/rack"}}
//
// It implements DomainCheck: it declares which numbers of pods it reads (the pods of the app by rack), and the engine
// looks them up once for each rack instead of once for each node.
#include <memory>
#include <utility>

#include "pkg/scheduler/algorithm/arguments.h"
#include "pkg/scheduler/algorithm/domain_rule.h"
#include "pkg/scheduler/factory/factory.h"

namespace plugin::examples {
namespace {

using berth::scheduler::Cache;
using berth::scheduler::ClusterPart;
using berth::scheduler::DomainChannel;
using berth::scheduler::DomainCheck;
using berth::scheduler::DomainSum;
using berth::scheduler::FailureReason;
using berth::scheduler::FitPredicate;
using berth::scheduler::NodeFilter;
using berth::scheduler::PluginFactoryArgs;
using berth::scheduler::PodContext;
using berth::scheduler::PodCount;
using berth::scheduler::PodQuery;
using berth::scheduler::PredicateTraits;
using berth::scheduler::Row;
using berth::util::Symbol;

class RackSpreadCheck final : public DomainCheck {
 public:
  // `racks` admits the nodes that have the label `rack`.
  RackSpreadCheck(const PodContext& ctx, Cache* cache, int64_t max_skew, Symbol rack,
                  std::shared_ptr<const NodeFilter> racks)
      : max_skew_(max_skew) {
    const Symbol app("app");
    const auto value = ctx.pod.tmpl->labels.Get(app);
    if (!value) return;  // without terms, the pod fits everywhere
    PodQuery query;
    query.namespaces = {ctx.pod.tmpl->ns};
    query.any_of = {berth::api::Selector::FromMap(berth::api::Labels({{app, *value}}))};
    query.topology_key = rack;
    query.sees_nominated = true;
    // With a filter, the count also maintains the minimum over all racks.
    query.nodes = std::move(racks);
    replicas_ = cache->Count(query);
    terms_.push_back({replicas_, &cache->Label(rack), 1, 0});
    channels_ = {DomainChannel::kSum};
  }

  bool Admits(std::span<const DomainSum> sums) const override {
    if (sums.empty()) return true;
    return sums[0].complete && sums[0].value + 1 - replicas_->minimum() <= max_skew_;
  }
  void Explain(Row, std::vector<FailureReason>* reasons) override {
    reasons->push_back({Symbol("node(s) were in a rack with too many replicas, or in none"), /*unresolvable=*/false});
  }

 private:
  const int64_t max_skew_;
  std::shared_ptr<const PodCount> replicas_;  // pods of the app by rack
};

// Called when a scheduler is built, which fails if the arguments are not valid.
FitPredicate RackSpread(const PluginFactoryArgs& args) {
  berth::scheduler::Arguments arguments(args);
  const int64_t max_skew = arguments.Integer("maxSkew", /*otherwise=*/1, /*min=*/1, /*max=*/1000);
  const Symbol rack(arguments.Text("label", /*otherwise=*/"rack"));
  arguments.Finish();
  auto racks = std::make_shared<const NodeFilter>(NodeFilter{
      "nodes with label " + rack.string(), [rack](const berth::api::Node& node) { return node.labels.Has(rack); }, {}});
  return [cache = args.cache, max_skew, rack, racks](const PodContext& ctx) {
    return std::make_unique<RackSpreadCheck>(ctx, cache, max_skew, rack, racks);
  };
}

const std::string kRegistered = berth::scheduler::RegisterFitPredicateFactory(
    "RackSpread", RackSpread,
    PredicateTraits(berth::scheduler::kPodNamespace | berth::scheduler::kPodLabels, ClusterPart::kDomains));

}  // namespace
}  // namespace plugin::examples
