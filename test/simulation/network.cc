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

SimulatedHttp::SimulatedHttp(World* world, ProcessExecutor* executor, std::string process, size_t home)
    : world_(world), executor_(executor), process_(std::move(process)), server_(home) {}

absl::Duration SimulatedHttp::Latency() {
  Random& r = world_->network_random;
  return absl::Microseconds(
      static_cast<int64_t>((300 + 1500 * r.Unit() + (r.Chance(0.02) ? 40'000 * r.Unit() : 0)) * world_->faults.slow));
}

// The server that the load balancer gives it: the same while that is up.
ApiServer* SimulatedHttp::Server() {
  if (world_->IsCutOff(process_)) return nullptr;
  for (size_t i = 0; i < world_->servers.size(); ++i) {
    ApiServer* s = world_->servers[(server_ + i) % world_->servers.size()].get();
    if (s->up()) {
      server_ = (server_ + i) % world_->servers.size();
      return s;
    }
  }
  return nullptr;
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
    if (Server() == nullptr || world_->network_random.Chance(world_->faults.refuse)) {
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
    world_->loop.In(Latency(), [this, e, alive = world_->AliveToken(process_)] {
      if (*alive) Execute(e);
    });
  });
}

// The server's side of a request.
void SimulatedHttp::Execute(const std::shared_ptr<Exchange>& e) {
  Random& r = world_->network_random;
  const Faults& f = world_->faults;
  Reply reply;
  reply.maybe_done = true;
  reply.error = "EOF";
  ApiServer* server = Server();
  const auto execute = [this, e](ApiServer* s) {
    Response response = s->Handle(e->request.method, ParseTarget(e->request.target), e->request.body);
    world_->OnExecuted(process_, e->request, response.status);
    Reply out;
    out.status = response.status;
    out.body = std::move(response.body);
    out.content_type = "application/json";
    return out;
  };
  if (server == nullptr || r.Chance(f.lose_request)) {
    world_->CountFault();
  } else if (r.Chance(f.late)) {
    world_->CountFault();
    world_->loop.In(kLatest * r.Unit(), [this, e, execute, alive = world_->AliveToken(process_)] {
      ApiServer* s = *alive ? Server() : nullptr;
      if (s != nullptr) (void)execute(s);
    });
  } else if (r.Chance(f.error_before)) {
    world_->CountFault();
    reply = {};
    reply.status = 500;
    reply.body = StatusResponse(500, "InternalError", "etcdserver: request timed out").body;
  } else if (r.Chance(f.throttle)) {
    world_->CountFault();
    reply = {};
    reply.status = 429;
    reply.retry_after = 1;
    reply.body = StatusResponse(429, "TooManyRequests", "too many requests, please try again later").body;
  } else {
    Reply good = execute(server);
    if (r.Chance(f.error_after)) {
      world_->CountFault();
      reply = {};
      reply.status = 504;
      reply.body = StatusResponse(504, "Timeout", "the server was unable to return a response in time").body;
    } else if (r.Chance(f.lose_answer)) {
      world_->CountFault();
    } else {
      reply = std::move(good);
    }
  }
  world_->loop.In(Latency(), [this, e, reply = std::move(reply), alive = world_->AliveToken(process_)]() mutable {
    if (!*alive) return;
    if (world_->IsCutOff(process_)) return;  // the timeout will tell
    Answer(e, std::move(reply));
  });
}

std::unique_ptr<client::Stream> SimulatedHttp::Open(Request request, client::StreamOptions,
                                                    client::StreamHandlers handlers) {
  struct Handle final : client::Stream {
    explicit Handle(std::shared_ptr<Connection> x) : connection(std::move(x)) {}
    ~Handle() override { connection->Close(); }
    std::shared_ptr<Connection> connection;
  };
  auto c = std::make_shared<Connection>();
  c->request = std::move(request);
  c->handlers = std::move(handlers);
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
  ApiServer* server = Server();
  if (server == nullptr || r.Chance(world_->faults.refuse)) {
    world_->CountFault();
    return End(c, "dial tcp 10.0.0.1:6443: connection refused");
  }
  const Target target = ParseTarget(c->request.target);
  const bool watch = target.query.contains("watch");
  Response response;
  if (watch) {
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
  std::weak_ptr<Connection> weak = c;
  const auto alive = world_->AliveToken(process_);
  c->watch->send = [this, weak, alive](std::string event) {
    auto me = weak.lock();
    if (!*alive || me == nullptr || me->over) return;
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
