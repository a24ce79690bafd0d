// The rules of a real API server for writes. If a request has several problems, the order of the checks determines
// which one the response reports, so the checks run in the order of the recorded servers (test/wire).
//
// Values are decoded, changed and encoded again for each write; only the stored text is kept (object.h).
#include "pkg/store/registry.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/time/time.h>

#include <algorithm>
#include <charconv>
#include <random>

#include "pkg/api/validation/defaults.h"
#include "pkg/api/validation/validation.h"
#include "pkg/world/living/node_lifecycle.h"
#include "pkg/world/living/schedule.h"
#include "pkg/world/workload.h"

namespace berth::apiserver {
namespace {

constexpr size_t kMostObjectBytes = 2 * 1024 * 1024;  // the limit of 1.10's etcd client

constexpr std::string_view kModified =
    "the object has been modified; please apply your changes to the latest version and try again";

ApiError TooLarge(size_t bytes) {
  return InternalError(
      absl::StrCat("rpc error: code = ResourceExhausted desc = grpc: trying to send message larger than max (", bytes,
                   " vs. ", kMostObjectBytes, ")"));
}

// Returns a number of bytes that the value's JSON text does not exceed.
size_t MostBytes(const Value& v) {
  constexpr size_t kMostOfCharacter = 6, kMarks = 8;  // an escape; quotes, brackets, a comma or a literal
  size_t bytes = kMarks + kMostOfCharacter * v.text().size();
  for (const std::string& key : v.keys.get()) bytes += kMarks + kMostOfCharacter * key.size();
  for (const Value& item : v.items.get()) bytes += MostBytes(item);
  return bytes;
}

constexpr char kTemplateGeneration[] = "deprecated.daemonset.template.generation";

void SetOrErase(Value* v, std::string_view key, const Value* from) {
  if (from == nullptr) {
    v->Erase(key);
  } else {
    v->Set(key, *from);
  }
}

bool HasFinalizers(const Value& meta) {
  const Value* f = meta.Find("finalizers");
  return f != nullptr && !f->empty();
}

std::string EncodedMember(const ResourceInfo& r, const Value& v, std::string_view member) {
  std::string out;
  const FieldDef* f = r.type->Find(member);
  const Value* m = v.Find(member);
  if (f != nullptr && m != nullptr && f->type != nullptr) Encode(*m, *f->type, &out);
  return out;
}

std::string UidMismatch(const ResourceInfo& r, const Object& old, std::string_view uid) {
  return absl::StrCat("StorageError: invalid object, Code: 4, Key: /registry/", r.storage_key, "/", old.Key(),
                      ", ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ",
                      std::string(uid), ", UID in object meta: ", old.uid);
}

std::string TextOf(const Value* v) {
  return v == nullptr || v->empty() ? "" : ToSortedJson(*v);
}

void BumpGeneration(Value* meta) {
  const Value* g = meta->Find("generation");
  if (g != nullptr && g->AsInt() > 0) meta->Set("generation", Value::Int(g->AsInt() + 1));
}

std::string TimeText(absl::Time t) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", t, absl::UTCTimeZone());
}

// A service that no longer has ports of nodes gives them back; those that its new state names are an error.
void DropUnusedNodePorts(validation::Version release, const Value& before, Value* spec) {
  const auto has_ports = [](std::string_view type) { return type == "NodePort" || type == "LoadBalancer"; };
  Value* ports = spec->Find("ports");
  const Value& old_ports = validation::OrEmpty(before.At({"spec", "ports"}));
  const Value& old_spec = validation::OrEmpty(before.Find("spec"));
  if (!validation::kIpFamilies.Has(release) || ports == nullptr) return;
  if (!has_ports(old_spec.Str("type")) || has_ports(spec->Str("type"))) return;
  const auto node_port = [](const Value& port) { return validation::OrEmpty(port.Find("nodePort")).AsInt(); };
  const bool same = std::equal(ports->items.begin(), ports->items.end(), old_ports.items.begin(), old_ports.items.end(),
                               [&](const Value& a, const Value& b) { return node_port(a) == node_port(b); });
  if (!same) return;
  for (Value& port : ports->items) port.Erase("nodePort");
  // Only traffic from outside has a policy.
  if (spec->Str("externalTrafficPolicy") == old_spec.Str("externalTrafficPolicy")) spec->Erase("externalTrafficPolicy");
}

// The letters of generated names, as in Kubernetes: no vowels, and nothing that looks like another character.
constexpr std::string_view kNameLetters = "bcdfghjklmnpqrstvwxz2456789";

}  // namespace

