// The ConfigMap is polled instead of watched, because it changes rarely.
#include "cmd/kube-scheduler/client_authorities.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "pkg/api/json.h"
#include "pkg/util/log_line.h"
#include "pkg/util/status.h"

namespace berth::kube_scheduler {
namespace {

constexpr char kNamespace[] = "kube-system", kName[] = "extension-apiserver-authentication";
constexpr absl::Duration kAgain = absl::Minutes(1);

// Returns the percent-decoded key of an extra value, or `text` itself if it cannot be decoded.
std::string Decoded(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
    } else if (i + 2 < text.size() && absl::ascii_isxdigit(static_cast<unsigned char>(text[i + 1])) &&
               absl::ascii_isxdigit(static_cast<unsigned char>(text[i + 2]))) {
      out += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      return text;
    }
  }
  return out;
}

absl::StatusOr<std::vector<std::string>> Names(const std::string& key, const std::string& text) {
  const auto wrong = [&] {
    return absl::InvalidArgumentError(absl::StrCat("data.", key, ": must be a JSON array of strings, not ", text));
  };
  std::vector<std::string> names;
  if (text.empty()) return names;
  api::Document document;
  if (!document.Parse(text).ok() || !document.root().IsArray()) return wrong();
  for (const auto& item : document.root().Children()) {
    if (!item.value.IsString()) return wrong();
    names.emplace_back(item.value.Text());
  }
  return names;
}

}  // namespace

std::optional<client::UserInfo> UserOfProxy(const HttpRequest& r, const FrontProxy& proxy) {
  if (!r.certificate) return std::nullopt;
  const http::Subject& subject = *r.certificate;
  const auto signs = [&](const std::string& authority) { return proxy.authorities.contains(authority); };
  if (std::none_of(subject.authorities.begin(), subject.authorities.end(), signs)) return std::nullopt;
  const auto& names = proxy.allowed_names;
  if (!names.empty() && std::find(names.begin(), names.end(), subject.common_name) == names.end()) return std::nullopt;
  client::UserInfo user;
  for (const std::string& header : proxy.user_headers) {
    if (user.name.empty()) user.name = r.Header(header);
  }
  if (user.name.empty()) return std::nullopt;
  for (const std::string& header : proxy.uid_headers) {
    if (user.uid.empty()) user.uid = r.Header(header);
  }
  for (const auto& [name, value] : r.headers) {
    for (const std::string& header : proxy.group_headers) {
      if (absl::EqualsIgnoreCase(name, header)) user.groups.push_back(value);
    }
    for (const std::string& prefix : proxy.extra_prefixes) {
      if (name.size() <= prefix.size() || !absl::StartsWithIgnoreCase(name, prefix)) continue;
      user.extra[absl::AsciiStrToLower(Decoded(name.substr(prefix.size())))].push_back(value);
    }
  }
  user.groups.emplace_back("system:authenticated");
  user.authenticated = true;
  return user;
}

absl::StatusOr<FrontProxy> ReadFrontProxy(const std::string& authorities_pem, std::vector<std::string> allowed_names,
                                          std::vector<std::string> user_headers, std::vector<std::string> uid_headers,
                                          std::vector<std::string> group_headers,
                                          std::vector<std::string> extra_prefixes) {
  auto found = http::CertificateDigests(authorities_pem);
  if (!found.ok()) return found.status();
  return FrontProxy{.authorities = Digests(found->begin(), found->end()),
                    .allowed_names = std::move(allowed_names),
                    .user_headers = std::move(user_headers),
                    .uid_headers = std::move(uid_headers),
                    .group_headers = std::move(group_headers),
                    .extra_prefixes = std::move(extra_prefixes)};
}

absl::StatusOr<ClientAuthorities> ReadClientAuthorities(const api::ConfigMap& map) {
  const auto value = [&](std::string_view key) -> std::string {
    for (const auto& [name, text] : map.data) {
      if (name == key) return text;
    }
    return "";
  };
  const auto digests = [](const char* key, const std::string& pem, Digests* out) {
    auto found = http::CertificateDigests(pem);
    if (!found.ok()) return absl::InvalidArgumentError(absl::StrCat("data.", key, ": ", util::Message(found.status())));
    out->insert(found->begin(), found->end());
    return absl::OkStatus();
  };
  ClientAuthorities out;
  out.users_pem = value("client-ca-file");
  if (!out.users_pem.empty()) {
    if (auto s = digests("client-ca-file", out.users_pem, &out.users); !s.ok()) return s;
  }
  out.proxies_pem = value("requestheader-client-ca-file");
  if (out.proxies_pem.empty()) return out;
  FrontProxy proxy;
  if (auto s = digests("requestheader-client-ca-file", out.proxies_pem, &proxy.authorities); !s.ok()) return s;
  for (const auto& [key, names] : {std::pair("requestheader-allowed-names", &proxy.allowed_names),
                                   {"requestheader-username-headers", &proxy.user_headers},
                                   {"requestheader-group-headers", &proxy.group_headers},
                                   {"requestheader-extra-headers-prefix", &proxy.extra_prefixes}}) {
    auto read = Names(key, value(key));
    if (!read.ok()) return read.status();
    *names = *std::move(read);
  }
  out.proxy = std::move(proxy);
  return out;
}

struct ClientAuthoritiesReader::Impl : std::enable_shared_from_this<Impl> {
  client::Executor* executor;
  client::Requests* requests;
  std::function<void(const ClientAuthorities&)> changed;
  std::function<void(const std::string&)> fatal;  // may be empty
  std::vector<std::pair<std::string, std::string>> last;
  bool read_once = false, failed = false;

  void Read() {
    requests->GetConfigMap(
        kNamespace, kName,
        [w = weak_from_this()](const client::ApiResult<std::shared_ptr<const api::ConfigMap>>& answer) {
          const auto self = w.lock();
          if (self == nullptr) return;
          if (answer.ok()) {
            self->Take(*answer.value);
          } else {
            self->Failed(answer.error.message);
          }
          self->executor->After(kAgain, [w] {
            if (const auto again = w.lock()) again->Read();
          });
        });
  }

  void Take(const api::ConfigMap& map) {
    if (read_once && map.data == last) return;
    auto authorities = ReadClientAuthorities(map);
    if (!authorities.ok()) return Failed(util::Message(authorities.status()));
    read_once = true;
    failed = false;
    last = map.data;
    changed(*authorities);
  }

  // Logs a failure, once until a read succeeds again.
  void Failed(const std::string& why) {
    if (!read_once && fatal) return fatal(why);
    if (std::exchange(failed, true)) return;
    util::LogLine(
        "Unable to look up the client certificate authorities to trust; those found last stay in use, or none")
        .AddObject("configMap", kNamespace, kName)
        .Error(why);
  }
};

ClientAuthoritiesReader::ClientAuthoritiesReader(client::Executor* executor, client::Requests* requests,
                                                 std::function<void(const ClientAuthorities&)> changed,
                                                 std::function<void(const std::string&)> failed)
    : impl_(std::make_shared<Impl>()) {
  impl_->executor = executor;
  impl_->requests = requests;
  impl_->changed = std::move(changed);
  impl_->fatal = std::move(failed);
}

void ClientAuthoritiesReader::Start() {
  impl_->Read();
}

}  // namespace berth::kube_scheduler
