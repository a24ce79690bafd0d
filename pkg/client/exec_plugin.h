// Credential plugins of a kubeconfig (users[].user.exec, client.authentication.k8s.io/v1 and v1beta1): a program that
// prints a token or a client certificate.
//
// The program is run without a shell, with the configured environment added to ours, its standard input empty and
// KUBERNETES_EXEC_INFO set. What it prints is kept until it expires, refreshed ahead of that, and thrown away when the
// server answers 401. A program that fails or hangs is an error with what it wrote to standard error.
#pragma once
#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/client/http.h"

namespace berth::client {

struct ExecPluginConfig {
  // A name that is looked for in $PATH, or a path (already relative to the kubeconfig's folder).
  std::string command;
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;
  std::string api_version;   // client.authentication.k8s.io/v1 or /v1beta1
  std::string install_hint;  // shown when the program is not there
  // JSON of ExecCredential.spec.cluster, for plugins with provideClusterInfo; empty: not passed.
  std::string cluster_json;
  absl::Duration timeout = absl::Seconds(60);  // of one run
};

struct ExecCredential {
  std::string token, cert_pem, key_pem;
  absl::Time expires = absl::InfiniteFuture();
};

// Parses what a plugin printed. Errors are client-go's: "exec plugin didn't return a token or cert/key pair".
absl::StatusOr<ExecCredential> ParseExecCredential(std::string_view text, const std::string& api_version);

// Runs the program and waits for it. Errors: "exec: executable aws not found", "exec: executable aws failed with exit
// code 1: <standard error>", "exec: executable aws gave no answer within 1m0s".
absl::StatusOr<ExecCredential> RunExecPlugin(const ExecPluginConfig& config);

// The credentials of one plugin, shared by all clients that use it. Thread-safe. At most one run at a time.
class ExecPlugin : public std::enable_shared_from_this<ExecPlugin> {
 public:
  using Run = std::function<absl::StatusOr<ExecCredential>()>;
  using Ready = std::function<void(const absl::Status& error)>;

  explicit ExecPlugin(ExecPluginConfig config);
  // For tests: `run` in place of the program, on a thread of its own.
  ExecPlugin(Run run, const util::Clock* clock);

  // Calls `ready` when there is a credential that has not expired, or when none can be had: at once, on this thread,
  // when it is there already, else later through the executor. A credential that will expire soon is renewed meanwhile.
  // `owner` is for Forget. An error begins with "getting credentials: ".
  void Get(const void* owner, Executor* executor, Ready ready);
  // Callbacks of this owner that have not been handed to its executor will not be.
  void Forget(const void* owner);
  // The credential, and its number, which changes whenever it does; 0 before the first.
  ExecCredential credential(uint64_t* number) const;
  // The server has refused the credential of that number: the next Get gets another.
  void Refused(uint64_t number);

 private:
  struct State;
  void Start();  // under the mutex
  std::shared_ptr<State> state_;
};

}  // namespace berth::client
