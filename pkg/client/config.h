// How to reach the API server: kubeconfig, in-cluster service account, master override (client-go 1.10).
#pragma once
#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pkg/client/exec_plugin.h"
#include "pkg/client/http.h"

namespace berth::client {

// Everything a client needs to know, with files already read; token and certificate files are read again when they
// change. Copy and change it for a second client (other user agent, own limits).
struct RestConfig {
  std::string url;   // as it appears in logs and errors: "https://10.0.0.1:6443/prefix", no slash at the end
  std::string host;  // name or address, IPv6 without brackets
  uint16_t port = 0;
  std::string path_prefix;  // "" or "/prefix"
  std::optional<TlsOptions> tls;
  std::optional<ProxyServer> proxy;  // as the cluster's proxy-url or the environment says, see pkg/http/proxy.h

  // At most one of the two kinds; never set for a plain http server.
  std::string bearer_token;  // wins over token_file
  std::string token_file;    // read again every ten seconds and after each 401; white space around it is cut off
  std::string username, password;
  // Where tokens and client certificates come from instead; shared by all clients with copies of this configuration.
  std::shared_ptr<ExecPlugin> plugin;

  struct Impersonate {
    std::string user, uid;
    std::vector<std::string> groups;
    std::vector<std::pair<std::string, std::vector<std::string>>> extra;
  } impersonate;

  double qps = 5;  // requests a second in the long run; < 0: no limit
  int burst = 10;  // at once
  std::string user_agent;
  absl::Duration timeout = absl::Seconds(30);  // of each request that names none
};

struct ConfigSources {
  std::string kubeconfig;  // a file, JSON or YAML; empty: none
  // Without `kubeconfig`, take the files of $KUBECONFIG (several, separated by ':', those that do not exist skipped),
  // or else ~/.kube/config, as kubectl does. A daemon does not.
  bool default_files = false;
  std::string context;  // the context to use; empty: the current one
  std::string master;   // --master: replaces the server of the kubeconfig, or stands alone
  // For tests: the environment and the directory of the service account.
  std::function<std::string(const char*)> getenv;  // empty: the real one
  std::string service_account_dir = "/var/run/secrets/kubernetes.io/serviceaccount";
};

// Finds, reads and checks the configuration. The error text is what a user should see behind "error: "; it may have
// several lines ("Error in configuration: " and one line "* problem" for each).
absl::StatusOr<RestConfig> LoadConfig(const ConfigSources& sources);

// "kube-scheduler/v1.10.0 (linux/amd64) kubernetes/abc1234" + "/" + suffix.
std::string UserAgent(std::string_view program, std::string_view version, std::string_view commit,
                      std::string_view suffix);

}  // namespace berth::client
