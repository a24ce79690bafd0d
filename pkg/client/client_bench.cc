// Measures what the client costs: bindings and events per second through real sockets, and lists and watches decoded
// per second. CPU time is that of the I/O thread alone. The server does as little as possible and runs on other
// threads.
#include <benchmark/benchmark.h>
#include <sys/socket.h>
#include <time.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <thread>

#include "pkg/api/decode.h"
#include "pkg/client/events.h"
#include "pkg/client/fake_api.h"
#include "pkg/client/fake_server.h"
#include "pkg/client/framing.h"
#include "pkg/client/informer.h"
#include "pkg/client/manual_executor.h"
#include "pkg/client/requests.h"
#include "pkg/client/rest.h"
#include "pkg/release/release.h"

namespace berth::client {
namespace {

// Answers 201 to each request that has a Content-Length. Each connection has a thread.
class DumbServer {
 public:
  DumbServer() : acceptor_(io_, {boost::asio::ip::address_v4::loopback(), 0}) {
    accepting_ = std::thread([this] {
      for (;;) {
        auto s = std::make_unique<boost::asio::ip::tcp::socket>(io_);
        boost::system::error_code ec;
        acceptor_.accept(*s, ec);
        if (ec) return;
        s->set_option(boost::asio::ip::tcp::no_delay(true));
        sockets_.push_back(std::move(s));
        threads_.emplace_back([raw = sockets_.back().get()] { Serve(*raw); });
      }
    });
  }
  ~DumbServer() {
    ::shutdown(acceptor_.native_handle(), SHUT_RDWR);
    accepting_.join();
    for (auto& s : sockets_) ::shutdown(s->native_handle(), SHUT_RDWR);
    for (auto& t : threads_) t.join();
  }
  uint16_t port() { return acceptor_.local_endpoint().port(); }

 private:
  static void Serve(boost::asio::ip::tcp::socket& socket) {
    static const std::string kAnswer =
        "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nDate: Sat, 21 Nov 2026 03:00:00 GMT\r\n"
        "Content-Length: 80\r\n\r\n"
        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Success\",\"code\":201}\n";
    std::string in, out;
    char buffer[65536];
    for (;;) {
      boost::system::error_code ec;
      size_t n = socket.read_some(boost::asio::buffer(buffer), ec);
      if (ec) return;
      in.append(buffer, n);
      out.clear();
      size_t at = 0;
      for (;;) {
        size_t end = in.find("\r\n\r\n", at);
        if (end == std::string::npos) break;
        size_t field = in.find("Content-Length: ", at);
        size_t length = field < end ? std::stoul(in.substr(field + 16, 10)) : 0;
        if (in.size() < end + 4 + length) break;
        at = end + 4 + length;
        out += kAnswer;
      }
      in.erase(0, at);
      if (!out.empty()) boost::asio::write(socket, boost::asio::buffer(out), ec);
    }
  }
  boost::asio::io_context io_;
  boost::asio::ip::tcp::acceptor acceptor_;
  std::thread accepting_;
  std::vector<std::unique_ptr<boost::asio::ip::tcp::socket>> sockets_;
  std::vector<std::thread> threads_;
};

double ThreadSeconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

RestConfig Config(uint16_t port) {
  RestConfig c;
  c.url = absl::StrCat("http://127.0.0.1:", port);
  c.host = "127.0.0.1";
  c.port = port;
  c.user_agent = "bench";
  c.qps = 1e6;
  c.burst = 1'000'000;
  return c;
}

// Calls f(n, done) repeatedly; it starts n requests, each of which calls done() when it ends. Reports the time and the
// I/O thread's CPU time (io_cpu_us) per request.
template <typename F>
void Measure(benchmark::State& state, IoThread& io, int n, const F& f) {
  double cpu = 0;
  int64_t total = 0;
  for (auto _ : state) {
    std::atomic<int> left{n};
    double begin = 0;
    io.Run([&] {
      begin = ThreadSeconds();
      f(n, [&left] {
        if (--left == 0) left.notify_all();
      });
    });
    for (int l = left; l != 0; l = left) left.wait(l);
    io.Run([&] { cpu += ThreadSeconds() - begin; });
    total += n;
  }
  state.SetItemsProcessed(total);
  state.counters["io_cpu_us"] = cpu * 1e6 / static_cast<double>(total);
}

void BM_Bind(benchmark::State& state) {
  DumbServer server;
  IoThread io;
  std::unique_ptr<RestClient> client;
  io.Run([&] { client = *RestClient::New(io.executor(), Config(server.port())); });
  Requests requests(client.get());
  Measure(state, io, 20'000, [&](int n, const std::function<void()>& done) {
    for (int i = 0; i < n; ++i) {
      requests.Bind({"default", "web-6c54fb4d5-x8zkp", "982ef15b-e557-11f1-814d-a6129d7404a4", "node-1234"},
                    [done](ApiResult<Nothing> r) {
                      if (r.ok()) done();
                    });
    }
  });
  io.Run([&] { client.reset(); });
}
BENCHMARK(BM_Bind)->UseRealTime()->Unit(benchmark::kMillisecond);

void BM_Event(benchmark::State& state) {
  DumbServer server;
  IoThread io;
  std::unique_ptr<RestClient> client;
  std::unique_ptr<EventRecorder> recorder;
  io.Run([&] {
    client = *RestClient::New(io.executor(), Config(server.port()));
    EventRecorderOptions o;
    o.queue_limit = 1'000'000;
    recorder = std::make_unique<EventRecorder>(io.executor(), client.get(), o);
  });
  int64_t serial = 0;
  Measure(state, io, 20'000, [&](int n, const std::function<void()>& done) {
    for (int i = 0; i < n; ++i) {
      std::string name = absl::StrCat("web-", ++serial);
      recorder->Record({"Pod", "v1", "default", name, "982ef15b-e557-11f1-814d-a6129d7404a4", "12345"},
                       EventType::kNormal, "Scheduled", absl::StrCat("Successfully assigned ", name, " to node-1234"));
    }
    recorder->Drain(absl::Seconds(100), [n, done] {
      for (int i = 0; i < n; ++i) done();
    });
  });
  io.Run([&] {
    recorder.reset();
    client.reset();
  });
}
BENCHMARK(BM_Event)->UseRealTime()->Unit(benchmark::kMillisecond);

