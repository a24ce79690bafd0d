// The table of flags, and how flags, a configuration file and the defaults of a release are combined. As in Kubernetes,
// a file given by --config replaces the flags of kFileWins, whether it names them or not.
#include "cmd/kube-scheduler/options.h"

#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_replace.h>
#include <absl/strings/str_split.h>

#include <algorithm>

#include "cmd/kube-scheduler/go_text.h"
#include "cmd/kube-scheduler/profile_config.h"
#include "cmd/kube-scheduler/release_flags.h"
#include "pkg/api/quantity.h"
#include "pkg/api/stream.h"
#include "pkg/flags/help_text.h"
#include "pkg/release/history.h"
#include "pkg/releases/gates.h"
#include "pkg/releases/releases.h"
#include "pkg/scheduler/configuration/load.h"
#include "pkg/scheduler/configuration/versions.h"
#include "pkg/scheduler/factory/factory.h"
#include "pkg/util/feature_gates.h"
#include "pkg/util/status.h"

namespace berth::kube_scheduler {
namespace {

constexpr char kDescription[] =
    "The Kubernetes scheduler is a policy-rich, topology-aware, workload-specific function that decides on which node "
    "of a cluster each pod runs. It follows the API server, filters the nodes by predicates, ranks those that fit by "
    "priority functions, and binds the pod to the best one.";

constexpr std::string_view kFileRequired =
    "policyConfigFile: Required value: required when --use-legacy-policy-config is true";

// Returns a heading with names below it.
std::string NameList(std::string_view heading, const std::vector<std::string>& names) {
  return absl::StrCat("\n", util::ToAbsl(heading), ":\n", flags::Wrapped(absl::StrJoin(names, " "), 2), "\n");
}

// Flags whose value comes from the configuration file, even if the file does not name it.
constexpr const char* kFileWins[] = {
    "address",
    "algorithm-provider",
    "contention-profiling",
    "failure-domains",
    "hard-pod-affinity-symmetric-weight",
    "kube-api-burst",
    "kube-api-content-type",
    "kube-api-qps",
    "kubeconfig",
    "leader-elect",
    "leader-elect-lease-duration",
    "leader-elect-renew-deadline",
    "leader-elect-resource-lock",
    "leader-elect-resource-name",
    "leader-elect-resource-namespace",
    "leader-elect-retry-period",
    "lock-object-name",
    "lock-object-namespace",
    "policy-config-file",
    "policy-configmap",
    "policy-configmap-namespace",
    "port",
    "profiling",
    "scheduler-name",
    "use-legacy-policy-config",
};

// Those of them that choose the algorithm, also beside a file with profiles, in releases that have Policies.
constexpr std::string_view kChooseAlgorithm[] = {"algorithm-provider", "policy-config-file", "policy-configmap",
                                                 "policy-configmap-namespace", "use-legacy-policy-config"};

absl::Status ParseSeverity(const std::string& text, int* out) {
  static constexpr std::array<std::string_view, 4> kNames = {"INFO", "WARNING", "ERROR", "FATAL"};
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (absl::AsciiStrToUpper(text) == kNames[i]) {
      *out = static_cast<int>(i);
      return absl::OkStatus();
    }
  }
  int64_t v = 0;
  if (!ParseInt(text, 32, &v).ok() || v < 0 || v > 3) {
    return absl::InvalidArgumentError("must be 0 to 3 or one of INFO, WARNING, ERROR, FATAL");
  }
  *out = static_cast<int>(v);
  return absl::OkStatus();
}

// A smaller recording could not hold a checkpoint of a cluster of moderate size. With less memory, hardly any answer
// would still be cached when it is needed again.
constexpr int64_t kLeastBytes = 1 << 20;

absl::Status ReadKeptAnswers(const std::string& text, size_t* out) {
  const auto q = api::Quantity::Parse(text);
  if (!q.ok() || (q->Value() != 0 && q->Value() < kLeastBytes)) {
    return absl::InvalidArgumentError("must be 0 or a quantity of at least 1Mi, such as 500Mi");
  }
  *out = static_cast<size_t>(q->Value());
  return absl::OkStatus();
}

absl::Status ReadSyncPeriod(const std::string& text, absl::Duration* out) {
  absl::Duration period;
  if (!ParseGoDuration(text, &period).ok() || period < absl::ZeroDuration() || period > absl::Seconds(1)) {
    return absl::InvalidArgumentError("must be a duration from 0 to 1s, such as 50ms");
  }
  *out = period;
  return absl::OkStatus();
}

absl::Status ReadRecording(const std::string& text, int64_t* out) {
  const auto q = api::Quantity::Parse(text);
  if (!q.ok() || q->Value() < kLeastBytes) {
    return absl::InvalidArgumentError("must be a quantity of at least 1Mi, such as 1Gi");
  }
  *out = q->Value();
  return absl::OkStatus();
}

absl::Status ReadShare(const std::string& text, double* out) {
  double share = 0;
  if (!absl::SimpleAtod(text, &share) || !(share >= 0 && share <= 1)) {
    return absl::InvalidArgumentError("must be a number from 0 to 1, such as 0.01");
  }
  *out = share;
  return absl::OkStatus();
}

absl::Status ReadLevel(const std::string& text, int* out) {
  int64_t level = 0;
  if (absl::Status bad = ParseInt(text, 32, &level); !bad.ok()) {
    return absl::InvalidArgumentError(absl::StrReplaceAll(bad.message(), {{"ParseInt", "Atoi"}}));
  }
  *out = static_cast<int>(level);
  return absl::OkStatus();
}

absl::Status CheckModules(const std::string& text) {
  for (const auto& item : std::vector<std::string>(absl::StrSplit(text, ',', absl::SkipEmpty()))) {
    const std::vector<std::string> kv = absl::StrSplit(item, '=');
    int64_t level = 0;
    if (kv.size() != 2 || kv[0].empty())
      return absl::InvalidArgumentError("syntax error: expect comma-separated list of filename=N");
    BERTH_RETURN_IF_ERROR(ParseInt(kv[1], 32, &level));
    if (level < 0) return absl::InvalidArgumentError("negative value for vmodule level");
  }
  return absl::OkStatus();
}

}  // namespace

