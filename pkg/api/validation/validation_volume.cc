// Volumes of pods, claims, PersistentVolumes and StorageClasses.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <set>

#include "pkg/api/labels.h"
#include "pkg/api/quantity.h"
#include "pkg/api/validation/schema.h"
#include "pkg/api/validation/validation.h"
#include "pkg/util/go_text.h"

namespace berth::validation {
namespace {

// Members of volumes without which they are of no use.
struct NeededMember {
  std::string_view source, member;
};
constexpr NeededMember kNeeded[] = {
    {"hostPath", "path"}, {"secret", "secretName"}, {"configMap", "name"}, {"persistentVolumeClaim", "claimName"},
    {"nfs", "server"},    {"nfs", "path"},          {"csi", "driver"},     {"awsElasticBlockStore", "volumeID"},
    {"local", "path"}};

void Source(const Value& volume, std::string_view source, const Path& at, FieldErrors* errors) {
  const Value* given = volume.Find(source);
  if (given == nullptr || !given->IsObject()) return;
  const Path here = at / source;
  for (const NeededMember& needed : kNeeded) {
    if (needed.source != source || !given->Str(needed.member).empty()) continue;
    errors->push_back(Required(here / needed.member));
  }
}

// Checks what a volume is made of. `order` are the sources that a server looks at first, which determines which one it
// reports as too many. Returns their number.
size_t Sources(const Value& volume, const std::vector<std::string_view>& order,
               const std::set<std::string_view>& others, const Path& at, FieldErrors* errors) {
  std::vector<std::string_view> sources;
  for (std::string_view s : order) {
    if (volume.Find(s) != nullptr) sources.push_back(s);
  }
  for (const std::string& key : volume.keys) {
    if (!others.contains(key) && std::find(order.begin(), order.end(), key) == order.end()) sources.push_back(key);
  }
  for (size_t k = 0; k < sources.size(); ++k) {
    if (k == 0) {
      Source(volume, sources[k], at, errors);
    } else {
      errors->push_back(Forbidden(at / sources[k], "may not specify more than 1 volume type"));
    }
  }
  return sources.size();
}

void AccessModes(const Value& spec, const Path& at, std::string_view why_required, Version release,
                 FieldErrors* errors) {
  std::vector<std::string_view> known = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce"};
  if (kOncePerPod.Has(release)) known.emplace_back("ReadWriteOncePod");
  const Value& modes = OrEmpty(spec.Find("accessModes"));
  const Path here = at / "accessModes";
  if (modes.empty()) errors->push_back(Required(here, why_required));
  bool once_per_pod = false;
  for (const Value& mode : modes.items) {
    once_per_pod = once_per_pod || mode.text() == "ReadWriteOncePod";
    if (std::find(known.begin(), known.end(), mode.text()) == known.end()) {
      errors->push_back(NotSupported(here, mode.text(), known));
    }
  }
  if (once_per_pod && modes.items.size() > 1 && kOncePerPod.Has(release)) {
    errors->push_back(Forbidden(here, "may not use ReadWriteOncePod with other access modes"));
  }
}

void PositiveSize(const Value& size, const Path& at, FieldErrors* errors) {
  const auto amount = api::Quantity::Parse(size.text());
  if (!amount.ok() || amount->Sign() > 0) return;
  if (amount->Sign() < 0) errors->push_back(Invalid(at, amount->String(), "must be greater than or equal to 0"));
  errors->push_back(Invalid(at, amount->String(), "must be greater than zero"));
}

const Value& SpecOf(const Value& object) {
  return OrEmpty(object.Find("spec"));
}

void ClassName(const Value& spec, const Path& at, FieldErrors* errors) {
  const std::string_view name = spec.Str("storageClassName");
  if (!name.empty()) AddProblems(api::Dns1123SubdomainProblems(name), at / "storageClassName", name, errors);
}

// A claim may be bound once, and a bound one may ask for more.
void ClaimUpdate(const Value& claim, const Value& old, Version release, FieldErrors* errors) {
  Value now = SpecOf(claim), before = SpecOf(old);
  const Value* size = now.At({"resources", "requests", "storage"});
  const Value* old_size = before.At({"resources", "requests", "storage"});
  if (before.Str("volumeName").empty() && !now.Str("volumeName").empty()) {
    before.Set("volumeName", Value::String(now.Str("volumeName")));
  }
  // Who gives classes to claims without one does so later (RetroactiveDefaultStorageClass).
  if (kClassesComeLater.Has(release) && before.Find("storageClassName") == nullptr &&
      now.Find("storageClassName") != nullptr) {
    before.Set("storageClassName", *now.Find("storageClassName"));
  }
  const std::string_view phase = OrEmpty(old.Find("status")).Str("phase");
  std::optional<api::Quantity> wanted, had;
  if (size != nullptr && old_size != nullptr) {
    if (auto q = api::Quantity::Parse(size->text()); q.ok()) wanted = *q;
    if (auto q = api::Quantity::Parse(old_size->text()); q.ok()) had = *q;
  }
  if (phase == "Bound" && wanted && had) {
    const Value same = *old_size;
    now.Child("resources").Child("requests").Set("storage", same);
  }
  if (kAttributesChange.Has(release)) {
    now.Erase("volumeAttributesClassName");
    before.Erase("volumeAttributesClassName");
  }
  if (!EncodeAlike(now, before, TypeOf("PersistentVolumeClaimSpec", release))) {
    errors->push_back(Forbidden(
        "spec",
        absl::StrCat(kSaysLowercase.Has(release) ? "spec " : "",
                     "is immutable after creation except resources.requests ",
                     kAttributesChange.Has(release) ? "and volumeAttributesClassName " : "", "for bound claims")));
  } else if (phase == "Bound" && wanted && had && *wanted < *had) {
    errors->push_back(Forbidden("spec.resources.requests.storage", "field can not be less than previous value"));
  }
}

}  // namespace

void ValidateVolumes(const Value& spec, const Path& at, Version release, std::set<std::string_view>* names,
                     FieldErrors* errors) {
  static const std::vector<std::string_view> kOrder = {
      "emptyDir", "hostPath", "gitRepo", "gcePersistentDisk", "awsElasticBlockStore", "secret", "nfs", "iscsi"};
  std::set<std::string> seen;
  EachOf(spec, "volumes", at, [&](const Value& v, const Path& here) {
    const size_t before = errors->size();
    Sources(v, kOrder, {"name"}, here, errors);
    if (const Value* ephemeral = v.Find("ephemeral"); ephemeral != nullptr && ephemeral->IsObject()) {
      const Path within = here / "ephemeral";
      const Path claim = within / "volumeClaimTemplate";
      const Value* made = ephemeral->Find("volumeClaimTemplate");
      if (made == nullptr || !made->IsObject()) {
        errors->push_back(Required(claim));
      } else {
        ValidateClaimSpec(SpecOf(*made), claim / "spec", release, errors);
      }
    }
    ValidateNameInList(v.Str("name"), here / "name", &seen, errors);
    // A volume with a mistake is none that could be mounted.
    if (errors->size() == before) names->insert(v.Str("name"));
  });
}

void ValidateClaimSpec(const Value& spec, const Path& at, Version release, FieldErrors* errors) {
  AccessModes(spec, at, "at least 1 access mode is required", release, errors);
  ValidateLabelSelector(spec.Find("selector"), at / "selector", errors);
  const Path resources = at / "resources";
  if (const Value* size = spec.At({"resources", "requests", "storage"})) {
    PositiveSize(*size, resources.Key("storage"), errors);
  } else {
    errors->push_back(Required(resources.Key("storage")));
  }
  ClassName(spec, at, errors);
  ValidateWord(spec, "volumeMode", at, {"Block", "Filesystem"}, errors);
}

void ValidateClaim(const Value& claim, const Value* old, Version release, FieldErrors* errors) {
  ValidateClaimSpec(SpecOf(claim), Path("spec"), release, errors);
  if (old != nullptr) ClaimUpdate(claim, *old, release, errors);
}

void ValidateVolume(const Value& volume, const Value* old, Version release, FieldErrors* errors) {
  static const std::vector<std::string_view> kOrder = {"hostPath", "gcePersistentDisk", "awsElasticBlockStore"};
  static const std::set<std::string_view> kOthers = {
      "capacity",     "accessModes", "claimRef",     "persistentVolumeReclaimPolicy", "storageClassName",
      "mountOptions", "volumeMode",  "nodeAffinity", "volumeAttributesClassName"};
  const Value& spec = SpecOf(volume);
  const Path at("spec");
  AccessModes(spec, at, "", release, errors);
  const Value& capacity = OrEmpty(spec.Find("capacity"));
  if (capacity.empty()) errors->push_back(Required("spec.capacity"));
  if (!capacity.empty() && (capacity.Find("storage") == nullptr || capacity.keys.size() > 1)) {
    errors->push_back({FieldError::Type::kNotSupported, "spec.capacity",
                       absl::StrCat("Unsupported value: ", ToSortedJson(capacity), ": supported values: \"storage\"")});
  }
  EachEntry(spec, "capacity", at,
            [&](std::string_view, const Value& amount, const Path& here) { PositiveSize(amount, here, errors); });
  ValidateWord(spec, "persistentVolumeReclaimPolicy", at, {"Delete", "Recycle", "Retain"}, errors);
  const Value* affinity = spec.At({"nodeAffinity", "required"});
  if (affinity != nullptr) {
    ValidateNodeSelector(*affinity, Path("spec.nodeAffinity.required"), release, errors);
  } else if (spec.Find("nodeAffinity") != nullptr) {
    errors->push_back(Required("spec.nodeAffinity.required", "must specify required node constraints"));
  }
  if (Sources(spec, kOrder, kOthers, at, errors) == 0) {
    errors->push_back(Required("spec", "must specify a volume type"));
  }
  if (spec.Find("local") != nullptr && affinity == nullptr && kLocalNeedsAffinity.Has(release)) {
    errors->push_back(Required("spec.nodeAffinity", "Local volume requires node affinity"));
  }
  ClassName(spec, at, errors);
  ValidateWord(spec, "volumeMode", at, {"Block", "Filesystem"}, errors);
  if (old == nullptr) return;
  const Value& before = SpecOf(*old);
  const bool same_source = std::all_of(before.keys.begin(), before.keys.end(), [&](const std::string& key) {
    return kOthers.contains(key) || AreAlike(spec.Find(key), before.Find(key));
  });
  if (!same_source) {
    errors->push_back(
        Forbidden("spec.persistentvolumesource", "spec.persistentvolumesource is immutable after creation"));
  }
}

void ValidateStorageClass(const Value& storage_class, const Value* old, FieldErrors* errors) {
  if (storage_class.Str("provisioner").empty()) errors->push_back(Required("provisioner"));
  ValidateWord(storage_class, "reclaimPolicy", "", {"Delete", "Retain"}, errors);
  ValidateWord(storage_class, "volumeBindingMode", "", {"Immediate", "WaitForFirstConsumer"}, errors);
  if (old == nullptr) return;
  for (std::string_view member : {"parameters", "provisioner", "reclaimPolicy"}) {
    if (AreAlike(storage_class.Find(member), old->Find(member))) continue;
    errors->push_back(Forbidden(member, absl::StrCat("updates to ", std::string(member), " are forbidden.")));
  }
  if (storage_class.Str("volumeBindingMode") != old->Str("volumeBindingMode")) {
    errors->push_back(Invalid("volumeBindingMode", storage_class.Str("volumeBindingMode"), "field is immutable"));
  }
}

}  // namespace berth::validation
