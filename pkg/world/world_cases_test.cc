// Feeds recorded cases of a real API server and controller manager (release 1.36) in, and compares what this package
// makes of the same objects.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pkg/api/decode.h"
#include "pkg/api/stream.h"
#include "pkg/api/validation/defaults.h"
#include "pkg/api/validation/resources.h"
#include "pkg/api/validation/validation.h"
#include "pkg/util/status.h"
#include "pkg/world/admission.h"
#include "pkg/world/daemon_set.h"
#include "pkg/world/kinds.h"
#include "pkg/world/workload.h"

namespace berth::world {
namespace {

// Returns whether a ReplicaSet adopts the pod: it has no controller, its labels match, and it is neither finished nor
// being deleted. A selector that is not valid matches nothing.
bool Adopts(const Value& replica_set, const Value& pod) {
  const Value& meta = validation::OrEmpty(pod.Find("metadata"));
  if (NamespaceOf(pod) != NamespaceOf(replica_set)) return false;
  if (const Value* deleted = meta.Find("deletionTimestamp"); deleted != nullptr && !deleted->IsNull()) return false;
  const std::string_view phase = validation::OrEmpty(pod.Find("status")).Str("phase");
  if (phase == "Succeeded" || phase == "Failed") return false;
  if (const Value* owners = meta.Find("ownerReferences")) {
    auto controls = [](const Value& o) { return validation::OrEmpty(o.Find("controller")).AsBool(); };
    if (std::any_of(owners->items.begin(), owners->items.end(), controls)) return false;
  }
  const Value* selector = validation::OrEmpty(replica_set.Find("spec")).Find("selector");
  if (selector == nullptr || selector->empty()) return false;
  api::Document document;
  if (!document.Parse(validation::ToJson(*selector)).ok()) return false;
  const api::DecidedSelector decided = api::DecideLabelSelector(document.root());
  std::vector<std::pair<api::Symbol, api::Symbol>> labels;
  if (const Value* own = meta.Find("labels")) {
    for (size_t i = 0; i < own->keys.size(); ++i) {
      labels.emplace_back(api::Symbol(own->keys[i]), api::Symbol(own->items[i].text()));
    }
  }
  return decided.ok() && decided.selector.Matches(api::Labels(std::move(labels)));
}

constexpr char kFolder[] = "test/testdata/world";
constexpr release::Version kRecorded{36};
constexpr char kNamespace[] = "world";

// An API server of release 1.36 as far as this package has it.
class CaseServer {
 public:
  CaseServer() : admission_({.rules = RulesOf(kRecorded), .service_accounts = true}, &objects) {}

  // Creates an object as a client would. Returns the message of the refusal, or nothing.
  std::string Create(Value object) {
    const std::string kind(object.Str("kind"));
    const auto& catalog = validation::Catalog::Of(release::Version{29});
    const validation::ResourceInfo* r = catalog.FindKind(object.Str("apiVersion"), kind);
    if (r == nullptr || r->namespaced) object.Child("metadata").Set("namespace", Value::String(kNamespace));
    for (const char* global : {"PriorityClass", "RuntimeClass", "StorageClass", "PersistentVolume", "Node"}) {
      if (kind == global) object.Child("metadata").Erase("namespace");
    }
    if (r != nullptr) validation::ApplyDefaults(*r, r->versions[0], &object);
    const std::string uid = absl::StrCat("uid-", ++created_);
    object.Child("metadata").Set("uid", Value::String(uid));
    if (kind == "Job") CompleteJob(rules_, &object);
    if (auto refused = admission_.Complete(kind, &object)) return refused->Message(kind, NameOf(object));
    // Validation is another package's; of pods it is the same in both releases.
    if (kind == "Pod" || kind == "PriorityClass") {
      Refusal refusal;
      refusal.invalid = validation::ValidateCreate(*r, object);
      if (!refusal.invalid.empty()) return refusal.Message(kind, NameOf(object));
    }
    if (auto refused = admission_.CheckQuota(kind, object)) return refused->Message(kind, NameOf(object));
    admission_.Created(kind, object);
    if (kind == "Pod") {
      for (Value& claim : EphemeralClaims(object)) Create(std::move(claim));
    }
    if (IsWorkload(kind)) waiting_.push_back(object);
    objects.Put(kind, std::move(object));
    return "";
  }

