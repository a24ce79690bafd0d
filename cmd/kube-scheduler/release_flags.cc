#include "cmd/kube-scheduler/release_flags.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <memory>
#include <set>

#include "cmd/kube-scheduler/go_text.h"
#include "pkg/api/quantity.h"
#include "pkg/http/tls.h"
#include "pkg/releases/daemon_form.h"
#include "pkg/releases/releases.h"
#include "pkg/util/status.h"

namespace berth::kube_scheduler {
namespace {

// What the value of a flag without effect must look like.
enum class Shape : uint8_t {
  kActs,
  kText,
  kBool,
  kInt,
  kQuantity,
  kKeyAndValue,    // "a=b"
  kPreviousMinor,  // the release before the emulated one
};

using release::Since;
using release::Until;

// A flag that some releases have and others do not. Flags that are in no row exist in every release, or are Berth's
// own.
struct Row {
  std::string_view name;
  release::Span span;
  Shape shape;
  std::string_view usage;  // of a flag without effect: why it has none
  bool kept = false;       // whether it acts in releases without it, too, with a warning
};
constexpr std::string_view kSockets = "Ignored: sockets are always bound the same way.";
constexpr std::string_view kHttp2 = "Ignored: HTTP/2 is not served.";
constexpr std::string_view kMetrics = "Ignored: all metrics are shown, with all labels.";
constexpr std::string_view kKlog = "Ignored: there is only one form of log lines and files.";
constexpr std::string_view kJson = "Ignored: log lines are written one by one to standard error.";
constexpr Row kRows[] = {
    {"config", Since(9), Shape::kActs, {}},
    {"algorithm-provider", Until(22), Shape::kActs, {}},
    {"policy-config-file", Until(23), Shape::kActs, {}},
    {"policy-configmap", Until(23), Shape::kActs, {}},
    {"policy-configmap-namespace", Until(23), Shape::kActs, {}},
    {"use-legacy-policy-config", Until(23), Shape::kActs, {}},
    {"failure-domains", Until(19), Shape::kActs, {}},
    {"hard-pod-affinity-symmetric-weight", Until(22), Shape::kActs, {}},
    {"scheduler-name", Until(22), Shape::kActs, {}},
    {"lock-object-name", Until(28), Shape::kActs, {}},
    {"lock-object-namespace", Until(28), Shape::kActs, {}},
    // A plain port for who looks at a scheduler, and the default of logs, which scripts give to schedulers of any
    // release.
    {"address", Until(24), Shape::kActs, {}, true},
    {"port", Until(24), Shape::kActs, {}, true},
    {"logtostderr", Until(26), Shape::kActs, {}, true},
    {"alsologtostderr", Until(26), Shape::kActs, {}},
    {"log-backtrace-at", Until(26), Shape::kActs, {}},
    {"log-dir", Until(26), Shape::kActs, {}},
    {"stderrthreshold", Until(26), Shape::kActs, {}},
    {"authentication-kubeconfig", Since(12), Shape::kActs, {}},
    {"authentication-skip-lookup", Since(12), Shape::kActs, {}},
    {"authentication-token-webhook-cache-ttl", Since(12), Shape::kActs, {}},
    {"authentication-tolerate-lookup-failure", Since(13), Shape::kActs, {}},
    {"authorization-always-allow-paths", Since(12), Shape::kActs, {}},
    {"authorization-kubeconfig", Since(12), Shape::kActs, {}},
    {"authorization-webhook-cache-authorized-ttl", Since(12), Shape::kActs, {}},
    {"authorization-webhook-cache-unauthorized-ttl", Since(12), Shape::kActs, {}},
    {"requestheader-allowed-names", Since(12), Shape::kActs, {}},
    {"requestheader-client-ca-file", Since(12), Shape::kActs, {}},
    {"requestheader-extra-headers-prefix", Since(12), Shape::kActs, {}},
    {"requestheader-group-headers", Since(12), Shape::kActs, {}},
    {"requestheader-username-headers", Since(12), Shape::kActs, {}},
    {"requestheader-uid-headers", Since(32), Shape::kActs, {}},
    {"tls-cipher-suites", Since(12), Shape::kActs, {}},
    {"tls-min-version", Since(12), Shape::kActs, {}},
    {"tls-sni-cert-key", Since(12), Shape::kActs, {}},
    {"tls-curve-preferences", Since(35), Shape::kText, "Ignored: OpenSSL's curves are offered."},
    {"http2-max-streams-per-connection", Since(12), Shape::kInt, kHttp2},
    {"disable-http2-serving", Since(30), Shape::kBool, kHttp2},
    {"permit-port-sharing", Since(16), Shape::kBool, kSockets},
    {"permit-address-sharing", Since(21), Shape::kBool, kSockets},
    {"show-hidden-metrics-for-version", Since(17), Shape::kPreviousMinor, kMetrics},
    {"allow-metric-labels", Since(21), Shape::kKeyAndValue, kMetrics},
    {"allow-metric-labels-manifest", Since(28), Shape::kText, kMetrics},
    {"disabled-metrics", Since(21), Shape::kText, kMetrics},
    {"experimental-logging-sanitization", {.since = {20}, .until = {24}}, Shape::kBool, kKlog},
    {"log-json-info-buffer-size", Since(23), Shape::kQuantity, kJson},
    {"log-json-split-stream", Since(23), Shape::kBool, kJson},
    {"log-text-info-buffer-size", Since(31), Shape::kQuantity, kJson},
    {"log-text-split-stream", Since(31), Shape::kBool, kJson},
    {"min-compatibility-version", Since(32), Shape::kText, "Ignored: only the emulated release counts."},
    {"add-dir-header", {.since = {15}, .until = {26}}, Shape::kBool, kKlog},
    {"log-file", {.since = {13}, .until = {26}}, Shape::kText, kKlog},
    {"log-file-max-size", {.since = {13}, .until = {26}}, Shape::kInt, kKlog},
    {"one-output", {.since = {19}, .until = {26}}, Shape::kBool, kKlog},
    {"skip-headers", {.since = {13}, .until = {26}}, Shape::kBool, kKlog},
    {"skip-log-headers", {.since = {14}, .until = {26}}, Shape::kBool, kKlog},
    {"azure-container-registry-config", Until(24), Shape::kText, "Ignored: no images are pulled."},
};

Row RowOf(const releases::OwnFlag& own, const release::Id& id) {
  return {own.name, release::Only(id.version), own.is_bool ? Shape::kBool : Shape::kText, own.usage};
}

// Returns the rows of the table and those that releases bring along.
std::vector<Row> AllRows() {
  std::vector<Row> rows(std::begin(kRows), std::end(kRows));
  for (const release::Id& id : release::All()) {
    for (const releases::OwnFlag& own : releases::DaemonFormOf(id).flags) rows.push_back(RowOf(own, id));
  }
  return rows;
}

absl::Status CheckShape(Shape shape, const std::string& text) {
  int64_t number = 0;
  bool yes = false;
  switch (shape) {
    case Shape::kBool:
      return ParseBool(text, &yes);
    case Shape::kInt:
      return ParseInt(text, 64, &number);
    case Shape::kQuantity:
      return api::Quantity::Parse(text).status();
    case Shape::kKeyAndValue:
      if (text.empty() || absl::StrContains(text, '=')) return absl::OkStatus();
      return absl::InvalidArgumentError(absl::StrCat(text, " must be formatted as key=value"));
    default:
      return absl::OkStatus();
  }
}

void AddWithoutEffect(flags::FlagSet& add, const Row& row) {
  if (add.Find(row.name) != nullptr) return;
  auto value = std::make_shared<std::string>();
  auto* ignored = new flags::Value(
      row.shape == Shape::kBool ? "" : "string", "",
      [value, shape = row.shape](const std::string& s) {
        BERTH_RETURN_IF_ERROR(CheckShape(shape, s));
        *value = s;
        return absl::OkStatus();
      },
      [value] { return *value; });
  if (row.shape == Shape::kBool) ignored->WithoutValue("true");
  add(std::string(row.name), ignored, std::string(row.usage));
}

using Texts = std::vector<std::string>;

absl::Status CheckCipher(const std::string& name) {
  if (http::CipherSuite(name)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("Cipher suite ", name, " not supported or doesn't exist"));
}

void AddAuthentication(flags::FlagSet& add, SecureServingOptions* s) {
  add.Section("Authentication and authorization");
  add("authentication-kubeconfig", Text(&s->authentication_kubeconfig),
      "The kubeconfig file of the API server that reviews tokens (default: that of --kubeconfig).");
  add("authentication-skip-lookup", Bool(&s->skip_lookup),
      "Do not look up in the cluster which client certificate authorities and front proxies to trust.");
  add("authentication-token-webhook-cache-ttl", Duration(&s->token_ttl),
      "How long to cache the answers of token reviews.");
  add("authentication-tolerate-lookup-failure", Bool(&s->tolerate_lookup_failure),
      "Continue if that lookup in the cluster fails; if false, exit.");
  add("authorization-kubeconfig", Text(&s->authorization_kubeconfig),
      "The kubeconfig file of the API server that reviews access (default: that of --kubeconfig).");
  add("authorization-always-allow-paths",
      List(&s->always_allow_paths,
           [](const std::string& path) {
             const size_t star = path.find('*');
             if (star == std::string::npos || star + 1 == path.size()) return absl::OkStatus();
             return absl::InvalidArgumentError(absl::StrCat("must have '*' only at its end: ", GoQuoted(path)));
           }),
      "Paths to serve without authorization; a '*' at the end of one stands for anything. By default those of the "
      "health checks.");
  add("authorization-webhook-cache-authorized-ttl", Duration(&s->authorized_ttl),
      "How long to cache that a user may see a page.");
  add("authorization-webhook-cache-unauthorized-ttl", Duration(&s->unauthorized_ttl),
      "How long to cache that a user may not see a page.");
  add("requestheader-client-ca-file", Text(&s->request_header_ca_file),
      "File with the certificate authorities of front proxies, which name the user in headers. It replaces those that "
      "the cluster names.");
  add("requestheader-allowed-names", List(&s->proxy_names),
      "Common names that the certificates of front proxies may have (default: any).");
  add("requestheader-username-headers", List(&s->proxy_user_headers),
      "Headers in which front proxies send the user's name.");
  add("requestheader-uid-headers", List(&s->proxy_uid_headers), "Headers in which front proxies send the user's UID.");
  add("requestheader-group-headers", List(&s->proxy_group_headers),
      "Headers in which front proxies send the user's groups.");
  add("requestheader-extra-headers-prefix", List(&s->proxy_extra_prefixes),
      "Prefixes of headers in which front proxies send more about the user.");
}

void AddTls(flags::FlagSet& add, SecureServingOptions* s) {
  add.Section("Serving");
  add("tls-min-version",
      Text(&s->tls_min_version, "string",
           [](const std::string& text) {
             if (text.empty() || http::TlsVersion(text)) return absl::OkStatus();
             return absl::InvalidArgumentError(absl::StrCat("unknown tls version ", GoQuoted(text)));
           }),
      "The minimum version of TLS: VersionTLS10, VersionTLS11, VersionTLS12 or VersionTLS13.");
  add("tls-cipher-suites", List(&s->tls_cipher_suites, CheckCipher),
      "Cipher suites for TLS 1.2 and older, by their names in Go. Those of TLS 1.3 cannot be configured.");
  add("tls-sni-cert-key",
      new flags::Value(
          "namedCertKey", "",
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
          }),
      "A certificate and its key for clients that ask for one of these hosts: cert,key:*.a.com,b.com. Without hosts, "
      "the names in the certificate count. May be repeated.");
}

// Returns the default of a flag in a release where that is the release's own, and otherwise `text`.
std::string DefaultIn(const releases::DaemonForm& form, const std::string& flag, const std::string& text) {
  const auto yes = [](bool on) { return std::string(on ? "true" : ""); };
  if (flag == "leader-elect") return yes(form.elects_leader);
  if (flag == "leader-elect-resource-lock") return std::string(form.dialect.lock);
  if (flag == "profiling") return yes(form.serves_profiles);
  if (flag == "contention-profiling") return yes(form.profiles_contention);
  if (flag == "secure-port") return form.secure_port == 0 ? "" : absl::StrCat(form.secure_port);
  if (flag == "pod-max-in-unschedulable-pods-duration") return FormatGoDuration(form.unschedulable_limit);
  return text;
}

}  // namespace

