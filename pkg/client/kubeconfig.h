// The kubeconfig file taken apart (inside this package only; config.h makes a RestConfig of it).
#pragma once
#include <absl/status/statusor.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::client {

struct KubeCluster {
  std::string server, ca_file, ca_data;  // data: decoded from base64
  std::string tls_server_name, proxy_url;
  bool insecure = false;
  friend bool operator==(const KubeCluster&, const KubeCluster&) = default;
};

struct KubeUser {
  std::string cert_file, cert_data, key_file, key_data, token, token_file, username, password;
  std::string impersonate, impersonate_uid;
  std::vector<std::string> impersonate_groups;
  std::vector<std::pair<std::string, std::vector<std::string>>> impersonate_extra;
  std::string auth_provider;  // its name
  bool has_auth_provider = false, has_exec = false;
  std::string exec_command, exec_api_version, exec_install_hint, exec_interactive_mode;
  std::vector<std::string> exec_args;
  std::vector<std::pair<std::string, std::string>> exec_env;
  bool exec_provide_cluster_info = false;
};

struct KubeContext {
  std::string cluster, user;
};

struct Kubeconfig {
  std::map<std::string, KubeCluster> clusters;
  std::map<std::string, KubeUser> users;
  std::map<std::string, KubeContext> contexts;
  std::string current_context;
};

// Adds what `more` has and `config` has not: of clusters, users and contexts of one name, and of the current context,
// those that came first count, as for kubectl with several files in $KUBECONFIG.
void MergeKubeconfig(Kubeconfig more, Kubeconfig* config);

// File names come out relative to `directory`. An empty text is an empty config.
absl::StatusOr<Kubeconfig> ParseKubeconfig(std::string_view text, const std::string& directory);

}  // namespace berth::client
