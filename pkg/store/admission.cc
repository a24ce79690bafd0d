// Admission, as pkg/world has it, over the objects of the store; and the status of ResourceQuotas, which admission
// reads and a controller of a real cluster brings up to date after deletions.
#include "pkg/world/admission.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "pkg/store/registry.h"
#include "pkg/util/status.h"

namespace berth::apiserver {
namespace {

// The objects of a store by their kinds. Kinds that the release does not have are empty.
class StoredObjects final : public world::Objects {
 public:
  explicit StoredObjects(const Store& store) : store_(store) {}

  world::ValuePtr Get(std::string_view kind, std::string_view ns, std::string_view name) const override {
    const ResourceInfo* r = Of(kind);
    const ObjectPtr o = r == nullptr ? nullptr : store_.Get(*r, ns, name);
    return o == nullptr ? nullptr : store_.Read(*r, 0, *o);
  }
  void Each(std::string_view kind, std::string_view ns, const std::function<void(const Value&)>& f) const override {
    const ResourceInfo* r = Of(kind);
    if (r == nullptr || store_.size(*r) == 0) return;
    store_.Scan(*r, ns, "", [&](const ObjectPtr& o) {
      f(*store_.Read(*r, 0, *o));
      return true;
    });
  }

 private:
  const ResourceInfo* Of(std::string_view kind) const {
    for (const ResourceInfo& r : store_.catalog().resources()) {
      if (r.kind == kind) return &r;
    }
    return nullptr;
  }
  const Store& store_;
};

std::string NameForRefusals(const Value& v) {
  const Value& meta = validation::OrEmpty(v.Find("metadata"));
  for (std::string_view member : {"name", "generateName"}) {
    if (!meta.Str(member).empty()) return std::string(meta.Str(member));
  }
  return "Unknown";
}

// Returns the amount with the other sign.
api::Quantity Negated(const api::Quantity& amount) {
  return *api::Quantity::Parse(amount.Sign() < 0 ? amount.String().substr(1) : absl::StrCat("-", amount.String()));
}

// Returns what `quota` counts of an object, which may be absent.
world::Amounts UsageIn(const Value& quota, std::string_view kind, const std::optional<Value>& object) {
  if (!object || !world::QuotaCovers(quota, kind, *object)) return {};
  return world::QuotaUsage(kind, *object);
}

// Returns whether the status has an amount for each resource that the quota limits.
bool IsCounted(const Value& quota) {
  const world::Amounts hard = world::AmountsOf(quota.At({"spec", "hard"})),
                       used = world::AmountsOf(quota.At({"status", "used"}));
  return std::all_of(hard.begin(), hard.end(), [&](const auto& limit) { return used.contains(limit.first); });
}

}  // namespace

world::AdmissionOptions Registry::HowToAdmit(bool loading) const {
  world::AdmissionOptions options;
  options.rules = world::RulesOf(catalog().release());
  // The recorded servers of each release have the plugin Priority, some by a gate.
  options.rules.priority = true;
  options.plugins = plugins_;
  options.keeps_given_priority = options.tolerates_missing = loading;
  return options;
}

std::optional<ApiError> Registry::Complete(const ResourceInfo& r, size_t version, Value* v, bool loading,
                                           FieldErrors* invalid) const {
  const StoredObjects objects(*store_);
  auto refusal = world::Admission(HowToAdmit(loading), &objects).Complete(r.kind, v);
  if (!refusal) return std::nullopt;
  if (refusal->invalid.empty()) return ForbiddenError(r.In(version), NameForRefusals(*v), refusal->forbidden);
  for (FieldError& e : refusal->invalid) invalid->push_back(std::move(e));
  return std::nullopt;
}

std::optional<ApiError> Registry::CheckQuota(const ResourceInfo& r, size_t version, const Value& v) const {
  if (!r.namespaced || store_->size(quotas_) == 0) return std::nullopt;
  const StoredObjects objects(*store_);
  auto refusal = world::Admission(HowToAdmit(false), &objects).CheckQuota(r.kind, v);
  if (!refusal) return std::nullopt;
  return ForbiddenError(r.In(version), NameForRefusals(v), refusal->forbidden);
}

void Registry::Put(const ResourceInfo& r, ObjectPtr o) {
  if (dry_run_) return;
  const ObjectPtr before = r.namespaced && store_->size(quotas_) > 0 ? store_->Get(r, o->ns, o->name) : nullptr;
  store_->Put(r, o);
  CountInQuotas(r, before.get(), o.get());
}

void Registry::Remove(const ResourceInfo& r, ObjectPtr last) {
  if (dry_run_) return;
  store_->Remove(r, last);
  CountInQuotas(r, last.get(), nullptr);
}

void Registry::CountInQuotas(const ResourceInfo& r, const Object* before, const Object* after) {
  if (!r.namespaced || !plugins_.quota || store_->size(quotas_) == 0) return;
  std::vector<ObjectPtr> quotas;
  store_->Scan(quotas_, before != nullptr ? before->ns : after->ns, "", [&](const ObjectPtr& o) {
    quotas.push_back(o);
    return true;
  });
  if (quotas.empty()) return;
  std::optional<Value> was, is;
  if (before != nullptr) was = ToValue(r, 0, *before);
  if (after != nullptr) is = ToValue(r, 0, *after);
  const StoredObjects objects(*store_);
  for (const ObjectPtr& o : quotas) {
    Value quota = ToValue(quotas_, 0, *o);
    world::Amounts used;
    if (IsCounted(quota)) {
      used = world::AmountsOf(quota.At({"status", "used"}));
      for (const auto& [name, amount] : UsageIn(quota, r.kind, was)) {
        world::AddAmounts({{name, Negated(amount)}}, &used);
      }
      world::AddAmounts(UsageIn(quota, r.kind, is), &used);
    } else {
      Value uncounted = quota;
      uncounted.Erase("status");
      used = world::QuotaLedger(&objects).UsedOf(uncounted);
    }
    const Value* hard = quota.At({"spec", "hard"});
    world::Amounts listed;
    for (const auto& [name, most] : world::AmountsOf(hard)) listed[name] = used[name];
    Value& status = quota.Child("status");
    if (hard != nullptr) status.Set("hard", *hard);
    status.Set("used", world::ToValue(listed));
    const ObjectPtr same = MakeObject(quotas_, quota, o->rv);
    if (same->body() != o->body()) store_->Put(quotas_, WithResourceVersion(*same, store_->NextRv()));
  }
}

}  // namespace berth::apiserver
