// Authentication and authorization: tokens, client certificates, and a policy file with one JSON object per line, in
// the format of Kubernetes' ABAC mode. Immutable after loading.
#pragma once
#include <absl/status/statusor.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/apiserver/gate.h"
#include "pkg/apiserver/rest.h"

namespace berth::apiserver {

// Parses a token file: CSV of token,user,uid[,"group1,group2"]. Errors name line and field.
absl::StatusOr<std::map<std::string, User>> ParseTokenFile(std::string_view text);

// One rule: {"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"user":"alice" or "*",
// "group":"g" or "*","readonly":true,"namespace":"*","resource":"pods","apiGroup":"*","nonResourcePath":"/version*"}}.
struct PolicyRule {
  std::string user, group, ns, resource, api_group, non_resource_path;
  bool readonly = false;
  bool Allows(const User& user, const RequestInfo& request) const;
};
// Parses a policy file. Blank lines and lines that begin with '#' are skipped. Errors name line and field.
absl::StatusOr<std::vector<PolicyRule>> ParsePolicyFile(std::string_view text);

class AuthGate final : public Gate {
 public:
  struct Options {
    Version release;
    std::map<std::string, User> tokens;
    // Without a policy, authenticated users may do everything and others nothing (1.10's AlwaysAllow).
    std::optional<std::vector<PolicyRule>> policy;
  };
  explicit AuthGate(Options options) : options_(std::move(options)) {}
  std::optional<HttpResponse> Refuse(const HttpRequest& request, const std::optional<User>& certificate) const override;
  bool Allows(const HttpRequest& request, const std::optional<User>& certificate,
              const RequestInfo& what) const override;
  User SenderOf(const HttpRequest& request, const std::optional<User>& certificate) const override;

 private:
  // Returns the sender of the request. `*known` is false if the request has no credentials. Returns nothing if its
  // token is not the token of any user.
  std::optional<User> Sender(const HttpRequest& request, const std::optional<User>& certificate, bool* known) const;

  Options options_;
};

}  // namespace berth::apiserver
