// Runs the credential plugins of a kubeconfig (users[].user.exec, client.authentication.k8s.io/v1 and v1beta1). A
// plugin is a program that prints a token or a client certificate.
//
// The program is run without a shell, with the environment of this process plus the configured variables and
// KUBERNETES_EXEC_INFO, and with empty standard input. Its credential is kept until it expires, renewed shortly before,
// and discarded when the server answers 401. If the program fails or hangs, the error contains what it wrote to
// standard error.
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
  // The name of a program in $PATH, or a path, which has already been resolved against the kubeconfig's folder.
  std::string command;
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;
  std::string api_version;   // client.authentication.k8s.io/v1 or /v1beta1
  std::string install_hint;  // shown when the program does not exist
  // The JSON of ExecCredential.spec.cluster, for plugins with provideClusterInfo. If empty, it is not passed.
  std::string cluster_json;
  absl::Duration timeout = absl::Seconds(60);  // of one run
};

struct ExecCredential {
  std::string token, cert_pem, key_pem;
  absl::Time expires = absl::InfiniteFuture();
};

// Parses the output of a plugin. Errors are client-go's: "exec plugin didn't return a token or cert/key pair".
absl::StatusOr<ExecCredential> ParseExecCredential(std::string_view text, const std::string& api_version);

// Runs the program and blocks until it has ended or timed out. Errors: "exec: executable aws not found", "exec:
// executable aws failed with exit code 1: <standard error>", "exec: executable aws did not answer within 1m0s".
absl::StatusOr<ExecCredential> RunExecPlugin(const ExecPluginConfig& config);

// Holds the credential of one plugin, for all clients that use the plugin. Runs the program at most once at a time.
// Thread-safety: all methods may be called from any thread.
class ExecPlugin : public std::enable_shared_from_this<ExecPlugin> {
 public:
  using Run = std::function<absl::StatusOr<ExecCredential>()>;
  using Ready = std::function<void(const absl::Status& error)>;

  explicit ExecPlugin(ExecPluginConfig config);
  // For tests: calls `run` on a thread of its own instead of running a program.
  ExecPlugin(Run run, const util::Clock* clock);

  // Calls `ready` when there is a credential that has not expired, or when none can be obtained. If there is one
  // already, the call happens inside Get; otherwise it is posted to `executor` later. A credential that is about to
  // expire is used while a new one is being obtained. `owner` identifies the caller for Forget. The text of an error
  // begins with "getting credentials: ".
  void Get(const void* owner, Executor* executor, Ready ready);
  // Drops the callbacks of `owner` that have not been posted to its executor yet.
  void Forget(const void* owner);
  // Returns the current credential. `*number` is set to its number, which changes with each new credential and is 0
  // before the first.
  ExecCredential credential(uint64_t* number) const;
  // Must be called when the server has rejected the credential with that number. The next Get then obtains a new one.
  void Refused(uint64_t number);

 private:
  struct State;
  // Runs the program in a thread of its own, unless it is running. `held` holds the mutex of the state.
  void Start(const std::lock_guard<std::mutex>& held);
  std::shared_ptr<State> state_;
};

}  // namespace berth::client
