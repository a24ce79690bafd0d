// Parses and checks the command line of hollow-apiserver. Every problem is an error that names the flag.
#include "cmd/hollow-apiserver/options.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include "pkg/flags/help_text.h"
#include "pkg/release/release.h"
#include "pkg/util/status.h"
#include "pkg/util/suggest.h"

namespace berth::apiserver {

namespace po = flags::po;
using flags::InvalidValue;
using flags::Takes;

flags::FlagSet Flags() {
  flags::FlagSet add;
  auto text = [](const char* name, const char* value) { return Takes(name)->default_value(value); };
  add("insecure-bind-address", text("IP", "127.0.0.1"), "address of the port without TLS");
  add("insecure-port", text("PORT", "8080"), "port without TLS; 0 picks a free one");
  add("emulated-version", Takes("RELEASE")->default_value(std::string(release::Default().name)),
      "release whose API is served: " + release::Names());
  add("load", Takes<std::vector<std::string>>("FILE")->composing(),
      "objects to begin with: a file as `kubectl get -o json|yaml` prints it, or a Scenario; plain or gzip; may be "
      "repeated");
  add("disable-admission-plugins", text("NAME,...", ""),
      "admission plugins to turn off, of: " + absl::StrJoin(world::AdmissionPlugins::Names(), ", "));
  add("simulate", text("WHAT,...", ""), "what to simulate: kubelets, controllers, or both (default: nothing)");
  add("pod-start-delay", text("TIME", "500ms"), "simulated kubelets: how long a bound pod takes to be Running");
  add("pod-stop-delay", text("TIME", "200ms"), "simulated kubelets: how long a deleted pod takes to be gone");
  add("job-duration", text("TIME", "3s"), "simulated kubelets: how long pods of Jobs run");
  add("node-monitor-grace-period", text("TIME", ""),
      "simulated controllers: how long a node may be silent before it counts as lost (default: that of the release)");
  add("bind-address", text("IP", "0.0.0.0"), "address of the TLS port");
  add("secure-port", Takes("PORT"), "port with TLS; 0 picks a free one; needs a certificate and its key");
  add("tls-cert-file", text("FILE", ""), "PEM file with the server's certificate, followed by CA certificates");
  add("tls-private-key-file", text("FILE", ""), "PEM file with its key");
  add("client-ca-file", text("FILE", ""),
      "PEM file of authorities that sign client certificates: their CN is the user's name, each O a group");
  add("token-auth-file", text("FILE", ""), "CSV file: token,user,uid[,\"group1,group2\"]");
  add("authorization-policy-file", text("FILE", ""),
      "ABAC policies, a JSON object per line; without it every authenticated user may do everything");
  add("default-watch-cache-size", text("N", "100"), "events kept for watches that begin in the past");
  add("watch-cache-sizes", text("RESOURCE#N,...", ""), "the same for single resources (default: pods#1000,nodes#1000)");
  add("event-ttl", text("TIME", "1h0m0s"), "how long events are kept");
  add("v,v", text("LEVEL", "0"), "log verbosity");
  add("version", po::bool_switch(), "print the version");
  add("help,h", po::bool_switch(), "print this text");
  return add;
}

std::string HelpText() {
  const std::string about =
      "hollow-apiserver serves the API of a release of Kubernetes from memory: the objects that a scheduler and "
      "kubectl read and write, without etcd. There are controllers and kubelets only with --simulate.\n\n"
      "It answers in JSON and YAML. Of protobuf it reads what kubectl sends; a Go scheduler has to be told to speak "
      "JSON: --kube-api-content-type=application/json, or clientConnection.contentType: application/json in its "
      "configuration file.";
  return absl::StrCat(flags::Wrapped(about), "\n\nUsage:\n  hollow-apiserver [flags]\n\n", Flags().Help(),
                      "\nWhen it is ready it prints one line: Serving insecurely on ADDRESS:PORT\n");
}

// NOLINT(readability-function-size): checks each flag by itself, one after another.
absl::StatusOr<CommandLine> ParseCommandLine(int argc, const char* const* argv) {
  flags::FlagSet set = Flags();
  BERTH_RETURN_IF_ERROR(set.Read({argv + 1, argv + argc}));
  if (!set.words().empty()) {
    return util::InvalidArgument(absl::StrCat("takes no arguments, and \"", set.words()[0], "\" was given"));
  }
  const po::variables_map& given = set.values();
  CommandLine out;
  out.help = given["help"].as<bool>();
  out.version = given["version"].as<bool>();
  if (out.help || out.version) return out;

  auto text = [&](const char* flag) { return given[flag].as<std::string>(); };
  absl::Status bad;
  auto port = [&](const char* flag) -> uint16_t {
    int n;
    if (!absl::SimpleAtoi(text(flag), &n) || n < 0 || n > 65535) {
      bad.Update(InvalidValue(flag, text(flag), "must be a port from 0 to 65535"));
      return 0;
    }
    return static_cast<uint16_t>(n);
  };
  ServerOptions& s = out.server;
  if (auto release = release::Named(text("emulated-version")); release.ok()) {
    s.release = (*release)->version;
  } else {
    bad.Update(util::InvalidArgument(absl::StrCat("--emulated-version: ", release.status().message())));
  }
  s.insecure_bind_address = text("insecure-bind-address");
  s.insecure_port = port("insecure-port");
  if (given.count("load")) s.load = given["load"].as<std::vector<std::string>>();
  const std::string disabled = text("disable-admission-plugins");
  for (absl::string_view plugin : absl::StrSplit(disabled, ',', absl::SkipEmpty())) {
    if (s.admission_plugins.Disable(util::FromAbsl(plugin))) continue;
    const std::vector<std::string> names = world::AdmissionPlugins::Names();
    bad.Update(InvalidValue("disable-admission-plugins", util::FromAbsl(plugin),
                            flags::MustBe(names) + util::SuggestionFor(util::FromAbsl(plugin), names)));
  }
  const std::string simulate = text("simulate");
  for (absl::string_view what : absl::StrSplit(simulate, ',', absl::SkipEmpty())) {
    if (what == "kubelets") {
      s.simulate.kubelets = true;
    } else if (what == "controllers") {
      s.simulate.controllers = true;
    } else {
      bad.Update(InvalidValue("simulate", util::FromAbsl(what), "must be kubelets or controllers"));
    }
  }
  auto duration = [&](const char* flag, absl::Duration* to) {
    const std::string given_text = text(flag);
    if (!absl::ParseDuration(given_text, to) || *to < absl::ZeroDuration()) {
      bad.Update(InvalidValue(flag, given_text, "must be a duration such as 500ms or 3s"));
    }
  };
  duration("pod-start-delay", &s.simulate.kubelet.start_delay);
  duration("pod-stop-delay", &s.simulate.kubelet.stop_delay);
  duration("job-duration", &s.simulate.kubelet.job_duration);
  if (!text("node-monitor-grace-period").empty()) {
    duration("node-monitor-grace-period", &s.simulate.node_grace.emplace());
  }
  s.bind_address = text("bind-address");
  s.tls_cert_file = text("tls-cert-file");
  s.tls_private_key_file = text("tls-private-key-file");
  s.client_ca_file = text("client-ca-file");
  s.token_auth_file = text("token-auth-file");
  s.authorization_policy_file = text("authorization-policy-file");
  if (given.count("secure-port")) {
    s.secure = true;
    s.secure_port = port("secure-port");
    if (s.tls_cert_file.empty() || s.tls_private_key_file.empty())
      bad.Update(util::InvalidArgument("--secure-port needs --tls-cert-file and --tls-private-key-file"));
  } else {
    if (!given["bind-address"].defaulted()) {
      bad.Update(util::InvalidArgument("--bind-address has no effect without --secure-port"));
    }
    for (const char* flag :
         {"tls-cert-file", "tls-private-key-file", "client-ca-file", "token-auth-file", "authorization-policy-file"}) {
      if (!text(flag).empty())
        bad.Update(util::InvalidArgument(absl::StrCat("--", flag, " has no effect without --secure-port")));
    }
  }
  if (!absl::SimpleAtoi(text("default-watch-cache-size"), &s.default_watch_cache_size))
    bad.Update(
        InvalidValue("default-watch-cache-size", text("default-watch-cache-size"), "must be a number of events"));
  std::string sizes = text("watch-cache-sizes");
  for (size_t begin = 0; begin < sizes.size();) {
    size_t end = std::min(sizes.find(',', begin), sizes.size());
    std::string one = sizes.substr(begin, end - begin);
    begin = end + 1;
    size_t hash = one.find('#'), n = 0;
    if (hash == std::string::npos || !absl::SimpleAtoi(one.substr(hash + 1), &n)) {
      bad.Update(InvalidValue("watch-cache-sizes", sizes, "must be resource#size[,resource#size...]"));
      break;
    }
    s.watch_cache_sizes.emplace_back(one.substr(0, hash), n);
  }
  if (!absl::ParseDuration(text("event-ttl"), &s.event_ttl) || s.event_ttl <= absl::ZeroDuration()) {
    bad.Update(InvalidValue("event-ttl", text("event-ttl"), "must be a positive duration such as 90s or 1h30m"));
  }
  if (!absl::SimpleAtoi(text("v"), &out.verbosity)) bad.Update(InvalidValue("v", text("v"), "must be a number"));
  if (!bad.ok()) return bad;
  return out;
}

}  // namespace berth::apiserver
