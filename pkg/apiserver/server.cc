// Owns all parts of the server and ties them together. Everything runs on the thread that calls Run().
#include "pkg/apiserver/server.h"

#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <optional>

#include "pkg/api/stream.h"
#include "pkg/apiserver/auth.h"
#include "pkg/apiserver/event_expiry.h"
#include "pkg/apiserver/http_server.h"
#include "pkg/apiserver/rest.h"
#include "pkg/heap/heap.h"
#include "pkg/http/tls.h"
#include "pkg/store/loader.h"
#include "pkg/store/registry.h"
#include "pkg/store/store.h"
#include "pkg/util/contract.h"
#include "pkg/util/status.h"

namespace berth::apiserver {

namespace asio = boost::asio;

namespace {
constexpr int64_t kSweepsToReturnPages = 60;

world::AdmissionPlugins PluginsOf(const ServerOptions& options) {
  world::AdmissionPlugins plugins = options.admission_plugins;
  plugins.taints_new_nodes = options.simulate.controllers;
  return plugins;
}
}  // namespace

struct Server::Parts {
  Parts(ServerOptions o, const util::Clock* c)
      : options(std::move(o)),
        clock(c == nullptr ? &real_clock : c),
        store(options.release),
        registry(&store, clock, PluginsOf(options)),
        api(&registry, clock),
        expiry(&store, clock, options.event_ttl, options.most_events),
        http_server(&io, &api, &store),
        sweep(io),
        due(io) {}

  absl::Status LoadFiles();
  void Simulate();
  absl::Status OpenSecurePort();
  // Calls itself once a second.
  void SweepLater() {
    sweep.expires_after(std::chrono::seconds(1));
    sweep.async_wait([this](boost::system::error_code ec) {
      if (ec) return;
      expiry.Sweep();
      store.Tick(clock->Steady());
      if (++sweeps % kSweepsToReturnPages == 0) heap::ReturnFreePages();
      SweepLater();
    });
  }