  // Makes the pods of the workloads that were created since the last call.
  void RunControllers() {
    for (const Value& workload : std::exchange(waiting_, {})) Expand(std::string(workload.Str("kind")), workload);
  }
  Admission& admission() { return admission_; }

  ObjectTable objects;
  std::vector<std::string> hashes;  // of templates, in the order of their creation

 private:
  void NoteHash(const Value& workload) {
    const std::string hash = TemplateHash(*workload.At({"spec", "template"}));
    if (std::find(hashes.begin(), hashes.end(), hash) == hashes.end()) hashes.push_back(hash);
  }
  void CreatePod(Value pod) {
    if (NameOf(pod).empty()) {
      const std::string prefix(pod.Find("metadata")->Str("generateName"));
      pod.Child("metadata").Set("name", Value::String(absl::StrCat(prefix, "x", ++created_)));
    }
    Create(std::move(pod));
  }
  void Expand(const std::string& kind, const Value& workload) {
    if (kind == "Deployment") {
      Create(ReplicaSetOf(workload));
      RunControllers();
      NoteHash(workload);
      return;
    }
    if (kind == "StatefulSet" || kind == "DaemonSet") NoteHash(workload);
    if (kind == "DaemonSet") return ExpandDaemonSet(workload);
    WantedPods wanted = PodsWantedBy(kind, workload, rules_);
    if (kind == "Job" && !wanted.numbers.empty()) {
      // All indexes have their turn.
      wanted.count = workload.At({"spec", "completions"})->AsInt();
      wanted.numbers.clear();
      for (int64_t i = 0; i < wanted.count; ++i) wanted.numbers.push_back(i);
    }
    if (kind == "ReplicaSet") wanted.count -= Adopt(workload);
    for (int64_t i = 0; i < wanted.count; ++i) {
      std::optional<int64_t> number;
      if (!wanted.numbers.empty()) number = wanted.numbers[i];
      if (kind == "StatefulSet") {
        for (Value& claim : ClaimsOfOrdinal(workload, *number)) Create(std::move(claim));
      }
      CreatePod(PodOf(kind, workload, number, rules_));
    }
  }
  // Makes the set the controller of the pods that it adopts, and returns their number.
  int64_t Adopt(const Value& set) {
    std::vector<Value> adopted;
    objects.Each("Pod", kNamespace, [&](const Value& pod) {
      if (Adopts(set, pod)) adopted.push_back(pod);
    });
    for (Value& pod : adopted) {
      pod.Child("metadata").Set("ownerReferences", Value::Array()).Append(ControllerReference(set));
      objects.Put("Pod", pod);
    }
    return static_cast<int64_t>(adopted.size());
  }
  void ExpandDaemonSet(const Value& workload) {
    Value pod = PodOfDaemonSet(workload, rules_);
    Value named = pod;
    named.Child("metadata").Set("name", Value::String("x"));
    api::Document document;
    REQUIRE(document.Parse(validation::ToJson(named)).ok());
    const auto decoded = api::DecodePod(document.root());
    REQUIRE(decoded.ok());
    for (int i = 1; i <= 4; ++i) {
      api::Node node;
      node.meta.name = absl::StrCat("n", i);
      node.labels = api::Labels({{api::Symbol("kubernetes.io/hostname"), api::Symbol(node.meta.name)},
                                 {api::Symbol("topology.kubernetes.io/zone"), api::Symbol(i % 2 == 1 ? "z1" : "z2")}});
      if (!DaemonRunsOn(*(*decoded)->tmpl, pod.Find("spec")->Str("nodeName"), node)) continue;
      Value pinned = pod;
      PinToNode(node.meta.name, &pinned);
      CreatePod(std::move(pinned));
    }
  }

