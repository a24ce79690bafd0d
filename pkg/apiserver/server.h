// The embedded API server: an in-memory Kubernetes 1.10 API for the objects that a scheduler reads and writes.
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

#include "pkg/api/validation/release.h"
#include "pkg/util/clock.h"

namespace berth::apiserver {

struct ServerOptions {
  validation::Release release = validation::Release::k1_10;  // whose API is served
  std::string insecure_bind_address = "127.0.0.1";
  uint16_t insecure_port = 8080;  // 0: any free one
  std::vector<std::string> load;  // files, in order

  bool secure = false;  // serve TLS as well
  std::string bind_address = "0.0.0.0";
  uint16_t secure_port = 6443;  // 0: any free one
  std::string tls_cert_file, tls_private_key_file;
  std::string client_ca_file;             // clients with a certificate of this CA are who it says
  std::string token_auth_file;            // token,user,uid,"group1,group2"
  std::string authorization_policy_file;  // one JSON line a rule; without it everyone known may do everything

  size_t default_watch_cache_size = 100;                          // events kept for late watches
  std::vector<std::pair<std::string, size_t>> watch_cache_sizes;  // of single resources
  absl::Duration event_ttl = absl::Hours(1);
  size_t most_events = 100'000;  // beyond them the oldest go early
};

class Server {
 public:
  // The clock must outlive the server; null: the real one.
  explicit Server(ServerOptions options, const util::Clock* clock = nullptr);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Loads the files and begins to listen. Errors name the file or the flag.
  absl::Status Start();
  // The ports, after Start; 0 for the secure one when there is none.
  uint16_t insecure_port() const;
  uint16_t secure_port() const;

  // From now on SIGTERM and SIGINT mean Stop.
  void StopOnSignals();
  // Serves on the calling thread until Stop.
  void Run();
  // From any thread.
  void Stop();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace berth::apiserver
