// HTTP between a simulated process and the simulated API servers, and everything that goes wrong on the way.
#pragma once
#include <absl/time/time.h>

#include <cstdint>
#include <memory>
#include <string>

#include "pkg/client/http.h"
#include "test/simulation/api_server.h"
#include "test/simulation/process_executor.h"
#include "test/simulation/random.h"

namespace berth::simulation {

class World;

// How bad things are at the moment; changed by the faults among the actors. Probabilities are for each request.
struct Faults {
  double refuse = 0;        // no connection: the server never sees it
  double lose_request = 0;  // the connection breaks before the server reads it
  double lose_answer = 0;   // the server does it, the answer is lost
  double late = 0;          // the answer is lost, and the server does it only later, within kLatest
  double error_before = 0;  // 500, and nothing was done
  double error_after = 0;   // 500, and it was done all the same
  double throttle = 0;      // 429 with Retry-After
  double cut_list = 0;      // a list ends in the middle
  double repeat_event = 0;  // a watch event comes twice
  double refusal = 0;       // a write is refused with 403, 404 or 409, and nothing was done
  double gone = 0;          // a list or a watch is answered with 410
  double garbage = 0;       // what comes is no HTTP; half of the requests were carried out
  double hang = 0;          // the server does it and never answers, so that the client gives up after its time limit
  double cut_event = 0;     // a watch ends inside an event
  double pieces = 0;        // what is streamed arrives in many pieces, each behind the one before it
  double slow = 1;          // latencies are multiplied by this
};
inline constexpr absl::Duration kLatest = absl::Seconds(20);

// One client of one process: the real one's place.
class SimulatedHttp final : public client::HttpClient {
 public:
  // `home`: the number of the server that it prefers.
  SimulatedHttp(World* world, ProcessExecutor* executor, std::string process, size_t home);
  void Do(client::Request request, std::function<void(client::Reply)> done) override;
  std::unique_ptr<client::Stream> Open(client::Request request, client::StreamOptions options,
                                       client::StreamHandlers handlers) override;

 private:
  struct Connection;
  struct Exchange;
  // The way to the servers. What was sent still goes it when the process has been killed.
  struct Route;
  absl::Duration Latency();
  bool Happens(double probability);
  bool HappensIfSet(double probability);
  // Returns whether the server answers with an error, in `reply`, before it does anything.
  bool FailsBefore(const client::Request& request, client::Reply* reply);
  void Execute(const std::shared_ptr<Exchange>& e);
  void Answer(const std::shared_ptr<Exchange>& e, client::Reply reply);
  void Serve(const std::shared_ptr<Connection>& c);
  // Sends the events of a watch whose head is on its way.
  void ServeWatch(const std::shared_ptr<Connection>& c, ApiServer* server, const Target& target);
  bool Breaks(const std::shared_ptr<Connection>& c);
  void Deliver(const std::shared_ptr<Connection>& c, std::string data);
  void DeliverPiece(const std::shared_ptr<Connection>& c, std::string data);
  void End(const std::shared_ptr<Connection>& c, std::string error);

  World* world_;
  ProcessExecutor* executor_;
  std::string process_;
  std::shared_ptr<Route> route_;
};

}  // namespace berth::simulation