// The text is cached for a second, because every write needs one.
std::string Registry::NowText() const {
  int64_t second = absl::ToUnixSeconds(clock_->Wall());
  if (second != now_second_) {
    now_second_ = second;
    now_text_ = TimeText(absl::FromUnixSeconds(second));
  }
  return now_text_;
}

uint64_t Registry::Random() {  // splitmix64
  if (random_ == 0) {
    std::random_device device;
    random_ = static_cast<uint64_t>(device()) << 32 | device() | 1;
  }
  uint64_t z = random_ += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

std::string Registry::NewUid() {
  constexpr char kHex[] = "0123456789abcdef";
  uint64_t a = Random(), b = Random();
  std::string out(36, '-');
  for (size_t i = 0; i < out.size(); ++i) {
    if (i == 8 || i == 13 || i == 18 || i == 23) continue;
    uint64_t& from = i < 18 ? a : b;
    out[i] = kHex[from & 15];
    from >>= 4;
  }
  out[14] = '4';
  return out;
}

// Returns a name that begins with `prefix`, cut to what leaves room for five letters; empty without a prefix.
std::string Registry::GeneratedName(std::string_view prefix) {
  constexpr size_t kLongestPrefix = 58;
  std::string name(prefix.substr(0, kLongestPrefix));
  for (int i = 0; i < 5 && !prefix.empty(); ++i) name.push_back(kNameLetters[Random() % kNameLetters.size()]);
  return name;
}

std::string Registry::NewClusterIp() {
  ++next_ip_;
  return absl::StrCat("10.", next_ip_ >> 16 & 255, ".", next_ip_ >> 8 & 255, ".", next_ip_ & 255);
}

// The admission plugin NamespaceLifecycle of 1.29: nothing can be created in a namespace that does not exist.
std::optional<ApiError> Registry::AdmitToNamespace(const ResourceInfo& r, size_t version, std::string_view ns,
                                                   const Value& v) {
  const ResourceInfo& namespaces = catalog().Core("namespaces");
  ObjectPtr found = store_->Get(namespaces, "", ns);
  if (found == nullptr) return NotFound({"", "namespaces"}, ns);
  const auto space = store_->Read(namespaces, 0, *found);
  const Value* deletion = space->At({"metadata", "deletionTimestamp"});
  if (deletion == nullptr || deletion->IsNull()) return std::nullopt;
  const Value* meta = v.Find("metadata");
  return ForbiddenError(
      r.In(version), meta == nullptr ? "" : meta->Str("name"),
      absl::StrCat("unable to create new content in namespace ", std::string(ns), " because it is being terminated"));
}

void Registry::PrepareForCreate(const ResourceInfo& r, size_t version, Value* v) {
  if (r.kind == "Pod") {
    Value status = Value::Object({{"phase", "Pending"}, {"qosClass", QosClass(*v)}});
    const Value* gates = v->At({"spec", "schedulingGates"});
    if (gates != nullptr && !gates->empty()) {
      Value condition = Value::Object({{"type", "PodScheduled"},
                                       {"status", "False"},
                                       {"reason", "SchedulingGated"},
                                       {"message", "Scheduling is blocked due to non-empty scheduling gates"}});
      status.Set("conditions", Value::Array()).Append(std::move(condition));
    }
    v->Set("status", std::move(status));
  } else if (r.kind == "Node" && plugins_.taints_new_nodes) {
    world::living::TaintNewNode(world::RulesOf(r.release), v);
  } else if (r.kind == "Namespace") {
    if (validation::kNamesOfNamespaces.Has(r.release)) {
      Value& meta = v->Child("metadata");
      std::string name(meta.Str("name"));
      meta.Child("labels").Set("kubernetes.io/metadata.name", Value::String(name));
    }
    Value& finalizers = v->Child("spec").Set("finalizers", Value::Array());
    finalizers.Append(Value::String("kubernetes"));
    v->Set("status", Value::Object()).Set("phase", Value::String("Active"));
  } else if (r.kind == "PersistentVolume" || r.kind == "PersistentVolumeClaim") {
    v->Set("status", Value::Object()).Set("phase", Value::String("Pending"));
  } else if (r.kind == "Service") {
    v->Erase("status");
    Value& spec = v->Child("spec");
    if (spec.Str("clusterIP").empty() && spec.Str("type") != "ExternalName") {
      spec.Set("clusterIP", Value::String(NewClusterIp()));
    }
  } else if (r.has_generation || r.kind == "ResourceClaim") {
    v->Erase("status");
  }
  if (r.kind == "DaemonSet" && validation::kDaemonGenerations.Has(r.release)) {
    v->Child("metadata").Child("annotations").Set(kTemplateGeneration, Value::String("1"));
  }
  if (r.kind == "PriorityClass" && (r.versions[0].version == "v1" || r.versions[version].version == "v1")) {
    // kubectl cannot describe a PriorityClass of v1 without this member.
    if (v->Str("preemptionPolicy").empty()) v->Set("preemptionPolicy", Value::String("PreemptLowerPriority"));
  }
  if (r.has_generation || r.kind == "PriorityClass") v->Child("metadata").Set("generation", Value::Int(1));
}

Result<ObjectPtr> Registry::Create(const ResourceInfo& r, size_t version, std::string_view ns, Value v) {
  ApplyDefaults(r, r.versions[version], &v);
  Value& meta = v.Child("metadata");
  std::string_view own = meta.Str("namespace");
  if (r.namespaced) {
    if (!own.empty() && own != ns) {
      return BadRequest("the namespace of the provided object does not match the namespace sent on the request");
    }
    meta.Set("namespace", Value::String(ns));
  } else {
    meta.Erase("namespace");
  }
  if (r.namespaced && validation::kChecksNamespaces.Has(r.release)) {
    if (auto refused = AdmitToNamespace(r, version, ns, v)) return *refused;
  }
  FieldErrors errors;
  if (auto refused = Complete(r, version, &v, false, &errors)) return *refused;
  Value* metadata = v.Find("metadata");
  std::string name(metadata->Str("name"));
  if (name.empty()) {
    name = GeneratedName(metadata->Str("generateName"));
    if (!name.empty()) metadata->Set("name", Value::String(name));
  }
  metadata->SetAll({{"uid", NewUid()}, {"creationTimestamp", NowText()}});
  metadata->Erase("deletionTimestamp");
  metadata->Erase("deletionGracePeriodSeconds");
  metadata->Erase("generation");
  if (r.kind == "Job") world::CompleteJob(world::RulesOf(r.release), &v);
  PrepareForCreate(r, version, &v);
  for (FieldError& e : ValidateCreate(r, v)) errors.push_back(std::move(e));
  if (r.kind == "CronJob") {
    for (FieldError& e : world::living::ValidateSchedule(v)) errors.push_back(std::move(e));
  }
  GroupResource gr = r.In(version);
  if (r.kind == "Service" && errors.empty()) {
    if (auto refused = AllocateNodePorts(r, &v)) return *refused;
  }
  if (!errors.empty()) return InvalidObject(gr.group, r.kind, name, std::move(errors));
  if (!v.Find("metadata")->Str("resourceVersion").empty()) {
    return InternalError("resourceVersion should not be set on objects to be created");
  }
  if (auto refused = CheckQuota(r, version, v)) return *refused;
  if (store_->Get(r, ns, name) != nullptr) return AlreadyExists(gr, name);
  ObjectPtr o = store_->Make(r, std::move(v), dry_run_ ? 0 : store_->rv() + 1);
  const bool may_be_large = o->kept_value == nullptr || MostBytes(*o->kept_value) > kMostObjectBytes;
  if (may_be_large && o->body().size() > kMostObjectBytes) return TooLarge(o->body().size());
  NextRv();
  Put(r, o);
  return o;
}

// Stores the new state unless it equals the old one; so a write without a change causes no event.
ObjectPtr Registry::StoreUpdate(const ResourceInfo& r, Value v, const ObjectPtr& old) {
  ObjectPtr o = store_->MakeChanged(r, std::move(v), old, [&] { return dry_run_ ? old->rv : store_->NextRv(); });
  if (o != old) Put(r, o);
  return o;
}

// A PUT of the main resource keeps the stored status, and a PUT of /status keeps the stored spec. What a client sends
// for the other half is ignored, as on a real server.
Result<ObjectPtr> Registry::Update(const ResourceInfo& r, size_t version, std::string_view ns, std::string_view name,
                                   Value v, const UpdateRequest& how, bool* created) {
  GroupResource gr = r.In(version);
  std::string object_name(name);
  Value& meta = v.Child("metadata");
  if (meta.Str("name") != name) {
    return BadRequest(absl::StrCat("the name of the object (", std::string(meta.Str("name")),
                                   ") does not match the name on the URL (", object_name, ")"));
  }
  if (r.namespaced && !meta.Str("namespace").empty() && meta.Str("namespace") != ns) {
    return BadRequest(absl::StrCat("the namespace of the object (", std::string(meta.Str("namespace")),
                                   ") does not match the namespace on the URL (", std::string(ns), ")"));
  }
  ObjectPtr old = store_->Get(r, ns, name);
  if (old == nullptr) {
    if (!r.create_on_update || how.patch || !how.subresource.empty()) return NotFound(gr, name);
    meta.Erase("resourceVersion");
    if (created != nullptr) *created = true;
    return Create(r, version, ns, std::move(v));
  }
  if (!how.patch && !meta.Str("uid").empty() && meta.Str("uid") != old->uid) {
    return Conflict(gr, name, UidMismatch(r, *old, meta.Str("uid")));
  }
  std::string given(meta.Str("resourceVersion"));
  if (!given.empty()) {
    uint64_t rv = 0;
    auto parsed = std::from_chars(given.data(), given.data() + given.size(), rv);
    if (parsed.ec != std::errc() || parsed.ptr != given.data() + given.size()) {
      return InternalError(absl::StrCat("strconv.ParseUint: parsing ", GoQuoted(given), ": invalid syntax"));
    }
    if (rv != old->rv) return Conflict(gr, name, kModified);
  } else if (!r.unconditional_update) {
    return InvalidObject(gr.group, r.kind, name,
                         {InvalidRaw("metadata.resourceVersion", "0x0", "must be specified for an update")});
  }
  size_t stored = r.other_type == nullptr ? version : 0;
  Value before = store_->ReadCopy(r, stored, *old);
  const Value& old_meta = *before.Find("metadata");

  ApplyDefaults(r, r.versions[version], &v);
  if (how.subresource == "resize") return Resize(r, v, std::move(before), old);
  if (how.subresource == "status") {
    SetOrErase(&v, "spec", before.Find("spec"));
    if (r.kind == "Pod") SetOrErase(v.Find("metadata"), "ownerReferences", old_meta.Find("ownerReferences"));
  } else if (how.subresource == "finalize") {
    SetOrErase(&v, "status", before.Find("status"));
  } else {
    SetOrErase(&v, "status", before.Find("status"));
    if (r.kind == "Namespace") SetOrErase(&v, "spec", before.Find("spec"));
    if (r.kind == "Service") {
      Value& spec = v.Child("spec");
      const Value* ip = before.At({"spec", "clusterIP"});
      if (spec.Str("type") == "ExternalName") {
        if (ip != nullptr && spec.Str("clusterIP") == ip->text()) spec.Erase("clusterIP");
      } else if (spec.Str("clusterIP").empty() && ip != nullptr) {
        spec.Set("clusterIP", *ip);
      } else if (spec.Str("clusterIP").empty()) {
        spec.Set("clusterIP", Value::String(NewClusterIp()));
      }
      DropUnusedNodePorts(r.release, before, &spec);
    }
    if (r.kind == "Pod" && v.Child("spec").Find("priority") == nullptr) {
      if (const Value* p = before.At({"spec", "priority"})) v.Child("spec").Set("priority", *p);
    }
  }
  Value& metadata = *v.Find("metadata");
  if (r.namespaced) metadata.Set("namespace", Value::String(old->ns));
  if (metadata.Str("uid").empty()) metadata.Set("uid", Value::String(old->uid));
  for (std::string_view key : {"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation"}) {
    SetOrErase(&metadata, key, old_meta.Find(key));
  }
  bool changed = EncodedMember(r, v, "spec") != EncodedMember(r, before, "spec");
  // A Deployment's annotations are copied to its ReplicaSets, so changing them counts as a change of the desired state.
  if (r.kind == "Deployment") changed |= TextOf(metadata.Find("annotations")) != TextOf(old_meta.Find("annotations"));
  if (r.kind == "DaemonSet" && validation::kDaemonGenerations.Has(r.release)) {
    const Value* counted = old_meta.At({"annotations", kTemplateGeneration});
    int64_t generation = 1;
    if (counted != nullptr && !absl::SimpleAtoi(counted->text(), &generation)) generation = 1;
    const auto text = [](const Value& o) { return TextOf(o.At({"spec", "template"})); };
    if (how.subresource.empty() && text(v) != text(before)) ++generation;
    metadata.Child("annotations").Set(kTemplateGeneration, Value::String(absl::StrCat(generation)));
  }
  if (r.has_generation && how.subresource.empty() && changed) {
    BumpGeneration(&metadata);
  }
  if (r.kind == "PriorityClass") {
    FieldErrors unused;
    if (auto refused = Complete(r, version, &v, false, &unused)) return *refused;
  }
  if (how.subresource != "finalize") {
    FieldErrors errors = ValidateUpdate(r, v, before);
    if (r.kind == "CronJob") {
      for (FieldError& e : world::living::ValidateSchedule(v)) errors.push_back(std::move(e));
    }
    if (how.subresource == "status") {
      std::erase_if(errors, [](const FieldError& e) { return !e.field.starts_with("metadata"); });
    }
    if (!errors.empty()) return InvalidObject(gr.group, r.kind, name, std::move(errors));
  }
  if (r.kind == "Service" && how.subresource.empty()) {
    if (auto refused = AllocateNodePorts(r, &v)) return *refused;
  }
  // The last finalizer of an object that is being deleted has been removed, so it is deleted now.
  const Value* grace = metadata.Find("deletionGracePeriodSeconds");
  if (metadata.Find("deletionTimestamp") != nullptr && grace != nullptr && grace->AsInt() == 0 &&
      HasFinalizers(old_meta) && !HasFinalizers(metadata)) {
    ObjectPtr last = MakeObject(r, v, old->rv);
    Remove(r, Last(*old));
    return last;
  }
  return StoreUpdate(r, std::move(v), old);
}

std::optional<ApiError> Registry::Replace(const ResourceInfo& r, Value v) {
  const Value& meta = validation::OrEmpty(std::as_const(v).Find("metadata"));
  const std::string name(meta.Str("name"));
  const ObjectPtr old = store_->Get(r, meta.Str("namespace"), name);
  if (old == nullptr) return NotFound(r.In(0), name);
  if (meta.Str("resourceVersion") != std::to_string(old->rv)) return Conflict(r.In(0), name, kModified);
  const bool pending = meta.Find("deletionTimestamp") != nullptr && r.kind != "Namespace";
  const Value* grace = meta.Find("deletionGracePeriodSeconds");
  if (pending && grace != nullptr && grace->AsInt() == 0 && !HasFinalizers(meta) &&
      HasFinalizers(*store_->Read(r, StableVersionOf(r), *old)->Find("metadata"))) {
    Remove(r, Last(*old));
    return std::nullopt;
  }
  StoreUpdate(r, std::move(v), old);
  return std::nullopt;
}

bool Registry::SetDeletionFinalizers(const ResourceInfo& r, size_t version, const DeleteRequest& how, Value* meta) {
  bool orphan = false, foreground = false;
  const Value* old = meta->Find("finalizers");
  auto has = [&](std::string_view f) {
    return old != nullptr &&
           std::any_of(old->items.begin(), old->items.end(), [&](const Value& e) { return e.text() == f; });
  };
  if (!how.propagation.empty()) {
    orphan = how.propagation == "Orphan";
    foreground = how.propagation == "Foreground";
  } else if (how.orphan_dependents.has_value()) {
    orphan = *how.orphan_dependents;
  } else if (has("orphan") || has("foregroundDeletion")) {
    return false;
  } else {
    orphan = std::find(r.orphaning.begin(), r.orphaning.end(), r.versions[version].Text()) != r.orphaning.end();
  }
  Value list = Value::Array();
  if (old != nullptr) {
    for (const Value& e : old->items) {
      if (e.text() != "orphan" && e.text() != "foregroundDeletion") list.Append(e);
    }
  }
  if (orphan) list.Append(Value::String("orphan"));
  if (foreground) list.Append(Value::String("foregroundDeletion"));
  bool changed = has("orphan") != orphan || has("foregroundDeletion") != foreground;
  if (changed) meta->Set("finalizers", std::move(list));
  return changed;
}

// The first DELETE marks the namespace as terminating. The namespace goes only when its finalizers are gone, and there
// is no controller here that removes them.
Result<Deleted> Registry::DeleteNamespace(const ResourceInfo& r, const ObjectPtr& old) {
  // The admission plugin NamespaceLifecycle keeps these in every release.
  for (std::string_view kept : {"default", "kube-system", "kube-public"}) {
    if (old->name == kept) return ForbiddenError(r.In(0), kept, "this namespace may not be deleted");
  }
  Value v = ToValue(r, 0, *old);
  Value& meta = *v.Find("metadata");
  const Value* deletion = meta.Find("deletionTimestamp");
  if (deletion == nullptr || deletion->IsNull()) {
    meta.Set("deletionTimestamp", Value::String(NowText()));
    v.Child("status").Set("phase", Value::String("Terminating"));
    return Deleted{StoreUpdate(r, std::move(v), old), false};
  }
  const Value* finalizers = v.At({"spec", "finalizers"});
  if (finalizers != nullptr && !finalizers->empty()) {
    return Conflict(r.In(0), old->name,
                    "The system is ensuring all content is removed from this namespace.  Upon completion, this "
                    "namespace will automatically be purged by the system.");
  }
  Remove(r, Last(*old));
  return Deleted{old, false};
}

// A pod on a node is only marked with a deletion time, unless its grace period is 0, because its kubelet would have to
// stop it. A pod without a node, or one that has finished, is deleted at once. Any object with finalizers is marked and
// waits for their removal.
Result<Deleted> Registry::Delete(const ResourceInfo& r, size_t version, std::string_view ns, std::string_view name,
                                 const DeleteRequest& how) {
  ObjectPtr old = store_->Get(r, ns, name);
  if (old == nullptr) return NotFound(r.In(version), name);
  if (how.uid.has_value() && *how.uid != old->uid) {
    return Conflict({r.versions[version].group, r.kind}, name,
                    absl::StrCat("the UID in the precondition (", *how.uid, ") does not match the UID in record (",
                                 old->uid, "). The object might have been deleted and then recreated"));
  }
  if (how.resource_version.has_value() && *how.resource_version != std::to_string(old->rv)) {
    return Conflict({r.versions[version].group, r.kind}, name,
                    absl::StrCat("the ResourceVersion in the precondition (", *how.resource_version,
                                 ") does not match the ResourceVersion in record (", old->rv,
                                 "). The object might have been modified"));
  }
  if (r.kind == "Namespace") return DeleteNamespace(r, old);

  Value v = store_->ReadCopy(r, r.other_type == nullptr ? version : 0, *old);
  Value& meta = *v.Find("metadata");
  const Value* deletion = meta.Find("deletionTimestamp");
  bool deleting = deletion != nullptr && !deletion->IsNull();
  bool graceful = false;
  int64_t period = 0;
  if (r.kind == "Pod" && deleting) {
    const Value* set = meta.Find("deletionGracePeriodSeconds");
    if (set != nullptr && !set->IsNull()) {
      int64_t current = set->AsInt();
      // Only a shorter grace period changes anything.
      if (!how.grace_seconds.has_value() || *how.grace_seconds >= current) return Deleted{old, false};
      period = std::max<int64_t>(*how.grace_seconds, 0);
      absl::Time at;
      std::string why;
      if (absl::ParseTime(absl::RFC3339_full, deletion->text(), &at, &why)) {
        meta.Set("deletionTimestamp", Value::String(TimeText(at - absl::Seconds(current - period))));
      }
      meta.Set("deletionGracePeriodSeconds", Value::Int(period));
      graceful = true;
    }
  } else if (r.kind == "Pod") {
    constexpr int64_t kDefaultGrace = 30;
    const Value& as_is = v;
    const Value* own = as_is.At({"spec", "terminationGracePeriodSeconds"});
    period = how.grace_seconds.value_or(own != nullptr && !own->IsNull() ? own->AsInt() : kDefaultGrace);
    const Value* node = as_is.At({"spec", "nodeName"});
    const Value* phase = as_is.At({"status", "phase"});
    bool finished = phase != nullptr && (phase->text() == "Succeeded" || phase->text() == "Failed");
    if (node == nullptr || node->text().empty() || finished || period < 0) period = 0;
    meta.SetAll({{"deletionTimestamp", TimeText(clock_->Wall() + absl::Seconds(period))},
                 {"deletionGracePeriodSeconds", period}});
    BumpGeneration(&meta);
    graceful = true;
  }
  bool finalizers_changed = SetDeletionFinalizers(r, version, how, &meta);
  bool pending = HasFinalizers(meta);
  if (!graceful && pending && !deleting) {
    meta.SetAll({{"deletionTimestamp", NowText()}, {"deletionGracePeriodSeconds", 0}});
    BumpGeneration(&meta);
  }
  ObjectPtr last = old;
  if (graceful || pending || finalizers_changed) last = StoreUpdate(r, std::move(v), old);
  if (pending || period > 0) return Deleted{last, false};
  Remove(r, Last(*last));
  return Deleted{last, !r.answers_object};
}

std::optional<ApiError> Registry::Bind(std::string_view ns, const Value& binding) {
  const Value* target = binding.Find("target");
  std::string_view kind = target == nullptr ? std::string_view() : target->Str("kind");
  std::string_view node = target == nullptr ? std::string_view() : target->Str("name");
  std::string_view pod =
      binding.Find("metadata") == nullptr ? std::string_view() : binding.Find("metadata")->Str("name");
  if (pod.empty()) return BadRequest("Name parameter required.");
  FieldErrors errors;
  if (!kind.empty() && kind != "Node") errors.push_back(NotSupported("target.kind", kind, {"Node", "<empty>"}));
  if (node.empty()) errors.push_back(Required("target.name"));
  if (errors.size() == 1) return InternalError(errors[0].Text());
  if (errors.size() > 1) return InternalError(absl::StrCat("[", errors[0].Text(), ", ", errors[1].Text(), "]"));
  return Bind(ns, pod, node, binding.At({"metadata", "annotations"}), binding.Find("metadata")->Str("uid"));
}

std::optional<ApiError> Registry::Bind(std::string_view ns, std::string_view pod, std::string_view node,
                                       const Value* annotations, std::string_view uid) {
  const ResourceInfo* pods = &catalog().Core("pods");
  ObjectPtr old = store_->Get(*pods, ns, pod);
  if (old == nullptr) return NotFound({"", "pods"}, pod);
  const bool compares_uid = validation::kUidsOfBindings.Has(catalog().release());
  if (compares_uid && !uid.empty() && uid != old->uid)
    return Conflict({"", "pods"}, pod, UidMismatch(*pods, *old, uid));
  Value v = store_->ReadCopy(*pods, 0, *old);
  const Value* deletion = v.At({"metadata", "deletionTimestamp"});
  GroupResource binding{"", "pods/binding"};
  if (deletion != nullptr && !deletion->IsNull()) {
    return Conflict(binding, pod,
                    absl::StrCat("pod ", std::string(pod), " is being deleted, cannot be assigned to a host"));
  }
  Value& spec = v.Child("spec");
  if (!spec.Str("nodeName").empty()) {
    return Conflict(
        binding, pod,
        absl::StrCat("pod ", std::string(pod), " is already assigned to node ", GoQuoted(spec.Str("nodeName"))));
  }
  const Value* gates = std::as_const(spec).Find("schedulingGates");
  if (gates != nullptr && !gates->empty()) {
    return Conflict(binding, pod, absl::StrCat("pod ", std::string(pod), " has non-empty .spec.schedulingGates"));
  }
  spec.Set("nodeName", Value::String(node));
  if (annotations != nullptr && !annotations->empty()) {
    Value& own = v.Child("metadata").Child("annotations");
    for (size_t i = 0; i < annotations->keys.size(); ++i) own.Set(annotations->keys[i], annotations->items[i]);
  }
  Value condition = Value::Object({{"type", "PodScheduled"}, {"status", "True"}});
  condition.Set("lastProbeTime", Value());
  condition.Set("lastTransitionTime", Value::String(NowText()));
  if (const Value* generation = v.At({"metadata", "generation"}); generation != nullptr && pods->has_generation) {
    condition.Set("observedGeneration", *generation);
  }
  Value& status = v.Child("status");
  if (validation::kBindingsEndNominations.Has(catalog().release())) status.Erase("nominatedNodeName");
  Value* conditions = status.Find("conditions");
  if (conditions == nullptr || !conditions->IsArray()) conditions = &status.Set("conditions", Value::Array());
  auto same = std::find_if(conditions->items.begin(), conditions->items.end(),
                           [](const Value& c) { return c.Str("type") == "PodScheduled"; });
  if (same == conditions->items.end()) {
    conditions->Append(std::move(condition));
  } else {
    *same = std::move(condition);
  }
  if (dry_run_) return std::nullopt;
  Put(*pods, store_->Make(*pods, std::move(v), NextRv()));
  return std::nullopt;
}

// Loaded objects come from a running cluster or from a manifest, so nothing is validated. A uid that occurs twice is an
// error, because the scheduler identifies pods by uid.
std::optional<std::string> Registry::Load(const ResourceInfo& r, size_t version, Value v, bool verbatim) {
  if (!v.IsObject()) return absl::StrCat("must be an object, not ", ToJson(v).substr(0, 60));
  Value* meta = v.Find("metadata");
  if (meta == nullptr || !meta->IsObject()) return "metadata is missing";
  std::string name(meta->Str("name"));
  if (name.empty() && !verbatim) {
    name = GeneratedName(meta->Str("generateName"));
    if (!name.empty()) meta->Set("name", Value::String(name));
  }
  if (name.empty()) return "metadata.name is missing";
  if (r.namespaced && meta->Str("namespace").empty()) meta->Set("namespace", Value::String("default"));
  if (!r.namespaced) meta->Erase("namespace");
  const bool has_uid = !meta->Str("uid").empty();
  if (!has_uid) meta->Set("uid", Value::String(NewUid()));
  const std::string uid(meta->Str("uid"));
  std::string ns(r.namespaced ? meta->Str("namespace") : std::string_view());
  const ResourceInfo* namespaces = &catalog().Core("namespaces");
  if (r.namespaced && store_->Get(*namespaces, "", ns) == nullptr) {
    Value n = Value::Object();
    n.Child("metadata").Set("name", Value::String(ns));
    auto made = Create(*namespaces, 0, "", std::move(n));
    if (auto* error = std::get_if<ApiError>(&made)) return error->message;
  }
  if (store_->Get(r, ns, name) != nullptr && r.kind != "Namespace") {
    return absl::StrCat(r.kind, " ", GoQuoted(ns.empty() ? name : absl::StrCat(ns, "/", name)), " occurs twice");
  }
  if (has_uid) {
    auto [owner, is_new] = loaded_uids_.emplace(uid, absl::StrCat(r.kind, " ", ns.empty() ? name : ns + "/" + name));
    if (!is_new) {
      return absl::StrCat("metadata.uid: ", GoQuoted(uid), " is the uid of ", owner->second,
                          " already; every object needs a uid of its own");
    }
  }
  if (verbatim) {
    Put(r, MakeVerbatimObject(r, v, NextRv()));
    return std::nullopt;
  }
  ApplyDefaults(r, r.versions[version], &v);
  FieldErrors invalid;
  if (auto refused = Complete(r, version, &v, true, &invalid)) return refused->message;
  if (!invalid.empty()) return invalid[0].Text();
  if (r.kind == "Job") world::CompleteJob(world::RulesOf(r.release), &v);
  Value* metadata = v.Find("metadata");
  if (r.has_generation && metadata->Find("generation") == nullptr) metadata->Set("generation", Value::Int(1));
  if (metadata->Str("creationTimestamp").empty()) metadata->Set("creationTimestamp", Value::String(NowText()));
  if (r.kind == "Pod") {
    Value& status = v.Child("status");
    if (status.Str("phase").empty()) status.Set("phase", Value::String("Pending"));
    if (status.Str("qosClass").empty()) status.Set("qosClass", Value::String(QosClass(v)));
  } else if (r.kind == "Namespace") {
    Value& spec = v.Child("spec");
    if (spec.Find("finalizers") == nullptr) spec.Set("finalizers", Value::Array()).Append(Value::String("kubernetes"));
  } else if (r.kind == "Service" && v.Child("spec").Str("clusterIP").empty()) {
    v.Child("spec").Set("clusterIP", Value::String(NewClusterIp()));
  }
  Put(r, MakeObject(r, v, NextRv()));
  return std::nullopt;
}

void Registry::CreateInitialObjects(int64_t secure_port) {
  loaded_uids_.clear();
  const ResourceInfo* namespaces = &catalog().Core("namespaces");
  for (std::string_view name : {"default", "kube-public", "kube-system", "kube-node-lease"}) {
    if (name == "kube-node-lease" && !validation::kNodeLeases.Has(catalog().release())) continue;
    Value v = Value::Object();
    v.Child("metadata").Set("name", Value::String(name));
    Create(*namespaces, 0, "", std::move(v));
  }
  auto service =
      ParseJson(R"({"metadata":{"name":"kubernetes","labels":{"component":"apiserver","provider":"kubernetes"}},
    "spec":{"ports":[{"name":"https","port":443}],"clusterIP":"10.0.0.1","sessionAffinity":"ClientIP"}})");
  service->At({"spec", "ports"})->items[0].Set("targetPort", Value::Int(secure_port));
  Create(catalog().Core("services"), 0, "default", *std::move(service));
  if (!validation::kClientAuthorities.Has(catalog().release())) return;
  // Schedulers read from this ConfigMap which certificate authorities they may trust for clients of their own pages.
  // None is configured here.
  Value authentication = Value::Object();
  authentication.Child("metadata").Set("name", Value::String("extension-apiserver-authentication"));
  authentication.Set("data", Value::Object());
  Create(catalog().Core("configmaps"), 0, "kube-system", std::move(authentication));
  const ResourceInfo* classes = catalog().Find("scheduling.k8s.io", "v1", "priorityclasses");
  for (auto [name, value] : {std::pair("system-cluster-critical", world::kSystemClusterCritical),
                             {"system-node-critical", world::kSystemNodeCritical}}) {
    Value v = Value::Object();
    v.Child("metadata").Set("name", Value::String(name));
    v.Set("value", Value::Int(value));
    Create(*classes, 0, "", std::move(v));
  }
}

}  // namespace berth::apiserver
