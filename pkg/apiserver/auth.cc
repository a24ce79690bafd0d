// Files are parsed line by line with errors that name the line. The order of checks in Refuse() is that of a real
// server: first who the sender is (401), then what the sender may do (403).
#include "pkg/apiserver/auth.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "pkg/store/api_types.h"
#include "pkg/util/csv.h"
#include "pkg/util/status.h"

namespace berth::apiserver {
namespace {

template <typename F>
absl::Status EachLine(std::string_view text, F f) {
  size_t number = 0;
  while (!text.empty()) {
    size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos || line.starts_with('#')) continue;
    if (std::string why = f(line); !why.empty()) return util::InvalidArgument(absl::StrCat("line ", number, ": ", why));
  }
  return absl::OkStatus();
}

bool Matches(std::string_view rule, std::string_view value) {
  return rule == "*" || rule == value;
}

}  // namespace

absl::StatusOr<std::map<std::string, User>> ParseTokenFile(std::string_view text) {
  std::map<std::string, User> tokens;
  absl::Status s = EachLine(text, [&](std::string_view line) -> std::string {
    std::vector<std::string_view> fields, groups;
    std::vector<std::string> unquoted, unquoted_groups;
    if (!util::SplitCsv(line, &fields, &unquoted)) return "a quote is not closed";
    if (fields.size() < 3) return "must have three fields: token,user,uid[,\"group1,group2\"]";
    if (fields[0].empty()) return "the token is empty";
    if (fields[1].empty()) return "the user is empty";
    if (fields.size() > 3 && !util::SplitCsv(fields[3], &groups, &unquoted_groups)) return "a quote is not closed";
    User user{std::string(fields[1]), {groups.begin(), groups.end()}};
    std::erase(user.groups, "");
    if (!tokens.emplace(std::string(fields[0]), std::move(user)).second) return "the token occurs twice";
    return "";
  });
  if (!s.ok()) return s;
  return tokens;
}

bool PolicyRule::Allows(const User& who, const RequestInfo& request) const {
  bool subject = false;
  if (!user.empty()) subject |= Matches(user, who.name);
  if (!group.empty()) {
    subject |= group == "*" || std::find(who.groups.begin(), who.groups.end(), group) != who.groups.end();
  }
  if (!subject) return false;
  bool reads = request.verb == "get" || request.verb == "list" || request.verb == "watch";
  if (readonly && !reads) return false;
  if (!request.is_resource) {
    if (non_resource_path.ends_with('*')) {
      return std::string_view(request.path)
          .starts_with(std::string_view(non_resource_path).substr(0, non_resource_path.size() - 1));
    }
    return !non_resource_path.empty() && non_resource_path == request.path;
  }
  return Matches(ns, request.ns) && Matches(resource, request.resource) && Matches(api_group, request.group);
}

absl::StatusOr<std::vector<PolicyRule>> ParsePolicyFile(std::string_view text) {
  std::vector<PolicyRule> rules;
  absl::Status s = EachLine(text, [&](std::string_view line) -> std::string {
    auto v = ParseJson(line);
    if (!v.ok()) return util::Message(v.status());
    if (!v->IsObject()) return "must be an object";
    if (!v->Str("kind").empty() && v->Str("kind") != "Policy")
      return absl::StrCat("kind: ", GoQuoted(v->Str("kind")), " is not \"Policy\"");
    const Value* spec = v->Find("spec");
    if (spec == nullptr || !spec->IsObject()) return "spec: must be an object";
    PolicyRule rule;
    const std::pair<std::string_view, std::string*> texts[] = {
        {"user", &rule.user},         {"group", &rule.group},        {"namespace", &rule.ns},
        {"resource", &rule.resource}, {"apiGroup", &rule.api_group}, {"nonResourcePath", &rule.non_resource_path}};
    for (size_t i = 0; i < spec->keys.size(); ++i) {
      const std::string& key = spec->keys[i];
      const Value& value = spec->items[i];
      if (key == "readonly") {
        if (!value.IsBool()) return "spec.readonly: must be true or false, not " + ToJson(value);
        rule.readonly = value.AsBool();
        continue;
      }
      auto known = std::find_if(std::begin(texts), std::end(texts), [&](const auto& t) { return t.first == key; });
      if (known == std::end(texts)) {
        return absl::StrCat("spec.", key,
                            ": unknown; user, group, readonly, namespace, resource, apiGroup and nonResourcePath are");
      }
      if (!value.IsString()) return absl::StrCat("spec.", key, ": must be a string, not ", ToJson(value));
      *known->second = value.text();
    }
    if (rule.user.empty() && rule.group.empty()) return "spec: must have a user or a group (\"*\" for everyone)";
    rules.push_back(std::move(rule));
    return "";
  });
  if (!s.ok()) return s;
  return rules;
}

