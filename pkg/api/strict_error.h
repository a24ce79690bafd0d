// What the strict decoder of Kubernetes 1.16 to 1.22 says about a member that a type does not have. It decodes the
// document as compact JSON with sorted keys, and shows where it stands there.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "pkg/api/json.h"

namespace berth::api {

// A member whose value is an object, or a list of objects, of a type that Go names.
struct GoMember {
  std::string_view name;     // "profiles"
  std::string_view go_name;  // "Profiles"
  std::string_view type;     // "v1beta1.KubeSchedulerProfile"
  bool list = false;
};

// Returns for the member with this path, such as "profiles[0].plugins.foo":
//   v1beta1.KubeSchedulerConfiguration.Profiles: []v1beta1.KubeSchedulerProfile: v1beta1.KubeSchedulerProfile.Plugins:
//   v1beta1.Plugins.ReadObject: found unknown field: foo, error found in #10 byte of ...|lugins":{"foo":1}}]}|...,
//   bigger context ...|...|...
// `type` is that of the document, and `members` are those that lead to other types. Keys and certificates are not
// shown. A member that follows may add its name in the real text; it does not here.
std::string UnknownMemberError(Json document, std::string_view path, std::string_view type,
                               std::span<const GoMember> members);

}  // namespace berth::api
