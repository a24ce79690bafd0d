#include "pkg/releases/arguments.h"

#include <string>

#include "pkg/api/decode.h"

namespace berth::releases {
namespace {

using namespace scheduler;  // NOLINT: arguments are of the scheduler's rules

api::NodeSelectorTerm TermOf(const configuration::NodeSelectorTerm& t) {
  auto raw = [](const std::vector<configuration::NodeSelectorRequirement>& list) {
    std::vector<api::RawRequirement> out;
    for (const auto& r : list) {
      api::RawRequirement& to = out.emplace_back(api::RawRequirement{Symbol(r.key), r.op, {}});
      for (const std::string& v : r.values) to.values.push_back(Symbol(v));
    }
    return out;
  };
  return api::MakeNodeSelectorTerm(raw(t.match_expressions), raw(t.match_fields));
}

}  // namespace

nodeaffinity::AddedAffinity AddedOf(const configuration::NodeAffinityArgs& args) {
  nodeaffinity::AddedAffinity out;
  if (!args.added_affinity) return out;
  if (args.added_affinity->required) {
    out.required.emplace();
    for (const auto& t : args.added_affinity->required->node_selector_terms) out.required->push_back(TermOf(t));
  }
  for (const auto& t : args.added_affinity->preferred) out.preferred.push_back({t.weight, TermOf(t.preference)});
  return out;
}

std::vector<std::pair<int64_t, int64_t>> PointsOf(const std::vector<configuration::UtilizationShapePoint>& shape,
                                                  int64_t max_score) {
  std::vector<std::pair<int64_t, int64_t>> out;
  for (const auto& point : shape) out.emplace_back(point.utilization, point.score * max_score / 10);
  return out;
}

noderesources::FitOptions FitOf(const configuration::NodeResourcesFitArgs& args, int64_t max_score) {
  using Strategy = noderesources::FitOptions::Strategy;
  noderesources::FitOptions out;
  out.ignored_resources = args.ignored_resources;
  out.ignored_resource_groups = args.ignored_resource_groups;
  if (!args.scoring_strategy) return out;
  out.resources.clear();
  for (const auto& r : args.scoring_strategy->resources) out.resources.push_back({r.name, r.weight});
  if (args.scoring_strategy->type == "MostAllocated") out.strategy = Strategy::kMostAllocated;
  if (args.scoring_strategy->type == "RequestedToCapacityRatio") {
    out.strategy = Strategy::kRequestedToCapacityRatio;
    out.shape = PointsOf(args.scoring_strategy->requested_to_capacity_ratio->shape, max_score);
  }
  return out;
}

std::vector<noderesources::ResourceWeight> BalancedOf(const configuration::NodeResourcesBalancedAllocationArgs& args) {
  std::vector<noderesources::ResourceWeight> out;
  for (const auto& r : args.resources) out.push_back({r.name, r.weight});
  return out;
}

podspread::TopologySpreadOptions SpreadOf(const configuration::PodTopologySpreadArgs& args) {
  using Action = api::TopologySpreadConstraint::Action;
  if (args.defaulting_type == "System") return podspread::TopologySpreadOptions::System();
  podspread::TopologySpreadOptions out;
  for (const auto& d : args.default_constraints) {
    api::TopologySpreadConstraint& c = out.defaults.emplace_back();
    c.topology_key = Symbol(d.topology_key);
    c.max_skew = d.max_skew;
    c.action = d.when_unsatisfiable == "DoNotSchedule" ? Action::kDoNotSchedule : Action::kScheduleAnyway;
    c.min_domains = d.min_domains.value_or(1);
    c.honor_node_affinity = d.node_affinity_policy.value_or("Honor") == "Honor";
    c.honor_node_taints = d.node_taints_policy.value_or("Ignore") == "Honor";
  }
  return out;
}

interpodaffinity::InterPodAffinityOptions AffinityOf(const configuration::InterPodAffinityArgs& args) {
  return {args.hard_pod_affinity_weight, args.ignore_preferred_terms_of_existing_pods};
}

}  // namespace berth::releases
