// Parses kubeconfig files. For use within this package; config.h turns the result into a RestConfig.
#pragma once
#include <absl/status/statusor.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::client {

struct KubeCluster {
  std::string server, ca_file, ca_data;  // ca_data has been decoded from base64
  std::string tls_server_name, proxy_url;
  bool insecure = false, compression = true;
  friend bool operator==(const KubeCluster&, const KubeCluster&) = default;
};

struct KubeUser {
  std::string cert_file, cert_data, key_file, key_data, token, token_file, username, password;
  std::string impersonate, impersonate_uid;
  std::vector<std::string> impersonate_groups;
  std::vector<std::pair<std::string, std::vector<std::string>>> impersonate_extra;
  std::string auth_provider;  // the provider's name
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

// Adds the entries of `more` to `config`. If both have a cluster, user or context of the same name, or a current
// context, the one in `config` is kept, as kubectl does with several files in $KUBECONFIG.
void MergeKubeconfig(Kubeconfig more, Kubeconfig* config);

// Parses the text of a kubeconfig. Relative file names are resolved against `directory`. An empty text is an empty
// configuration.
absl::StatusOr<Kubeconfig> ParseKubeconfig(std::string_view text, const std::string& directory);

}  // namespace berth::client