std::string PodJson(int i) {
  return absl::StrCat(
      R"({"metadata":{"name":"web-)", i,
      R"(","generateName":"web-","namespace":"default","selfLink":"/api/v1/namespaces/default/pods/web-)", i,
      R"(","uid":"982ef15b-e557-11f1-814d-)", 100000000000 + i, R"(","resourceVersion":")", 1000 + i,
      R"(","creationTimestamp":"2026-11-21T02:59:40Z","labels":{"app":"web","pod-template-hash":"6c54fb4d5"},)"
      R"("ownerReferences":[{"apiVersion":"extensions/v1beta1","kind":"ReplicaSet","name":"web-6c54fb4d5","uid":"b1","controller":true,"blockOwnerDeletion":true}]},)"
      R"("spec":{"volumes":[{"name":"default-token-x","secret":{"secretName":"default-token-x","defaultMode":420}}],)"
      R"("containers":[{"name":"c","image":"nginx:stable","ports":[{"containerPort":80,"protocol":"TCP"}],"resources":{"requests":{"cpu":"100m","memory":"128Mi"}},)"
      R"("volumeMounts":[{"name":"default-token-x","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}],)"
      R"("terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}],)"
      R"("restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":"default","serviceAccount":"default",)"
      R"("nodeName":"node-)",
      i % 5000,
      R"(","securityContext":{},"schedulerName":"default-scheduler","tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}],"priority":0},)"
      R"("status":{"phase":"Running","conditions":[{"type":"PodScheduled","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-11-21T02:59:40Z"}],"qosClass":"Burstable"}})");
}

std::string PodList(int n) {
  std::string out = R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[)";
  for (int i = 0; i < n; ++i) out += (i ? "," : "") + PodJson(i);
  return out + "]}";
}

// Cuts the text of a list into objects without decoding them.
void BM_Frame(benchmark::State& state) {
  std::string list = PodList(5000);
  for (auto _ : state) {
    ListFramer f;
    size_t n = 0;
    for (size_t i = 0; i < list.size(); i += 262144) {
      (void)f.Feed(std::string_view(list).substr(i, 262144), [&](std::string_view v) {
        n += v.size();
        return true;
      });
    }
    benchmark::DoNotOptimize(n);
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * list.size()));
}
BENCHMARK(BM_Frame)->Unit(benchmark::kMillisecond);

// A list of pods is cut into objects, decoded, stored and delivered.
void BM_List(benchmark::State& state) {
  constexpr int kPods = 5000;
  std::string list = PodList(kPods);
  for (auto _ : state) {
    ManualExecutor executor;
    FakeApi api;
    InformerOptions<api::Pod> o;
    o.decode = [](api::Json j) { return api::DecodePod(j, {.keep_raw = true}); };
    o.on_batch = [](InformerBatch<api::Pod> b) { benchmark::DoNotOptimize(b.events.size()); };
    Informer<api::Pod> informer(&executor, &api, ResourceOf<api::Pod>({.version = release::Default().version}), o);
    informer.Start();
    api.Head(200);
    auto call = api.calls.back();
    for (size_t i = 0; i < list.size(); i += 262144) api.Data(list.substr(i, 262144), call);
    api.End("", call);
    if (informer.size() != kPods) state.SkipWithError("pods are missing");
  }
  state.SetItemsProcessed(state.iterations() * kPods);
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * list.size()));
}
BENCHMARK(BM_List)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace berth::client
