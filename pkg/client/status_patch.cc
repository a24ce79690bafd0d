// The members of a patch are in the order of Go's encoding/json, so that a patch equals the one of Kubernetes byte for
// byte.
#include "pkg/client/status_patch.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "pkg/api/json.h"
#include "pkg/client/json_edit.h"

namespace berth::client {
namespace {

// Returns the fields of the condition that change, and its type, by which the server identifies it.
std::string Changes(const PodStatusPatch::Condition& c) {
  JsonWriter out;
  out.Object();
  bool any = false;
  const api::PodCondition old = c.old.value_or(api::PodCondition());
  const auto changes = [&](const std::string& before, const std::string& now) {
    const bool is = !c.old || before != now;
    any = any || is;
    return is;
  };
  const auto time = [&](JsonText name, const std::string& before, const std::string& now) {
    if (changes(before, now)) out.Key(name).Literal(TimeOrNull(now));
  };
  const auto text = [&](JsonText name, const std::string& before, const std::string& now) {
    if (changes(before, now)) out.Member(name, now);
  };
  time("lastProbeTime", old.last_probe_time, c.now.last_probe_time);
  time("lastTransitionTime", old.last_transition_time, c.now.last_transition_time);
  text("message", old.message, c.now.message);
  if (c.generation != 0) out.Member("observedGeneration", c.generation);
  text("reason", old.reason, c.now.reason);
  text("status", old.status, c.now.status);
  return any ? out.Member("type", c.type).End().Take() : "";
}

}  // namespace

std::string ToJson(const PodStatusPatch& patch) {
  JsonWriter out;
  out.Object().Key("status").Object();
  const std::string changes = patch.condition ? Changes(*patch.condition) : "";
  if (!changes.empty()) {
    std::vector<std::string> order = patch.types;
    if (std::find(order.begin(), order.end(), patch.condition->type) == order.end()) {
      order.push_back(patch.condition->type);
    }
    // With only one condition there is no order to state.
    if (!patch.types.empty()) {
      out.Key("$setElementOrder/conditions");
      out.Each(order, [&](const std::string& type) { out.Object().Member("type", type).End(); });
    }
    out.Key("conditions").Array().Literal(changes).End();
  }
  if (const auto& node = patch.nominated_node_name) {
    out.Key("nominatedNodeName").Literal(node->empty() ? "null" : JsonString(*node));
  }
  return changes.empty() && !patch.nominated_node_name ? "" : out.End().End().Take();
}

std::string AnnotationPatch(std::string_view pod_json, std::string_view name, std::string_view text) {
  std::map<std::string, std::string, std::less<>> annotations;  // sorted, as Go writes maps
  api::Document document;
  if (document.Parse(pod_json).ok()) {
    for (const auto& [key, value] : document.root().Find("metadata").Find("annotations").Children()) {
      annotations[std::string(key)] = std::string(value.Text());
    }
  }
  annotations[std::string(name)] = std::string(text);
  JsonWriter out;
  out.Object().Key("metadata").Object().Key("annotations").Object();
  for (const auto& [key, value] : annotations) out.Member(key, value);
  return out.End().End().End().Take();
}

std::vector<std::string> ConditionTypes(std::string_view pod_json) {
  std::vector<std::string> types;
  api::Document document;
  if (!document.Parse(pod_json).ok()) return types;
  for (const auto& [key, condition] : document.root().Find("status").Find("conditions").Children()) {
    types.emplace_back(condition.Find("type").Text());
  }
  return types;
}

}  // namespace berth::client
