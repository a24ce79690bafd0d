// What the strict decoder of Kubernetes 1.16 to 1.22 says about a member that a type does not have. It decodes the
// document as compact JSON with sorted keys, and shows where it stands there.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <span>
#include <string>
#include <string_view>

#include "pkg/api/json.h"
#include "pkg/api/json_writer.h"

namespace berth::api {

// A member whose value is an object, or a list of objects, of a type that Go names.
struct GoMember {
  std::string_view name;  // "profiles"
  std::string go_name;    // "Profiles"
  std::string_view type;  // "v1beta1.KubeSchedulerProfile"
  bool list = false;
};

// A document as the decoder shows it. It is written when the first error is asked for, once for all of them, because a
// document may have thousands of mistakes.
class StrictDocument {
 public:
  // `type` is that of the document, and `members` are those that lead to other types. The document that `value` is of,
  // and `members`, must outlive the object.
  StrictDocument(Json value, std::string_view type, std::span<const GoMember> members);

  // Returns for the member with this path, such as "profiles[0].plugins.foo":
  //   v1beta1.KubeSchedulerConfiguration.Profiles: []v1beta1.KubeSchedulerProfile:
  //   v1beta1.KubeSchedulerProfile.Plugins: v1beta1.Plugins.ReadObject: found unknown field: foo, error found in #10
  //   byte of ...|lugins":{"foo":1}}]}|..., bigger context ...|...|...
  // Keys and certificates are not shown. A member that follows may add its name in the real text; it does not here.
  std::string UnknownMember(std::string_view path);

 private:
  struct Place {
    size_t head = 0;    // where the member's name ends in text_; 0: the document has no such member
    std::string chain;  // what the decoder says before a mistake in the object that has the member
  };
  void Write(Json v, const std::string& path, const std::string& chain, JsonWriter* out);
  void WriteObject(Json v, const std::string& path, const std::string& chain, JsonWriter* out);
  std::string ChainOf(const Json::Member& m, const std::string& chain) const;

  Json value_;
  std::string type_;
  std::span<const GoMember> members_;
  std::string text_;                                // empty: not written yet
  absl::flat_hash_map<std::string, Place> places_;  // by path; of members with equal paths, the first one
};

}  // namespace berth::api
