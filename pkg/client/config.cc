// Turns the sources of a configuration into a RestConfig, in the order that client-go 1.10 uses: the kubeconfig with
// --master laid over it, and, if that leaves no cluster at all, the service account of the pod that we run in.
//
// All problems of a kubeconfig are collected and reported together, in client-go's words, so that a user need not
// repair them one at a time. Certificates and keys are read here once to find mistakes early; the names of their files
// stay in the result, because the TLS code reads them again when they change.
#include "pkg/client/config.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>
#include <glog/logging.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "pkg/client/json_edit.h"
#include "pkg/client/kubeconfig.h"
#include "pkg/http/proxy.h"
#include "pkg/util/status.h"

namespace berth::client {
namespace {

std::string SystemText(int error) {
  std::string s = std::strerror(error);
  if (!s.empty()) s[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(s[0])));
  return s;
}

// Returns the content of a file. Errors read like Go's: "open FILE: no such file or directory".
absl::StatusOr<std::string> ReadFile(const std::string& path) {
  struct stat st;
  if (stat(path.c_str(), &st) != 0) {
    return absl::NotFoundError(absl::StrCat("open ", path, ": ", SystemText(errno)));
  }
  if (S_ISDIR(st.st_mode)) return absl::FailedPreconditionError(absl::StrCat("read ", path, ": is a directory"));
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) return absl::PermissionDeniedError(absl::StrCat("open ", path, ": ", SystemText(errno)));
  return std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
}

absl::Status Invalid(std::string text) {
  return absl::InvalidArgumentError(text);
}

// ---- the server's address ----

struct Address {
  bool tls = false;
  std::string host, prefix;
  uint16_t port = 0;
};

absl::StatusOr<Address> ParseServer(const std::string& server, bool tls_wanted) {
  Address a;
  std::string_view rest = server;
  size_t scheme = rest.find("://");
  if (scheme != std::string_view::npos) {
    std::string name(rest.substr(0, scheme));
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    if (name != "http" && name != "https") {
      return Invalid(
          absl::StrCat("unsupported protocol scheme \"", name, "\" in \"", server, "\": http and https are known"));
    }
    a.tls = name == "https";
    rest.remove_prefix(scheme + 3);
    rest = rest.substr(0, rest.find_first_of("?#"));
    size_t slash = rest.find('/');
    if (slash != std::string_view::npos) {
      a.prefix = std::string(rest.substr(slash));
      while (!a.prefix.empty() && a.prefix.back() == '/') a.prefix.pop_back();
      rest = rest.substr(0, slash);
    }
    size_t user = rest.rfind('@');
    if (user != std::string_view::npos) {
      return Invalid(
          "credentials in the server's URL are not supported: put username and password into the user of a "
          "kubeconfig");
    }
  } else {
    if (rest.find('/') != std::string_view::npos) {
      return Invalid(absl::StrCat("host must be a URL or a host:port pair: \"", server, "\""));
    }
    a.tls = tls_wanted;
  }
  std::string_view port;
  if (!rest.empty() && rest.front() == '[') {
    size_t close = rest.find(']');
    if (close == std::string_view::npos) return Invalid(absl::StrCat("missing ']' in host \"", server, "\""));
    a.host = std::string(rest.substr(1, close - 1));
    rest.remove_prefix(close + 1);
    if (!rest.empty() && rest.front() != ':') {
      return Invalid(absl::StrCat("host must be a URL or a host:port pair: \"", server, "\""));
    }
    if (!rest.empty()) port = rest.substr(1);
  } else {
    size_t colon = rest.find(':');
    a.host = std::string(rest.substr(0, colon));
    if (colon != std::string_view::npos) port = rest.substr(colon + 1);
  }
  if (a.host.empty()) a.host = "localhost";
  a.port = a.tls ? 443 : 80;
  if (!port.empty()) {
    int n = 0;
    auto r = std::from_chars(port.data(), port.data() + port.size(), n);
    if (r.ec != std::errc() || r.ptr != port.data() + port.size() || n < 1 || n > 65535) {
      return Invalid(absl::StrCat("invalid port \"", util::ToAbsl(port), "\" in \"", server,
                                  "\": must be a number from 1 to 65535"));
    }
    a.port = static_cast<uint16_t>(n);
  }
  return a;
}