// A bearer token takes precedence over a certificate. An unknown token is an error and does not make the request
// anonymous.
std::optional<User> AuthGate::Sender(const HttpRequest& request, const std::optional<User>& certificate,
                                     bool* known) const {
  User user{"system:anonymous", {"system:unauthenticated"}};
  *known = false;
  constexpr std::string_view kBearer = "Bearer ";
  if (absl::StartsWithIgnoreCase(request.authorization, kBearer.data())) {
    auto it = options_.tokens.find(request.authorization.substr(kBearer.size()));
    if (it == options_.tokens.end()) return std::nullopt;
    user = it->second;
    *known = true;
  } else if (certificate.has_value()) {
    user = *certificate;
    *known = true;
  }
  if (*known) user.groups.emplace_back("system:authenticated");
  return user;
}

bool AuthGate::Allows(const HttpRequest& request, const std::optional<User>& certificate,
                      const RequestInfo& what) const {
  bool known = false;
  std::optional<User> user = Sender(request, certificate, &known);
  if (!user.has_value()) return false;
  if (!options_.policy.has_value()) return known;
  return std::any_of(options_.policy->begin(), options_.policy->end(),
                     [&](const PolicyRule& rule) { return rule.Allows(*user, what); });
}

User AuthGate::SenderOf(const HttpRequest& request, const std::optional<User>& certificate) const {
  bool known = false;
  return Sender(request, certificate, &known).value_or(User{});
}

std::optional<HttpResponse> AuthGate::Refuse(const HttpRequest& request, const std::optional<User>& certificate) const {
  bool known = false;
  std::optional<User> sender = Sender(request, certificate, &known);
  if (!sender.has_value()) return Api::ErrorResponse(request, Unauthorized());
  const User& user = *sender;
  if (!options_.policy.has_value()) {
    if (known) return std::nullopt;
    return Api::ErrorResponse(request, Unauthorized());
  }
  RequestInfo what = Api::Describe(Catalog::Of(options_.release), request);
  // Health and version may be read without authentication.
  if (!what.is_resource && what.verb == "get" &&
      (what.path.starts_with("/healthz") || what.path == "/livez" || what.path == "/readyz" || what.path == "/version"))
    return std::nullopt;
  // Every authenticated user may ask for their own rights and who they are.
  if (known && (what.resource == "selfsubjectaccessreviews" || what.resource == "selfsubjectrulesreviews" ||
                what.resource == "selfsubjectreviews")) {
    return std::nullopt;
  }
  for (const PolicyRule& rule : *options_.policy) {
    if (rule.Allows(user, what)) return std::nullopt;
  }
  HttpResponse refused;
  if (what.is_resource) {
    std::string object = what.subresource.empty() ? what.resource : absl::StrCat(what.resource, "/", what.subresource);
    if (!what.group.empty()) absl::StrAppend(&object, ".", what.group);
    std::string where = what.ns.empty() ? "at the cluster scope" : absl::StrCat("in the namespace ", GoQuoted(what.ns));
    refused = Api::ErrorResponse(request, ForbiddenError({what.group, what.resource}, what.name,
                                                         absl::StrCat("User ", GoQuoted(user.name), " cannot ",
                                                                      what.verb, " ", object, " ", where)));
  } else {
    ApiError e = ForbiddenError({}, "", "");
    e.message =
        absl::StrCat("forbidden: User ", GoQuoted(user.name), " cannot ", what.verb, " path ", GoQuoted(what.path));
    refused = Api::ErrorResponse(request, e);
  }
  refused.headers.emplace_back("X-Content-Type-Options", "nosniff");
  return refused;
}

}  // namespace berth::apiserver
