// Validation of what clients send, in 1.10's order and words, as far as a scheduler's world needs it: names, labels,
// pods, nodes, events, budgets. Everything else is stored as given.
#pragma once
#include <string>
#include <string_view>

#include "pkg/api/validation/field_error.h"
#include "pkg/api/validation/resources.h"
#include "pkg/api/validation/value.h"

namespace berth::validation {

// A place in an object, written as errors name it: "spec.containers[0].resources.limits[cpu]". Cheap until printed.
class Path {
 public:
  explicit Path(std::string_view name) : name_(name) {}
  Path operator/(std::string_view child) const { return Path(this, child, -1, false); }
  Path operator[](size_t index) const { return Path(this, "", static_cast<int64_t>(index), false); }
  Path Key(std::string_view key) const { return Path(this, key, -1, true); }
  std::string str() const;

 private:
  Path(const Path* parent, std::string_view name, int64_t index, bool key)
      : parent_(parent), name_(name), index_(index), key_(key) {}
  const Path* parent_ = nullptr;  // outlives this one: paths are built down the call stack
  std::string_view name_;
  int64_t index_ = -1;
  bool key_ = false;
};

FieldErrors ValidateCreate(const ResourceInfo& r, const Value& object);
// `object` as it would be stored; metadata has been completed from `old`.
FieldErrors ValidateUpdate(const ResourceInfo& r, const Value& object, const Value& old);

// ---- pieces ----
void ValidateObjectMeta(const ResourceInfo& r, const Value& object, FieldErrors* errors);
void ValidateLabels(const Value* labels, const Path& at, FieldErrors* errors);
void ValidateLabelName(std::string_view name, const Path& at, FieldErrors* errors);
void ValidateLabelSelector(const Value* selector, const Path& at, FieldErrors* errors);
void ValidateNodeSelector(const Value& selector, const Path& at, FieldErrors* errors);
// A quantity: not negative, and whole for resources that are counted in pieces.
void ValidateQuantity(std::string_view resource, std::string_view quantity, const std::string& field,
                      FieldErrors* errors);
void ValidatePodSpec(const Value& spec, const Path& at, FieldErrors* errors);
void ValidatePodUpdate(const Value& pod, const Value& old, Release release, FieldErrors* errors);
void ValidateTolerations(const Value* tolerations, const Path& at, FieldErrors* errors);

// A 1.10 extended resource: "example.com/gpu", not of kubernetes.io.
bool IsExtendedResource(std::string_view name);

}  // namespace berth::validation
