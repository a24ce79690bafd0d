// Which objects a list or a watch is about: label selector, field selector, namespace.
#pragma once
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pkg/api/labels.h"
#include "pkg/apiserver/api_types.h"
#include "pkg/apiserver/object.h"
#include "pkg/apiserver/status.h"

namespace berth::apiserver {

class ObjectSelector {
 public:
  // Everything of a namespace; of all namespaces when it is empty.
  explicit ObjectSelector(std::string_view ns = "") : ns_(ns) {}

  // Reads the query parameters fieldSelector and labelSelector. The error is the 400 that the server answers.
  static std::variant<ObjectSelector, ApiError> Parse(const ResourceInfo& r, std::string_view ns,
                                                      std::string_view field_selector, std::string_view label_selector);
  // Selects one object only.
  void RequireName(std::string_view name);

  bool Matches(const Object& o) const;
  const std::string& ns() const { return ns_; }

 private:
  enum Place : int { kName = -1, kNamespace = -2, kInText = -3 };  // else an index into Object::fields
  struct FieldTerm {
    int place = kName;
    std::string path;
    bool equal = true;
    std::string value;
  };

  std::string ns_;
  api::Selector labels_;
  std::vector<FieldTerm> fields_;
};

}  // namespace berth::apiserver
