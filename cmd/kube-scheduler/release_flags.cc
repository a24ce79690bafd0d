#include "cmd/kube-scheduler/release_flags.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <memory>

#include "cmd/kube-scheduler/go_text.h"
#include "pkg/http/tls.h"
#include "pkg/util/status.h"

namespace berth::kube_scheduler {
namespace {

// What the value of a flag without effect must look like.
enum class Shape : uint8_t { kActs, kText, kBool, kInt, kDuration, kQuantity };

// A flag that some releases have and others do not: since and until (exclusive) which minor version of 1.x; 0 means
// that it was not removed. Flags that are in no row exist in every release, or are Berth's own.
struct Row {
  std::string_view name;
  int since, until;
  Shape shape;
  std::string_view usage;  // of a flag without effect: why it has none
};
constexpr std::string_view kSockets = "Without effect: sockets are always bound in the same way.";
constexpr std::string_view kHttp2 = "Without effect: HTTP/2 is not served.";
constexpr std::string_view kMetrics = "Without effect: all metrics are shown, with all labels.";
constexpr std::string_view kKlog = "Without effect: log lines and files are written in one way.";
constexpr std::string_view kJson = "Without effect: log lines in JSON are written one by one to standard error.";
constexpr Row kRows[] = {
    {"algorithm-provider", 0, 23, Shape::kActs, {}},
    {"policy-config-file", 0, 23, Shape::kActs, {}},
    {"policy-configmap", 0, 23, Shape::kActs, {}},
    {"policy-configmap-namespace", 0, 23, Shape::kActs, {}},
    {"use-legacy-policy-config", 0, 23, Shape::kActs, {}},
    {"failure-domains", 0, 23, Shape::kActs, {}},
    {"hard-pod-affinity-symmetric-weight", 0, 23, Shape::kActs, {}},
    {"authentication-kubeconfig", 12, 0, Shape::kActs, {}},
    {"authentication-skip-lookup", 12, 0, Shape::kActs, {}},
    {"authentication-token-webhook-cache-ttl", 12, 0, Shape::kActs, {}},
    {"authentication-tolerate-lookup-failure", 13, 0, Shape::kActs, {}},
    {"authorization-always-allow-paths", 12, 0, Shape::kActs, {}},
    {"authorization-kubeconfig", 12, 0, Shape::kActs, {}},
    {"authorization-webhook-cache-authorized-ttl", 12, 0, Shape::kActs, {}},
    {"authorization-webhook-cache-unauthorized-ttl", 12, 0, Shape::kActs, {}},
    {"requestheader-allowed-names", 12, 0, Shape::kActs, {}},
    {"requestheader-client-ca-file", 12, 0, Shape::kActs, {}},
    {"requestheader-extra-headers-prefix", 12, 0, Shape::kActs, {}},
    {"requestheader-group-headers", 12, 0, Shape::kActs, {}},
    {"requestheader-username-headers", 12, 0, Shape::kActs, {}},
    {"requestheader-uid-headers", 32, 0, Shape::kActs, {}},
    {"tls-cipher-suites", 12, 0, Shape::kActs, {}},
    {"tls-min-version", 12, 0, Shape::kActs, {}},
    {"tls-sni-cert-key", 12, 0, Shape::kActs, {}},
    {"tls-curve-preferences", 35, 0, Shape::kText, "Without effect: OpenSSL's curves are offered."},
    {"http2-max-streams-per-connection", 12, 0, Shape::kInt, kHttp2},
    {"disable-http2-serving", 30, 0, Shape::kBool, kHttp2},
    {"permit-port-sharing", 16, 0, Shape::kBool, kSockets},
    {"permit-address-sharing", 21, 0, Shape::kBool, kSockets},
    {"show-hidden-metrics-for-version", 17, 0, Shape::kText, kMetrics},
    {"allow-metric-labels", 21, 0, Shape::kText, kMetrics},
    {"allow-metric-labels-manifest", 28, 0, Shape::kText, kMetrics},
    {"disabled-metrics", 21, 0, Shape::kText, kMetrics},
    {"experimental-logging-sanitization", 20, 24, Shape::kBool, kKlog},
    {"log-json-info-buffer-size", 23, 0, Shape::kQuantity, kJson},
    {"log-json-split-stream", 23, 0, Shape::kBool, kJson},
    {"log-text-info-buffer-size", 31, 0, Shape::kQuantity, kJson},
    {"log-text-split-stream", 31, 0, Shape::kBool, kJson},
    {"min-compatibility-version", 32, 0, Shape::kText, "Without effect: the emulated release alone decides."},
    {"add-dir-header", 15, 26, Shape::kBool, kKlog},
    {"log-file", 13, 26, Shape::kText, kKlog},
    {"log-file-max-size", 13, 26, Shape::kInt, kKlog},
    {"one-output", 20, 26, Shape::kBool, kKlog},
    {"skip-headers", 13, 26, Shape::kBool, kKlog},
    {"skip-log-headers", 14, 26, Shape::kBool, kKlog},
    {"azure-container-registry-config", 0, 24, Shape::kText, "Without effect: no images are pulled."},
};

absl::Status CheckShape(Shape shape, const std::string& text) {
  int64_t number = 0;
  bool yes = false;
  absl::Duration duration;
  switch (shape) {
    case Shape::kBool:
      return ParseBool(text, &yes);
    case Shape::kInt:
      return ParseInt(text, 64, &number);
    case Shape::kDuration:
      return ParseGoDuration(text, &duration);
    default:
      return absl::OkStatus();
  }
}

void AddWithoutEffect(FlagSet* flags, const Row& row) {
  auto value = std::make_shared<std::string>();
  Flag& f = flags->Custom(
      std::string(row.name), row.shape == Shape::kBool ? "" : "string", std::string(row.usage), "",
      [value, shape = row.shape](const std::string& s) {
        BERTH_RETURN_IF_ERROR(CheckShape(shape, s));
        *value = s;
        return absl::OkStatus();
      },
      [value] { return *value; });
  if (row.shape == Shape::kBool) f.no_value = "true";
}

using Texts = std::vector<std::string>;

// A list: the first use of the flag replaces the default, later ones add to it, as pflag's StringSlice does. `check`
// may be null.
Flag& AddList(FlagSet* flags, Texts* list, const char* name, const char* usage,
              absl::Status (*check)(const std::string&) = nullptr) {
  auto used = std::make_shared<bool>(false);
  return flags->Custom(
      name, "strings", usage, list->empty() ? "" : absl::StrCat("[", absl::StrJoin(*list, ","), "]"),
      [list, used, check](const std::string& s) {
        if (!*used) list->clear();
        *used = true;
        for (const auto& one : Texts(absl::StrSplit(s, ',', absl::SkipEmpty()))) {
          if (check != nullptr) BERTH_RETURN_IF_ERROR(check(one));
          list->push_back(one);
        }
        return absl::OkStatus();
      },
      [list] { return absl::StrCat("[", absl::StrJoin(*list, ","), "]"); });
}

absl::Status CheckCipher(const std::string& name) {
  if (http::CipherSuite(name)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("Cipher suite ", name, " not supported or doesn't exist"));
}

void AddAuthentication(FlagSet* flags, SecureServingOptions* s) {
  flags->Section("Authentication and authorization");
  flags->String(&s->authentication_kubeconfig, "authentication-kubeconfig",
                "kubeconfig file of the server that reviews tokens. Empty: the one of --kubeconfig.");
  flags->Bool(&s->skip_lookup, "authentication-skip-lookup",
              "Do not read from the cluster whose client certificates and which front proxies are trusted.");
  flags->Duration(&s->token_ttl, "authentication-token-webhook-cache-ttl", "How long a reviewed token is believed.");
  flags->Bool(&s->tolerate_lookup_failure, "authentication-tolerate-lookup-failure",
              "Go on if it cannot be read from the cluster whose client certificates are trusted; false: end.");
  flags->String(&s->authorization_kubeconfig, "authorization-kubeconfig",
                "kubeconfig file of the server that reviews access. Empty: the one of --kubeconfig.");
  AddList(flags, &s->always_allow_paths, "authorization-always-allow-paths",
          "Paths that everybody may see. A '*' at the end of one stands for anything. By default those of the health "
          "checks.",
          [](const std::string& path) {
            const size_t star = path.find('*');
            if (star == std::string::npos || star + 1 == path.size()) return absl::OkStatus();
            return absl::InvalidArgumentError(absl::StrCat("must have '*' only at its end: ", Quoted(path)));
          });
  flags->Duration(&s->authorized_ttl, "authorization-webhook-cache-authorized-ttl",
                  "How long an answer that permits access is believed.");
  flags->Duration(&s->unauthorized_ttl, "authorization-webhook-cache-unauthorized-ttl",
                  "How long an answer that refuses access is believed.");
  flags->String(&s->request_header_ca_file, "requestheader-client-ca-file",
                "File with the authorities of front proxies, which pass on the user in headers; in place of those that "
                "the cluster names.");
  AddList(flags, &s->proxy_names, "requestheader-allowed-names",
          "Common names of certificates of front proxies. Empty: any.");
  AddList(flags, &s->proxy_user_headers, "requestheader-username-headers", "Headers with the user's name.");
  AddList(flags, &s->proxy_uid_headers, "requestheader-uid-headers", "Headers with the user's uid.");
  AddList(flags, &s->proxy_group_headers, "requestheader-group-headers", "Headers with the user's groups.");
  AddList(flags, &s->proxy_extra_prefixes, "requestheader-extra-headers-prefix",
          "Prefixes of headers with more about the user.");
}

void AddTls(FlagSet* flags, SecureServingOptions* s) {
  flags->Section("Serving");
  flags->Custom(
      "tls-min-version", "string", "Oldest version of TLS: VersionTLS10, VersionTLS11, VersionTLS12, VersionTLS13.", "",
      [s](const std::string& text) {
        if (!text.empty() && !http::TlsVersion(text)) {
          return absl::InvalidArgumentError(absl::StrCat("unknown tls version ", Quoted(text)));
        }
        s->tls_min_version = text;
        return absl::OkStatus();
      },
      [s] { return s->tls_min_version; });
  AddList(flags, &s->tls_cipher_suites, "tls-cipher-suites",
          "Cipher suites for TLS 1.2 and older, by their names in Go. Those of TLS 1.3 are not configurable.",
          CheckCipher);
  flags->Custom(
      "tls-sni-cert-key", "namedCertKey",
      "Files of a certificate and its key for clients that ask for one of these hosts: cert,key:*.a.com,b.com. Without "
      "hosts, those of the certificate. May be given several times.",
      "",
      [s](const std::string& text) {
        // The part behind the colon names hosts. A path with a colon is not possible, as in Go.
        const std::vector<std::string> parts = absl::StrSplit(text, ':');
        const Texts files = absl::StrSplit(parts[0], ',');
        if (parts.size() > 2 || files.size() != 2 || files[0].empty() || files[1].empty()) {
          return absl::InvalidArgumentError("expected comma separated certificate and key file paths");
        }
        Texts names;
        if (parts.size() == 2) names = absl::StrSplit(parts[1], ',', absl::SkipEmpty());
        s->sni.push_back({files[0], files[1], std::move(names)});
        return absl::OkStatus();
      },
      [s] {
        std::string out;
        for (const auto& c : s->sni) {
          absl::StrAppend(&out, out.empty() ? "" : ";", c.cert_file, ",", c.key_file, c.names.empty() ? "" : ":",
                          absl::StrJoin(c.names, ","));
        }
        return out;
      });
}

int MinorOf(std::string_view release) {
  int minor = 0;
  const size_t dot = release.find('.');
  return dot != std::string_view::npos && absl::SimpleAtoi(util::ToAbsl(release.substr(dot + 1)), &minor) ? minor : 0;
}

}  // namespace

void AddReleaseFlags(FlagSet* flags, SecureServingOptions* secure) {
  AddAuthentication(flags, secure);
  AddTls(flags, secure);
  flags->Section("Without effect");
  for (const Row& row : kRows) {
    if (row.shape != Shape::kActs) AddWithoutEffect(flags, row);
  }
}

absl::Status CheckFlagsOfRelease(const FlagSet& flags, std::string_view release, std::vector<std::string>* warnings) {
  const int minor = MinorOf(release);
  Texts without_effect;
  for (const Row& row : kRows) {
    if (!flags.Changed(row.name)) continue;
    const std::string name = absl::StrCat("--", std::string(row.name));
    if (minor < row.since) {
      return absl::InvalidArgumentError(absl::StrCat("unknown flag: ", name, " (release ", std::string(release),
                                                     " does not have it; releases since 1.", row.since, " do)"));
    }
    if (row.until != 0 && minor >= row.until) {
      return absl::InvalidArgumentError(absl::StrCat("unknown flag: ", name, " (release ", std::string(release),
                                                     " does not have it; releases before 1.", row.until, " do)"));
    }
    if (row.shape != Shape::kActs) without_effect.push_back(name);
  }
  if (!without_effect.empty()) {
    warnings->push_back(absl::StrCat("accepted without effect: ", absl::StrJoin(without_effect, ", ")));
  }
  return absl::OkStatus();
}

}  // namespace berth::kube_scheduler
