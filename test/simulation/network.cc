#include "test/simulation/network.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <utility>

#include "test/simulation/world.h"

namespace berth::simulation {

using client::Reply;
using client::Request;

// A request until its answer has reached the process.
struct SimulatedHttp::Exchange {
  Request request;
  std::function<void(Reply)> done;
  bool over = false;
};

// A list or a watch while the process wants it.
struct SimulatedHttp::Connection {
  Request request;
  client::StreamHandlers handlers;
  absl::Duration head_timeout;
  std::shared_ptr<ApiServer::Watch> watch;
  absl::Duration free_at;  // what is sent arrives in order
  bool over = false;
  bool broken = false;  // what was sent while the process was cut off is lost, and so is all that follows

  // The process no longer listens.
  void Close() {
    over = true;
    if (watch != nullptr) watch->over = true;
  }
};

struct SimulatedHttp::Route {
  World* world;
  const std::string process;
  size_t server;  // the one that it was given last

  // The server that the load balancer gives it: the same while that is up.
  ApiServer* Server() {
    if (world->IsCutOff(process)) return nullptr;
    for (size_t i = 0; i < world->servers.size(); ++i) {
      ApiServer* s = world->servers[(server + i) % world->servers.size()].get();
      if (s->up()) {
        server = (server + i) % world->servers.size();
        return s;
      }
    }
    return nullptr;
  }

