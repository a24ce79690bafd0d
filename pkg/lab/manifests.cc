#include "pkg/lab/manifests.h"

#include <absl/hash/hash.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "pkg/api/json.h"
#include "pkg/api/validation/validation.h"
#include "pkg/explain/output.h"
#include "pkg/lab/kept_fields.h"
#include "pkg/util/status.h"
#include "pkg/world/kinds.h"
#include "pkg/world/volumes.h"
#include "pkg/world/workload.h"

namespace berth::lab {
namespace {

using api::Json;
using world::Value;

struct LookedUpKind {
  std::string_view kind;
  bool namespaced;
};
constexpr LookedUpKind kLookedUp[] = {
    {"PriorityClass", false}, {"RuntimeClass", false},           {"StorageClass", false}, {"LimitRange", true},
    {"ResourceQuota", true},  {"HorizontalPodAutoscaler", true}, {"CronJob", true},
};

// Members of a pod's spec that admission reads beyond what each pod gets.
constexpr std::string_view kSpecial[] = {"priorityClassName", "runtimeClassName", "overhead", "resources",
                                         "preemptionPolicy"};

absl::StatusOr<api::Document> DocumentOf(const Value& value) {
  api::Document document;
  BERTH_RETURN_IF_ERROR(document.Parse(validation::ToJson(value)));
  return document;
}

// Returns what quotas and their scopes read of a pod of which only the decoded template is left.
Value QuotaView(const api::Pod& pod) {
  auto amounts = [](const api::ResourceList& list) {
    Value v = Value::Object();
    for (const auto& [name, amount] : list) v.Set(name.str(), Value::String(amount.String()));
    return v;
  };
  Value view = Value::Object();
  view.Child("metadata").Set("name", Value::String(pod.meta.name));
  view.Child("metadata").Set("namespace", Value::String(pod.meta.ns.str()));
  auto add = [&](std::string_view list, const std::vector<api::Container>& containers) {
    Value& all = view.Child("spec").Set(list, Value::Array());
    for (const api::Container& c : containers) {
      Value container = Value::Object();
      container.Child("resources").Set("requests", amounts(c.requests));
      container.Child("resources").Set("limits", amounts(c.limits));
      if (c.restart_always) container.Set("restartPolicy", Value::String("Always"));
      all.Append(std::move(container));
    }
  };
  add("containers", pod.tmpl->containers);
  add("initContainers", pod.tmpl->init_containers);
  view.Child("spec").Set("overhead", amounts(pod.tmpl->overhead));
  if (pod.Finished()) view.Child("status").Set("phase", Value::String("Succeeded"));
  return view;
}

std::string_view Sentence(world::AdmissionNote::Kind kind) {
  using Kind = world::AdmissionNote::Kind;
  switch (kind) {
    case Kind::kLimitRange:
      return "got defaults of LimitRanges";
    case Kind::kPriority:
      return "got the priority of a PriorityClass";
    case Kind::kRuntimeClass:
      return "got what their RuntimeClass adds";
    case Kind::kPodResources:
      return "got requests of the whole pod";
    case Kind::kLabelKeys:
      return "got the labels of matchLabelKeys in their selectors";
    case Kind::kStorageClass:
      return "got the default StorageClass";
    case Kind::kTolerations:
    case Kind::kMissing:
      return "";
  }
  return "";
}

bool HasEphemeralVolumes(const api::PodTemplate& pod) {
  return std::any_of(pod.volumes.begin(), pod.volumes.end(),
                     [](const api::Volume& v) { return v.kind == api::Volume::Kind::kEphemeral; });
}

// Returns 16 bytes that tell pods apart that differ in more than their names, annotations and nodes.
std::string Fingerprint(Json pod) {
  std::string text;
  auto add = [&](std::string_view key, Json value) {
    const std::string_view source = value.CompactSource();
    const std::string own = source.empty() ? value.Serialize() : std::string();
    absl::StrAppend(&text, util::ToAbsl(key), "\n", source.empty() ? absl::string_view(own) : util::ToAbsl(source),
                    "\n");
  };
  for (std::string_view member : {"namespace", "labels", "ownerReferences"})
    add(member, pod.Find("metadata").Find(member));
  for (auto [key, value] : pod.Find("spec").Children()) {
    if (key != "nodeName") add(key, value);
  }
  std::string out;
  for (const uint64_t half : {absl::HashOf(text), absl::HashOf(uint64_t{0x9e3779b97f4a7c15}, text)}) {
    out.append(reinterpret_cast<const char*>(&half), sizeof half);
  }
  return out;
}

}  // namespace

Manifests::Manifests(release::Version release, const world::Rules& rules)
    : release_(release),
      options_{.rules = rules, .keeps_given_priority = true, .tolerates_missing = true},
      admission_(options_, &table_) {}

bool Manifests::Note(Json j, std::string_view kind, std::string_view version) {
  const auto* known = std::find_if(std::begin(kLookedUp), std::end(kLookedUp), [&](auto& k) { return k.kind == kind; });
  if (known == std::end(kLookedUp) || !world::IsOwnGroup(kind, version)) return false;
  Value value = validation::FromJson(j);
  if (value.Str("apiVersion").empty()) value.Set("kind", Value::String(kind));
  Value& meta = value.Child("metadata");
  if (!known->namespaced) {
    meta.Erase("namespace");
  } else if (meta.Str("namespace").empty()) {
    meta.Set("namespace", Value::String("default"));
  }
  table_.Put(kind, std::move(value));
  return true;
}

void Manifests::AddPod(std::shared_ptr<api::Pod> pod, Json j) {
  const Json spec = j.Find("spec");
  auto [it, is_new] = alike_by_text_.try_emplace(Fingerprint(j), static_cast<uint32_t>(alike_.size()));
  if (is_new) {
    Alike& alike = alike_.emplace_back();
    alike.text = j.Serialize();
    for (std::string_view member : kSpecial) alike.special = alike.special || !spec.Find(member).IsNull();
    const bool merges = options_.rules.merges_affinity_keys || options_.rules.merges_spread_keys;
    if (merges && alike.text.find("atchLabelKeys") != std::string::npos) alike.special = true;
  }
  pods_.push_back({std::move(pod), it->second});
}

void Manifests::AddClaim(std::shared_ptr<api::PersistentVolumeClaim> claim, Json j) {
  claims_.push_back({std::move(claim), j.Serialize()});
}

void Manifests::CountStored(const std::vector<api::Object>& cluster) {
  absl::flat_hash_set<const void*> loose;
  for (const LoosePod& p : pods_) loose.insert(p.pod.get());
  for (const LooseClaim& c : claims_) loose.insert(c.claim.get());
  for (const api::Object& o : cluster) {
    if (const auto* claim = std::get_if<api::Ptr<api::PersistentVolumeClaim>>(&o)) {
      claim_keys_.insert((*claim)->meta.Key());
    }
  }
  if (!table_.HasKind("ResourceQuota")) return;
  std::map<std::string, std::vector<Value>> stored;  // pods by namespace
  for (const api::Object& o : cluster) {
    const auto* pod = std::get_if<api::PodPtr>(&o);
    if (pod != nullptr && !loose.contains(pod->get())) stored[(*pod)->meta.ns.string()].push_back(QuotaView(**pod));
  }
  table_.EachOf("ResourceQuota", [&](const Value& quota) {
    if (quota.At({"status", "used"}) != nullptr && world::WasStored(quota)) return;
    world::Amounts used;
    for (const Value& pod : stored[std::string(world::NamespaceOf(quota))]) {
      if (world::QuotaCovers(quota, "Pod", pod)) world::AddAmounts(world::QuotaUsage("Pod", pod), &used);
    }
    admission_.ledger().Start(quota, std::move(used));
  });
}

absl::Status Manifests::Admit(const std::vector<api::Object>& cluster) {
  CountStored(cluster);
  for (const auto& volume : volumes_) {
    if (volume->phase.empty() || volume->phase == "Pending") volume->phase = "Available";
  }
  for (const LooseClaim& c : claims_) BERTH_RETURN_IF_ERROR(AdmitClaim(c));
  for (const LoosePod& p : pods_) BERTH_RETURN_IF_ERROR(AdmitPod(p));
  return absl::OkStatus();
}

namespace {

void WriteTolerations(const std::vector<api::Toleration>& all, Value* pod) {
  Value tolerations = Value::Array();
  for (const api::Toleration& t : all) {
    Value& toleration = tolerations.items.emplace_back(Value::Object());
    if (!t.key.empty()) toleration.Set("key", Value::String(t.key.str()));
    if (!t.op.empty()) toleration.Set("operator", Value::String(t.op.str()));
    if (!t.value.empty()) toleration.Set("value", Value::String(t.value.str()));
    if (!t.effect.empty()) toleration.Set("effect", Value::String(t.effect.str()));
  }
  pod->Child("spec").Set("tolerations", std::move(tolerations));
}

}  // namespace

// Most pods get nothing but the two default tolerations, which need no value.
void Manifests::AddTolerations(api::Pod* pod) {
  static const auto& note = *new std::shared_ptr<const std::vector<std::string>>(
      std::make_shared<const std::vector<std::string>>(1, "tolerations of DefaultTolerationSeconds"));
  auto known = tolerating_.find(pod->tmpl.get());
  if (known == tolerating_.end()) {
    auto added = world::WithDefaultTolerations(pod->tmpl);
    if (added != pod->tmpl) {
      origins_.try_emplace(added.get(), note);
      KeepFields(pod->tmpl, added, [&](Value* v) { WriteTolerations(added->tolerations, v); });
    }
    // The template without them stays, so that its address is not used again.
    before_.push_back(pod->tmpl);
    known = tolerating_.emplace(pod->tmpl.get(), std::move(added)).first;
  }
  pod->tmpl = known->second;
}

absl::Status Manifests::AdmitPod(const LoosePod& loose) {
  Alike& alike = alike_[loose.alike];
  const std::string ns = loose.pod->meta.ns.string();
  if (!std::exchange(alike.done, true)) {
    bool value = alike.special || HasEphemeralVolumes(*loose.pod->tmpl) || admission_.HasQuotas(ns);
    table_.Each("LimitRange", ns, [&](const Value&) { value = true; });
    table_.Each("PriorityClass", "", [&](const Value& c) {
      const Value* by_default = c.Find("globalDefault");
      value = value || (by_default != nullptr && by_default->AsBool());
    });
    if (value) {
      auto parsed = validation::ParseJson(alike.text);
      if (!parsed.ok()) return parsed.status();
      parsed->Child("metadata").Set("namespace", Value::String(ns));
      auto completed = Complete(*std::move(parsed), loose.pod->meta.name);
      if (!completed.ok()) return completed.status();
      alike.completed = *std::move(completed);
    }
    alike.text = std::string();
  }
  if (!alike.completed) {
    AddTolerations(loose.pod.get());
    return absl::OkStatus();
  }
  const Completed& completed = *alike.completed;
  if (completed.tmpl == nullptr) {
    Refuse("Pod", loose.pod->meta.name, *completed.refusal);
    refused_.insert(loose.pod.get());
    return absl::OkStatus();
  }
  loose.pod->tmpl = completed.tmpl;
  auto created = Create(completed, *loose.pod);
  if (!created.ok()) return created.status();
  if (!*created) refused_.insert(loose.pod.get());
  if (loose.pod->raw != nullptr) {
    Value raw = *completed.pod;
    auto own = validation::ParseJson(*loose.pod->raw);
    if (own.ok() && own->Find("metadata") != nullptr) raw.Set("metadata", *own->Find("metadata"));
    loose.pod->raw = api::SharedText(validation::ToJson(raw));
  }
  return absl::OkStatus();
}

std::optional<world::Refusal> Manifests::ExceededDefaults(const Value& pod,
                                                          const std::vector<world::AdmissionNote>& notes) const {
  const bool limited = std::any_of(notes.begin(), notes.end(), [](const world::AdmissionNote& n) {
    return n.kind == world::AdmissionNote::Kind::kLimitRange;
  });
  if (!limited) return std::nullopt;
  world::Refusal refusal;
  validation::ValidateContainerResources(validation::OrEmpty(pod.Find("spec")), validation::Path("spec"), release_,
                                         &refusal.invalid);
  return refusal.invalid.empty() ? std::nullopt : std::optional(std::move(refusal));
}

absl::StatusOr<Manifests::Completed> Manifests::Complete(Value pod, const std::string& name) {
  Completed completed;
  std::vector<world::AdmissionNote> notes;
  world::CompleteContainers(&pod);
  completed.refusal = admission_.Complete("Pod", &pod, &notes);
  if (!completed.refusal) completed.refusal = ExceededDefaults(pod, notes);
  if (completed.refusal) return completed;
  const std::string ns(world::NamespaceOf(pod));
  if (!name.empty()) NoteChanges(notes, absl::StrCat(ns, "/", name));
  auto document = DocumentOf(pod);
  if (!document.ok()) return document.status();
  auto decoded = api::DecodePod(document->root(), {.server_defaults = true});
  if (!decoded.ok()) return decoded.status();
  completed.tmpl = (*decoded)->tmpl;
  completed.counted = admission_.HasQuotas(ns);
  completed.has_claims = options_.rules.ephemeral_claims && HasEphemeralVolumes(*completed.tmpl);
  completed.pod = std::make_shared<const Value>(std::move(pod));
  std::vector<std::string> texts;
  for (const world::AdmissionNote& note : notes) {
    if (note.kind != world::AdmissionNote::Kind::kMissing) texts.push_back(note.text);
  }
  if (!texts.empty()) {
    origins_.try_emplace(completed.tmpl.get(), std::make_shared<const std::vector<std::string>>(std::move(texts)));
    before_.push_back(completed.tmpl);
  }
  return completed;
}

absl::StatusOr<bool> Manifests::Create(const Completed& completed, const api::Pod& pod) {
  if (completed.counted) {
    if (auto refused = admission_.CheckQuota("Pod", *completed.pod)) {
      Refuse("Pod", pod.meta.name, *refused);
      return false;
    }
    admission_.Created("Pod", *completed.pod);
  }
  if (!completed.has_claims) return true;
  Value named = *completed.pod;
  named.Child("metadata").Set("name", Value::String(pod.meta.name));
  named.Child("metadata").Set("uid", Value::String(pod.meta.uid));
  for (Value& claim : world::EphemeralClaims(named)) {
    if (auto created = CreateClaim(std::move(claim)); !created.ok()) return created.status();
  }
  return true;
}

absl::StatusOr<bool> Manifests::CreateClaim(Value claim) {
  const std::string key =
      absl::StrCat(util::ToAbsl(world::NamespaceOf(claim)), "/", util::ToAbsl(world::NameOf(claim)));
  if (!claim_keys_.insert(key).second) return true;
  std::vector<world::AdmissionNote> notes;
  auto refused = admission_.Complete("PersistentVolumeClaim", &claim, &notes);
  if (!refused) refused = admission_.CheckQuota("PersistentVolumeClaim", claim);
  if (refused) {
    Refuse("PersistentVolumeClaim", std::string(world::NameOf(claim)), *refused);
    claim_keys_.erase(key);
    return false;
  }
  NoteChanges(notes, key);
  admission_.Created("PersistentVolumeClaim", claim);
  auto document = DocumentOf(claim);
  if (!document.ok()) return document.status();
  auto decoded = api::DecodePersistentVolumeClaim(document->root(), {.server_defaults = true});
  if (!decoded.ok()) return decoded.status();
  auto made = std::make_shared<api::PersistentVolumeClaim>(**decoded);
  if (made->meta.uid.empty()) made->meta.uid = absl::StrCat("expanded/", key);
  new_claims_.push_back(made);
  made_.push_back(api::Ptr<api::PersistentVolumeClaim>(std::move(made)));
  return true;
}

absl::Status Manifests::AdmitClaim(const LooseClaim& loose) {
  auto value = validation::ParseJson(loose.text);
  if (!value.ok()) return value.status();
  value->Child("metadata").Set("namespace", Value::String(loose.claim->meta.ns.str()));
  std::vector<world::AdmissionNote> notes;
  auto refused = admission_.Complete("PersistentVolumeClaim", &*value, &notes);
  if (!refused) refused = admission_.CheckQuota("PersistentVolumeClaim", *value);
  if (refused) {
    Refuse("PersistentVolumeClaim", loose.claim->meta.name, *refused);
    claim_keys_.erase(loose.claim->meta.Key());
    refused_.insert(loose.claim.get());
    return absl::OkStatus();
  }
  admission_.Created("PersistentVolumeClaim", *value);
  NoteChanges(notes, loose.claim->meta.Key());
  if (const Value* name = value->At({"spec", "storageClassName"}); name != nullptr && name->IsString()) {
    loose.claim->storage_class_name = name->text();
  }
  new_claims_.push_back(loose.claim);
  return absl::OkStatus();
}

bool Manifests::CreateOther(std::string_view kind, const Value& object) {
  if (!admission_.HasQuotas(world::NamespaceOf(object))) return true;
  if (auto refused = admission_.CheckQuota(kind, object)) {
    Refuse(kind, std::string(world::NameOf(object)), *refused);
    return false;
  }
  admission_.Created(kind, object);
  return true;
}

absl::Status Manifests::BindClaims(std::vector<api::Object>* cluster) {
  if (new_claims_.empty()) return absl::OkStatus();
  return world::BindAtOnce(new_claims_, cluster);
}

void Manifests::Refuse(std::string_view kind, const std::string& name, const world::Refusal& refusal) {
  const std::string why = refusal.Message(kind, "");
  Tally& tally = refusals_[why];
  if (tally.count++ == 0) tally.first = refusal.Message(kind, name);
}

void Manifests::NoteChanges(const std::vector<world::AdmissionNote>& notes, const std::string& name) {
  for (const world::AdmissionNote& note : notes) {
    Tally& tally = note.kind == world::AdmissionNote::Kind::kMissing ? missing_[note.text] : changes_[note.kind];
    if (tally.count++ == 0) tally.first = absl::StrCat(name, ": ", note.text);
  }
}

std::vector<std::string> Manifests::Changes() const {
  std::vector<std::string> out;
  for (const auto& [kind, tally] : changes_) {
    if (Sentence(kind).empty()) continue;
    const std::string counted = kind == world::AdmissionNote::Kind::kStorageClass
                                    ? explain::Counted(tally.count, "claim")
                                    : absl::StrCat("pods of ", explain::Counted(tally.count, "template"));
    out.push_back(absl::StrCat(counted, " ", util::ToAbsl(Sentence(kind)), " as in a cluster (", tally.first, ")"));
  }
  for (const auto& [what, tally] : missing_) {
    out.push_back(absl::StrCat("warning: the input has no ", what, ", which ",
                               tally.first.substr(0, tally.first.find(": ")),
                               tally.count > 1 ? " and others name" : " names",
                               ": what it adds to pods is not known, and an API server would refuse them"));
  }
  return out;
}

std::vector<std::string> Manifests::Refusals() const {
  std::vector<std::string> out;
  for (const auto& [why, tally] : refusals_) {
    out.push_back(absl::StrCat(
        "an API server would refuse ", explain::Counted(tally.count, "object"),
        tally.count == 1 ? ", which is not created: " : ", which are not created, the first: ", tally.first));
  }
  return out;
}

}  // namespace berth::lab
