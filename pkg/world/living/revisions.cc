#include "pkg/world/living/revisions.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "pkg/util/status.h"
#include "pkg/world/workload.h"

namespace berth::world::living {
namespace {

constexpr char kKind[] = "ControllerRevision";

// Returns the revisions of an owner, oldest first.
std::vector<Value> RevisionsOf(World* world, const Value& owner) {
  std::vector<Value> all;
  world->cluster().Each(kKind, NamespaceOf(owner), [&](const Value& r) {
    const Value* controller = ControllerOf(r);
    if (controller != nullptr && controller->Str("uid") == UidOf(owner)) all.push_back(r);
  });
  std::stable_sort(all.begin(), all.end(), [](const Value& a, const Value& b) {
    return NumberAt(a, {"revision"}) < NumberAt(b, {"revision"});
  });
  return all;
}

}  // namespace

std::string KeepRevision(World* world, const Value& owner) {
  const Value& pod_template = validation::OrEmpty(owner.At({"spec", "template"}));
  const std::string hash = TemplateHash(pod_template), name = absl::StrCat(util::ToAbsl(NameOf(owner)), "-", hash);
  if (!world->cluster().Serves(kKind) || IsTerminating(owner)) return name;
  const std::vector<Value> all = RevisionsOf(world, owner);
  const int64_t last = all.empty() ? 0 : NumberAt(all.back(), {"revision"});
  if (!all.empty() && NameOf(all.back()) == name) return name;
  for (const Value& r : all) {
    if (NameOf(r) != name) continue;
    Value v = r;
    v.Set("revision", Value::Int(last + 1));
    world->cluster().UpdateStatus(kKind, std::move(v));
    return name;
  }
  Value v = Value::Object();
  Value& meta = v.Child("metadata");
  meta.SetAll({{"name", name}, {"namespace", NamespaceOf(owner)}});
  Value labels = validation::OrEmpty(pod_template.At({"metadata", "labels"}));
  labels.Set("controller.kubernetes.io/hash", Value::String(hash));
  meta.Set("labels", std::move(labels));
  meta.Set("ownerReferences", Value::Array()).Append(ControllerReference(owner));
  Value stored = pod_template;
  stored.Set("$patch", Value::String("replace"));
  v.Child("data").Child("spec").Set("template", std::move(stored));
  v.Set("revision", Value::Int(last + 1));
  world->cluster().Create(kKind, std::move(v));
  return name;
}

std::optional<Value> TemplateOfRevision(World* world, std::string_view ns, std::string_view name) {
  const ValuePtr found = world->cluster().Get(kKind, ns, name);
  const Value* t = found == nullptr ? nullptr : found->At({"data", "spec", "template"});
  if (t == nullptr) return std::nullopt;
  Value v = *t;
  v.Erase("$patch");
  return v;
}

void TrimRevisions(World* world, const Value& owner, const std::set<std::string>& used) {
  constexpr int64_t kUsual = 10;
  std::vector<Value> all = RevisionsOf(world, owner);
  std::erase_if(all, [&](const Value& r) { return used.contains(std::string(NameOf(r))); });
  const int64_t many = static_cast<int64_t>(all.size()) - NumberAt(owner, {"spec", "revisionHistoryLimit"}, kUsual);
  for (int64_t i = 0; i < many; ++i) {
    world->cluster().Delete(kKind, NamespaceOf(owner), NameOf(all[static_cast<size_t>(i)]), {});
  }
}

}  // namespace berth::world::living
