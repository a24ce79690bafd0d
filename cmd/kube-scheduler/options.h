// The daemon's command line: which flags there are, and how they become a Configuration (Kubernetes 1.10
// cmd/kube-scheduler).
#pragma once
#include <absl/status/statusor.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cmd/kube-scheduler/component_config.h"
#include "cmd/kube-scheduler/flags.h"

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
  bool authenticate = true;  // TokenReview and SubjectAccessReview for all but the paths always allowed
};

class Options {
 public:
  Options();
  Options(const Options&) = delete;

  // Flags only; kInvalidArgument with pflag's text.
  absl::Status Parse(const std::vector<std::string>& args);
  // After Parse: the configuration of the file or of the flags, as said by their precedence. Notices and warnings, to
  // be logged, come in order. The error is the text behind "error: ".
  absl::StatusOr<Configuration> Complete(std::vector<std::string>* warnings) const;

  bool help = false;
  std::string version = "false";  // "true", "false", "raw"
  std::string master, context;
  std::string write_config_to;
  bool ignore_unknown_fields = false;
  LoggingOptions logging;
  std::string record_dir;  // empty: nothing is recorded
  int64_t record_max_bytes = int64_t{1} << 30;
  double check_decisions = 0;         // the share of decisions that are made both ways, 0..1
  size_t kept_answers_max_bytes = 0;  // 0: a quarter of what the cluster takes
  SecureServingOptions secure;        // as the flags say
  // Returns what is served over HTTPS under a configuration: release 1.29 serves on port 10259 by default.
  SecureServingOptions SecureServing(const Configuration& c) const;
  bool enable_ui = false;
  // By the command line; gates not named have 1.10's defaults.
  bool GateOn(std::string_view name) const;
  // "map[A:true B:false]", once for each flag that set some.
  const std::vector<std::string>& gate_log() const { return gate_log_; }

  const FlagSet& flags() const { return flags_; }
  // What --help prints, and the shorter text that follows an error.
  std::string Help(size_t width) const;
  std::string Usage(size_t width) const;

 private:
  absl::Status SetGates(const std::string& text);
  void FollowLaterRelease(Configuration* c) const;

  FlagSet flags_;
  Configuration flag_config_;
  std::string config_file_, address_, emulated_version_;
  int32_t port_ = 10251;
  std::string provider_, policy_file_, policy_map_, policy_map_ns_;
  bool legacy_policy_ = false;
  std::map<std::string, bool, std::less<>> gates_;
  std::vector<std::string> gate_log_;
  std::vector<std::string> positional_;
};

}  // namespace berth::kube_scheduler