std::string GatesUsage(std::span<const util::FeatureGate> gates) {
  std::string out =
      "A set of key=value pairs that describe feature gates for alpha/experimental features. Options are:";
  for (const util::FeatureGate& g : gates) {
    const char* on = g.on ? "true" : "false";
    std::string_view stage;
    switch (g.stage) {
      case util::GateStage::kAlpha:
        stage = "ALPHA - ";
        break;
      case util::GateStage::kBeta:
        stage = "BETA - ";
        break;
      case util::GateStage::kDeprecated:
        stage = "DEPRECATED - ";
        break;
      case util::GateStage::kGA:
        break;
    }
    absl::StrAppend(&out, "\n", std::string(g.name), "=true|false (", std::string(stage), "default=", on, ")");
  }
  return out;
}

std::string UsageOf(const flags::FlagSet& flags, const release::Id* release) {
  if (release == nullptr) return flags.Help();
  std::set<std::string_view> absent;
  const std::vector<Row> rows = AllRows();
  for (const Row& row : rows) {
    if (!row.span.Has(release->version) && !row.kept) absent.insert(row.name);
  }
  const releases::DaemonForm& form = releases::DaemonFormOf(*release);
  return flags.Help([&](flags::Flag* e) {
    if (absent.contains(e->name)) return false;
    e->otherwise = DefaultIn(form, e->name, e->otherwise);
    if (e->name == "feature-gates") e->purpose = GatesUsage(releases::Of(*release).decides.gates);
    return true;
  });
}