// NOLINT(readability-function-size): a table of flags.
Options::Options() {
  Configuration& c = flag_config_;
  auto& le = c.leader_election;
  auto& cc = c.client_connection;
  flags::FlagSet& add = flags_;

  add.Section("Configuration");
  add("config", Text(&config_file_),
      "The path to the configuration file. All other flags but --master, --feature-gates, the logging flags and, in "
      "later releases, those of leader election are then ignored.");
  add("emulated-version", Text(&emulated_version_),
      absl::StrCat("The Kubernetes release to emulate: ", release::NamesWith(", "),
                   ". By default the first of them that can read the configuration file, or ",
                   std::string(release::Default().name), "."));
  add("percentage-of-nodes-to-score",
      new flags::Value(
          "number|release", "all",
          [this](const std::string& s) {
            int64_t number = 0;
            samples_as_release_ = s == "release";
            if (!samples_as_release_ && !absl::SimpleAtoi(s, &number)) {
              return absl::InvalidArgumentError("must be a number or release");
            }
            percentage_ = number;
            return absl::OkStatus();
          },
          [this] { return samples_as_release_ ? "release"
                          : percentage_       ? absl::StrCat(*percentage_)
                                              : "all"; }),
      "The percentage of nodes to consider for each pod, as the release would with this value in its configuration; "
      "\"release\" takes the value of the configuration. By default all nodes are considered, whatever the "
      "configuration says, which is faster here and places pods better.");
  add("write-config-to", Text(&write_config_to), "If set, write the configuration values to this file and exit.");
  add("master", Text(&master), "The address of the Kubernetes API server (overrides any value in kubeconfig)");
  add("kubeconfig", Text(&cc.kubeconfig),
      "Path to kubeconfig file with authorization and master location information.");
  add("context", Text(&context), "The kubeconfig context to use instead of the current one");
  add("kube-api-content-type", Text(&cc.content_type),
      "Content type of requests sent to apiserver. Only shown in /configz: requests are always JSON.");
  add("kube-api-qps", Float32(&cc.qps), "QPS to use while talking with kubernetes apiserver");
  add("kube-api-burst", Int32(&cc.burst), "Burst to use while talking with kubernetes apiserver");
  add("feature-gates",
      new flags::Value(
          "mapStringBool", "", [this](const std::string& s) { return SetGates(s); },
          [this] {
            std::string out;
            for (const auto& [name, on] : gates_)
              absl::StrAppend(&out, out.empty() ? "" : ",", name, "=", on ? "true" : "false");
            return out;
          }),
      GatesUsage(releases::DefaultGates()));

  add.Section("Scheduling");
  add("scheduler-name", Text(&c.scheduler_name),
      "Name of the scheduler, used to select which pods will be processed by this scheduler, based on pod's "
      "\"spec.schedulerName\".");
  add("algorithm-provider", Text(&provider_),
      absl::StrCat("The scheduling algorithm provider to use, one of: ",
                   scheduler::ListAlgorithmProviders(releases::Of(release::Default()).decides)));
  add("policy-config-file", Text(&policy_file_),
      "File with scheduler policy configuration. This file is used if policy ConfigMap is not provided or "
      "--use-legacy-policy-config=true");
  add("policy-configmap", Text(&policy_map_),
      "Name of the ConfigMap object that contains scheduler's policy configuration. It must exist in the system "
      "namespace before scheduler initialization if --use-legacy-policy-config=false. The config must be provided as "
      "the value of an element in 'Data' map with the key='policy.cfg'");
  add("policy-configmap-namespace", Text(&policy_map_ns_),
      "The namespace where policy ConfigMap is located. The system namespace will be used if this is not provided or "
      "is empty.");
  add("use-legacy-policy-config", Bool(&legacy_policy_),
      "When set to true, scheduler will ignore policy ConfigMap and uses policy config file");
  add("ignore-unknown-fields", Bool(&ignore_unknown_fields),
      "Ignore pod fields newer than the emulated release: scheduling gates, preemptionPolicy, overhead, sidecars, "
      "matchFields, topology spread constraints, namespace selectors, ephemeral volumes. By default they are honoured, "
      "or the pod stays pending with a condition that names them.");
  add("pod-max-in-unschedulable-pods-duration", Duration(&c.pod_max_in_unschedulable),
      "How long an unschedulable pod waits for a change in the cluster before it is tried again anyway (gate "
      "PodPriority).");
  add("hard-pod-affinity-symmetric-weight",
      Int32(&c.hard_pod_affinity_symmetric_weight)
          ->Deprecated("This option was moved to the policy configuration file"),
      "RequiredDuringScheduling affinity is not symmetric, but there is an implicit PreferredDuringScheduling affinity "
      "rule corresponding to every RequiredDuringScheduling affinity rule. --hard-pod-affinity-symmetric-weight "
      "represents the weight of implicit PreferredDuringScheduling affinity rule.");
  add("failure-domains",
      Text(&c.failure_domains)->Deprecated("Doesn't have any effect. Will be removed in future version."),
      "Indicate the \"all topologies\" set for an empty topologyKey when it's used for PreferredDuringScheduling pod "
      "anti-affinity.");

  add.Section("Serving");
  add("address", Text(&address_), "The IP address to serve on (set to 0.0.0.0 for all interfaces)");
  add("port", Int32(&port_),
      "The port to serve plain HTTP on; 0 picks a free one, -1 turns it off. Releases that only serve HTTPS have no "
      "such port unless this flag is given.");
  add("profiling", Bool(&c.enable_profiling), "Enable profiling via web interface host:port/debug/pprof/");
  add("contention-profiling", Bool(&c.enable_contention_profiling),
      "Enable lock contention profiling, if profiling is enabled");
  add("bind-address",
      Text(&secure.bind_address, "ip",
           [](const std::string& s) {
             if (IsIpAddress(s)) return absl::OkStatus();
             return absl::InvalidArgumentError(absl::StrCat("failed to parse IP: ", GoQuoted(s)));
           }),
      "The IP address on which to serve HTTPS.");
  add("secure-port", Int32(&secure.port),
      "The port to serve HTTPS on, with authentication and authorization; 0 turns it off. The default is that of the "
      "emulated release.");
  add("cert-dir", Text(&secure.cert_dir),
      "The directory for a generated self-signed certificate (kube-scheduler.crt, kube-scheduler.key). If empty, it is "
      "generated in memory at every start.");
  add("tls-cert-file", Text(&secure.cert_file),
      "File containing the x509 certificate for HTTPS. Without it and --tls-private-key-file, a self-signed one is "
      "generated.");
  add("tls-private-key-file", Text(&secure.key_file), "File containing the x509 private key matching --tls-cert-file.");
  add("client-ca-file", Text(&secure.client_ca_file),
      "Requests with a client certificate signed by one of the authorities in this file are authenticated by its "
      "CommonName.");

  AddReleaseFlags(add, &secure);
  add.Section("Serving");
  add("enable-ui", Bool(&enable_ui),
      "Serve a web page at /ui that shows nodes, pending pods and the reasons for decisions: on the secure port to "
      "users who may get /ui, on other ports to this machine only.");
  add.Section("Scheduling");
  add("min-sync-period", Variable(&min_sync_period, "duration", "0s", ReadSyncPeriod, FormatGoDuration),
      "The shortest time between two looks at what the API server has sent, such as 50ms. Pods that come one at a time "
      "then take about half of the CPU. Pods that follow soon after others may be decided later by up to this time, "
      "and answers to binds are handled later. 0s: everything is handled at once.");
  add.Section("Memory");
  add("kept-answers-max-bytes", Variable(&kept_answers_max_bytes, "quantity", "0", ReadKeptAnswers),
      "The most memory for what is kept between decisions, such as 500Mi; the least recently used is dropped. 0: a "
      "quarter of what the cluster itself takes, at least 64Mi.");

  add.Section("Recording");
  add("record-dir", Text(&record_dir),
      "Directory in which to record everything that the scheduler receives and does, for schedsim replay. It is "
      "created if needed.");
  add("record-max-bytes", Variable(&record_max_bytes, "quantity", "1Gi", ReadRecording),
      "The most space for all recordings in --record-dir together, such as 500Mi; the oldest parts are removed.");

  add.Section("Debugging");
  add("check-decisions", Variable(&check_decisions, "share", "0", ReadShare),
      "The fraction of decisions, 0 to 1, to make twice: incrementally, and by calling every rule for every node. "
      "Differences are logged and counted in scheduler_decision_differences_total, and the second decision is carried "
      "out. 0.01 checks one in a hundred.");

  add.Section("Leader election");
  add("leader-elect", Bool(&le.leader_elect),
      "Start a leader election client and gain leadership before executing the main loop. Enable this when running "
      "replicated components for high availability.");
  add("leader-elect-lease-duration", Duration(&le.lease_duration),
      "The duration that non-leader candidates will wait after observing a leadership renewal until attempting to "
      "acquire leadership of a led but unrenewed leader slot.");
  add("leader-elect-renew-deadline", Duration(&le.renew_deadline),
      "The interval between attempts by the acting master to renew a leadership slot before it stops leading. This "
      "must be less than the lease duration.");
  add("leader-elect-retry-period", Duration(&le.retry_period),
      "The duration the clients should wait between attempting acquisition and renewal of a leadership.");
  add("leader-elect-resource-lock", Text(&le.resource_lock, "endpoints"),
      "The type of resource object that is used for locking during leader election. Supported options are `endpoints`, "
      "`configmaps` and `leases`.");
  add("lock-object-namespace", Text(&le.lock_object_namespace), "Define the namespace of the lock object.");
  add("lock-object-name", Text(&le.lock_object_name), "Define the name of the lock object.");
  add("leader-elect-resource-namespace", Text(&le.lock_object_namespace), "The newer name of --lock-object-namespace.");
  add("leader-elect-resource-name", Text(&le.lock_object_name), "The newer name of --lock-object-name.");

  add.Section("Logging");
  LoggingOptions& l = logging;
  add("logtostderr", Bool(&l.log_to_stderr), "log to standard error instead of files");
  add("alsologtostderr", Bool(&l.also_log_to_stderr), "log to standard error as well as files");
  add("log-dir", Text(&l.log_dir), "If non-empty, write log files in this directory");
  add("stderrthreshold", Variable(&l.stderr_threshold, "severity", "2", ParseSeverity),
      "logs at or above this threshold go to stderr");
  add("v,v", Variable(&l.verbosity, "Level", "", ReadLevel), "log level for V logs");
  add("vmodule", Text(&l.vmodule, "moduleSpec", CheckModules),
      "comma-separated list of pattern=N settings for file-filtered logging");
  add("log-backtrace-at",
      new flags::Value(
          "traceLocation", ":0",
          [&l](const std::string& s) {
            const std::vector<std::string> parts = absl::StrSplit(s, ':');
            int64_t line = 0;
            if (!s.empty() && (parts.size() != 2 || !ParseInt(parts[1], 32, &line).ok() || line < 0)) {
              return absl::InvalidArgumentError("syntax error: expect file.go:234");
            }
            l.backtrace_at = line > 0 ? s : "";
            return absl::OkStatus();
          },
          [&l] { return l.backtrace_at.empty() ? std::string(":0") : l.backtrace_at; }),
      "when logging hits line file:N, emit a stack trace");
  add("log-flush-frequency", Duration(&l.flush_frequency), "Maximum number of seconds between log flushes");
  add("logging-format",
      Text(&l.format, "string",
           [](const std::string& s) {
             return s == "text" || s == "json" ? absl::OkStatus() : absl::InvalidArgumentError("must be text or json");
           }),
      "The log format: text or json.");

  add.Section("Other");
  add("version",
      (new flags::Value(
           "version[=true]", "",
           [this](const std::string& s) {
             if (s == "raw") {
               version = "raw";
               return absl::OkStatus();
             }
             bool on = false;
             BERTH_RETURN_IF_ERROR(ParseBool(s, &on));
             version = on ? "true" : "false";
             return absl::OkStatus();
           },
           [this] { return version; }))
          ->WithoutValue("true"),
      "Print version information and quit");
  add("help,h", Bool(&help), "help for kube-scheduler");
}