std::string Url(const Address& a) {
  bool v6 = a.host.find(':') != std::string::npos;
  bool usual = a.port == (a.tls ? 443 : 80);
  return absl::StrCat(a.tls ? "https://" : "http://", v6 ? "[" : "", a.host, v6 ? "]" : "",
                      usual ? "" : absl::StrCat(":", a.port), a.prefix);
}

// ---- checks of a kubeconfig, all of them ----

void CheckReadable(const std::string& file, std::string_view what, const std::string& of,
                   std::vector<std::string>* problems) {
  if (file.empty()) return;
  auto content = ReadFile(file);
  if (!content.ok()) {
    problems->push_back(absl::StrCat("unable to read ", util::ToAbsl(what), " ", file, " for ", of, " due to ",
                                     util::Message(content.status())));
  }
}

constexpr char kExecV1[] = "client.authentication.k8s.io/v1", kExecV1Beta1[] = "client.authentication.k8s.io/v1beta1";

void CheckUser(const std::string& name, const KubeUser& u, std::vector<std::string>* problems) {
  std::vector<std::string> methods;
  if (!u.token.empty()) methods.push_back("token");
  if (!u.username.empty() || !u.password.empty()) methods.push_back("basicAuth");
  if (!u.cert_file.empty() || !u.cert_data.empty()) {
    if (!u.cert_file.empty() && !u.cert_data.empty()) {
      problems->push_back(absl::StrCat("client-cert-data and client-cert are both specified for ", name,
                                       ". client-cert-data will override."));
    }
    if (!u.key_file.empty() && !u.key_data.empty()) {
      problems->push_back(absl::StrCat("client-key-data and client-key are both specified for ", name,
                                       "; client-key-data will override"));
    }
    if (u.key_file.empty() && u.key_data.empty()) {
      problems->push_back(absl::StrCat("client-key-data or client-key must be specified for ", name,
                                       " to use the clientCert authentication method."));
    }
    if (u.cert_data.empty()) CheckReadable(u.cert_file, "client-cert", name, problems);
    if (u.key_data.empty()) CheckReadable(u.key_file, "client-key", name, problems);
  }
  if (u.has_exec) {
    if (u.has_auth_provider) {
      problems->push_back(
          absl::StrCat("authProvider cannot be provided in combination with an exec plugin for ", name));
    }
    if (u.exec_command.empty()) {
      problems->push_back(absl::StrCat("command must be specified for ", name, " to use exec authentication plugin"));
    }
    if (u.exec_api_version.empty()) {
      problems->push_back(
          absl::StrCat("apiVersion must be specified for ", name, " to use exec authentication plugin"));
    }
    for (const auto& [env, value] : u.exec_env) {
      if (env.empty()) {
        problems->push_back(
            absl::StrCat("env variable name must be specified for ", name, " to use exec authentication plugin"));
      }
    }
  }
  if (u.has_exec && !u.exec_api_version.empty() && u.exec_api_version != kExecV1 &&
      u.exec_api_version != kExecV1Beta1) {
    problems->push_back(absl::StrCat("exec plugin of ", name, ": apiVersion \"", u.exec_api_version,
                                     "\" is not supported: ", kExecV1, " and ", kExecV1Beta1, " are"));
  }
  if (u.has_exec) {
    const std::string& mode = u.exec_interactive_mode;
    if (mode.empty() && u.exec_api_version == kExecV1) {
      problems->push_back(
          absl::StrCat("interactiveMode must be specified for ", name, " to use exec authentication plugin"));
    } else if (mode == "Always") {
      problems->push_back(
          absl::StrCat("exec plugin of ", name, " needs a terminal (interactiveMode: Always), but none is available"));
    } else if (!mode.empty() && mode != "Never" && mode != "IfAvailable") {
      problems->push_back(
          absl::StrCat("invalid interactiveMode for ", name, ": \"", mode, "\": must be Never, IfAvailable or Always"));
    }
  }
  if (methods.size() > 1) {
    problems->push_back(absl::StrCat("more than one authentication method found for ", name, "; found [",
                                     absl::StrJoin(methods, " "), "], only one is allowed"));
  }
  if ((!u.impersonate_groups.empty() || !u.impersonate_extra.empty() || !u.impersonate_uid.empty()) &&
      u.impersonate.empty()) {
    problems->push_back(absl::StrCat("requesting groups or user-extra for ", name, " without impersonating a user"));
  }
}

