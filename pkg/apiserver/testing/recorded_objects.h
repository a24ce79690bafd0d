// Comparison of what a played cluster has with what was recorded (test/testdata/world), whose names for what differs
// from run to run are put in first.
#pragma once
#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_replace.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/stream.h"
#include "pkg/apiserver/testing/played_cluster.h"

namespace berth::apiserver::testing {

inline Value ReadRecorded(const std::string& name) {
  auto text = api::ReadInput(absl::StrCat("test/testdata/world/", name, ".json"));
  REQUIRE(text.ok());
  return Parse(*text);
}

// The names that the recordings have for what differs from run to run. Hashes are numbered in the order in which the
// recording names them, so they are found by trying.
inline std::vector<std::string> HashesOf(const PlayedCluster& played) {
  std::vector<std::string> hashes;
  auto add = [&](std::string_view h) {
    if (!h.empty() && std::find(hashes.begin(), hashes.end(), h) == hashes.end()) hashes.emplace_back(h);
  };
  std::vector<Value> sources = played.All("ReplicaSet");
  for (const Value& r : played.All("ControllerRevision")) sources.push_back(r);
  std::stable_sort(sources.begin(), sources.end(), [](const Value& a, const Value& b) {
    auto order = [](const Value& v) {
      return std::pair(TextAt(v, {"metadata", "creationTimestamp"}), world::NameOf(v));
    };
    return order(a) < order(b);
  });
  for (const Value& s : sources) {
    add(TextAt(s, {"metadata", "labels", "pod-template-hash"}));
    add(TextAt(s, {"metadata", "labels", "controller.kubernetes.io/hash"}));
  }
  return hashes;
}

// Replaces the times in the names of the Jobs of CronJobs, in minutes since 1970.
inline std::string WithoutMinutes(const std::string& text) {
  constexpr size_t kDigits = 8;
  std::string out;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && absl::ascii_isdigit(static_cast<unsigned char>(text[end]))) ++end;
    if (end - i == kDigits && i > 0 && text[i - 1] == '-') {
      out.append("MINUTES");
      i = end;
    } else {
      end = std::max(end, i + 1);
      out.append(text, i, end - i);
      i = end;
    }
  }
  return out;
}

inline std::string Normalised(const Value& object, const std::vector<std::string>& hashes) {
  std::string text = ToJson(object);
  for (size_t i = 0; i < hashes.size(); ++i) {
    absl::StrReplaceAll({{hashes[i], absl::StrCat("HASH", i + 1)}}, &text);
  }
  return WithoutMinutes(text);
}

// Members that the recording normalises, or that the recordings' scheduler and kubelets write in their own way.
inline bool IsLeftOut(std::string_view key) {
  static const std::set<std::string_view> kOut = {"nodeName", "conditions", "manualSelector"};
  return kOut.contains(key) || key.starts_with("topology.kubernetes.io/") ||
         key == "batch.kubernetes.io/cronjob-scheduled-timestamp" || key == "lastScheduleTime";
}

// Returns where `got` lacks something of `want`, or nothing.
inline std::string Lacks(const Value& want, const Value* got, const std::string& path) {
  if (got == nullptr) return path + " is missing";
  if (want.IsObject()) {
    for (size_t i = 0; i < want.keys.size(); ++i) {
      const std::string& key = want.keys[i];
      if (IsLeftOut(key) || (want.items[i].IsObject() && want.items[i].empty())) continue;
      std::string lacks = Lacks(want.items[i], got->Find(key), absl::StrCat(path, ".", key));
      if (!lacks.empty()) return lacks;
    }
    return "";
  }
  if (want.IsArray()) {
    if (got->items.size() != want.items.size()) return path + " has another size";
    for (size_t i = 0; i < want.items.size(); ++i) {
      std::string lacks = Lacks(want.items[i], &got->items[i], absl::StrCat(path, "[", i, "]"));
      if (!lacks.empty()) return lacks;
    }
    return "";
  }
  const std::string text = ToJson(want);
  // "some": any node will do.
  if (text.find("UID") != std::string::npos || text == "\"some\"") return "";
  return text == ToJson(*got) ? "" : absl::StrCat(path, ": ", ToJson(*got), ", want ", text);
}

// Returns what the metadata of an object has beyond what was recorded, or nothing.
inline std::string HasMore(const Value& want, const Value& got) {
  for (std::string_view member : {"labels", "annotations", "finalizers", "ownerReferences"}) {
    const Value &wanted = validation::OrEmpty(want.At({"metadata", member})),
                &have = validation::OrEmpty(got.At({"metadata", member}));
    if (have.items.size() > wanted.items.size() && !have.IsObject()) return absl::StrCat("more ", util::ToAbsl(member));
    for (const std::string& key : have.keys) {
      if (wanted.Find(key) == nullptr && !IsLeftOut(key)) return absl::StrCat("more ", util::ToAbsl(member), ": ", key);
    }
  }
  return "";
}

