#include "pkg/client/rest.h"

#include <catch2/catch.hpp>

#include "pkg/client/api_error.h"
#include "pkg/client/fake_api.h"
#include "pkg/client/fake_server.h"
#include "pkg/client/manual_executor.h"
#include "pkg/client/rate_limiter.h"

namespace berth::client {
namespace {

struct Observer : RestObserver {
  void OnAnswer(std::string_view code, std::string_view method, std::string_view host) override {
    answers.push_back(absl::StrCat(std::string(method), " ", std::string(host), " ", std::string(code)));
  }
  void OnLatency(std::string_view method, std::string_view url, double seconds) override {
    latencies.push_back(absl::StrCat(std::string(method), " ", std::string(url), " ", seconds));
  }
  std::vector<std::string> answers, latencies;
};

struct RestFixture {
  explicit RestFixture(double qps = -1, int burst = 0) {
    RestConfig c;
    c.url = "http://10.0.0.1:8080/prefix";
    c.path_prefix = "/prefix";
    c.qps = qps;
    c.burst = burst;
    c.timeout = absl::Seconds(30);
    auto fake = std::make_unique<FakeApi>();
    api = fake.get();
    client = RestClient::Over(&executor, c, std::move(fake), &observer);
  }
  void Get(const std::string& target) {
    Request r;
    r.target = target;
    client->Do(r, [this](Reply a) { replies.push_back(std::move(a)); });
  }
  Observer observer;
  ManualExecutor executor;
  FakeApi* api;
  std::unique_ptr<RestClient> client;
  std::vector<Reply> replies;
};

}  // namespace

TEST_CASE("targets get the server's prefix, errors name the request, metrics hear of it") {
  RestFixture f;
  f.Get("/api/v1/nodes/n1");
  CHECK(f.api->target() == "/prefix/api/v1/nodes/n1");
  f.executor.manual_clock().Advance(absl::Milliseconds(250));
  f.api->Break("EOF");
  REQUIRE(f.replies.size() == 1);
  CHECK(f.replies[0].error == "Get \"http://10.0.0.1:8080/prefix/api/v1/nodes/n1\": EOF");
  f.Get("/api/v1/nodes/n1");
  f.api->Answer(200);
  CHECK(f.observer.answers == std::vector<std::string>{"GET 10.0.0.1:8080 <error>", "GET 10.0.0.1:8080 200"});
  CHECK(f.observer.latencies == std::vector<std::string>{"GET http://10.0.0.1:8080/prefix/api/v1/nodes/%7Bname%7D 0.25",
                                                         "GET http://10.0.0.1:8080/prefix/api/v1/nodes/%7Bname%7D 0"});
}

TEST_CASE("the label url has names and values replaced") {
  auto t = [](const char* target) { return UrlTemplate("http://h", target); };
  CHECK(t("/api/v1/namespaces/default/pods/web-1/binding") ==
        "http://h/api/v1/namespaces/%7Bnamespace%7D/pods/%7Bname%7D/binding");
  CHECK(t("/api/v1/pods?limit=500&resourceVersion=0") ==
        "http://h/api/v1/pods?limit=%7Bvalue%7D&resourceVersion=%7Bvalue%7D");
  CHECK(t("/apis/apps/v1/namespaces/a/statefulsets") ==
        "http://h/apis/apps/v1/namespaces/%7Bnamespace%7D/statefulsets");
  CHECK(t("/apis/apps/v1/statefulsets") == "http://h/apis/apps/v1/statefulsets");
  CHECK(t("/api/v1/namespaces/default") == "http://h/api/v1/namespaces/%7Bname%7D");
  CHECK(t("/healthz") == "http://h/healthz");
}

TEST_CASE("a Retry-After is waited for and the request repeated, ten attempts in all") {
  RestFixture f;
  Request r;
  r.method = Method::kPost;
  r.target = "/x";
  r.body = "{}";
  r.timeout = absl::Seconds(100);
  f.client->Do(r, [&](Reply a) { f.replies.push_back(std::move(a)); });
  for (int attempt = 1; attempt <= 9; ++attempt) {
    CAPTURE(attempt);
    REQUIRE(f.api->calls.size() == static_cast<size_t>(attempt));
    CHECK(f.api->last().request.body == "{}");
    Reply busy;
    busy.status = attempt % 2 ? 429 : 503;
    busy.retry_after = 1;
    f.api->last().done(busy);
    f.executor.Advance(absl::Milliseconds(999));
    CHECK(f.api->calls.size() == static_cast<size_t>(attempt));
    f.executor.Advance(absl::Milliseconds(1));
  }
  Reply busy;
  busy.status = 429;
  busy.retry_after = 1;
  f.api->last().done(busy);
  REQUIRE(f.replies.size() == 1);
  CHECK(f.replies[0].status == 429);
  CHECK(f.api->calls.size() == 10);
}

TEST_CASE("a Retry-After of an hour is cut to thirty seconds") {
  RestFixture f;
  Request r;
  r.target = "/x";
  r.timeout = absl::Seconds(100);
  f.client->Do(r, [&](Reply a) { f.replies.push_back(std::move(a)); });
  Reply busy;
  busy.status = 429;
  busy.retry_after = 3600;
  f.api->last().done(busy);
  f.executor.Advance(absl::Milliseconds(29'999));
  CHECK(f.api->calls.size() == 1);
  f.executor.Advance(absl::Milliseconds(1));
  CHECK(f.api->calls.size() == 2);
}

TEST_CASE("no repeat without Retry-After, nor past the timeout; a reset connection is repeated for GET only") {
  RestFixture f;
  f.Get("/x");
  f.api->Answer(500);
  CHECK(f.replies.size() == 1);
  f.Get("/x");
  Reply busy;
  busy.status = 429;
  busy.retry_after = 31;
  f.api->last().done(busy);
  CHECK(f.replies.size() == 2);
  f.Get("/x");
  Reply reset;
  reset.error = "connection reset by peer";
  reset.connection_reset = true;
  f.api->last().done(reset);
  CHECK(f.replies.size() == 2);
  f.executor.Advance(absl::Seconds(1));
  CHECK(f.api->calls.size() == 4);
  f.api->Answer(200);
  CHECK(f.replies.back().status == 200);
  Request post;
  post.method = Method::kPost;
  f.client->Do(post, [&](Reply a) { f.replies.push_back(std::move(a)); });
  f.api->last().done(reset);
  CHECK(f.replies.size() == 4);
  CHECK(f.replies.back().connection_reset);
}

TEST_CASE("a client keeps to its rate, in order; watches pass by") {
  RestFixture f(10, 2);
  for (int i = 0; i < 5; ++i) f.Get(absl::StrCat("/", i));
  CHECK(f.api->calls.size() == 2);
  CHECK(f.client->throttled() == 3);
  Request watch;
  watch.target = "/watch";
  watch.throttled = false;
  auto stream = f.client->Open(watch, {}, {});
  CHECK(f.api->target() == "/prefix/watch");
  f.executor.Advance(absl::Milliseconds(99));
  CHECK(f.api->calls.size() == 3);
  f.executor.Advance(absl::Milliseconds(1));
  CHECK(f.api->target() == "/prefix/2");
  f.executor.Advance(absl::Milliseconds(200));
  CHECK(f.api->target() == "/prefix/4");
  CHECK(f.client->throttled() == 0);
}

TEST_CASE("a request that gets no turn before its time is over fails") {
  RestFixture f(0.1, 1);
  f.Get("/1");
  Request r;
  r.target = "/2";
  r.timeout = absl::Seconds(5);
  f.client->Do(r, [&](Reply a) { f.replies.push_back(std::move(a)); });
  f.executor.Advance(absl::Seconds(20));
  REQUIRE(f.replies.size() == 1);
  CHECK_THAT(f.replies[0].error, Catch::Contains("rate limit"));
  CHECK_FALSE(f.replies[0].maybe_done);
}

TEST_CASE("a throttled stream that was given up is never opened") {
  RestFixture f(1, 1);
  f.Get("/1");
  auto stream = f.client->Open(Request{}, {}, {});
  stream.reset();
  f.executor.Advance(absl::Seconds(5));
  CHECK(f.api->calls.size() == 1);
}

TEST_CASE("a bucket is full at first and fills at its rate") {
  TokenBucket b(2, 3);
  auto at = [&](double s) { return absl::ToDoubleSeconds(b.Reserve(absl::Seconds(s))); };
  CHECK(at(100) == 0);
  CHECK(at(100) == 0);
  CHECK(at(100) == 0);
  CHECK(at(100) == 0.5);
  CHECK(at(100) == 1);
  CHECK(at(101) == 0.5);
  CHECK(at(1000) == 0);
  TokenBucket unlimited(-1, 0);
  for (int i = 0; i < 1000; ++i) CHECK(unlimited.Reserve(absl::Seconds(1)) == absl::ZeroDuration());
  TokenBucket defaults(0, 0);
  for (int i = 0; i < 10; ++i) CHECK(defaults.Reserve(absl::Seconds(1)) == absl::ZeroDuration());
  CHECK(defaults.Reserve(absl::Seconds(1)) == absl::Milliseconds(200));
}

TEST_CASE("a rotated token file is read again, its white space cut off") {
  FakeServer server([](const FakeRequest& r, FakeServer::Turn& t) {
    auto auth = r.headers.find("authorization");
    t.Respond(auth != r.headers.end() && auth->second == "Bearer old" ? 401 : 200, "{}");
  });
  IoThread io;
  RestConfig c;
  c.url = "http://" + server.address();
  c.host = "127.0.0.1";
  c.port = static_cast<uint16_t>(server.port());
  c.user_agent = "ua/1";
  c.impersonate.user = "jane";
  c.impersonate.groups = {"a", "b"};
  c.impersonate.extra = {{"scopes", {"x\r\nEvil: 1"}}};
  TempDir dir;
  c.token_file = dir.Write("token", "  old \n");
  auto client = RestClient::New(io.executor(), c);
  REQUIRE(client.ok());
  Request r;
  r.target = "/";
  CHECK(DoBlocking(io.executor(), client->get(), r).status == 401);
  dir.Write("token", "new\n");
  CHECK(DoBlocking(io.executor(), client->get(), r).status == 200);
  io.Run([&] { client->reset(); });
  auto seen = server.requests();
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].headers["authorization"] == "Bearer old");
  CHECK(seen[1].headers["authorization"] == "Bearer new");
  CHECK(seen[1].headers["user-agent"] == "ua/1");
  CHECK(seen[1].headers["accept"] == "application/json, */*");
  CHECK(seen[1].headers["impersonate-user"] == "jane");
  CHECK(seen[1].headers["impersonate-group"] == "b");  // the last of two
  CHECK(seen[1].headers["impersonate-extra-scopes"] == "xEvil: 1");
  CHECK(seen[1].headers.count("evil") == 0);
}

TEST_CASE("basic auth") {
  FakeServer server([](const FakeRequest&, FakeServer::Turn& t) { t.Respond(200, "{}"); });
  IoThread io;
  RestConfig c;
  c.url = "http://" + server.address();
  c.host = "127.0.0.1";
  c.port = static_cast<uint16_t>(server.port());
  c.username = "Aladdin";
  c.password = "open sesame";
  auto client = RestClient::New(io.executor(), c);
  REQUIRE(client.ok());
  Request r;
  r.target = "/";
  CHECK(DoBlocking(io.executor(), client->get(), r).ok());
  io.Run([&] { client->reset(); });
  CHECK(server.requests()[0].headers["authorization"] == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
}

TEST_CASE("an answer that is no Status gets client-go's words") {
  Request get, post;
  post.method = Method::kPost;
  auto error = [](const Request& q, int status, const std::string& body, const char* name = "") {
    Reply r;
    r.status = status;
    r.body = body;
    return ErrorFrom(q, r, "storageclasses.storage.k8s.io", name);
  };
  ApiError e = error(get, 404, "404 page not found\n");
  CHECK(e.NotFound());
  CHECK(e.message == "the server could not find the requested resource (get storageclasses.storage.k8s.io)");
  CHECK(error(get, 410, "").message ==
        "the server responded with the status code 410 but did not return more information (get "
        "storageclasses.storage.k8s.io)");
  CHECK(error(get, 401, "", "x").message ==
        "the server has asked for the client to provide credentials (get storageclasses.storage.k8s.io x)");
  CHECK(error(get, 500, "oh \"no\"").message ==
        "an error on the server (\"oh \\\"no\\\"\") has prevented the request from succeeding (get "
        "storageclasses.storage.k8s.io)");
  CHECK(error(post, 409, "").AlreadyExists());
  CHECK(error(get, 409, "").Conflict());
  CHECK(error(get, 200, "").ok());
  e = error(get, 403,
            R"({"kind":"Status","message":"no","reason":"Forbidden","details":{"name":"n","kind":"k"},"code":403})");
  CHECK(e.message == "no");
  CHECK(e.reason == "Forbidden");
  CHECK(e.details_kind == "k");
  CHECK(e.details_name == "n");
  Reply lost;
  lost.error = "EOF";
  lost.maybe_done = true;
  e = ErrorFrom(post, lost, "pods");
  CHECK(e.transport);
  CHECK(e.maybe_done);
  CHECK(e.message == "EOF");
  CHECK_FALSE(ErrorFrom(get, lost, "pods").maybe_done);  // reading does nothing
}

}  // namespace berth::client