void CheckCluster(const std::string& name, const KubeCluster& c, std::vector<std::string>* problems) {
  if (c.server.empty()) {
    problems->push_back(name.empty() ? "default cluster has no server defined"
                                     : absl::StrCat("no server found for cluster \"", name, "\""));
  }
  if (!c.ca_file.empty() && !c.ca_data.empty()) {
    problems->push_back(absl::StrCat("certificate-authority-data and certificate-authority are both specified for ",
                                     name, ". certificate-authority-data will override."));
  } else if (!c.ca_file.empty()) {
    CheckReadable(c.ca_file, "certificate-authority", name, problems);
  }
}

absl::Status AsError(const std::vector<std::string>& problems) {
  if (problems.size() == 1) return Invalid(problems[0]);
  std::string text = "Error in configuration: ";
  for (const std::string& p : problems) absl::StrAppend(&text, "\n* ", p);
  return Invalid(text);
}

// ---- from cluster and user to a connection ----

// Sets `out` to `data`, or to the content of `file` if `data` is empty.
absl::Status Load(const std::string& data, const std::string& file, std::string* out) {
  *out = data;
  if (!data.empty() || file.empty()) return absl::OkStatus();
  auto content = ReadFile(file);
  if (!content.ok()) return content.status();
  *out = *std::move(content);
  return absl::OkStatus();
}

// Returns the JSON object about the cluster that a plugin with provideClusterInfo receives.
std::string ClusterInfo(const KubeCluster& cluster, const std::string& server, const std::string& ca_pem) {
  JsonWriter out;
  out.Object().Member("server", server).MemberUnlessEmpty("tls-server-name", cluster.tls_server_name);
  if (cluster.insecure) out.Member("insecure-skip-tls-verify", true);
  out.MemberUnlessEmpty("certificate-authority-data", absl::Base64Escape(ca_pem));
  if (!cluster.compression) out.Member("disable-compression", true);
  return out.MemberUnlessEmpty("proxy-url", cluster.proxy_url).End().Take();
}

// Makes a connection's configuration from a cluster and a user. `server_from` names where the address comes from, for
// error messages: "--master", or the field of the kubeconfig.
absl::StatusOr<RestConfig> Connect(const KubeCluster& cluster, const KubeUser& user, const KubeContext& names,
                                   const std::string& server_from) {
  bool tls_wanted = cluster.insecure || !cluster.ca_file.empty() || !cluster.ca_data.empty() ||
                    !user.cert_file.empty() || !user.cert_data.empty();
  auto address = ParseServer(cluster.server, tls_wanted);
  if (!address.ok()) return Invalid(absl::StrCat(server_from, ": ", util::Message(address.status())));
  RestConfig c;
  c.url = Url(*address);
  c.host = address->host;
  c.port = address->port;
  c.path_prefix = address->prefix;
  c.compression = cluster.compression;
  c.impersonate = {user.impersonate, user.impersonate_uid, user.impersonate_groups, user.impersonate_extra};
  if (!cluster.proxy_url.empty()) {
    auto proxy = http::ParseProxy(cluster.proxy_url, absl::StrCat("cluster \"", names.cluster, "\": proxy-url"));
    if (!proxy.ok()) return proxy.status();
    c.proxy = *std::move(proxy);
  }
  if (!address->tls) {
    if (!user.token.empty() || !user.token_file.empty() || !user.username.empty() || !user.cert_file.empty() ||
        !user.cert_data.empty() || user.has_exec) {
      LOG(WARNING) << "The credentials of user \"" << names.user << "\" are not sent, because " << c.url
                   << " is not https";
    }
    return c;
  }
  if (user.has_auth_provider) {
    return Invalid(
        absl::StrCat("No Auth Provider found for name \"", user.auth_provider, "\" (user \"", names.user, "\")"));
  }
  TlsOptions tls;
  tls.insecure_skip_verify = cluster.insecure;
  BERTH_RETURN_IF_ERROR(Load(cluster.ca_data, cluster.ca_file, &tls.ca_pem));
  BERTH_RETURN_IF_ERROR(Load(user.cert_data, user.cert_file, &tls.cert_pem));
  if (!tls.cert_pem.empty()) BERTH_RETURN_IF_ERROR(Load(user.key_data, user.key_file, &tls.key_pem));
  if (cluster.ca_data.empty()) tls.ca_file = cluster.ca_file;
  if (user.cert_data.empty()) tls.cert_file = user.cert_file;
  if (!tls.cert_pem.empty() && user.key_data.empty()) tls.key_file = user.key_file;
  if (tls.insecure_skip_verify && !tls.ca_pem.empty()) {
    return Invalid(absl::StrCat("specifying a root certificates file with the insecure flag is not allowed (cluster \"",
                                names.cluster, "\")"));
  }
  tls.server_name = cluster.tls_server_name;
  tls.resume = true;  // as API servers let clients
  // As in client-go, the user's own token or certificate takes precedence over the plugin.
  if (user.has_exec && user.token.empty() && user.token_file.empty() && user.username.empty() && tls.cert_pem.empty()) {
    ExecPluginConfig plugin;
    plugin.command = user.exec_command;
    plugin.args = user.exec_args;
    plugin.env = user.exec_env;
    plugin.api_version = user.exec_api_version;
    plugin.install_hint = user.exec_install_hint;
    if (user.exec_provide_cluster_info) plugin.cluster_json = ClusterInfo(cluster, c.url, tls.ca_pem);
    c.plugin = std::make_shared<ExecPlugin>(std::move(plugin));
  }
  c.tls = std::move(tls);
  c.bearer_token = user.token;
  if (user.token.empty() && !user.token_file.empty()) {
    auto token = ReadFile(user.token_file);
    if (!token.ok()) {
      return Invalid(
          absl::StrCat("unable to read tokenFile for ", names.user, " due to ", util::Message(token.status())));
    }
    c.token_file = user.token_file;
  }
  c.username = user.username;
  c.password = user.password;
  if ((!c.bearer_token.empty() || !c.token_file.empty()) && (!c.username.empty() || !c.password.empty())) {
    return Invalid(
        absl::StrCat("username/password or bearer token may be set, but not both (user \"", names.user, "\")"));
  }
  return c;
}