  ServerOptions options;
  util::RealClock real_clock;
  const util::Clock* clock;
  Store store;
  Registry registry;
  Api api;
  EventExpiry expiry;
  http::TlsContext tls;
  std::unique_ptr<AuthGate> gate;
  // The context is destroyed before the store, because its connections hold watches, which leave the store when they
  // are destroyed.
  asio::io_context io{1};
  HttpServer http_server;
  asio::steady_timer sweep, due;
  std::optional<Simulation> simulation;
  bool works = false;  // the simulation is being run, or will be at once
  int64_t sweeps = 0;
  std::optional<asio::signal_set> signals;
  uint16_t insecure_port = 0, secure_port = 0;
};

namespace {

absl::Status Named(const std::string& flag, const std::string& file, std::string_view why) {
  return util::InvalidArgument(absl::StrCat("--", flag, "=", file, ": ", std::string(why)));
}

}  // namespace

absl::Status Server::Parts::LoadFiles() {
  for (const std::string& file : options.load) {
    auto report = LoadFile(file, &registry);
    if (!report.ok()) return util::InvalidArgument("--load: " + util::Message(report.status()));
    LOG(INFO) << "Loaded " << report->objects << " objects from " << file;
    for (const auto& [kind, n] : report->skipped) {
      LOG(WARNING) << file << ": skipped " << n << " of kind " << (kind.empty() ? "(none)" : kind)
                   << ", which is not served";
    }
  }
  return absl::OkStatus();
}

// Does what is due, a part at a time, so that requests have their turn, and comes back when more is.
void Server::Parts::Simulate() {
  constexpr size_t kAtOnce = 100;
  works = true;
  simulation->world().RunDue(kAtOnce);
  works = false;
  const auto next = simulation->world().NextDue();
  if (!next) return;
  const absl::Duration wait = std::max(*next - clock->Steady(), absl::ZeroDuration());
  due.expires_after(absl::ToChronoNanoseconds(wait));
  due.async_wait([this](boost::system::error_code ec) {
    if (!ec) Simulate();
  });
}

absl::Status Server::Parts::OpenSecurePort() {
  http::ServerTls pem;
  const auto read = [](const char* flag, const char* what, const std::string& file, std::string* text,
                       std::string* from) -> absl::Status {
    *from = absl::StrCat("--", flag, "=", file);
    auto content = api::ReadInput(file);
    if (!content.ok()) return Named(flag, file, absl::StrCat(what, " can be read: ", util::Message(content.status())));
    *text = *std::move(content);
    return absl::OkStatus();
  };
  BERTH_RETURN_IF_ERROR(
      read("tls-cert-file", "no PEM certificate", options.tls_cert_file, &pem.cert_pem, &pem.cert_from));
  BERTH_RETURN_IF_ERROR(
      read("tls-private-key-file", "no matching PEM key", options.tls_private_key_file, &pem.key_pem, &pem.key_from));
  if (!options.client_ca_file.empty()) {
    BERTH_RETURN_IF_ERROR(
        read("client-ca-file", "no PEM certificate", options.client_ca_file, &pem.client_ca_pem, &pem.client_ca_from));
  }
  auto context = http::NewServerTlsContext(pem);
  if (!context.ok()) return context.status();
  tls = *std::move(context);

  AuthGate::Options auth;
  auth.release = options.release;
  if (!options.token_auth_file.empty()) {
    auto text = api::ReadInput(options.token_auth_file);
    if (!text.ok()) return Named("token-auth-file", options.token_auth_file, util::Message(text.status()));
    auto tokens = ParseTokenFile(*text);
    if (!tokens.ok()) return Named("token-auth-file", options.token_auth_file, util::Message(tokens.status()));
    auth.tokens = *std::move(tokens);
  }
  if (!options.authorization_policy_file.empty()) {
    auto text = api::ReadInput(options.authorization_policy_file);
    if (!text.ok()) {
      return Named("authorization-policy-file", options.authorization_policy_file, util::Message(text.status()));
    }
    auto rules = ParsePolicyFile(*text);
    if (!rules.ok()) {
      return Named("authorization-policy-file", options.authorization_policy_file, util::Message(rules.status()));
    }
    auth.policy = *std::move(rules);
  }
  gate = std::make_unique<AuthGate>(std::move(auth));
  auto port = http_server.Listen(options.bind_address, options.secure_port, tls.get(), gate.get());
  if (!port.ok()) return util::InvalidArgument("--bind-address, --secure-port: " + util::Message(port.status()));
  secure_port = *port;
  LOG(INFO) << "Serving securely on " << options.bind_address << ":" << secure_port;
  return absl::OkStatus();
}

Server::Server(ServerOptions options, const util::Clock* clock)
    : parts_(std::make_unique<Parts>(std::move(options), clock)) {}
Server::~Server() = default;

absl::Status Server::Start() {
  Parts& p = *parts_;
  heap::BoundThreadCaches();
  p.store.SetDefaultWindow(p.options.default_watch_cache_size);
  for (const auto& [resource, size] : p.options.watch_cache_sizes) {
    bool known = false;
    for (const ResourceInfo& r : p.store.catalog().resources()) known |= r.resource == resource;
    if (!known) return Named("watch-cache-sizes", absl::StrCat(resource, "#", size), "there is no such resource");
    p.store.SetWindow(resource, size);
  }
  BERTH_RETURN_IF_ERROR(p.LoadFiles());
  // If there is no secure port, the service "kubernetes" has the port of the recorded server.
  constexpr int64_t kRecordedPort = 16443;
  p.registry.CreateInitialObjects(p.options.secure ? p.options.secure_port : kRecordedPort);
  p.store.ForgetHistory();
  if (p.options.simulate.any()) {
    p.simulation.emplace(&p.registry, p.clock, p.options.simulate);
    p.simulation->world().OnEarlier([&p] {
      if (p.works) return;
      p.works = true;
      asio::post(p.io, [&p] { p.Simulate(); });
    });
    p.Simulate();
  }
  if (p.options.secure) BERTH_RETURN_IF_ERROR(p.OpenSecurePort());
  auto port = p.http_server.Listen(p.options.insecure_bind_address, p.options.insecure_port, nullptr, nullptr);
  if (!port.ok()) {
    return util::InvalidArgument("--insecure-bind-address, --insecure-port: " + util::Message(port.status()));
  }
  p.insecure_port = *port;
  p.SweepLater();
  return absl::OkStatus();
}

uint16_t Server::insecure_port() const {
  BERTH_REQUIRES(parts_->insecure_port != 0);
  return parts_->insecure_port;
}
uint16_t Server::secure_port() const {
  return parts_->secure_port;
}

void Server::StopOnSignals() {
  asio::signal_set& signals = parts_->signals.emplace(parts_->io, SIGTERM, SIGINT);
  signals.async_wait([this](boost::system::error_code ec, int number) {
    if (ec) return;
    LOG(INFO) << "Received signal " << number << ", stopping";
    parts_->io.stop();
  });
}

void Server::Run() {
  parts_->io.run();
}

void Server::Stop() {
  parts_->io.stop();
}

}  // namespace berth::apiserver
