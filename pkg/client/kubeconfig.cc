// The file is read section by section, and the first mistake is reported when all sections have been read.
#include "pkg/client/kubeconfig.h"

#include <absl/strings/escaping.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include <algorithm>
#include <initializer_list>

#include "pkg/api/json.h"
#include "pkg/api/stream.h"
#include "pkg/util/status.h"

namespace berth::client {
namespace {

// Reads the members of one object. Of all mistakes in the file, the first is kept in `error`, with its path.
class Reader {
 public:
  Reader(api::Json j, std::string path, absl::Status* error) : json_(j), path_(std::move(path)), error_(error) {
    if (!j.IsNull() && !j.IsObject()) Fail(path_, j, "must be an object");
  }
  std::string String(std::string_view key) {
    api::Json v = json_.Find(key);
    if (v.IsNull()) return "";
    if (!v.IsString()) {
      Fail(At(key), v, v.IsNumber() || v.IsBool() ? "must be a string; put it in quotes" : "must be a string");
      return "";
    }
    return std::string(v.Text());
  }
  // Returns a string that becomes an HTTP header or a name. Line ends at its end, which a YAML block adds, are removed.
  std::string Line(std::string_view key) {
    std::string text = String(key);
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    if (std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }) && error_->ok()) {
      *error_ = absl::InvalidArgumentError(absl::StrCat(At(key), ": must be one line without control characters"));
    }
    return text;
  }
  bool Bool(std::string_view key) {
    api::Json v = json_.Find(key);
    if (!v.IsNull() && !v.IsBool()) Fail(At(key), v, "must be true or false");
    return v.Bool();
  }
  std::string Base64(std::string_view key) {
    std::string text = String(key), out;
    std::erase_if(text, [](char c) { return c == '\n' || c == '\r'; });
    if (!absl::Base64Unescape(text, &out)) {
      if (error_->ok()) *error_ = absl::InvalidArgumentError(absl::StrCat(At(key), ": illegal base64 data"));
      return "";
    }
    return out;
  }
  std::vector<std::string> Strings(std::string_view key) {
    std::vector<std::string> out;
    api::Json v = json_.Find(key);
    if (!v.IsNull() && !v.IsArray()) Fail(At(key), v, "must be a list of strings");
    for (auto m : v.Children()) {
      if (!m.value.IsString() || m.value.Text().find_first_of("\r\n") != std::string_view::npos) {
        Fail(At(key), m.value, "must be a list of strings of one line");
        continue;
      }
      out.emplace_back(m.value.Text());
    }
    return out;
  }
  // Returns strings that may have several lines, such as a program's arguments.
  std::vector<std::string> Texts(std::string_view key) {
    std::vector<std::string> out;
    api::Json v = json_.Find(key);
    if (!v.IsNull() && !v.IsArray()) Fail(At(key), v, "must be a list of strings");
    for (auto m : v.Children()) {
      if (!m.value.IsString()) Fail(At(key), m.value, "must be a list of strings");
      out.emplace_back(m.value.Text());
    }
    return out;
  }
  void MapOfStrings(std::string_view key) {
    Reader map = Object(key);
    for (auto m : json_.Find(key).Children()) map.String(m.key);
  }
  // Logs a warning for each member that is not in `known`; such members are ignored.
  void Only(std::initializer_list<std::string_view> known) const {
    for (auto m : json_.Children()) {
      const auto same = [&](std::string_view k) {
        return absl::EqualsIgnoreCase(util::ToAbsl(k), util::ToAbsl(m.key));
      };
      if (!json_.IsObject() || std::any_of(known.begin(), known.end(), same)) continue;
      LOG(WARNING) << "kubeconfig: unknown field \"" << At(m.key) << "\" is ignored";
    }
  }
  Reader Object(std::string_view key) { return {json_.Find(key), At(key), error_}; }
  api::Json Get(std::string_view key) const { return json_.Find(key); }

  // Calls f with the name and a reader of each element of a list of {name, ...}.
  template <typename F>
  void Named(std::string_view key, const F& f) {
    api::Json list = json_.Find(key);
    if (!list.IsNull() && !list.IsArray()) Fail(At(key), list, "must be a list");
    size_t i = 0;
    for (auto m : list.Children()) {
      Reader r(m.value, absl::StrCat(At(key), "[", i++, "]"), error_);
      f(r.String("name"), r);
    }
  }

 private:
  std::string At(std::string_view key) const {
    return absl::StrCat(path_, path_.empty() ? "" : ".", util::ToAbsl(key));
  }
  void Fail(const std::string& at, api::Json v, std::string_view why) {
    if (error_->ok()) {
      *error_ = absl::InvalidArgumentError(
          absl::StrCat(at.empty() ? "the file" : at, ": ", v.Brief(), ": ", util::ToAbsl(why)));
    }
  }
  api::Json json_;
  std::string path_;
  absl::Status* error_;
};

std::string Resolve(const std::string& directory, std::string file) {
  return file.empty() || file[0] == '/' || directory.empty() ? file : absl::StrCat(directory, "/", file);
}

