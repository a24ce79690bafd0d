// The embedded API server: a Kubernetes API in memory, of one release, for the objects that a scheduler reads
// and writes.
//
//   Server server(options);
//   if (absl::Status s = server.Start(); !s.ok()) ...
//   server.Run();   // until Stop
#pragma once
#include <absl/status/status.h>
#include <absl/time/time.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pkg/api/validation/behaviour.h"
#include "pkg/store/simulation.h"
#include "pkg/util/clock.h"
#include "pkg/world/admission.h"

namespace berth::apiserver {

struct ServerOptions {
  validation::Version release = release::Default().version;  // the release whose API is served
  std::string insecure_bind_address = "127.0.0.1";
  uint16_t insecure_port = 8080;  // 0: any free one
  std::vector<std::string> load;  // files, loaded in this order
  world::AdmissionPlugins admission_plugins;
  SimulationOptions simulate;

  bool secure = false;  // also serve TLS
  std::string bind_address = "0.0.0.0";
  uint16_t secure_port = 6443;  // 0: any free one
  std::string tls_cert_file, tls_private_key_file;
  std::string client_ca_file;             // clients authenticate with certificates of this CA
  std::string token_auth_file;            // token,user,uid,"group1,group2"
  std::string authorization_policy_file;  // one JSON object per line; without it authenticated users may do everything

  size_t default_watch_cache_size = 100;                          // events kept for watches that begin in the past
  std::vector<std::pair<std::string, size_t>> watch_cache_sizes;  // for single resources
  absl::Duration event_ttl = absl::Hours(1);
  size_t most_events = 100'000;  // beyond this number the oldest are deleted early
};

class Server {
 public:
  // `clock` must outlive the server; null: the real clock.
  explicit Server(ServerOptions options, const util::Clock* clock = nullptr);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Loads the files and starts to listen. Errors name the file or the flag.
  absl::Status Start();
  // Returns the port. The secure port is 0 if TLS is not served. REQUIRES: Start() succeeded.
  uint16_t insecure_port() const;
  uint16_t secure_port() const;

  // Makes SIGTERM and SIGINT call Stop().
  void StopOnSignals();
  // Serves on the calling thread until Stop() is called.
  void Run();
  // May be called from any thread.
  void Stop();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace berth::apiserver
