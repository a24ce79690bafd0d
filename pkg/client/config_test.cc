#include "pkg/client/config.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "pkg/client/fake_server.h"
#include "pkg/util/status.h"

namespace berth::client {
namespace {

struct ConfigFixture {
  absl::StatusOr<RestConfig> Load(const std::string& kubeconfig, const std::string& master = "") {
    ConfigSources s;
    if (!kubeconfig.empty()) s.kubeconfig = dir.Write("kubeconfig", kubeconfig);
    return Load(s, master);
  }
  absl::StatusOr<RestConfig> Load(ConfigSources s, const std::string& master) {
    s.master = master;
    s.getenv = [this](const char* name) { return environment[name]; };
    s.service_account_dir = dir.path("account");
    return LoadConfig(s);
  }
  std::string Error(const std::string& kubeconfig, const std::string& master = "") {
    auto c = Load(kubeconfig, master);
    return c.ok() ? "" : util::Message(c.status());
  }
  TempDir dir;
  std::map<std::string, std::string> environment;
};

// Returns a kubeconfig with one context, for this cluster and user (YAML in flow style).
std::string Config(const std::string& cluster, const std::string& user) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: ctx\nclusters: [{name: c, cluster: " + cluster +
         "}]\nusers: [{name: u, user: " + user + "}]\ncontexts: [{name: ctx, context: {cluster: c, user: u}}]\n";
}

}  // namespace

TEST_CASE("a kubeconfig in full") {
  ConfigFixture f;
  f.dir.Write("ca.pem", "CA");
  f.dir.Write("key.pem", "KEY");
  auto c = f.Load(R"(
apiVersion: v1
kind: Config
current-context: here
preferences: {colors: true}
contexts:
- name: there
  context: {cluster: other, user: other}
- name: here
  context: {cluster: prod, user: admin, namespace: ignored}
clusters:
- name: prod
  cluster:
    server: https://api.example.com:6443/k8s/?x=1#y
    certificate-authority: ca.pem
users:
- name: admin
  user:
    client-certificate-data: Q0VSVA==
    client-key: key.pem
    as: jane
    as-groups: [a, b]
    as-user-extra: {scopes: [v, w]}
)");
  CAPTURE(c.status().ToString());
  REQUIRE(c.ok());
  CHECK(c->url == "https://api.example.com:6443/k8s");
  CHECK(c->host == "api.example.com");
  CHECK(c->port == 6443);
  CHECK(c->path_prefix == "/k8s");
  REQUIRE(c->tls.has_value());
  CHECK(c->tls->ca_pem == "CA");
  CHECK(c->tls->cert_pem == "CERT");
  CHECK(c->tls->key_pem == "KEY");
  // The paths of files are kept, as a file is read again when it changes; data has no path.
  CHECK(c->tls->ca_file == f.dir.path("ca.pem"));
  CHECK(c->tls->cert_file == "");
  CHECK(c->tls->key_file == f.dir.path("key.pem"));
  CHECK_FALSE(c->tls->insecure_skip_verify);
  CHECK(c->impersonate.user == "jane");
  CHECK(c->impersonate.groups == std::vector<std::string>{"a", "b"});
  REQUIRE(c->impersonate.extra.size() == 1);
  CHECK(c->impersonate.extra[0].second == std::vector<std::string>{"v", "w"});
}

TEST_CASE("a context may be chosen, and several files are taken together, the first of a name counting") {
  ConfigFixture f;
  f.dir.Write("one",
              "current-context: a\nclusters: [{name: c, cluster: {server: 'https://one'}}]\n"
              "contexts: [{name: a, context: {cluster: c}}, {name: far, context: {cluster: d}}]\n");
  f.dir.Write("two",
              "current-context: b\nclusters: [{name: c, cluster: {server: 'https://two'}}, "
              "{name: d, cluster: {server: 'https://far', tls-server-name: api.far, proxy-url: 'https://me:x@p'}}]\n"
              "contexts: [{name: b, context: {cluster: c}}]\n");
  f.environment["KUBECONFIG"] = f.dir.path("none") + ":" + f.dir.path("one") + "::" + f.dir.path("two");
  f.environment["NO_PROXY"] = "*";
  ConfigSources s;
  s.default_files = true;
  CHECK(f.Load(s, "")->url == "https://one");
  s.context = "b";
  CHECK(f.Load(s, "")->url == "https://one");  // both files have a cluster c
  s.context = "far";
  const auto far = f.Load(s, "");
  REQUIRE(far.ok());
  CHECK(far->url == "https://far");
  CHECK(far->tls->server_name == "api.far");
  REQUIRE(far->proxy);
  CHECK(far->proxy->host == "p");
  CHECK(far->proxy->tls);
  CHECK(far->proxy->credentials == "me:x");
  s.context = "nowhere";
  CHECK(util::Message(f.Load(s, "").status()) == "context was not found for specified context: nowhere");
  // Unless the default files are asked for, KUBECONFIG is not read.
  CHECK(util::Message(f.Load(ConfigSources{}, "").status()) == "no configuration has been provided");
  // Without KUBECONFIG, ~/.kube/config is read.
  std::filesystem::create_directories(f.dir.path(".kube"));
  std::filesystem::rename(f.dir.path("two"), f.dir.path(".kube/config"));
  f.environment = {{"HOME", f.dir.path()}};
  s.context = "";
  CHECK(f.Load(s, "")->url == "https://two");
}

TEST_CASE("proxy-url must be a proxy") {
  ConfigFixture f;
  CHECK(f.Error(Config("{server: 'https://a', proxy-url: 'socks5://me:secret@p'}", "{}")) ==
        "cluster \"c\": proxy-url=socks5://...@p: proxies of this kind are not supported: a proxy is "
        "http[s]://[user:password@]host[:port]");
}

TEST_CASE("an exec plugin is read in full") {
  ConfigFixture f;
  const std::string program =
      f.dir.Write("plugin", "#!/bin/sh\nprintf '%s' \"$KUBERNETES_EXEC_INFO\" >" + f.dir.path("info") +
                                "\nprintf '{\"kind\":\"ExecCredential\",\"apiVersion\":"
                                "\"client.authentication.k8s.io/v1\",\"status\":{\"token\":\"%s-%s\"}}' "
                                "\"$1\" \"$REGION\"\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const auto c =
      f.Load(Config("{server: 'https://a', certificate-authority-data: Q0E=, tls-server-name: 'n'}",
                    "{as: jane, as-uid: '7', as-user-extra: {example.com/x: ['y']}, exec: {command: ./plugin, "
                    "args: ['a $b'], env: [{name: REGION, value: eu}], provideClusterInfo: true, "
                    "interactiveMode: Never, apiVersion: client.authentication.k8s.io/v1}}"));
  CAPTURE(c.status().ToString());
  REQUIRE(c.ok());
  REQUIRE(c->plugin != nullptr);
  CHECK(c->impersonate.uid == "7");
  IoThread io;
  Mailbox<std::string> ready;
  c->plugin->Get(nullptr, io.executor(), [&](const absl::Status& s) { ready.Put(util::Message(s)); });
  REQUIRE(ready.WaitFor(1));
  CHECK(ready.values()[0] == "");
  uint64_t number = 0;
  CHECK(c->plugin->credential(&number).token == "a $b-eu");
  CHECK(number == 1);
  std::ifstream info(f.dir.path("info"));
  CHECK(
      std::string(std::istreambuf_iterator<char>(info), {}) ==
      R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"cluster":{"server":"https://a",)"
      R"("tls-server-name":"n","certificate-authority-data":"Q0E="},"interactive":false}})");
}

TEST_CASE("an exec plugin that cannot work here is refused") {
  ConfigFixture f;
  const auto error = [&](const std::string& mode, const std::string& version = "v1") {
    return f.Error(Config("{server: 'https://a'}",
                          "{exec: {command: x, apiVersion: client.authentication.k8s.io/" + version + mode + "}}"));
  };
  CHECK(error(", interactiveMode: IfAvailable") == "");
  CHECK(error("", "v1beta1") == "");
  CHECK(error("") == "interactiveMode must be specified for u to use exec authentication plugin");
  CHECK_THAT(error(", interactiveMode: Always"), Catch::Contains("needs a terminal"));
  CHECK_THAT(error(", interactiveMode: Often"), Catch::Contains("must be Never, IfAvailable or Always"));
}

TEST_CASE("JSON and keys in any case do as well") {
  ConfigFixture f;
  auto c = f.Load(R"({"Kind":"Config","Current-Context":"a","clusters":[{"name":"c","Cluster":{"SERVER":"https://h"}}],
                      "contexts":[{"name":"a","context":{"Cluster":"c","User":"u"}}],"users":[{"name":"u","user":{"Token":"t"}}]})");
  REQUIRE(c.ok());
  CHECK(c->url == "https://h");
  CHECK(c->port == 443);
  CHECK(c->bearer_token == "t");
}

TEST_CASE("servers in every notation") {
  ConfigFixture f;
  auto url = [&](const std::string& master) {
    auto c = f.Load("", master);
    return c.ok() ? absl::StrCat(c->url, " ", c->host, " ", c->port, c->tls ? " tls" : "") : util::Message(c.status());
  };
  CHECK(url("10.0.0.1:8080") == "http://10.0.0.1:8080 10.0.0.1 8080");
  CHECK(url("localhost") == "http://localhost localhost 80");
  CHECK(url("HTTPS://h") == "https://h h 443 tls");
  CHECK(url("http://[::1]:6443/p/") == "http://[::1]:6443/p ::1 6443");
  CHECK(url("[::1]") == "http://[::1] ::1 80");
  CHECK(url("h:1/path") == "--master: host must be a URL or a host:port pair: \"h:1/path\"");
  CHECK(url("ftp://h") == "--master: unsupported protocol scheme \"ftp\" in \"ftp://h\": http and https are known");
  CHECK(url("http://h:0") == "--master: invalid port \"0\" in \"http://h:0\": must be a number from 1 to 65535");
  CHECK(url("http://h:http") ==
        "--master: invalid port \"http\" in \"http://h:http\": must be a number from 1 to 65535");
  CHECK(url("http://[::1") == "--master: missing ']' in host \"http://[::1\"");
  CHECK_THAT(url("http://u:p@h"), Catch::StartsWith("--master: credentials in the server's URL are not supported"));
  // If the URL has no scheme, it is https because there are TLS settings.
  auto c = f.Load(Config("{server: 'h:1', insecure-skip-tls-verify: true}", "{}"));
  REQUIRE(c.ok());
  CHECK(c->url == "https://h:1");
}

TEST_CASE("--master replaces the server and keeps the rest") {
  ConfigFixture f;
  auto c = f.Load(Config("{server: 'https://a', insecure-skip-tls-verify: true}", "{token: t}"), "https://b:2");
  REQUIRE(c.ok());
  CHECK(c->url == "https://b:2");
  CHECK(c->tls->insecure_skip_verify);
  CHECK(c->bearer_token == "t");
}

TEST_CASE("over plain http no credentials are sent, impersonation is kept") {
  ConfigFixture f;
  auto c = f.Load(Config("{server: 'http://a'}", "{token: t, as: jane}"));
  REQUIRE(c.ok());
  CHECK(c->bearer_token == "");
  CHECK_FALSE(c->tls.has_value());
  CHECK(c->impersonate.user == "jane");
}

TEST_CASE("credentials: token before tokenFile, tokenFile relative, basic") {
  ConfigFixture f;
  auto c = f.Load(Config("{server: 'https://a'}", "{token: t, tokenFile: nowhere}"));
  REQUIRE(c.ok());
  CHECK(c->token_file == "");
  f.dir.Write("tok", "x\n");
  c = f.Load(Config("{server: 'https://a'}", "{tokenFile: tok}"));
  REQUIRE(c.ok());
  CHECK(c->token_file == f.dir.path("tok"));
  c = f.Load(Config("{server: 'https://a'}", "{username: me, password: '1'}"));
  REQUIRE(c.ok());
  CHECK(c->username == "me");
  CHECK(c->password == "1");
}

TEST_CASE("nothing, in a pod and outside") {
  ConfigFixture f;
  CHECK(f.Error("") == "no configuration has been provided");
  CHECK(f.Error(" \n") == "no configuration has been provided");
  CHECK(f.Error("current-context: a\ncontexts: [{name: a, context: {cluster: nope, user: nope}}]") ==
        "no configuration has been provided");
  f.environment["KUBERNETES_SERVICE_HOST"] = "fd00::1";
  f.environment["KUBERNETES_SERVICE_PORT"] = "443";
  CHECK(f.Error("") == "no configuration has been provided");
  std::filesystem::create_directory(f.dir.path("account"));
  f.dir.Write("account/token", "T\n");
  f.dir.Write("account/ca.crt", "CA");
  auto c = f.Load("");
  REQUIRE(c.ok());
  CHECK(c->url == "https://[fd00::1]");
  CHECK(c->token_file == f.dir.path("account/token"));
  CHECK(c->tls->ca_pem == "CA");
  CHECK(c->tls->ca_file == f.dir.path("account/ca.crt"));
  // With --master the service account is not used.
  c = f.Load("", "https://b");
  REQUIRE(c.ok());
  CHECK(c->token_file == "");
}

TEST_CASE("the environment's proxy is on the way, from outside and from inside a pod") {
  ConfigFixture f;
  const std::string server = Config("{server: 'https://api.example.com'}", "{}");
  CHECK_FALSE(f.Load(server)->proxy.has_value());
  f.environment["HTTPS_PROXY"] = "http://me:secret@p:3128";
  auto c = f.Load(server);
  REQUIRE(c.ok());
  REQUIRE(c->proxy.has_value());
  CHECK(c->proxy->host == "p");
  CHECK(c->proxy->port == 3128);
  CHECK(c->proxy->credentials == "me:secret");
  CHECK_FALSE(f.Load("", "http://api.example.com")->proxy.has_value());
  f.environment["KUBERNETES_SERVICE_HOST"] = "10.96.0.1";
  f.environment["KUBERNETES_SERVICE_PORT"] = "443";
  std::filesystem::create_directory(f.dir.path("account"));
  f.dir.Write("account/token", "T");
  c = f.Load("");
  REQUIRE(c.ok());
  CHECK(c->proxy.has_value());
  f.environment["NO_PROXY"] = "10.96.0.0/16,.example.com";
  CHECK_FALSE(f.Load("")->proxy.has_value());
  CHECK_FALSE(f.Load(server)->proxy.has_value());
  f.environment = {{"HTTPS_PROXY", "socks5://p"}};
  CHECK_THAT(f.Error(server), Catch::StartsWith("HTTPS_PROXY=socks5://p: "));
}

TEST_CASE("files that are not there or no kubeconfig") {
  ConfigFixture f;
  ConfigSources s;
  s.kubeconfig = f.dir.path("nope");
  auto c = f.Load(s, "");
  CHECK(util::Message(c.status()) == "stat " + f.dir.path("nope") + ": no such file or directory");
  s.kubeconfig = f.dir.path();
  CHECK_THAT(util::Message(f.Load(s, "").status()), Catch::EndsWith("is a directory"));
  std::string file = "Error loading config file \"" + f.dir.path("kubeconfig") + "\": ";
  CHECK(f.Error("kind: Foo") == file + "no kind \"Foo\" is registered for version \"v1\"");
  CHECK(f.Error("apiVersion: v2") == file + "no kind \"Config\" is registered for version \"v2\"");
  CHECK(f.Error("clusters: 7") == file + "clusters: 7: must be a list");
  CHECK(f.Error("clusters: [7]") == file + "clusters[0]: 7: must be an object");
  CHECK(f.Error(Config("{server: 7}", "{}")) ==
        file + "clusters[0].cluster.server: 7: must be a string; put it in quotes");
  CHECK(f.Error(Config("{server: a}", "{client-key-data: '*'}")) ==
        file + "users[0].user.client-key-data: illegal base64 data");
  CHECK(f.Error(Config("{insecure-skip-tls-verify: 'yes'}", "{}")) ==
        file + "clusters[0].cluster.insecure-skip-tls-verify: \"yes\": must be true or false");
  CHECK_THAT(f.Error("{\"kind\": \"Config\""), Catch::StartsWith(file));
  CHECK_THAT(f.Error("a: [b"), Catch::StartsWith(file));
}

TEST_CASE("every field of a kubeconfig refuses what is of another type, and is named") {
  ConfigFixture f;
  const std::string c = "clusters[0].cluster.", u = "users[0].user.";
  const auto top = [](const char* text) { return std::string(text); };
  const auto cluster = [](const char* text) { return Config(text, "{}"); };
  const auto user = [](const char* text) { return Config("{server: 'https://a'}", text); };
  const std::string kString = "must be a string; put it in quotes",
                    kLine = "must be one line without control characters";
  const std::string kList = "must be a list of strings of one line";
  struct Case {
    std::string text, field, value, why;
  };
  const std::vector<Case> cases = {
      {top("kind: 7"), "kind", "7", kString},
      {top("apiVersion: 1"), "apiVersion", "1", kString},
      {top("current-context: 1"), "current-context", "1", kString},
      {top("preferences: x"), "preferences", "\"x\"", "must be an object"},
      {top("preferences: {colors: 1}"), "preferences.colors", "1", "must be true or false"},
      {top("clusters: {}"), "clusters", "{}", "must be a list"},
      {top("clusters: [{name: 1}]"), "clusters[0].name", "1", kString},
      {cluster("x"), "clusters[0].cluster", "\"x\"", "must be an object"},
      {cluster("{server: true}"), c + "server", "true", kString},
      {cluster("{insecure-skip-tls-verify: 1}"), c + "insecure-skip-tls-verify", "1", "must be true or false"},
      {cluster("{certificate-authority: [a]}"), c + "certificate-authority", "[\"a\"]", "must be a string"},
      {cluster("{certificate-authority-data: 1}"), c + "certificate-authority-data", "1", kString},
      {cluster("{certificate-authority-data: '%'}"), c + "certificate-authority-data", "", "illegal base64 data"},
      {top("contexts: x"), "contexts", "\"x\"", "must be a list"},
      {top("contexts: [{name: []}]"), "contexts[0].name", "[]", "must be a string"},
      {top("contexts: [{name: a, context: 1}]"), "contexts[0].context", "1", "must be an object"},
      {top("contexts: [{context: {cluster: 1}}]"), "contexts[0].context.cluster", "1", kString},
      {top("contexts: [{context: {user: 1}}]"), "contexts[0].context.user", "1", kString},
      {top("contexts: [{context: {namespace: 1}}]"), "contexts[0].context.namespace", "1", kString},
      {top("users: 1"), "users", "1", "must be a list"},
      {top("users: [{name: {}}]"), "users[0].name", "{}", "must be a string"},
      {user("1"), "users[0].user", "1", "must be an object"},
      {user("{client-certificate: 1}"), u + "client-certificate", "1", kString},
      {user("{client-certificate-data: 1}"), u + "client-certificate-data", "1", kString},
      {user("{client-certificate-data: '%'}"), u + "client-certificate-data", "", "illegal base64 data"},
      {user("{client-key: 1}"), u + "client-key", "1", kString},
      {user("{client-key-data: 1}"), u + "client-key-data", "1", kString},
      {user("{client-key-data: '%'}"), u + "client-key-data", "", "illegal base64 data"},
      {user("{token: 1}"), u + "token", "1", kString},
      {user("{token: \"a\\nb\"}"), u + "token", "", kLine},
      {user("{tokenFile: 1}"), u + "tokenFile", "1", kString},
      {user("{username: 1}"), u + "username", "1", kString},
      {user("{username: \"a\\tb\"}"), u + "username", "", kLine},
      {user("{password: 1}"), u + "password", "1", kString},
      {user("{password: \"a\\rb\"}"), u + "password", "", kLine},
      {user("{as: 1}"), u + "as", "1", kString},
      {user("{as: \"a\\nX: b\"}"), u + "as", "", kLine},
      {user("{as-groups: a}"), u + "as-groups", "\"a\"", "must be a list of strings"},
      {user("{as-groups: [1]}"), u + "as-groups", "1", kList},
      {user("{as-groups: [\"a\\nb\"]}"), u + "as-groups", "\"a\\nb\"", kList},
      {user("{as-user-extra: [a]}"), u + "as-user-extra", "[\"a\"]", "must be an object"},
      {user("{as-user-extra: {k: v}}"), u + "as-user-extra.k", "\"v\"", "must be a list of strings"},
      {user("{auth-provider: gcp}"), u + "auth-provider", "\"gcp\"", "must be an object"},
      {user("{auth-provider: {name: 1}}"), u + "auth-provider.name", "1", kString},
      {user("{auth-provider: {config: [a]}}"), u + "auth-provider.config", "[\"a\"]", "must be an object"},
      {user("{auth-provider: {config: {k: 1}}}"), u + "auth-provider.config.k", "1", kString},
      {user("{exec: aws}"), u + "exec", "\"aws\"", "must be an object"},
      {user("{exec: {command: 1}}"), u + "exec.command", "1", kString},
      {user("{exec: {args: x}}"), u + "exec.args", "\"x\"", "must be a list of strings"},
      {user("{exec: {apiVersion: 1}}"), u + "exec.apiVersion", "1", kString},
      {user("{exec: {env: {}}}"), u + "exec.env", "{}", "must be a list"},
      {user("{exec: {env: [{name: 1}]}}"), u + "exec.env[0].name", "1", kString},
      {user("{exec: {env: [{value: 1}]}}"), u + "exec.env[0].value", "1", kString},
  };
  const std::string file = "Error loading config file \"" + f.dir.path("kubeconfig") + "\": ";
  for (const Case& one : cases) {
    INFO(one.text);
    CHECK(f.Error(one.text) == file + one.field + ": " + (one.value.empty() ? "" : one.value + ": ") + one.why);
  }
}

TEST_CASE("a token in a YAML block has no line end, and what is not known is ignored") {
  ConfigFixture f;
  auto c = f.Load(Config("{server: 'https://a', proxy-url: 'http://p'}", "{token: \"t\\n\"}"));
  REQUIRE(c.ok());
  CHECK(c->bearer_token == "t");
}

TEST_CASE("every mistake is reported, in upstream's words") {
  ConfigFixture f;
  std::string data = "Q0VSVA==";
  CHECK(f.Error("current-context: a") == "context was not found for specified context: a");
  CHECK(f.Error(Config("{insecure-skip-tls-verify: true}", "{}")) == "no server found for cluster \"c\"");
  CHECK(
      f.Error(
          Config("{server: 'https://a', certificate-authority: ca, certificate-authority-data: " + data + "}", "{}")) ==
      "certificate-authority-data and certificate-authority are both specified for c. certificate-authority-data will "
      "override.");
  CHECK(f.Error(Config("{server: 'https://a', certificate-authority: nope}", "{}")) ==
        "unable to read certificate-authority " + f.dir.path("nope") + " for c due to open " + f.dir.path("nope") +
            ": no such file or directory");
  CHECK(f.Error(Config("{server: 'https://a'}", "{client-certificate-data: " + data + "}")) ==
        "client-key-data or client-key must be specified for u to use the clientCert authentication method.");
  CHECK(f.Error(Config("{server: 'https://a'}", "{token: t, username: u}")) ==
        "more than one authentication method found for u; found [token basicAuth], only one is allowed");
  CHECK(f.Error(Config("{server: 'https://a'}", "{as-groups: [g]}")) ==
        "requesting groups or user-extra for u without impersonating a user");
  CHECK(f.Error(Config("{server: 'https://a'}", "{tokenFile: nope}")) ==
        "unable to read tokenFile for u due to open " + f.dir.path("nope") + ": no such file or directory");
  f.dir.Write("tok", "x");
  CHECK(f.Error(Config("{server: 'https://a'}", "{tokenFile: tok, username: u}")) ==
        "username/password or bearer token may be set, but not both (user \"u\")");
  CHECK(f.Error(Config(
            "{server: 'https://a', insecure-skip-tls-verify: true, certificate-authority-data: " + data + "}", "{}")) ==
        "specifying a root certificates file with the insecure flag is not allowed (cluster \"c\")");
  CHECK(f.Error(Config("{server: 'https://a'}", "{auth-provider: {name: gcp}}")) ==
        "No Auth Provider found for name \"gcp\" (user \"u\")");
  CHECK(f.Error(Config("{server: 'https://a'}", "{exec: {command: aws, apiVersion: v1alpha1}}")) ==
        "exec plugin of u: apiVersion \"v1alpha1\" is not supported: client.authentication.k8s.io/v1 and "
        "client.authentication.k8s.io/v1beta1 are");
  CHECK(f.Error(Config("{}", "{exec: {env: [{value: x}]}, auth-provider: {name: gcp}}")) ==
        "Error in configuration: \n"
        "* authProvider cannot be provided in combination with an exec plugin for u\n"
        "* command must be specified for u to use exec authentication plugin\n"
        "* apiVersion must be specified for u to use exec authentication plugin\n"
        "* env variable name must be specified for u to use exec authentication plugin\n"
        "* cluster has no server defined");
}

TEST_CASE("user agents are as upstream's") {
  CHECK(UserAgent("/usr/bin/kube-scheduler", "v1.10.0-beta.1", "0123456789abcdef", "scheduler") ==
        "kube-scheduler/v1.10.0 (linux/amd64) kubernetes/0123456/scheduler");
  CHECK(UserAgent("x", "", "", "") == "x/unknown (linux/amd64) kubernetes/unknown");
}

}  // namespace berth::client
