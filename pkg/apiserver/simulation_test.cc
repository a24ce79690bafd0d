// Plays recorded cases of a real API server and controller manager (release 1.36, test/testdata/world) through the
// controllers and kubelets of pkg/world/living, over this server's store and a clock that is moved by hand.
#include "pkg/apiserver/simulation.h"

#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_replace.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "pkg/api/stream.h"
#include "pkg/apiserver/patch.h"
#include "pkg/util/status.h"
#include "pkg/world/living/fields.h"

namespace berth::apiserver {
namespace {

using world::living::NumberAt;
using world::living::TextAt;

constexpr char kNamespace[] = "world";
constexpr absl::Duration kTick = absl::Milliseconds(50);

Value Parse(const std::string& text) {
  auto v = ParseJson(text);
  REQUIRE(v.ok());
  return *std::move(v);
}

// As the kubelets of the recordings: labels say what becomes of a pod.
world::living::PodPlan PlanByLabels(const Value& pod) {
  auto seconds = [&](std::string_view label, absl::Duration otherwise) {
    double n = 0;
    const bool given = absl::SimpleAtod(util::ToAbsl(TextAt(pod, {"metadata", "labels", label})), &n);
    return given ? absl::Seconds(n) : otherwise;
  };
  world::living::PodPlan plan;
  plan.start_delay = absl::Milliseconds(250);
  plan.stop_delay = seconds("stay", absl::Milliseconds(250));
  plan.becomes_ready = TextAt(pod, {"metadata", "labels", "unready"}) != "yes";
  const Value* owner = world::living::ControllerOf(pod);
  const bool of_job = owner != nullptr && owner->Str("kind") == "Job";
  if (of_job || TextAt(pod, {"metadata", "labels", "ends"}) == "yes") {
    plan.runs_for = seconds("runs", absl::Milliseconds(1200));
  }
  if (TextAt(pod, {"metadata", "labels", "fail"}) == "yes") plan.exit_code = 1;
  const std::string_view index = world::AnnotationOf(pod, "batch.kubernetes.io/job-completion-index");
  if (!index.empty() && index == TextAt(pod, {"metadata", "labels", "failindex"})) plan.exit_code = 1;
  const std::string_view code = TextAt(pod, {"metadata", "labels", "exit"});
  if (!code.empty()) REQUIRE(absl::SimpleAtoi(util::ToAbsl(code), &plan.exit_code));
  return plan;
}

class Played {
 public:
  Played() {
    registry_.CreateInitialObjects(443);
    Create(Parse(absl::StrCat(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")", kNamespace, R"("}})")));
    for (int i = 1; i <= 4; ++i) {
      Create(Parse(absl::StrCat(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n)", i,
                                R"(","labels":{"topology.kubernetes.io/zone":"z)", 2 - i % 2,
                                R"(","kubernetes.io/hostname":"n)", i,
                                R"("}},"status":{"capacity":{"cpu":"8","memory":"16Gi","pods":"110"}}})")));
    }
    SimulationOptions options{.kubelets = true, .controllers = true, .kubelet = {}};
    options.kubelet.plan = PlanByLabels;
    simulation_.emplace(&registry_, &clock_, options);
    Run(absl::Seconds(1));
  }

  // Lets the time pass; a scheduler binds to the node with the fewest pods.
  void Run(absl::Duration time) {
    for (; time > absl::ZeroDuration(); time -= kTick) {
      while (simulation_->world().RunDue(1000) > 0) {
      }
      Schedule();
      while (simulation_->world().RunDue(1000) > 0) {
      }
      Note();
      clock_.Advance(kTick);
    }
  }

  const ResourceInfo& Of(std::string_view kind) const {
    for (const ResourceInfo& r : store_.catalog().resources()) {
      if (r.kind == kind) return r;
    }
    FAIL("no kind " << kind);
    throw 0;
  }