  Response Execute(ApiServer* s, const Request& request) const {
    Response response = s->Handle(request.method, ParseTarget(request.target), request.body);
    world->OnExecuted(process, request, response.status);
    return response;
  }
  // What arrives when nobody waits for its answer any more.
  void ExecuteUnheard(const Request& request) {
    if (ApiServer* s = Server(); s != nullptr) (void)Execute(s, request);
  }
};

SimulatedHttp::SimulatedHttp(World* world, ProcessExecutor* executor, std::string process, size_t home)
    : world_(world),
      executor_(executor),
      process_(std::move(process)),
      route_(std::make_shared<Route>(world, process_, home)) {}

absl::Duration SimulatedHttp::Latency() {
  Random& r = world_->network_random;
  return absl::Microseconds(
      static_cast<int64_t>((300 + 1500 * r.Unit() + (r.Chance(0.02) ? 40'000 * r.Unit() : 0)) * world_->faults.slow));
}

bool SimulatedHttp::Happens(double probability) {
  if (!world_->network_random.Chance(probability)) return false;
  world_->CountFault();
  return true;
}

// Draws nothing where a fault is not possible: plans that were kept before there was this fault go on as they did.
bool SimulatedHttp::HappensIfSet(double probability) {
  return probability > 0 && Happens(probability);
}

void SimulatedHttp::Answer(const std::shared_ptr<Exchange>& e, Reply reply) {
  if (e->over) return;
  executor_->Post([e, reply = std::move(reply)]() mutable {
    if (std::exchange(e->over, true)) return;
    e->done(std::move(reply));
  });
}

void SimulatedHttp::Do(Request request, std::function<void(Reply)> done) {
  auto e = std::make_shared<Exchange>();
  e->request = std::move(request);
  e->done = std::move(done);
  executor_->Post([this, e] {
    Reply failed;
    if (e->request.may_send && !e->request.may_send()) {
      failed.error = "not sent: the lease may be lost";
      return Answer(e, failed);
    }
    world_->OnSent(process_, e->request);
    if (route_->Server() == nullptr || world_->network_random.Chance(world_->faults.refuse)) {
      failed.error = "dial tcp 10.0.0.1:6443: connection refused";
      return Answer(e, failed);
    }
    const absl::Duration limit = e->request.timeout == absl::ZeroDuration() ? absl::Seconds(30) : e->request.timeout;
    executor_->After(limit, [this, e] {
      Reply late;
      late.error = "timed out";
      late.maybe_done = true;
      Answer(e, late);
    });
    world_->loop.In(Latency(), [this, route = route_, e, alive = world_->AliveToken(process_)] {
      *alive ? Execute(e) : route->ExecuteUnheard(e->request);
    });
  });
}

// What a write of any kind may be answered with although it is right.
static Response Refusal(Random* r) {
  switch (r->Below(3)) {
    case 0:
      return StatusResponse(403, "Forbidden", "forbidden: the authorizer has yet to hear of this");
    case 1:
      return StatusResponse(404, "NotFound", "not found");
    default:
      return StatusResponse(409, "Conflict", "the object has been modified; please apply your changes to the latest");
  }
}

static Reply Replied(Response response) {
  Reply reply;
  reply.status = response.status;
  reply.body = std::move(response.body);
  reply.content_type = "application/json";
  return reply;
}

bool SimulatedHttp::FailsBefore(const Request& request, Reply* reply) {
  const Faults& f = world_->faults;
  if (Happens(f.error_before)) {
    *reply = Replied(StatusResponse(500, "InternalError", "etcdserver: request timed out"));
  } else if (Happens(f.throttle)) {
    *reply = Replied(StatusResponse(429, "TooManyRequests", "too many requests, please try again later"));
    reply->retry_after = 1;
  } else if (request.method != client::Method::kGet && HappensIfSet(f.refusal)) {
    *reply = Replied(Refusal(&world_->network_random));
  } else {
    return false;
  }
  return true;
}

// The server's side of a request.
void SimulatedHttp::Execute(const std::shared_ptr<Exchange>& e) {
  const Faults& f = world_->faults;
  Reply reply;
  reply.maybe_done = true;
  reply.error = "EOF";
  ApiServer* server = route_->Server();
  if (server == nullptr) {
    world_->CountFault();
  } else if (Happens(f.lose_request)) {
    // The reply says so already.
  } else if (Happens(f.late)) {
    world_->loop.In(kLatest * world_->network_random.Unit(),
                    [route = route_, e] { route->ExecuteUnheard(e->request); });
  } else if (HappensIfSet(f.garbage)) {
    reply.error = "malformed HTTP response";
    if (world_->network_random.Chance(0.5)) (void)route_->Execute(server, e->request);
  } else if (!FailsBefore(e->request, &reply)) {
    Reply good = Replied(route_->Execute(server, e->request));
    if (HappensIfSet(f.hang)) return;
    if (Happens(f.error_after)) {
      reply = Replied(StatusResponse(504, "Timeout", "the server was unable to return a response in time"));
    } else if (!Happens(f.lose_answer)) {
      reply = std::move(good);
    }
  }
  world_->loop.In(Latency(), [this, e, reply = std::move(reply), alive = world_->AliveToken(process_)]() mutable {
    if (!*alive) return;
    if (world_->IsCutOff(process_)) return;  // the timeout will tell
    Answer(e, std::move(reply));
  });
}

std::unique_ptr<client::Stream> SimulatedHttp::Open(Request request, client::StreamOptions options,
                                                    client::StreamHandlers handlers) {
  struct Handle final : client::Stream {
    explicit Handle(std::shared_ptr<Connection> x) : connection(std::move(x)) {}
    ~Handle() override { connection->Close(); }
    std::shared_ptr<Connection> connection;
  };
  auto c = std::make_shared<Connection>();
  c->request = std::move(request);
  c->handlers = std::move(handlers);
  c->head_timeout = options.head_timeout;
  world_->loop.In(Latency(), [this, c, alive = world_->AliveToken(process_)] {
    if (*alive && !c->over) Serve(c);
  });
  return std::make_unique<Handle>(c);
}

// Says whether what is sent now gets lost. Then the connection is as good as over, which its owner learns half a minute
// later, when its keep-alive has gone unanswered.
bool SimulatedHttp::Breaks(const std::shared_ptr<Connection>& c) {
  if (c->broken) return true;
  if (!world_->IsCutOff(process_)) return false;
  c->broken = true;
  c->free_at = world_->loop.now() + absl::Seconds(30);
  End(c, "read: connection timed out");
  return true;
}

void SimulatedHttp::Deliver(const std::shared_ptr<Connection>& c, std::string data) {
  if (HappensIfSet(world_->faults.pieces)) {
    Random& r = world_->network_random;
    for (uint64_t left = r.Between(1, 12); left > 0 && data.size() > 1; --left) {
      const size_t size = 1 + r.Below(std::min<size_t>(data.size() - 1, 2 * data.size() / left));
      DeliverPiece(c, data.substr(0, size));
      data.erase(0, size);
    }
  }
  DeliverPiece(c, std::move(data));
}

void SimulatedHttp::DeliverPiece(const std::shared_ptr<Connection>& c, std::string data) {
  c->free_at = std::max({c->free_at, world_->loop.now() + Latency(), world_->StalledUntil(process_)});
  world_->loop.At(c->free_at, [this, c, data = std::move(data), alive = world_->AliveToken(process_)]() mutable {
    if (!*alive || c->over || Breaks(c)) return;
    executor_->Post([c, data = std::move(data)] {
      if (!c->over && c->handlers.on_data) c->handlers.on_data(data);
    });
  });
}

void SimulatedHttp::End(const std::shared_ptr<Connection>& c, std::string error) {
  c->free_at = std::max(c->free_at, world_->loop.now() + Latency());
  world_->loop.At(c->free_at, [this, c, error = std::move(error), alive = world_->AliveToken(process_)]() mutable {
    if (!*alive || c->over) return;
    executor_->Post([c, error = std::move(error)] {
      if (std::exchange(c->over, true)) return;
      if (c->watch != nullptr) c->watch->over = true;
      if (c->handlers.on_end) c->handlers.on_end(error);
    });
  });
}

void SimulatedHttp::Serve(const std::shared_ptr<Connection>& c) {
  Random& r = world_->network_random;
  ApiServer* server = route_->Server();
  if (server == nullptr || r.Chance(world_->faults.refuse)) {
    world_->CountFault();
    return End(c, "dial tcp 10.0.0.1:6443: connection refused");
  }
  if (HappensIfSet(world_->faults.garbage)) return End(c, "malformed HTTP response");
  if (HappensIfSet(world_->faults.hang)) {
    c->free_at = world_->loop.now() + c->head_timeout;
    return End(c, "no answer");
  }
  const Target target = ParseTarget(c->request.target);
  const bool watch = target.query.contains("watch");
  Response response;
  if (HappensIfSet(world_->faults.gone)) {
    response = StatusResponse(410, "Expired", "the server has forgotten this version");
  } else if (watch) {
    c->watch = server->Open(target, &response);
  } else if (r.Chance(world_->faults.error_before)) {
    world_->CountFault();
    response = StatusResponse(500, "InternalError", "etcdserver: leader changed");
  } else {
    response = server->List(target);
  }
  Reply head;
  head.status = watch && c->watch != nullptr ? 200 : response.status;
  head.content_type = "application/json";
  if (head.status >= 300) head.body = response.body;
  world_->Record(absl::StrCat(process_, " opens ", c->request.target, " answered ", head.status));
  c->free_at = std::max(c->free_at, world_->loop.now() + Latency());
  world_->loop.At(c->free_at, [this, c, head, alive = world_->AliveToken(process_)] {
    if (!*alive || c->over || Breaks(c)) return;
    executor_->Post([c, head] {
      if (!c->over && c->handlers.on_head) c->handlers.on_head(head);
    });
  });
  if (head.status >= 300) return End(c, "");
  if (!watch) {
    if (r.Chance(world_->faults.cut_list)) {
      world_->CountFault();
      Deliver(c, response.body.substr(0, r.Below(response.body.size())));
      return End(c, "unexpected EOF");
    }
    const size_t middle = r.Below(response.body.size());
    Deliver(c, response.body.substr(0, middle));
    Deliver(c, response.body.substr(middle));
    return End(c, "");
  }
  ServeWatch(c, server, target);
}

void SimulatedHttp::ServeWatch(const std::shared_ptr<Connection>& c, ApiServer* server, const Target& target) {
  std::weak_ptr<Connection> weak = c;
  const auto alive = world_->AliveToken(process_);
  c->watch->send = [this, weak, alive](std::string event) {
    auto me = weak.lock();
    if (!*alive || me == nullptr || me->over) return;
    if (HappensIfSet(world_->faults.cut_event)) {
      Deliver(me, event.substr(0, world_->network_random.Below(event.size())));
      return End(me, "unexpected EOF");
    }
    const bool twice = world_->network_random.Chance(world_->faults.repeat_event);
    if (twice) world_->CountFault();
    Deliver(me, twice ? event + event : std::move(event));
  };
  c->watch->end = [this, weak, alive] {
    auto me = weak.lock();
    if (*alive && me != nullptr && !me->over) End(me, "unexpected EOF");
  };
  // What happened since the version that it asked for comes now; and it ends when its time is over.
  server->Begin(c->watch.get());
  int64_t seconds = 300;
  (void)absl::SimpleAtoi(target.query.contains("timeoutSeconds") ? target.query.at("timeoutSeconds") : "300", &seconds);
  world_->loop.In(absl::Seconds(seconds), [this, weak, alive] {
    auto me = weak.lock();
    if (!*alive || me == nullptr || me->over) return;
    me->watch->over = true;
    End(me, "");
  });
}

}  // namespace berth::simulation
