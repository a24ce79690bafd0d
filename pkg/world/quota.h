// ResourceQuotas: what an object uses of them, and whether it may be created (pkg/quota/v1 and the admission plugin
// ResourceQuota, 1.36).
#pragma once
#include <map>
#include <string>

#include "pkg/world/amounts.h"

namespace berth::world {

// Returns what an object uses by the names of quotas: "pods", "requests.cpu", "persistentvolumeclaims",
// "count/deployments.apps". A finished pod uses only "count/pods".
Amounts QuotaUsage(std::string_view kind, const Value& object);

// Returns whether the quota is about objects like this one: its scopes match. Quotas with scopes are about pods only.
bool QuotaCovers(const Value& quota, std::string_view kind, const Value& object);

// What is used of the quotas of all namespaces. Thread-safety: none.
class QuotaLedger {
 public:
  // The count of a stored quota starts from its status.used if it has one, otherwise from the objects that exist.
  explicit QuotaLedger(const Objects* objects) : objects_(objects) {}

  // Returns why the quotas of its namespace refuse an object, in the server's words; empty if they do not. Does not
  // change anything.
  std::string Refusal(std::string_view kind, const Value& object);
  // Adds what an object uses, once it exists.
  void Add(std::string_view kind, const Value& object);
  // Starts the count of a quota with what is used of it, instead of looking for that.
  void Start(const Value& quota, Amounts used);
  // Returns what is used of a quota.
  const Amounts& UsedOf(const Value& quota);

 private:
  Amounts& Used(const Value& quota);
  const Objects* objects_;
  std::map<std::string, Amounts> used_;  // by "namespace/name"; of quotas that were asked for
};

}  // namespace berth::world