absl::Status Options::SetGates(const std::string& text) {
  const auto named = release::Named(emulated_version_);
  const release::Id& release = named.ok() ? **named : release::Default();
  std::map<std::string, bool, std::less<>> set;
  for (const auto& raw : std::vector<std::string>(absl::StrSplit(text, ','))) {
    const std::string item(absl::StripAsciiWhitespace(raw));
    if (item.empty()) continue;
    const size_t eq = item.find('=');
    const std::string given(absl::StripAsciiWhitespace(item.substr(0, eq)));
    const std::string name(releases::WithoutComponent(release, given));
    if (eq == std::string::npos) {
      BERTH_RETURN_IF_ERROR(releases::CheckGate(release, name, true));
      return absl::InvalidArgumentError(absl::StrCat("missing bool value for ", name));
    }
    const std::string value(absl::StripAsciiWhitespace(item.substr(eq + 1)));
    bool on = false;
    const absl::Status parsed = ParseBool(value, &on);
    // An unknown gate is said before a wrong value of it.
    BERTH_RETURN_IF_ERROR(releases::CheckGate(release, name, on));
    if (!parsed.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("invalid value of ", name, ": ", value, ", err: ", parsed.message()));
    }
    set[name] = on;
  }
  for (const auto& [name, on] : set) gates_[name] = on;
  for (const auto& [all, stage] :
       {std::pair("AllAlpha", util::GateStage::kAlpha), {"AllBeta", util::GateStage::kBeta}}) {
    const auto it = set.find(all);
    if (it == set.end() || util::FindGate(releases::Of(release).decides.gates, all) == nullptr) continue;
    for (const util::FeatureGate& g : releases::Of(release).decides.gates) {
      if (g.stage == stage && g.name != "AllAlpha" && g.name != "AllBeta") gates_.emplace(g.name, it->second);
    }
  }
  std::string line = "feature gates: map[";
  bool first = true;
  for (const auto& [name, on] : gates_) {
    absl::StrAppend(&line, first ? "" : " ", name, ":", on ? "true" : "false");
    first = false;
  }
  gate_log_.push_back(line + "]");
  return absl::OkStatus();
}