void AddReleaseFlags(flags::FlagSet& add, SecureServingOptions* secure) {
  AddAuthentication(add, secure);
  AddTls(add, secure);
  add.Section("Accepted but ignored");
  for (const Row& row : AllRows()) {
    if (row.shape != Shape::kActs) AddWithoutEffect(add, row);
  }
}

absl::Status CheckFlagsOfRelease(const flags::FlagSet& flags, const release::Id& release,
                                 std::vector<std::string>* warnings) {
  Texts without_effect, kept;
  for (const Row& row : AllRows()) {
    if (!flags.Changed(row.name)) continue;
    const std::string name = absl::StrCat("--", std::string(row.name));
    const bool had = row.span.Has(release.version);
    if (!had && row.kept) kept.push_back(name);
    if (!had && !row.kept) {
      const bool later = release.version < row.span.since;
      return absl::UnimplementedError(WithHelp(absl::StrCat(
          "unknown flag: ", name, " (release ", std::string(release.name), " does not have it; releases ",
          later ? "since " : "before ", release::NameOf(later ? row.span.since : row.span.until), " do)")));
    }
    if (row.shape == Shape::kPreviousMinor) {
      const std::string previous = release::NameOf(release.version.Previous());
      const std::string given = flags.Find(row.name)->text();
      if (!given.empty() && given != previous) {
        return absl::InvalidArgumentError(absl::StrCat(name, ": invalid value ", GoQuoted(given),
                                                       ": must be omitted or have the value ", GoQuoted(previous),
                                                       ", as only the previous minor version is allowed"));
      }
    }
    if (row.shape != Shape::kActs) without_effect.push_back(name);
  }
  if (!without_effect.empty()) {
    warnings->push_back(absl::StrCat("accepted but ignored: ", absl::StrJoin(without_effect, ", ")));
  }
  if (!kept.empty()) {
    warnings->push_back(absl::StrCat("accepted, although release ", std::string(release.name),
                                     " does not have them: ", absl::StrJoin(kept, ", ")));
  }
  return absl::OkStatus();
}

absl::Status CheckNameAndWeight(const releases::CommandForm& form, const Configuration& flags) {
  const int weight = flags.hard_pod_affinity_symmetric_weight;
  if (form.checks_hard_weight && (weight < 0 || weight > 100)) {
    return absl::InvalidArgumentError(
        absl::StrCat("hardPodAffinitySymmetricWeight: Invalid value: ", weight, ": not in valid range 0-100"));
  }
  if (form.name_field.empty() || !flags.scheduler_name.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(util::ToAbsl(form.name_field), ": Required value"));
}

}  // namespace berth::kube_scheduler