  // Returns the message of the refusal, or nothing.
  std::string Create(Value v) {
    const ResourceInfo& r = Of(v.Str("kind"));
    const int version = [&] {
      const std::string_view text = v.Str("apiVersion");
      for (size_t i = 0; i < r.versions.size(); ++i) {
        if (r.versions[i].Text() == text) return static_cast<int>(i);
      }
      return 0;
    }();
    const auto decoded = Decode(v, r.TypeIn(version), r.versions[version].version, ToJson(v));
    REQUIRE(decoded.ok());
    auto made = registry_.Create(r, version, r.namespaced ? kNamespace : "", *decoded);
    auto* error = std::get_if<ApiError>(&made);
    return error == nullptr ? "" : error->message;
  }

  std::string Patch(const Value& p) {
    const ResourceInfo& r = Of(p.Str("kind"));
    const std::string ns = r.namespaced ? kNamespace : "";
    const ObjectPtr old = store_.Get(r, ns, p.Str("name"));
    REQUIRE(old != nullptr);
    auto patched = ApplyPatch(PatchKind::kStrategic, ToValue(r, 0, *old), ToJson(*p.Find("strategicMerge")), *r.type);
    REQUIRE(patched.ok());
    auto decoded = Decode(*patched, *r.type, r.versions[0].version, ToJson(*patched));
    REQUIRE(decoded.ok());
    UpdateRequest how;
    how.patch = true;
    auto done = registry_.Update(r, 0, ns, p.Str("name"), *decoded, how);
    auto* error = std::get_if<ApiError>(&done);
    return error == nullptr ? "" : error->message;
  }

  void Delete(std::string_view kind, std::string_view name, std::string_view policy) {
    const ResourceInfo& r = Of(kind);
    DeleteRequest how;
    how.propagation = policy;
    registry_.Delete(r, 0, r.namespaced ? kNamespace : "", name, how);
  }

  std::vector<Value> All(std::string_view kind) const {
    std::vector<Value> out;
    const ResourceInfo& r = Of(kind);
    store_.Scan(r, r.namespaced ? kNamespace : "", "", [&](const ObjectPtr& o) {
      out.push_back(ToValue(r, 0, *o));
      return true;
    });
    return out;
  }

  void SetReady(std::string_view pod, std::string_view status) {
    const ObjectPtr old = store_.Get(Of("Pod"), kNamespace, pod);
    Value v = ToValue(Of("Pod"), 0, *old);
    world::living::SetCondition({"Ready", status, "", ""}, clock_.Wall(), &v);
    registry_.Replace(Of("Pod"), std::move(v));
  }
  void Label(const Value& pod, const Value& labels) {
    Value v = pod;
    for (size_t i = 0; i < labels.keys.size(); ++i)
      v.Child("metadata").Child("labels").Set(labels.keys[i], labels.items[i]);
    registry_.Replace(Of("Pod"), std::move(v));
  }
  // Returns the message of the refusal, or nothing.
  std::string Evict(std::string_view pod) {
    auto refused = registry_.Evict(kNamespace, pod, {});
    return refused ? refused->message : "";
  }
  // The number of pods by image, readiness and deletion, whenever they changed.
  std::vector<std::map<std::string, int64_t>> seen;

 private:
  void Schedule() {
    std::map<std::string, int> on;
    for (int i = 1; i <= 4; ++i) on[absl::StrCat("n", i)] = 0;
    std::vector<Value> pending;
    for (const Value& pod : All("Pod")) {
      const std::string node(TextAt(pod, {"spec", "nodeName"}));
      if (!node.empty()) {
        ++on[node];
      } else if (pod.At({"spec", "schedulingGates"}) == nullptr && !Waits(pod)) {
        pending.push_back(pod);
      }
    }
    for (const Value& pod : pending) {
      std::string node = world::living::FactsOf(pod).pinned;
      const Value* selector = pod.At({"spec", "nodeSelector"});
      if (node.empty() && selector != nullptr && selector->Find("nowhere") != nullptr) continue;
      if (node.empty()) {
        node = std::min_element(on.begin(), on.end(), [](auto& a, auto& b) { return a.second < b.second; })->first;
      }
      ++on[node];
      registry_.Bind(kNamespace, world::NameOf(pod), node, nullptr);
    }
  }
  // Volumes are another matter.
  static bool Waits(const Value& pod) {
    const Value* volumes = pod.At({"spec", "volumes"});
    return volumes != nullptr && std::any_of(volumes->items.begin(), volumes->items.end(), [](const Value& v) {
             return v.Find("persistentVolumeClaim") != nullptr || v.Find("ephemeral") != nullptr;
           });
  }
  void Note() {
    std::map<std::string, int64_t> now;
    for (const Value& pod : All("Pod")) {
      const auto facts = world::living::FactsOf(pod);
      if (facts.IsFinished()) continue;
      now["all"] += !facts.terminating;
      now["ready"] += facts.ready && !facts.terminating;
    }
    if (seen.empty() || seen.back() != now) seen.push_back(now);
  }