bool Options::GateOn(std::string_view name) const {
  return GateOn(name, releases::DefaultGates());
}

bool Options::GateOn(std::string_view name, std::span<const util::FeatureGate> gates) const {
  if (auto it = gates_.find(name); it != gates_.end()) return it->second;
  const util::FeatureGate* gate = util::FindGate(gates, name);
  return gate != nullptr && gate->on;
}

absl::Status Options::Parse(const std::vector<std::string>& args) {
  // Gates are checked by the release, whose flag may come after theirs.
  BERTH_RETURN_IF_ERROR(flags_.Read(args, "emulated-version"));
  if (!has_words() || help || Command().words != releases::CommandForm::Words::kNamed) return absl::OkStatus();
  std::string named;
  for (const std::string& word : flags_.words()) absl::StrAppend(&named, named.empty() ? "" : " ", GoQuoted(word));
  return util::InvalidArgument(absl::StrCat("\"kube-scheduler\" does not take any arguments, got [", named, "]"));
}

const releases::CommandForm& Options::Command() const {
  const auto emulated = release::Named(emulated_version_);
  return releases::DaemonFormOf(emulated.ok() ? **emulated : release::Default()).command;
}

const release::Id& Options::ReleaseOfErrors() const {
  if (const auto emulated = release::Named(emulated_version_); emulated.ok()) return **emulated;
  const auto text = config_file_.empty() ? std::string() : ReadFile(config_file_).value_or("");
  const auto document = api::ReadDocument(text);
  if (!document.ok() || !document->root().IsObject()) return release::Default();
  const release::Id* reader =
      scheduler::configuration::ReaderOf(document->root().FindExact("apiVersion").Text(), nullptr);
  return reader == nullptr ? release::Default() : *reader;
}