// Returns the configuration of the service account of the pod that we run in, or nothing when we do not run in a pod.
absl::StatusOr<std::optional<RestConfig>> InCluster(const ConfigSources& s,
                                                    const std::function<std::string(const char*)>& getenv) {
  std::string host = getenv("KUBERNETES_SERVICE_HOST"), port = getenv("KUBERNETES_SERVICE_PORT");
  std::string token = absl::StrCat(s.service_account_dir, "/token");
  struct stat st;
  if (host.empty() || port.empty() || stat(token.c_str(), &st) != 0 || !S_ISREG(st.st_mode)) return std::nullopt;
  VLOG(4) << "Using in-cluster configuration";
  KubeCluster cluster;
  bool v6 = host.find(':') != std::string::npos;
  cluster.server = absl::StrCat("https://", v6 ? "[" : "", host, v6 ? "]" : "", ":", port);
  std::string ca = absl::StrCat(s.service_account_dir, "/ca.crt");
  auto pem = ReadFile(ca);
  if (pem.ok()) {
    cluster.ca_file = ca;
  } else {
    LOG(ERROR) << "Expected to load root CA config from " << ca << ", but got err: " << util::Message(pem.status());
  }
  KubeUser user;
  user.token_file = token;
  auto config =
      Connect(cluster, user, {"in-cluster", "service account"}, "KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT");
  if (!config.ok()) return config.status();
  return std::optional<RestConfig>(*std::move(config));
}

// The kubeconfig's own proxy-url takes precedence over the environment.
absl::StatusOr<RestConfig> WithProxy(RestConfig c, const std::function<std::string(const char*)>& getenv) {
  if (c.proxy) return c;  // the kubeconfig's proxy-url takes precedence
  auto proxy = http::FindProxy(c.tls.has_value(), c.host, getenv);
  if (!proxy.ok()) return proxy.status();
  c.proxy = *std::move(proxy);
  if (c.proxy) {
    LOG(INFO) << "The API server at " << c.url << " is reached through the proxy " << c.proxy->host << ", port "
              << c.proxy->port;
  }
  return c;
}

absl::StatusOr<Kubeconfig> ReadKubeconfig(const std::string& path) {
  auto text = ReadFile(path);
  absl::StatusOr<Kubeconfig> parsed;
  if (!text.ok()) {
    parsed = text.status();
  } else {
    const size_t slash = path.rfind('/');
    parsed = ParseKubeconfig(*text, slash == std::string::npos ? "" : path.substr(0, slash));
  }
  if (parsed.ok()) return parsed;
  return Invalid(absl::StrCat("Error loading config file \"", path, "\": ", util::Message(parsed.status())));
}