// Conditions are compared by type, status, reason and message, in any order. Of pods the recordings have three types.
inline std::string LacksConditions(const Value& want, const Value& got) {
  const bool of_pod = want.Str("kind") == "Pod";
  const Value* list = of_pod ? want.Find("conditions") : want.At({"status", "conditions"});
  if (list == nullptr) return "";
  if (of_pod && world::living::ConditionOf(got, "DisruptionTarget") != nullptr &&
      std::none_of(list->items.begin(), list->items.end(),
                   [](const Value& c) { return c.Str("type") == "DisruptionTarget"; })) {
    return "there is a condition DisruptionTarget";
  }
  for (const Value& c : list->items) {
    const Value* have = world::living::ConditionOf(got, c.Str("type"));
    if (have == nullptr) return absl::StrCat("there is no condition ", util::ToAbsl(c.Str("type")));
    for (std::string_view member : {"status", "reason", "message"}) {
      // The recordings' kubelets say of failed pods that they are completed.
      if (of_pod && (c.Find(member) == nullptr || (c.Str("type") == "Ready" && member != "status"))) continue;
      if (have->Str(member) != c.Str(member) && c.Str(member).find('*') == std::string_view::npos) {
        return absl::StrCat("condition ", util::ToAbsl(c.Str("type")), ": ", ToJson(*have));
      }
    }
  }
  return "";
}

inline bool NameFits(std::string_view pattern, std::string_view name) {
  const size_t star = std::min(pattern.find('*'), pattern.find("UID"));
  return star == std::string_view::npos ? pattern == name : name.starts_with(pattern.substr(0, star));
}

// Each recorded object is one that is there, and nothing else of those kinds is. Some recordings have no volumes.
inline void CompareAll(const Value& objects, const PlayedCluster& played, bool volumes) {
  const std::vector<std::string> hashes = HashesOf(played);
  std::map<std::string, std::vector<Value>> there;
  for (const char* kind :
       {"Pod", "ReplicaSet", "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "PodDisruptionBudget"}) {
    for (const Value& v : played.All(kind)) there[kind].push_back(Parse(Normalised(v, hashes)));
  }
  for (const char* kind : {"PersistentVolume", "PersistentVolumeClaim"}) {
    if (!volumes && std::string_view(kind) == "PersistentVolume") continue;
    for (const Value& v : played.All(kind)) there[kind].push_back(Parse(Normalised(v, hashes)));
  }
  for (const Value& recorded : objects.items) {
    Value want = Parse(absl::StrReplaceAll(WithoutMinutes(ToJson(recorded)), {{"NAMESPACE", kPlayedNamespace}}));
    const std::string kind(want.Str("kind"));
    if (!there.contains(kind) && kind.starts_with("PersistentVolume")) continue;
    if (const Value* phase = want.Find("phase")) {
      Value copy = *phase;
      want.Child("status").Set("phase", std::move(copy));
      want.Erase("phase");
    }
    const std::string name(world::NameOf(want));
    Value& meta = want.Child("metadata");
    const bool deleting = meta.Find("deleting") != nullptr;
    meta.Erase("name");
    meta.Erase("deleting");
    if (want.At({"status", "completionTime"}) != nullptr) want.Child("status").Erase("completionTime");
    std::string closest = absl::StrCat("there is no ", kind, " ", name);
    std::vector<Value>& candidates = there[kind];
    bool found = false;
    for (size_t i = 0; i < candidates.size() && !found; ++i) {
      if (!NameFits(name, world::NameOf(candidates[i]))) continue;
      std::string lacks = Lacks(want, &candidates[i], "");
      if (lacks.empty()) lacks = HasMore(want, candidates[i]);
      if (lacks.empty()) lacks = LacksConditions(want, candidates[i]);
      if (lacks.empty() && deleting != world::living::IsTerminating(candidates[i])) {
        lacks = deleting ? "is not being deleted" : "is being deleted";
      }
      found = lacks.empty();
      if (found) candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(i));
      if (!found) closest = lacks;
    }
    INFO(kind << " " << name << ": " << closest);
    CHECK(found);
  }
  for (const auto& [kind, left] : there) {
    std::vector<std::string> names;
    for (const Value& v : left) names.emplace_back(world::NameOf(v));
    INFO(kind << ": " << absl::StrJoin(names, ", "));
    CHECK(left.empty());
  }
}

}  // namespace berth::apiserver::testing
