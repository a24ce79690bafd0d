#include "pkg/simulate/volumes.h"

#include <absl/strings/str_cat.h>

#include <functional>
#include <utility>

#include "pkg/api/decode.h"
#include "pkg/api/validation/value.h"

namespace berth::simulate {
namespace {

using validation::Value;

// Returns the object that the JSON describes, so that a recording, which has only the JSON, shows the same one; null if
// it describes none.
template <typename T>
std::shared_ptr<const T> Decoded(const Value& fields) {
  api::Document document;
  if (!document.Parse(validation::ToJson(fields)).ok()) return nullptr;
  if constexpr (std::is_same_v<T, api::PersistentVolume>) {
    auto decoded = api::DecodePersistentVolume(document.root());
    return decoded.ok() ? *decoded : nullptr;
  } else {
    auto decoded = api::DecodePersistentVolumeClaim(document.root());
    return decoded.ok() ? *decoded : nullptr;
  }
}

// Returns the object with further members. REQUIRES: decoders keep the scheduling fields.
template <typename T>
std::shared_ptr<const T> WithMembers(const std::shared_ptr<const T>& object,
                                     const std::function<void(Value*)>& members) {
  if (object->meta.fields == nullptr) return object;
  auto fields = validation::ParseJson(*object->meta.fields);
  if (!fields.ok()) return object;
  members(&*fields);
  auto made = Decoded<T>(*fields);
  return made != nullptr ? made : object;
}

Value ReferenceTo(std::string_view ns, std::string_view name, std::string_view uid) {
  return Value::Object({{"kind", "PersistentVolumeClaim"}, {"namespace", ns}, {"name", name}, {"uid", uid}});
}
Value ReferenceTo(const api::PersistentVolumeClaim& claim) {
  return ReferenceTo(claim.meta.ns.str(), claim.meta.name, claim.meta.uid);
}

// Returns the JSON of an object of which decoders have kept no fields, because it was not decoded but provisioned when
// the input was read.
Value NamedFields(const api::ObjectMeta& meta) {
  Value fields = Value::Object();
  fields.Child("metadata").Set("name", Value::String(meta.name));
  fields.Child("metadata").Set("uid", Value::String(meta.uid));
  return fields;
}
Value FieldsOfProvisioned(const api::PersistentVolume& volume) {
  Value fields = NamedFields(volume.meta);
  Value& spec = fields.Child("spec");
  if (volume.capacity) spec.Child("capacity").Set("storage", Value::String(volume.capacity->String()));
  Value modes = Value::Array();
  for (const util::Symbol mode : volume.access_modes) modes.Append(Value::String(mode.str()));
  spec.Set("accessModes", std::move(modes));
  if (volume.volume_mode) spec.Set("volumeMode", Value::String(*volume.volume_mode));
  spec.Set("storageClassName", Value::String(volume.storage_class_name));
  if (volume.source == api::PersistentVolume::Source::kCsi) {
    spec.Child("csi").Set("driver", Value::String(volume.csi_driver.str()));
    spec.Child("csi").Set("volumeHandle", Value::String(volume.source_id));
  }
  return fields;
}

// Set what was done to an object when the input was read, such as binding claims at once, in its JSON.
void SetState(const api::PersistentVolume& volume, Value* fields) {
  if (!volume.phase.empty()) fields->Child("status").Set("phase", Value::String(volume.phase));
  if (volume.claim_ref) {
    const auto& ref = *volume.claim_ref;
    fields->Child("spec").Set("claimRef", ReferenceTo(ref.ns, ref.name, ref.uid));
  }
  if (volume.bound_by_controller) {
    fields->Child("metadata").Child("annotations").Set("pv.kubernetes.io/bound-by-controller", Value::String("yes"));
  }
}
void SetState(const api::PersistentVolumeClaim& claim, Value* fields) {
  if (!claim.phase.empty()) fields->Child("status").Set("phase", Value::String(claim.phase));
  if (!claim.volume_name.empty()) fields->Child("spec").Set("volumeName", Value::String(claim.volume_name));
  if (claim.storage_class_name) {
    fields->Child("spec").Set("storageClassName", Value::String(*claim.storage_class_name));
  }
  fields->Child("metadata").Set("uid", Value::String(claim.meta.uid));
  if (claim.bind_completed) {
    fields->Child("metadata").Child("annotations").Set("pv.kubernetes.io/bind-completed", Value::String("yes"));
  }
}

}  // namespace

const Volumes::VolumePtr& Volumes::Add(const VolumePtr& volume) {
  VolumePtr& known = volumes_[volume->meta.name];
  auto fields = volume->meta.fields == nullptr ? absl::StatusOr<Value>(FieldsOfProvisioned(*volume))
                                               : validation::ParseJson(*volume->meta.fields);
  if (fields.ok()) {
    SetState(*volume, &*fields);
    known = Decoded<api::PersistentVolume>(*fields);
  }
  if (known == nullptr) known = volume;
  return known;
}

const Volumes::ClaimPtr& Volumes::Add(const ClaimPtr& claim) {
  ClaimPtr& known = claims_[claim->meta.Key()];
  known = WithMembers(claim, [&](Value* fields) { SetState(*claim, fields); });
  return known;
}

void Volumes::Reserve(const VolumePtr& volume, const ClaimPtr& claim, const scheduler::Reply& answer) {
  VolumePtr& known = volumes_[volume->meta.name];
  const VolumePtr before = known != nullptr ? known : volume;
  known = WithMembers(before, [&](Value* fields) {
    fields->Child("metadata").Set("resourceVersion", Value::String(pods_->NextVersion()));
    fields->Child("spec").Set("claimRef", ReferenceTo(*claim));
  });
  const VolumePtr reserved = known;
  session_->Reply(answer);
  session_->Show<api::PersistentVolume>(before, reserved);
  BindClaim(claim, volume->meta.name);
}

void Volumes::BindClaim(const ClaimPtr& claim, const std::string& volume) {
  ClaimPtr& known = claims_[claim->meta.Key()];
  const ClaimPtr before = known;
  known = WithMembers(before != nullptr ? before : claim, [&](Value* fields) {
    fields->Child("spec").Set("volumeName", Value::String(volume));
    Value& meta = fields->Child("metadata");
    meta.Set("resourceVersion", Value::String(pods_->NextVersion()));
    Value& annotations = meta.Child("annotations");
    annotations.Set("pv.kubernetes.io/bind-completed", Value::String("yes"));
    // The claim as the scheduler wrote it has the node; what is known of it may be older.
    if (claim->selected_node) {
      annotations.Set("volume.kubernetes.io/selected-node", Value::String(*claim->selected_node));
    }
    fields->Child("status").Set("phase", Value::String("Bound"));
  });
  const ClaimPtr bound = known;
  session_->Show<api::PersistentVolumeClaim>(before, bound);
  session_->Changed();
}

void Volumes::Provision(const ClaimPtr& claim, const scheduler::Reply& answer) {
  const std::string name = absl::StrCat("pvc-", claim->meta.uid.empty() ? claim->meta.name : claim->meta.uid);
  Value fields = Value::Object();
  Value& meta = fields.Child("metadata");
  meta.SetAll({{"name", name}, {"uid", name}, {"resourceVersion", pods_->NextVersion()}});
  Value& spec = fields.Child("spec");
  spec.Child("capacity").Set("storage", Value::String(claim->request.String()));
  Value modes = Value::Array();
  for (const util::Symbol mode : claim->access_modes) modes.Append(Value::String(mode.str()));
  spec.Set("accessModes", std::move(modes));
  if (claim->volume_mode) spec.Set("volumeMode", Value::String(*claim->volume_mode));
  spec.Set("claimRef", ReferenceTo(*claim));
  spec.Set("storageClassName", Value::String(claim->Class()));
  const VolumePtr volume = Decoded<api::PersistentVolume>(fields);
  volumes_[name] = volume;
  session_->Reply(answer);
  session_->Show<api::PersistentVolume>(nullptr, volume);
  BindClaim(claim, name);
}

}  // namespace berth::simulate
