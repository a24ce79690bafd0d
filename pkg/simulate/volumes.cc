#include "pkg/simulate/volumes.h"

#include <absl/strings/str_cat.h>

#include <functional>
#include <utility>

#include "pkg/api/validation/value.h"

namespace berth::simulate {
namespace {

using validation::Value;

// Returns the object with further members, also in the JSON that recordings have.
template <typename T>
std::shared_ptr<T> WithMembers(const T& object, const std::function<void(Value*)>& members) {
  auto copy = std::make_shared<T>(object);
  if (object.meta.fields == nullptr) return copy;
  auto fields = validation::ParseJson(*object.meta.fields);
  if (!fields.ok()) return copy;
  members(&*fields);
  copy->meta.fields = std::make_shared<const std::string>(validation::ToJson(*fields));
  return copy;
}

Value ReferenceTo(const api::PersistentVolumeClaim& claim) {
  Value ref;
  ref.Set("kind", Value::String("PersistentVolumeClaim"));
  ref.Set("namespace", Value::String(claim.meta.ns.str()));
  ref.Set("name", Value::String(claim.meta.name));
  ref.Set("uid", Value::String(claim.meta.uid));
  return ref;
}

}  // namespace

void Volumes::Reserve(const VolumePtr& volume, const ClaimPtr& claim, const scheduler::Reply& answer) {
  auto reserved =
      WithMembers(*volume, [&](Value* fields) { fields->Child("spec").Set("claimRef", ReferenceTo(*claim)); });
  reserved->claim_ref = api::PersistentVolume::ClaimRef{claim->meta.ns.string(), claim->meta.name, claim->meta.uid};
  reserved->meta.resource_version = pods_->NextVersion();
  const VolumePtr before = std::exchange(volumes_[volume->meta.name], reserved);
  session_->Reply(answer);
  session_->Show<api::PersistentVolume>(before, reserved);
  BindClaim(*claim, volume->meta.name);
}

void Volumes::BindClaim(const api::PersistentVolumeClaim& claim, const std::string& volume) {
  ClaimPtr& known = claims_[claim.meta.Key()];
  auto bound = WithMembers(known != nullptr ? *known : claim, [&](Value* fields) {
    fields->Child("spec").Set("volumeName", Value::String(volume));
    Value& annotations = fields->Child("metadata").Child("annotations");
    annotations.Set("pv.kubernetes.io/bind-completed", Value::String("yes"));
    if (claim.selected_node) {
      annotations.Set("volume.kubernetes.io/selected-node", Value::String(*claim.selected_node));
    }
    fields->Child("status").Set("phase", Value::String("Bound"));
  });
  // The claim as the scheduler wrote it has the node; what is known of it may be older.
  if (claim.selected_node) bound->selected_node = claim.selected_node;
  bound->volume_name = volume;
  bound->bind_completed = true;
  bound->phase = "Bound";
  bound->meta.resource_version = pods_->NextVersion();
  const ClaimPtr before = std::exchange(known, bound);
  session_->Show<api::PersistentVolumeClaim>(before, bound);
  session_->Changed();
}

void Volumes::Provision(const ClaimPtr& claim, const scheduler::Reply& answer) {
  auto volume = std::make_shared<api::PersistentVolume>();
  volume->meta.name = absl::StrCat("pvc-", claim->meta.uid.empty() ? claim->meta.name : claim->meta.uid);
  volume->meta.uid = volume->meta.name;
  volume->capacity = claim->request;
  volume->access_modes = claim->access_modes;
  volume->storage_class_name = claim->Class();
  volume->claim_ref = api::PersistentVolume::ClaimRef{claim->meta.ns.string(), claim->meta.name, claim->meta.uid};
  Value fields = Value::Object();
  fields.Child("metadata").Set("name", Value::String(volume->meta.name));
  fields.Child("metadata").Set("uid", Value::String(volume->meta.uid));
  Value& spec = fields.Child("spec");
  spec.Child("capacity").Set("storage", Value::String(claim->request.String()));
  spec.Set("claimRef", ReferenceTo(*claim));
  spec.Set("storageClassName", Value::String(volume->storage_class_name));
  volume->meta.fields = std::make_shared<const std::string>(validation::ToJson(fields));
  volumes_[volume->meta.name] = volume;
  session_->Reply(answer);
  session_->Show<api::PersistentVolume>(nullptr, volume);
  BindClaim(*claim, volume->meta.name);
}

}  // namespace berth::simulate