  const Rules rules_ = RulesOf(kRecorded);
  Admission admission_;
  int64_t created_ = 0;
  std::vector<Value> waiting_;
};

// Errors of fields of workloads and budgets are found by pkg/api/validation, which does not have all of them; so are
// these two of pods.
bool IsOfValidation(const std::string& message) {
  const size_t at = message.find(" is invalid");
  if (at == std::string::npos || message.starts_with("PriorityClass")) return false;
  return !message.starts_with("Pod \"") || message.starts_with("Pod \"g2\"") || message.starts_with("Pod \"s3\"");
}

Value ReadCase(const std::filesystem::path& file) {
  auto text = api::ReadInput(file.string());
  REQUIRE(text.ok());
  auto value = validation::ParseJson(*text);
  REQUIRE(value.ok());
  return *std::move(value);
}

std::vector<std::filesystem::path> CaseFiles() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string Sorted(const Value& v) {
  return validation::ToSortedJson(v);
}

// Parts of an object that are compared as a whole; of others only the members that the recording has.
bool IsExact(std::string_view member) {
  static const std::set<std::string, std::less<>> kExact = {"annotations", "nodeSelector", "tolerations", "affinity",
                                                            "overhead",    "requests",     "limits"};
  return kExact.contains(member);
}

// Returns where `got` differs from `want`; empty if it does not.
std::string Difference(const Value& want, const Value* got, const std::string& path) {
  if (got == nullptr) return path + " is missing";
  if (want.IsObject()) {
    for (size_t i = 0; i < want.keys.size(); ++i) {
      const std::string& key = want.keys[i];
      const std::string at = absl::StrCat(path, ".", key);
      // The scheduler and the kubelet write these.
      if (key == "nodeName" || key == "phase" || key == "conditions" || key.starts_with("topology.kubernetes.io/"))
        continue;
      const Value* member = got->Find(key);
      if (member == nullptr && want.items[i].IsObject() && want.items[i].empty()) continue;
      if (IsExact(key) && (member == nullptr || Sorted(*member) != Sorted(want.items[i]))) {
        return absl::StrCat(at, ": ", member == nullptr ? "nothing" : Sorted(*member), ", want ",
                            Sorted(want.items[i]));
      }
      if (std::string d = Difference(want.items[i], member, at); !d.empty()) return d;
    }
    return "";
  }
  if (want.IsArray()) {
    if (!got->IsArray() || got->items.size() != want.items.size()) return path + " has another size";
    for (size_t i = 0; i < want.items.size(); ++i) {
      if (std::string d = Difference(want.items[i], &got->items[i], absl::StrCat(path, "[", i, "]")); !d.empty())
        return d;
    }
    return "";
  }
  return Sorted(want) == Sorted(*got) ? "" : absl::StrCat(path, ": ", Sorted(*got), ", want ", Sorted(want));
}

// Calls f(step) for each step that this package has a part in.
template <typename F>
void EachStep(const Value& recorded, F&& f) {
  for (const Value& step : recorded.Find("steps")->items) f(step);
}

// Returns whether nothing but creations and deletions of classes happens.
bool OnlyCreates(const Value& recorded) {
  bool only = true;
  EachStep(recorded, [&](const Value& step) {
    const bool known = step.Find("create") != nullptr || step.Find("rm") != nullptr || step.Find("quotas") != nullptr ||
                       step.Find("settle") != nullptr;
    only = only && known;
  });
  return only;
}

void RunSteps(const Value& recorded, CaseServer* server) {
  std::vector<const Value*> answers;
  for (const Value& a : recorded.At({"want", "answers"})->items) {
    if (a.Find("create") != nullptr || a.Find("quotas") != nullptr) answers.push_back(&a);
  }
  size_t next = 0;
  EachStep(recorded, [&](const Value& step) {
    if (const Value* rm = step.Find("rm")) server->objects.Remove(rm->items[0].text(), "", rm->items[1].text());
    if (step.Find("quotas") != nullptr) {
      const Value& want = *answers.at(next++)->Find("quotas");
      for (size_t i = 0; i < want.keys.size(); ++i) {
        const ValuePtr quota = server->objects.Get("ResourceQuota", kNamespace, want.keys[i]);
        REQUIRE(quota != nullptr);
        const Amounts& used = server->admission().ledger().UsedOf(*quota);
        for (const auto& [name, amount] : AmountsOf(want.items[i].Find("used"))) {
          INFO(want.keys[i] << ": " << name);
          auto it = used.find(name);
          CHECK((it == used.end() ? api::Quantity() : it->second) == amount);
        }
      }
    }
    const Value* create = step.Find("create");
    if (create == nullptr) {
      server->RunControllers();
      return;
    }
    for (const Value& object : create->items) {
      const Value& answer = *answers.at(next++);
      std::string want = absl::StrReplaceAll(util::ToAbsl(answer.Str("message")), {{"NAMESPACE", kNamespace}});
      INFO(answer.Str("create"));
      if (!IsOfValidation(want)) CHECK(server->Create(object) == want);
    }
  });
}

// Returns the object with the recordings' names for what differs from run to run.
Value Normalised(const Value& object, const CaseServer& server) {
  std::string text = validation::ToJson(object);
  for (size_t i = 0; i < server.hashes.size(); ++i) {
    absl::StrReplaceAll({{server.hashes[i], absl::StrCat("HASH", i + 1)}}, &text);
  }
  Value v = *validation::ParseJson(text);
  Value& meta = v.Child("metadata");
  const std::string prefix(meta.Str("generateName"));
  if (!prefix.empty()) meta.Set("name", Value::String(prefix + "*"));
  if (Value* labels = meta.Find("labels")) {
    for (size_t i = 0; i < labels->keys.size(); ++i) {
      if (labels->keys[i].ends_with("controller-uid")) labels->items[i] = Value::String("UID");
    }
  }
  return v;
}

// Each recorded object must be one that was made. Pods of Jobs and of StatefulSets that go one by one may be fewer than
// wanted, or more over time; of others there must be as many as recorded.
void CompareObjects(const std::string& kind, const Value& recorded, const CaseServer& server) {
  std::vector<Value> made;
  server.objects.Each(kind, kNamespace, [&](const Value& o) { made.push_back(Normalised(o, server)); });
  size_t compared = 0;
  bool over_time = false;
  for (Value want : recorded.At({"want", "objects"})->items) {
    if (want.Str("kind") != kind) continue;
    // Times, and what other controllers write.
    want.Erase("status");
    if (kind == "PersistentVolumeClaim") {
      want.Child("metadata").Erase("annotations");
      want.Child("metadata").Erase("finalizers");
      want.Child("spec").Erase("volumeName");
    }
    if (kind == "ReplicaSet") want.Child("metadata").Erase("annotations");
    ++compared;
    const Value* owners = want.At({"metadata", "ownerReferences"});
    const std::string_view owner = owners == nullptr ? "" : owners->items[0].Str("kind");
    // Some recordings have the ordinal in the name; all have it in a label.
    if (owner == "StatefulSet" && kind == "Pod") {
      Value& meta = want.Child("metadata");
      meta.Set("name", Value::String(absl::StrCat(util::ToAbsl(meta.Str("generateName")), "*")));
    }
    over_time = over_time || owner == "Job" || owner == "StatefulSet";
    std::string closest = kind + " is missing";
    bool found = false;
    for (size_t i = 0; i < made.size() && !found; ++i) {
      if (NameOf(made[i]) != NameOf(want)) continue;
      const std::string difference = Difference(want, &made[i], "");
      found = difference.empty();
      if (!found) closest = difference;
      if (found && owner != "Job") made.erase(made.begin() + static_cast<std::ptrdiff_t>(i));
    }
    INFO(kind << " " << NameOf(want) << ": " << closest);
    CHECK(found);
  }
  if (!over_time && kind != "PersistentVolumeClaim" && compared > 0) CHECK(made.empty());
}

TEST_CASE("objects are admitted and refused as recorded") {
  const auto files = CaseFiles();
  REQUIRE(files.size() > 50);
  for (const auto& file : files) {
    INFO(file.string());
    const Value recorded = ReadCase(file);
    if (!OnlyCreates(recorded)) continue;
    CaseServer server;
    RunSteps(recorded, &server);
    server.RunControllers();
    for (const std::string kind : {"Pod", "PersistentVolumeClaim", "ReplicaSet"})
      CompareObjects(kind, recorded, server);
  }
}

}  // namespace
}  // namespace berth::world