// Adds an entry. If a name occurs twice, the last entry is used, as in 1.10, and a warning is logged.
template <typename Map, typename T>
void Put(Map& map, const char* what, const std::string& name, T value) {
  if (!map.insert_or_assign(name, std::move(value)).second) {
    LOG(WARNING) << "kubeconfig: more than one " << what << " is named \"" << name << "\"; the last one counts";
  }
}

}  // namespace

// std::map::merge moves only entries whose keys do not exist yet, which is the rule of kubectl.
void MergeKubeconfig(Kubeconfig more, Kubeconfig* config) {
  config->clusters.merge(more.clusters);
  config->users.merge(more.users);
  config->contexts.merge(more.contexts);
  if (config->current_context.empty()) config->current_context = std::move(more.current_context);
}

// NOLINT(readability-function-size): reads the sections of the file one after another.
absl::StatusOr<Kubeconfig> ParseKubeconfig(std::string_view text, const std::string& directory) {
  Kubeconfig config;
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return config;
  auto doc = api::ReadDocument(text);
  if (!doc.ok()) return doc.status();
  if (doc->root().IsNull()) return config;
  absl::Status error;
  Reader root(doc->root(), "", &error);
  std::string kind = root.String("kind"), version = root.String("apiVersion");
  if ((!kind.empty() && kind != "Config") || (!version.empty() && version != "v1")) {
    return absl::InvalidArgumentError(absl::StrCat("no kind \"", kind.empty() ? "Config" : kind,
                                                   "\" is registered for version \"", version.empty() ? "v1" : version,
                                                   "\""));
  }
  root.Only({"kind", "apiVersion", "preferences", "clusters", "users", "contexts", "current-context", "extensions"});
  root.Object("preferences").Only({"colors", "extensions"});
  root.Object("preferences").Bool("colors");
  config.current_context = root.String("current-context");
  root.Named("clusters", [&](const std::string& name, Reader& item) {
    item.Only({"name", "cluster"});
    Reader r = item.Object("cluster");
    r.Only({"server", "insecure-skip-tls-verify", "certificate-authority", "certificate-authority-data",
            "tls-server-name", "proxy-url", "disable-compression", "extensions"});
    KubeCluster c;
    c.compression = !r.Bool("disable-compression");
    c.server = r.String("server");
    c.insecure = r.Bool("insecure-skip-tls-verify");
    c.ca_file = Resolve(directory, r.String("certificate-authority"));
    c.ca_data = r.Base64("certificate-authority-data");
    c.tls_server_name = r.Line("tls-server-name");
    c.proxy_url = r.Line("proxy-url");
    Put(config.clusters, "cluster", name, std::move(c));
  });
  root.Named("contexts", [&](const std::string& name, Reader& item) {
    item.Only({"name", "context"});
    Reader r = item.Object("context");
    r.Only({"cluster", "user", "namespace", "extensions"});
    r.String("namespace");
    KubeContext c;
    c.cluster = r.String("cluster");
    c.user = r.String("user");
    Put(config.contexts, "context", name, std::move(c));
  });
  root.Named("users", [&](const std::string& name, Reader& item) {
    item.Only({"name", "user"});
    Reader r = item.Object("user");
    r.Only({"client-certificate", "client-certificate-data", "client-key", "client-key-data", "token", "tokenFile",
            "username", "password", "as", "as-uid", "as-groups", "as-user-extra", "auth-provider", "exec",
            "extensions"});
    KubeUser u;
    u.cert_file = Resolve(directory, r.String("client-certificate"));
    u.cert_data = r.Base64("client-certificate-data");
    u.key_file = Resolve(directory, r.String("client-key"));
    u.key_data = r.Base64("client-key-data");
    u.token = r.Line("token");
    u.token_file = Resolve(directory, r.String("tokenFile"));
    u.username = r.Line("username");
    u.password = r.Line("password");
    u.impersonate = r.Line("as");
    u.impersonate_uid = r.Line("as-uid");
    u.impersonate_groups = r.Strings("as-groups");
    Reader extra = r.Object("as-user-extra");
    for (auto m : r.Get("as-user-extra").Children()) {
      u.impersonate_extra.emplace_back(std::string(m.key), extra.Strings(m.key));
    }
    u.has_auth_provider = !r.Get("auth-provider").IsNull();
    Reader provider = r.Object("auth-provider");
    u.auth_provider = provider.String("name");
    provider.MapOfStrings("config");
    u.has_exec = !r.Get("exec").IsNull();
    Reader exec = r.Object("exec");
    exec.Only({"command", "args", "env", "apiVersion", "installHint", "provideClusterInfo", "interactiveMode"});
    u.exec_command = exec.String("command");
    // A path is relative to the kubeconfig's folder; a name without a slash is looked up in $PATH.
    if (u.exec_command.find('/') != std::string::npos) u.exec_command = Resolve(directory, u.exec_command);
    u.exec_api_version = exec.String("apiVersion");
    u.exec_install_hint = exec.String("installHint");
    u.exec_interactive_mode = exec.String("interactiveMode");
    u.exec_provide_cluster_info = exec.Bool("provideClusterInfo");
    u.exec_args = exec.Texts("args");
    exec.Named("env", [&](const std::string& env, Reader& e) { u.exec_env.emplace_back(env, e.String("value")); });
    Put(config.users, "user", name, std::move(u));
  });
  if (!error.ok()) return error;
  return config;
}

}  // namespace berth::client
