// Finds out how to reach the API server: from a kubeconfig, the service account of the pod that we run in, or --master
// (client-go 1.10).
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

// The configuration of a client. The files that a kubeconfig names have been read; token and certificate files are read
// again when they change. To make a second client with another user agent or other limits, change a copy.
struct RestConfig {
  std::string url;   // as it appears in logs and errors: "https://10.0.0.1:6443/prefix", no slash at the end
  std::string host;  // name or address, IPv6 without brackets
  uint16_t port = 0;
  std::string path_prefix;  // "" or "/prefix"
  std::optional<TlsOptions> tls;
  std::optional<ProxyServer> proxy;  // from the cluster's proxy-url or the environment, see pkg/http/proxy.h

  // Either a token or a user name with a password, not both. Never set for a server that speaks plain HTTP.
  std::string bearer_token;  // takes precedence over token_file
  std::string token_file;    // read again every ten seconds and after each 401; surrounding white space is ignored
  std::string username, password;
  // If set, tokens and client certificates come from this plugin. All clients with copies of this configuration share
  // it.
  std::shared_ptr<ExecPlugin> plugin;

  struct Impersonate {
    std::string user, uid;
    std::vector<std::string> groups;
    std::vector<std::pair<std::string, std::vector<std::string>>> extra;
  } impersonate;

  double qps = 5;  // requests per second on average; < 0: unlimited
  int burst = 10;  // requests that may be sent at once before `qps` applies
  std::string user_agent;
  bool compression = true;                     // false: long lists are not asked for in gzip either
  absl::Duration timeout = absl::Seconds(30);  // of each request that does not set its own
};

struct ConfigSources {
  std::string kubeconfig;  // path of a file in JSON or YAML; empty: none
  // If `kubeconfig` is empty, reads the files that kubectl would: those that $KUBECONFIG lists, separated by ':', of
  // which missing ones are skipped, or else ~/.kube/config. The daemon does not set this.
  bool default_files = false;
  std::string context;  // the context to use; empty: the current one
  std::string master;   // the value of --master: replaces the kubeconfig's server, or is used without a kubeconfig
  // Tests replace the environment and the directory of the service account.
  std::function<std::string(const char*)> getenv;  // empty: reads the process's environment
  std::string service_account_dir = "/var/run/secrets/kubernetes.io/serviceaccount";
};

// Finds, reads and checks the configuration. An error's text is meant for the user, after the prefix "error: ". It may
// have several lines: "Error in configuration: " and then one line "* problem" for each problem.
absl::StatusOr<RestConfig> LoadConfig(const ConfigSources& sources);

// Returns "kube-scheduler/v1.10.0 (linux/amd64) kubernetes/abc1234", followed by "/" and `suffix` unless that is empty.
std::string UserAgent(std::string_view program, std::string_view version, std::string_view commit,
                      std::string_view suffix);

}  // namespace berth::client
