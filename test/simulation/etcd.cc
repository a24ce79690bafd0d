#include "test/simulation/etcd.h"

#include <absl/strings/str_cat.h>

#include "test/simulation/json.h"

namespace berth::simulation {

ObjectPtr Etcd::Get(const std::string& resource, const std::string& key) const {
  auto table = tables_.find(resource);
  if (table == tables_.end()) return nullptr;
  auto it = table->second.find(key);
  return it == table->second.end() ? nullptr : it->second;
}

ObjectPtr Etcd::Put(const std::string& resource, const std::string& key, std::string_view json) {
  ObjectPtr& slot = tables_[resource][key];
  auto next = std::make_shared<Object>();
  next->version = version_ + 1;
  next->uid = slot != nullptr ? slot->uid : absl::StrCat("uid-", ++uids_);
  Tree t = ParseJson(json);
  SetText(&t, {"metadata", "uid"}, next->uid);
  SetText(&t, {"metadata", "resourceVersion"}, absl::StrCat(next->version));
  next->json = WriteJson(t);
  ObjectPtr before = std::exchange(slot, next);
  Add({next->version, resource, key, std::move(before), next});
  return next;
}

void Etcd::Delete(const std::string& resource, const std::string& key) {
  auto node = tables_[resource].extract(key);
  Add({version_ + 1, resource, key, std::move(node.mapped()), nullptr});
}

void Etcd::Add(Commit c) {
  version_ = c.version;
  history_.push_back(c);
  if (on_commit) on_commit(c);
}

}  // namespace berth::simulation
