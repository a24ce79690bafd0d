// The objects that admission and controllers look up: an interface that a store of any kind can offer, and a plain one
// in memory.
//
// Objects are values of pkg/api/validation, members of objects as in JSON. They are named by the kind of the group that
// this package reads ("PriorityClass", "LimitRange"); objects of that kind in other groups must not be offered.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "pkg/api/validation/value.h"

namespace berth::world {

using validation::Value;
using ValuePtr = std::shared_ptr<const Value>;

class Objects {
 public:
  virtual ~Objects() = default;
  // Returns the object, or null. `ns` is empty for kinds without a namespace.
  virtual ValuePtr Get(std::string_view kind, std::string_view ns, std::string_view name) const = 0;
  // Calls `f` for each object of the kind, by name, in one namespace.
  virtual void Each(std::string_view kind, std::string_view ns, const std::function<void(const Value&)>& f) const = 0;
};

// Objects in memory. Thread-safety: as a standard container.
class ObjectTable final : public Objects {
 public:
  // Adds an object, or replaces the one with its kind, namespace and name.
  void Put(std::string_view kind, Value object);
  void Remove(std::string_view kind, std::string_view ns, std::string_view name);
  bool HasKind(std::string_view kind) const { return kinds_.find(kind) != kinds_.end(); }

  ValuePtr Get(std::string_view kind, std::string_view ns, std::string_view name) const override;
  void Each(std::string_view kind, std::string_view ns, const std::function<void(const Value&)>& f) const override;
  // Calls `f` for each object of the kind, by namespace and name.
  void EachOf(std::string_view kind, const std::function<void(const Value&)>& f) const;

 private:
  using Named = std::map<std::string, ValuePtr, std::less<>>;
  using InNamespaces = std::map<std::string, Named, std::less<>>;
  std::map<std::string, InNamespaces, std::less<>> kinds_;
};

// Return metadata.name and metadata.namespace; empty when absent.
std::string_view NameOf(const Value& object);
std::string_view NamespaceOf(const Value& object);
// Returns an annotation; empty when absent.
std::string_view AnnotationOf(const Value& object, std::string_view key);
// Returns whether the object has been stored by a server: it has a uid or a resourceVersion.
bool WasStored(const Value& object);

}  // namespace berth::world