  util::ManualClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  Store store_{Version{36}};
  Registry registry_{&store_, &clock_};
  std::optional<Simulation> simulation_;
};

Value ReadRecorded(const std::string& name) {
  auto text = api::ReadInput(absl::StrCat("test/testdata/world/", name, ".json"));
  REQUIRE(text.ok());
  return Parse(*text);
}

// The names that the recordings have for what differs from run to run. Hashes are numbered in the order in which the
// recording names them, so they are found by trying.
std::vector<std::string> HashesOf(const Played& played) {
  std::vector<std::string> hashes;
  auto add = [&](std::string_view h) {
    if (!h.empty() && std::find(hashes.begin(), hashes.end(), h) == hashes.end()) hashes.emplace_back(h);
  };
  std::vector<Value> sources = played.All("ReplicaSet");
  for (const Value& r : played.All("ControllerRevision")) sources.push_back(r);
  std::stable_sort(sources.begin(), sources.end(), [](const Value& a, const Value& b) {
    return TextAt(a, {"metadata", "creationTimestamp"}) < TextAt(b, {"metadata", "creationTimestamp"});
  });
  for (const Value& s : sources) {
    add(TextAt(s, {"metadata", "labels", "pod-template-hash"}));
    add(TextAt(s, {"metadata", "labels", "controller.kubernetes.io/hash"}));
  }
  return hashes;
}

// Replaces the times in the names of the Jobs of CronJobs, in minutes since 1970.
std::string WithoutMinutes(const std::string& text) {
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

std::string Normalised(const Value& object, const std::vector<std::string>& hashes) {
  std::string text = ToJson(object);
  for (size_t i = 0; i < hashes.size(); ++i) {
    absl::StrReplaceAll({{hashes[i], absl::StrCat("HASH", i + 1)}}, &text);
  }
  return WithoutMinutes(text);
}

// Members that the recording normalises, or that the recordings' scheduler and kubelets write in their own way.
bool IsLeftOut(std::string_view key) {
  static const std::set<std::string_view> kOut = {"nodeName", "conditions", "manualSelector"};
  return kOut.contains(key) || key.starts_with("topology.kubernetes.io/") ||
         key == "batch.kubernetes.io/cronjob-scheduled-timestamp" || key == "lastScheduleTime";
}

// Returns where `got` lacks something of `want`, or nothing.
std::string Lacks(const Value& want, const Value* got, const std::string& path) {
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
  if (text.find("UID") != std::string::npos) return "";
  return text == ToJson(*got) ? "" : absl::StrCat(path, ": ", ToJson(*got), ", want ", text);
}

// Conditions of workloads are compared by type, status, reason and message, in any order.
std::string LacksConditions(const Value& want, const Value& got) {
  const Value* list = want.At({"status", "conditions"});
  if (list == nullptr) return "";
  for (const Value& c : list->items) {
    const Value* have = world::living::ConditionOf(got, c.Str("type"));
    if (have == nullptr) return absl::StrCat("there is no condition ", util::ToAbsl(c.Str("type")));
    for (std::string_view member : {"status", "reason", "message"}) {
      if (have->Str(member) != c.Str(member) && c.Str(member).find('*') == std::string_view::npos) {
        return absl::StrCat("condition ", util::ToAbsl(c.Str("type")), ": ", ToJson(*have));
      }
    }
  }
  return "";
}

bool NameFits(std::string_view pattern, std::string_view name) {
  const size_t star = pattern.find('*');
  return star == std::string_view::npos ? pattern == name : name.starts_with(pattern.substr(0, star));
}

// Each recorded object is one that is there, and nothing else of those kinds is.
void CompareAll(const Value& objects, const Played& played) {
  const std::vector<std::string> hashes = HashesOf(played);
  std::map<std::string, std::vector<Value>> there;
  for (const char* kind :
       {"Pod", "ReplicaSet", "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "PodDisruptionBudget"}) {
    for (const Value& v : played.All(kind)) there[kind].push_back(Parse(Normalised(v, hashes)));
  }
  for (const Value& recorded : objects.items) {
    Value want = Parse(absl::StrReplaceAll(WithoutMinutes(ToJson(recorded)), {{"NAMESPACE", kNamespace}}));
    const std::string kind(want.Str("kind"));
    if (!there.contains(kind) && kind.starts_with("PersistentVolume")) continue;
    if (const Value* phase = want.Find("phase")) {
      Value copy = *phase;
      want.Child("status").Set("phase", std::move(copy));
      want.Erase("phase");
    }
    const std::string name(world::NameOf(want));
    Value& meta = want.Child("metadata");
    meta.Erase("name");
    meta.Erase("deleting");
    if (want.At({"status", "completionTime"}) != nullptr) want.Child("status").Erase("completionTime");
    std::string closest = absl::StrCat("there is no ", kind, " ", name);
    std::vector<Value>& candidates = there[kind];
    bool found = false;
    for (size_t i = 0; i < candidates.size() && !found; ++i) {
      if (!NameFits(name, world::NameOf(candidates[i]))) continue;
      std::string lacks = Lacks(want, &candidates[i], "");
      if (lacks.empty() && kind != "Pod") lacks = LacksConditions(want, candidates[i]);
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

// Returns the first pod by name that is not being deleted.
Value FirstPod(const Played& played) {
  for (const Value& pod : played.All("Pod")) {
    if (!world::living::IsTerminating(pod)) return pod;
  }
  FAIL("there is no pod");
  return {};
}

std::string MessageOf(const Value& answer) {
  return absl::StrReplaceAll(util::ToAbsl(answer.Str("message")), {{"NAMESPACE", kNamespace}});
}

// Does one step, and compares its answer.
void Step(const Value& step, const Value& answers, size_t* next, Played* played) {
  auto answer = [&]() -> const Value& {
    REQUIRE(*next < answers.items.size());
    return answers.items[(*next)++];
  };
  if (const Value* create = step.Find("create")) {
    for (const Value& v : create->items) CHECK(played->Create(v) == MessageOf(answer()));
  } else if (const Value* patch = step.Find("patch")) {
    CHECK(played->Patch(*patch) == MessageOf(answer()));
  } else if (step.Find("evict") != nullptr) {
    CHECK(played->Evict(world::NameOf(FirstPod(*played))) == MessageOf(answer()));
  } else if (const Value* name = step.Find("evictname")) {
    CHECK(played->Evict(name->items[0].text()) == MessageOf(answer()));
  } else if (step.Find("delpod") != nullptr) {
    played->Delete("Pod", world::NameOf(FirstPod(*played)), "");
    answer();
  } else if (const Value* labels = step.Find("labelpod")) {
    played->Label(FirstPod(*played), labels->items[0]);
  } else if (const Value* rm = step.Find("rm")) {
    played->Delete(rm->items[0].text(), rm->items[1].text(), "Background");
  } else if (const Value* del = step.Find("del")) {
    played->Delete(del->items[0].text(), del->items[1].text(), del->items[2].text());
    answer();
  } else if (const Value* plain = step.Find("deldefault")) {
    played->Delete(plain->items[0].text(), plain->items[1].text(), "");
    answer();
  } else if (const Value* ready = step.Find("podready")) {
    played->SetReady(ready->items[0].text(), ready->items[1].text());
  } else if (step.Find("snap") != nullptr) {
    const Value& want = answer();
    CompareAll(*want.Find("objects"), *played);
  } else if (step.Find("settle") != nullptr || step.Find("watchCounts") != nullptr) {
    double seconds = 8;
    const Value* given = step.Find("seconds");
    if (given != nullptr && !absl::SimpleAtod(given->text(), &seconds)) seconds = 8;
    played->Run(absl::Seconds(seconds));
    if (step.Find("watchCounts") != nullptr) answer();
  } else if (step.Find("quotas") != nullptr) {
    answer();
  } else if (step.Find("waitfor") != nullptr) {
    played->Run(absl::Seconds(61));
  } else {
    FAIL("a step of an unknown kind: " << ToJson(step));
  }
}

void Play(const std::string& name, Played* played) {
  const Value recorded = ReadRecorded(name);
  size_t next = 0;
  for (const Value& step : recorded.Find("steps")->items) {
    INFO(ToJson(step).substr(0, 200));
    Step(step, *recorded.At({"want", "answers"}), &next, played);
  }
  // The controllers have seen the last step, the kubelets have not acted on it.
  played->Run(kTick);
  // These recordings end amid the replacement of what was evicted: what is there depends on the moment.
  static const std::set<std::string> kEndAmid = {"22-pdb-of-deployment", "24-pdb-unhealthy-always-allow"};
  if (!kEndAmid.contains(name)) CompareAll(*recorded.At({"want", "objects"}), *played);
}

void PlayAll(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    INFO(name);
    Played played;
    Play(name, &played);
  }
}

TEST_CASE("ReplicaSets and Deployments do what was recorded") {
  PlayAll({"00-deployment", "02-deployment-rolling-update", "04-deployment-recreate", "05-deployment-paused",
           "21-replicationcontroller", "40-deployment-min-ready", "41-deployment-rollback",
           "42-deployment-stuck-then-scaled", "44-deployment-progress-deadline", "46-deployment-percent-rounding",
           "48-replicaset-adopts", "50-replicaset-releases", "51-replicaset-scale-down-order",
           "123-replicaset-refused-by-quota"});
}

TEST_CASE("StatefulSets and DaemonSets do what was recorded") {
  PlayAll({"07-statefulset-ordered", "08-statefulset-parallel-ordinals", "11-statefulset-partition",
           "53-statefulset-update-order", "55-statefulset-unready-first", "58-statefulset-max-unavailable",
           "119-statefulset-scale-down-unhealthy", "12-daemonset", "13-daemonset-host-network",
           "59-daemonset-rolling-update", "62-daemonset-no-node"});
}

TEST_CASE("Jobs and CronJobs do what was recorded") {
  PlayAll({"15-job", "16-job-indexed", "17-job-suspended-then-resumed", "20-cronjob", "63-job-ttl", "64-job-no-retries",
           "65-job-deadline", "71-job-suspended-while-running", "73-job-replace-when-failed", "74-job-pod-deleted",
           "77-job-on-failure-restart", "79-cronjob-forbid"});
}

TEST_CASE("budgets and deletions are what was recorded") {
  PlayAll({"22-pdb-of-deployment", "24-pdb-unhealthy-always-allow", "25-pdb-unhealthy-default", "26-pdb-of-bare-pods",
           "81-pdb-percent-of-statefulset", "84-pdb-bare-pods-max-unavailable", "86-pdb-mixed-owners",
           "90-pdb-nothing-allowed", "91-pdb-healthy-enough", "39-orphan", "96-orphaned-replicaset-adopted-again",
           "97-default-propagation"});
}

TEST_CASE("classes that change are read as was recorded") {
  PlayAll({"33-default-storage-class", "110-admission-priority-errors", "138-default-class-later"});
}

// A rolling update keeps its bounds all the time: 10 replicas, 25 % more and 25 % fewer.
TEST_CASE("a rolling update keeps maxSurge and maxUnavailable") {
  Played played;
  played.Create(Parse(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":10,
    "selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},
    "spec":{"containers":[{"name":"c","image":"x"}]}}}})"));
  played.Run(absl::Seconds(4));
  played.seen.clear();
  played.Patch(Parse(R"({"kind":"Deployment","name":"web","strategicMerge":{"spec":{"template":{"spec":{
    "containers":[{"name":"c","image":"y"}]}}}}})"));
  played.Run(absl::Seconds(20));
  int64_t most = 0, fewest = 100;
  for (const auto& counts : played.seen) {
    most = std::max(most, counts.at("all"));
    fewest = std::min(fewest, counts.at("ready"));
  }
  CHECK(most == 13);
  CHECK(fewest == 8);
  CHECK(played.seen.back().at("ready") == 10);
}

}  // namespace
}  // namespace berth::apiserver