std::vector<std::string> DefaultFiles(const std::function<std::string(const char*)>& getenv) {
  const std::string named = getenv("KUBECONFIG"), home = getenv("HOME");
  if (!named.empty()) return absl::StrSplit(named, ':', absl::SkipEmpty());
  return home.empty() ? std::vector<std::string>() : std::vector<std::string>{home + "/.kube/config"};
}

}  // namespace

// NOLINT(readability-function-size): reads the sources in the order of their precedence.
absl::StatusOr<RestConfig> LoadConfig(const ConfigSources& sources) {
  std::function<std::string(const char*)> env = sources.getenv;
  if (!env) {
    env = [](const char* name) {
      const char* v = std::getenv(name);
      return std::string(v == nullptr ? "" : v);
    };
  }
  Kubeconfig file;
  if (!sources.kubeconfig.empty()) {
    struct stat st;
    if (stat(sources.kubeconfig.c_str(), &st) != 0) {
      return absl::NotFoundError(absl::StrCat("stat ", sources.kubeconfig, ": ", SystemText(errno)));
    }
    auto parsed = ReadKubeconfig(sources.kubeconfig);
    if (!parsed.ok()) return parsed.status();
    file = *std::move(parsed);
  } else if (sources.default_files && sources.master.empty()) {
    for (const std::string& path : DefaultFiles(env)) {
      struct stat st;
      if (stat(path.c_str(), &st) != 0) continue;
      auto parsed = ReadKubeconfig(path);
      if (!parsed.ok()) return parsed.status();
      MergeKubeconfig(*std::move(parsed), &file);
    }
  }
  if (!sources.context.empty()) file.current_context = sources.context;

  KubeContext context;
  if (!file.current_context.empty()) {
    auto it = file.contexts.find(file.current_context);
    if (it == file.contexts.end()) {
      return Invalid(absl::StrCat("context was not found for specified context: ", file.current_context));
    }
    context = it->second;
  }
  KubeUser user;
  if (auto it = file.users.find(context.user); it != file.users.end()) {
    user = it->second;
  } else if (!context.user.empty()) {
    LOG(WARNING) << "kubeconfig: context \"" << file.current_context << "\" names the user \"" << context.user
                 << "\", which is not there: requests will be anonymous";
  }
  KubeCluster cluster;
  if (auto it = file.clusters.find(context.cluster); it != file.clusters.end()) {
    cluster = it->second;
  } else if (!context.cluster.empty()) {
    LOG(WARNING) << "kubeconfig: context \"" << file.current_context << "\" names the cluster \"" << context.cluster
                 << "\", which is not there";
  }
  if (!sources.master.empty()) cluster.server = sources.master;

  std::vector<std::string> problems;
  CheckUser(context.user, user, &problems);
  bool empty = cluster == KubeCluster{};
  if (empty && problems.empty()) {
    auto inside = InCluster(sources, env);
    if (!inside.ok()) return inside.status();
    if (*inside) return WithProxy(**std::move(inside), env);
    return Invalid("no configuration has been provided");
  }
  if (empty) {
    problems.push_back("cluster has no server defined");
  } else {
    CheckCluster(context.cluster, cluster, &problems);
  }
  if (!problems.empty()) return AsError(problems);
  const std::string server_from =
      sources.master.empty() ? absl::StrCat("server of cluster \"", context.cluster, "\"") : "--master";
  auto config = Connect(cluster, user, context, server_from);
  return config.ok() ? WithProxy(*std::move(config), env) : config;
}

std::string UserAgent(std::string_view program, std::string_view version, std::string_view commit,
                      std::string_view suffix) {
  program = program.substr(program.rfind('/') + 1);
  version = version.substr(0, version.find('-'));
  commit = commit.substr(0, 7);
  auto known = [](std::string_view s) { return util::ToAbsl(s.empty() ? "unknown" : s); };
#if defined(__x86_64__)
  const char* arch = "amd64";
#elif defined(__aarch64__)
  const char* arch = "arm64";
#else
  const char* arch = "unknown";
#endif
  return absl::StrCat(known(program), "/", known(version), " (linux/", arch, ") kubernetes/", known(commit),
                      suffix.empty() ? "" : "/", util::ToAbsl(suffix));
}

}  // namespace berth::client
