// The service account "default" of each namespace (pkg/controller/serviceaccount, 1.36).
#include <string>
#include <utility>

#include "pkg/world/living/actors.h"

namespace berth::world::living {
namespace {

constexpr char kAccount[] = "ServiceAccount", kDefault[] = "default";

class ServiceAccounts final : public Actor {
 public:
  explicit ServiceAccounts(World* world) : world_(world) {}

  void OnChange(const Change& c) override {
    if (c.kind == "Namespace" && c.is_new) {
      world_->Enqueue(this, {"Namespace", "", std::string(NameOf(*c.object))});
    } else if (c.kind == kAccount && c.gone && NameOf(*c.object) == kDefault) {
      world_->Enqueue(this, {"Namespace", "", std::string(NamespaceOf(*c.object))});
    }
  }
  void Sync(const ObjectName& what) override {
    const ValuePtr space = world_->cluster().Get("Namespace", "", what.name);
    if (space == nullptr || IsTerminating(*space)) return;
    if (world_->cluster().Get(kAccount, what.name, kDefault) != nullptr) return;
    Value account = Value::Object();
    account.Child("metadata").Set("name", Value::String(kDefault));
    account.Child("metadata").Set("namespace", Value::String(what.name));
    world_->cluster().Create(kAccount, std::move(account));
  }

 private:
  World* world_;
};

}  // namespace

std::unique_ptr<Actor> NewServiceAccounts(World* world) {
  return std::make_unique<ServiceAccounts>(world);
}

}  // namespace berth::world::living
