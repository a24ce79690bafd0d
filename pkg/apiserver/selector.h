// Selects the objects of a list or watch by label selector, field selector and namespace.
#pragma once
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pkg/api/labels.h"
#include "pkg/store/api_types.h"
#include "pkg/store/object.h"
#include "pkg/store/status.h"

namespace berth::apiserver {

class ObjectSelector {
 public:
  // Selects all objects of a namespace, or of all namespaces if `ns` is empty.
  explicit ObjectSelector(std::string_view ns = "") : ns_(ns) {}

  // Parses the query parameters fieldSelector and labelSelector. The error is a 400.
  static std::variant<ObjectSelector, ApiError> Parse(const ResourceInfo& r, std::string_view ns,
                                                      std::string_view field_selector, std::string_view label_selector);
  // Restricts the selection to one name.
  void RequireName(std::string_view name);

  bool Matches(const Object& o) const;
  const std::string& ns() const { return ns_; }

 private:
  enum Place : int { kName = -1, kNamespace = -2, kInText = -3 };  // otherwise an index into Object::fields
  struct FieldTerm {
    int place = kName;
    std::string path;
    bool equal = true;
    std::string value;
  };

  std::string ns_;
  api::Selector labels_;
  util::KeptTexts texts_;  // of labels_
  std::vector<FieldTerm> fields_;
};

}  // namespace berth::apiserver
