// The members of a patch are in the order of Go's encoding/json, so that a patch equals the one of Kubernetes byte for
// byte.
#include "pkg/client/status_patch.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

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
  std::vector<std::string> fields;
  const auto add = [&](std::string_view name, const std::string& old, const std::string& now, bool time) {
    if (c.old && old == now) return;
    fields.push_back(absl::StrCat("\"", std::string(name), "\":", time ? TimeOrNull(now) : JsonString(now)));
  };
  const api::PodCondition old = c.old.value_or(api::PodCondition());
  add("lastProbeTime", old.last_probe_time, c.now.last_probe_time, true);
  add("lastTransitionTime", old.last_transition_time, c.now.last_transition_time, true);
  add("message", old.message, c.now.message, false);
  const size_t before_generation = fields.size();
  add("reason", old.reason, c.now.reason, false);
  add("status", old.status, c.now.status, false);
  if (fields.empty()) return "";
  if (c.generation != 0) {
    fields.insert(fields.begin() + static_cast<std::ptrdiff_t>(before_generation),
                  absl::StrCat("\"observedGeneration\":", c.generation));
  }
  fields.push_back(absl::StrCat("\"type\":", JsonString(c.type)));
  return absl::StrCat("{", absl::StrJoin(fields, ","), "}");
}

}  // namespace

std::string ToJson(const PodStatusPatch& patch) {
  std::vector<std::string> members;
  if (patch.condition) {
    if (const std::string changes = Changes(*patch.condition); !changes.empty()) {
      std::vector<std::string> order = patch.types;
      if (std::find(order.begin(), order.end(), patch.condition->type) == order.end()) {
        order.push_back(patch.condition->type);
      }
      // With only one condition there is no order to state.
      if (!patch.types.empty()) {
        members.push_back(absl::StrCat("\"$setElementOrder/conditions\":[",
                                       absl::StrJoin(order, ",",
                                                     [](std::string* out, const std::string& t) {
                                                       absl::StrAppend(out, "{\"type\":", JsonString(t), "}");
                                                     }),
                                       "]"));
      }
      members.push_back(absl::StrCat("\"conditions\":[", changes, "]"));
    }
  }
  if (patch.nominated_node_name) {
    members.push_back(absl::StrCat("\"nominatedNodeName\":", patch.nominated_node_name->empty()
                                                                 ? "null"
                                                                 : JsonString(*patch.nominated_node_name)));
  }
  if (members.empty()) return "";
  return absl::StrCat("{\"status\":{", absl::StrJoin(members, ","), "}}");
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
  return absl::StrCat("{\"metadata\":{\"annotations\":{",
                      absl::StrJoin(annotations, ",",
                                    [](std::string* out, const auto& a) {
                                      absl::StrAppend(out, JsonString(a.first), ":", JsonString(a.second));
                                    }),
                      "}}}");
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
