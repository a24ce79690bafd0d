// The daemon's command line: its flags, and how they become a Configuration (cmd/kube-scheduler of Kubernetes 1.10).
#pragma once
#include <absl/status/statusor.h>

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cmd/kube-scheduler/component_config.h"
#include "cmd/kube-scheduler/flags.h"
#include "pkg/releases/daemon_form.h"
#include "pkg/util/feature_gates.h"

namespace berth::kube_scheduler {

struct LoggingOptions {
  bool log_to_stderr = true;
  bool also_log_to_stderr = false;
  std::string log_dir;
  int stderr_threshold = 2;  // 0..3: INFO, WARNING, ERROR, FATAL
  int verbosity = 0;
  std::string vmodule;
  std::string backtrace_at;  // "file:N"; "" none
  absl::Duration flush_frequency = absl::Seconds(5);
  std::string format = "text";  // or "json"
};

struct SecureServingOptions {
  std::string bind_address = "0.0.0.0";
  int32_t port = 0;  // 0: off
  std::string cert_dir, cert_file, key_file, client_ca_file;
  // Flags of releases after 1.10 (release_flags.h). Kubeconfigs for reviews; empty: that of all other requests.
  std::string authentication_kubeconfig, authorization_kubeconfig;
  bool skip_lookup = false;             // trust only the authorities that flags name
  bool tolerate_lookup_failure = true;  // go on if the authorities cannot be read from the cluster
  absl::Duration token_ttl = absl::Seconds(10), authorized_ttl = absl::Seconds(10),
                 unauthorized_ttl = absl::Seconds(10);
  std::vector<std::string> always_allow_paths;  // empty: the release's
  // Front proxies, in place of those that the cluster names; used if the file is given.
  std::string request_header_ca_file;
  std::vector<std::string> proxy_names, proxy_user_headers = {"x-remote-user"}, proxy_uid_headers,
                                        proxy_group_headers = {"x-remote-group"},
                                        proxy_extra_prefixes = {"x-remote-extra-"};
  std::string tls_min_version;                 // "VersionTLS12"; empty: 1.2
  std::vector<std::string> tls_cipher_suites;  // empty: OpenSSL's
  struct SniCertificate {
    std::string cert_file, key_file;
    std::vector<std::string> names;  // empty: those of the certificate
  };
  std::vector<SniCertificate> sni;
};

class Options {
 public:
  Options();
  Options(const Options&) = delete;

  // Parses the flags. Errors are kInvalidArgument with pflag's texts.
  absl::Status Parse(const std::vector<std::string>& args);
  // Returns the configuration of the file or of the flags, according to their precedence. Notices and warnings for the
  // log are added in order. An error is kUnimplemented if the release does not have a flag, which is a mistake in the
  // command line like those that Parse() finds. To be called after Parse() has succeeded.
  absl::StatusOr<Configuration> Complete(std::vector<std::string>* warnings) const;

  bool help = false;
  std::string version = "false";  // "true", "false", "raw"
  std::string master, context;
  std::string write_config_to;
  bool ignore_unknown_fields = false;
  LoggingOptions logging;
  std::string record_dir;  // empty: nothing is recorded
  int64_t record_max_bytes = int64_t{1} << 30;
  // Returns the percentage of nodes that decisions look at; nothing: all nodes.
  std::optional<int64_t> PercentageOfNodes(const Configuration& c) const;
  double check_decisions = 0;         // the share of decisions that are made both ways, 0 to 1
  absl::Duration min_sync_period;     // between two looks at what the API server has sent; zero: it is handled at once
  size_t kept_answers_max_bytes = 0;  // 0: a quarter of the memory that the cached cluster takes, at least 64 MiB
  SecureServingOptions secure;        // as given by the flags
  // Returns how HTTPS is served under a configuration. Release 1.29 serves on port 10259 by default.
  SecureServingOptions SecureServing(const Configuration& c) const;
  bool enable_ui = false;
  // Returns whether a feature gate is enabled by the command line, or else by 1.10's default.
  bool GateOn(std::string_view name) const;
  // The same with these gates and their defaults instead of those of 1.10. A gate that is not among them is off.
  bool GateOn(std::string_view name, std::span<const util::FeatureGate> gates) const;
  // Returns "map[A:true B:false]" for each flag that set gates.
  const std::vector<std::string>& gate_log() const { return gate_log_; }

  // Returns the value of --emulated-version; empty if it is not given.
  const std::string& emulated_version() const { return emulated_version_; }
  // Returns what the command line of the release is like that --emulated-version names, or else of the default one.
  const releases::CommandForm& Command() const;
  // Returns the release whose form errors of Complete() have: that of --emulated-version, or the one that reads the
  // configuration file, or else the default one.
  const release::Id& ReleaseOfErrors() const;
  // Returns whether there are words that are no flags.
  bool has_words() const { return !flags_.words().empty(); }
  const flags::FlagSet& flags() const { return flags_; }
  // Help returns the text of --help, and Usage the shorter text that follows an error.
  std::string Help() const;
  std::string Usage() const;

 private:
  absl::Status SetGates(const std::string& text);
  absl::Status CheckPlainServing() const;
  void FollowRelease(Configuration* c) const;
  absl::StatusOr<Configuration> LoadFile(std::vector<std::string>* warnings) const;
  bool UseLeaderFlag(std::string_view name, Configuration* c) const;
  absl::Status UsePolicyFlags(Configuration* c) const;
  absl::Status CheckPercentage(const Configuration& c, std::vector<std::string>* warnings) const;

  flags::FlagSet flags_{flags::FlagSet::Order::kByName};
  Configuration flag_config_;
  std::string config_file_, address_, emulated_version_;
  int32_t port_ = 10251;
  std::string provider_, policy_file_, policy_map_, policy_map_ns_;
  bool legacy_policy_ = false;
  // --percentage-of-nodes-to-score: a number, or what the release would do.
  std::optional<int64_t> percentage_;
  bool samples_as_release_ = false;
  std::map<std::string, bool, std::less<>> gates_;
  std::vector<std::string> gate_log_;
};

}  // namespace berth::kube_scheduler