// Says what is wrong with --address and --port.
absl::Status Options::CheckPlainServing() const {
  const int greatest = Command().greatest_port;
  if (greatest != 0 && !address_.empty() && !IsIpAddress(address_)) {
    return absl::InvalidArgumentError("--address has no valid IP address");
  }
  if (!address_.empty() && !IsHost(address_)) {
    return absl::InvalidArgumentError(absl::StrCat("--address: invalid value ", GoQuoted(address_),
                                                   ": must be an IP address or a host's name, without a port"));
  }
  if (greatest != 0 && (port_ < 0 || port_ > greatest)) {
    return absl::InvalidArgumentError(absl::StrCat("--port ", port_, " must be between 0 and ", greatest,
                                                   ", inclusive. 0 for turning off insecure (HTTP) port"));
  }
  if (port_ < -1 || port_ > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat("--port: invalid value ", port_, ": must be -1 (not served) or between 0 and 65535"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Configuration> Options::Complete(std::vector<std::string>* warnings) const {
  Configuration c = flag_config_;
  if (config_file_.empty()) {
    const auto emulated = release::Named(emulated_version_);
    if (!emulated.ok() || releases::DaemonFormOf(**emulated).deprecates_flags) {
      warnings->emplace_back(
          "WARNING: all flags other than --config are deprecated. Please begin using a config file ASAP.");
    }
    BERTH_RETURN_IF_ERROR(CheckPlainServing());
    auto hp = SplitHostPort(c.healthz_bind_address);
    if (!address_.empty()) hp->host = address_;
    c.healthz_bind_address =
        port_ == -1 || (port_ == 0 && Command().greatest_port != 0) ? "" : JoinHostPort(hp->host, absl::StrCat(port_));
    c.metrics_bind_address = c.healthz_bind_address;
    if (legacy_policy_ && policy_file_.empty() && Command().legacy_policy_needs_file) {
      return absl::InvalidArgumentError(std::string(kFileRequired));
    }
    BERTH_RETURN_IF_ERROR(CheckNameAndWeight(Command(), flag_config_));
    if (legacy_policy_ || (!policy_file_.empty() && policy_map_.empty())) {
      c.algorithm.policy.emplace().file = policy_file_;
    } else if (!policy_map_.empty()) {
      c.algorithm.policy.emplace().config_map =
          PolicyConfigMapSource{policy_map_ns_.empty() ? "kube-system" : policy_map_ns_, policy_map_};
    } else {
      c.algorithm.provider = provider_.empty() ? "DefaultProvider" : provider_;
    }
  }
  if (has_words() && Command().words == releases::CommandForm::Words::kRefused) {
    return util::InvalidArgument(WithHelp("no arguments are supported"));
  }
  if (!config_file_.empty()) {
    if (const auto named = release::Named(emulated_version_); named.ok()) {
      std::vector<std::string> repeated;  // comes again below
      BERTH_RETURN_IF_ERROR(CheckFlagsOfRelease(flags_, **named, &repeated));
    }
    auto loaded = LoadFile(warnings);
    if (!loaded.ok()) return loaded.status();
    c = *std::move(loaded);
  }
  if (secure.port < 0 || secure.port > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat("--secure-port: invalid value ", secure.port, ": must be between 0 (not served) and 65535"));
  }
  for (const char* flag : {"tls-cert-file", "tls-private-key-file", "client-ca-file"}) {
    if (secure.port == 0 && emulated_version_.empty() && config_file_.empty() && !flags_.Find(flag)->text().empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", flag, ": ", GoQuoted(flags_.Find(flag)->text()), " has no effect without --secure-port"));
    }
  }
  BERTH_RETURN_IF_ERROR(SetRelease(emulated_version_, config_file_, &c, gates_));
  BERTH_RETURN_IF_ERROR(CheckFlagsOfRelease(flags_, *c.release, warnings));
  FollowRelease(&c);
  BERTH_RETURN_IF_ERROR(releases::CheckGatesNeeded(
      *c.release, [&](std::string_view gate) { return GateOn(gate, c.Release().decides.gates); }));
  for (std::string& note : releases::NotesOnGates(*c.release, gates_)) warnings->push_back(std::move(note));
  BERTH_RETURN_IF_ERROR(CheckPercentage(c, warnings));
  const std::vector<std::string> bad = CheckConfiguration(c, config_file_.empty() ? Spelling::kFlags : Spelling::kFile);
  if (!bad.empty()) {
    std::string text;
    const std::string origin = config_file_.empty() ? "" : config_file_ + ": ";
    for (const std::string& b : bad) absl::StrAppend(&text, text.empty() ? "" : "\n", origin, b);
    return absl::InvalidArgumentError(text);
  }
  return c;
}

absl::StatusOr<Configuration> Options::LoadFile(std::vector<std::string>* warnings) const {
  ReadAs as;
  if (const auto named = release::Named(emulated_version_); !emulated_version_.empty() && named.ok()) {
    as.release = *named;
  }
  as.provider = provider_;
  as.gates = gates_;
  auto loaded = LoadConfiguration(config_file_, warnings, as);
  if (!loaded.ok()) return loaded.status();
  Configuration& c = *loaded;
  const bool policies_act = c.ByProfiles() && c.Release().decides.has_policies;
  std::vector<std::string> lost;
  for (const std::string name : kFileWins) {
    const bool serving = c.Form().plain_port == 0 && (name == "port" || name == "address");
    const bool acts = policies_act && std::find(std::begin(kChooseAlgorithm), std::end(kChooseAlgorithm), name) !=
                                          std::end(kChooseAlgorithm);
    const bool elects = name.starts_with("leader-elect") && UseLeaderFlag(name, &c);
    if (flags_.Changed(name) && !serving && !acts && !elects) lost.push_back(absl::StrCat("--", name));
  }
  if (!lost.empty()) {
    warnings->push_back(absl::StrCat("ignored because --config is given: ", absl::StrJoin(lost, ", ")));
  }
  if (flags_.Changed("pod-max-in-unschedulable-pods-duration")) {
    c.pod_max_in_unschedulable = flag_config_.pod_max_in_unschedulable;
  }
  if (policies_act) BERTH_RETURN_IF_ERROR(UsePolicyFlags(&c));
  return loaded;
}

// Takes the value of a flag of leader election, where such flags act beside a file. Returns whether they do.
bool Options::UseLeaderFlag(std::string_view name, Configuration* c) const {
  if (!release::history::kLeaderElectionFlagsActBesideFile.Has(c->release->version)) return false;
  if (!flags_.Changed(std::string(name))) return true;
  const auto& from = flag_config_.leader_election;
  auto& to = c->leader_election;
  if (name == "leader-elect") to.leader_elect = from.leader_elect;
  if (name == "leader-elect-lease-duration") to.lease_duration = from.lease_duration;
  if (name == "leader-elect-renew-deadline") to.renew_deadline = from.renew_deadline;
  if (name == "leader-elect-retry-period") to.retry_period = from.retry_period;
  if (name == "leader-elect-resource-lock") to.resource_lock = from.resource_lock;
  if (name == "leader-elect-resource-name") to.lock_object_name = from.lock_object_name;
  if (name == "leader-elect-resource-namespace") to.lock_object_namespace = from.lock_object_namespace;
  return true;
}

// Puts the Policy that flags name in the place of a file's profiles, as releases with both do.
absl::Status Options::UsePolicyFlags(Configuration* c) const {
  PolicySource source;
  if (legacy_policy_ || (!policy_file_.empty() && policy_map_.empty())) {
    if (policy_file_.empty()) {
      return absl::InvalidArgumentError(std::string(kFileRequired));
    }
    source.file = policy_file_;
  } else if (!policy_map_.empty()) {
    source.config_map = PolicyConfigMapSource{policy_map_ns_.empty() ? "kube-system" : policy_map_ns_, policy_map_};
  } else {
    return absl::OkStatus();
  }
  if (!c->plain_profiles) return absl::InvalidArgumentError("cannot set a Plugin config and Policy config");
  c->algorithm.policy = source;
  for (const auto& p : c->plugin_profiles) {
    if (p.scheduler_name != c->scheduler_name) c->profiles.push_back({p.scheduler_name, c->algorithm});
  }
  c->plugin_profiles.clear();
  return absl::OkStatus();
}

absl::Status Options::CheckPercentage(const Configuration& c, std::vector<std::string>* warnings) const {
  const std::string notice(scheduler::configuration::kPercentageNotice);
  std::erase(*warnings, notice);
  if (!percentage_) {
    const bool samples = c.Release().decides.sampling != nullptr && c.percentage_of_nodes_to_score % 100 != 0;
    if (samples) {
      warnings->push_back(
          absl::StrCat("percentageOfNodesToScore is ", c.percentage_of_nodes_to_score,
                       ": all nodes are looked at anyway, unless --percentage-of-nodes-to-score=release is given"));
    }
    return absl::OkStatus();
  }
  if (c.Release().decides.sampling == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("--percentage-of-nodes-to-score: release ",
                                                   std::string(c.release->name), " looks at all nodes; leave it out"));
  }
  return absl::OkStatus();
}

std::optional<int64_t> Options::PercentageOfNodes(const Configuration& c) const {
  if (!percentage_) return std::nullopt;
  if (!samples_as_release_) return percentage_;
  const scheduler::SamplingRules* rules = c.Release().decides.sampling;
  const bool configured = c.percentage_of_nodes_to_score != 0 || rules == nullptr;
  return configured ? c.percentage_of_nodes_to_score : rules->default_percentage;
}

// Gives flags precedence over the defaults of the release. A release without a plain port serves one only if a flag
// opens it.
void Options::FollowRelease(Configuration* c) const {
  if (config_file_.empty() && !flags_.Changed("leader-elect")) {
    c->leader_election.leader_elect = c->Form().elects_leader;
  }
  if (config_file_.empty() && !flags_.Changed("profiling")) c->enable_profiling |= c->Form().serves_profiles;
  if (config_file_.empty() && !flags_.Changed("contention-profiling")) {
    c->enable_contention_profiling |= c->Form().profiles_contention;
  }
  if (config_file_.empty() && flags_.Changed("leader-elect-resource-lock")) {
    c->leader_election.resource_lock = flag_config_.leader_election.resource_lock;
  }
  if (flags_.Changed("pod-max-in-unschedulable-pods-duration")) {
    c->pod_max_in_unschedulable = flag_config_.pod_max_in_unschedulable;
  }
  if (c->Form().plain_port != 0) return;
  c->healthz_bind_address = flags_.Changed("port") && port_ >= 0
                                ? JoinHostPort(address_.empty() ? "0.0.0.0" : address_, absl::StrCat(port_))
                                : "";
  c->metrics_bind_address = c->healthz_bind_address;
}

SecureServingOptions Options::SecureServing(const Configuration& c) const {
  SecureServingOptions out = secure;
  if (c.Form().secure_port != 0 && !flags_.Changed("secure-port")) out.port = c.Form().secure_port;
  return out;
}

std::string Options::Usage() const {
  const auto emulated = release::Named(emulated_version_);
  const bool named = !emulated_version_.empty() && emulated.ok();
  return absl::StrCat("Usage:\n  kube-scheduler [flags]\n\n", UsageOf(flags_, named ? *emulated : nullptr));
}

std::string Options::Help() const {
  const auto emulated = release::Named(emulated_version_);
  const auto& rules = releases::Of(emulated.ok() ? **emulated : release::Default()).decides;
  const std::string out = absl::StrCat(flags::Wrapped(kDescription), "\n\n", Usage());
  if (rules.plugins != nullptr) return out;
  return absl::StrCat(out, NameList("Predicates that a Policy may name", scheduler::ListRegisteredFitPredicates(rules)),
                      NameList("Priorities that a Policy may name", scheduler::ListRegisteredPriorityFunctions(rules)));
}

}  // namespace berth::kube_scheduler
