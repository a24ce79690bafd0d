#include "pkg/http/webhook.h"

#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "pkg/http/testing/fake_server.h"
#include "pkg/util/status.h"

namespace berth::http {
namespace {

// Options for calls that are answered, however slow this machine is.
WebhookOptions Patient() {
  WebhookOptions o;
  o.timeout = absl::Minutes(2);
  return o;
}

}  // namespace

TEST_CASE("clients without number end with an error, not with the process") {
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit few = before;
  few.rlim_cur = 64;
  REQUIRE(setrlimit(RLIMIT_NOFILE, &few) == 0);
  std::vector<std::unique_ptr<WebhookClient>> clients;
  std::string error;
  while (error.empty() && clients.size() < 1000) {
    auto made = WebhookClient::Create({});
    if (made.ok()) {
      clients.push_back(*std::move(made));
    } else {
      error = util::Message(made.status());
    }
  }
  clients.clear();
  REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(error.find("cannot be prepared: ") == 0);
  CHECK(WebhookClient::Create({}).ok());
}

TEST_CASE("webhook: answers come back whole, with what was sent") {
  FakeServer server([](const FakeRequest& r, FakeServer::Turn& t) {
    const auto authorization = r.headers.find("authorization");
    t.Respond(202, r.method + " " + r.target + " " + r.body + " " +
                       (authorization == r.headers.end() ? "nobody" : authorization->second));
  });
  auto client = WebhookClient::Create(Patient());
  REQUIRE(client.ok());
  auto answer = (*client)->Post("http://" + server.address() + "/x?y", "{}", false);
  REQUIRE(answer.ok());
  CHECK(answer->status == 202);
  CHECK(answer->body == "POST /x?y {} nobody");
  // Other credentials are another server: a connection never serves two users.
  CHECK((*client)->Post("http://a:b@" + server.address() + "/", "", false)->body == "POST /  Basic YTpi");
  CHECK((*client)->Post("http://" + server.address() + "/", "", false)->body == "POST /  nobody");
}

TEST_CASE("webhook: calls from several threads do not wait for one another") {
  std::mutex mutex;
  std::condition_variable changed;
  int in = 0;
  FakeServer server([&](const FakeRequest&, FakeServer::Turn& t) {
    std::unique_lock lock(mutex);
    ++in;
    changed.notify_all();
    // Answers only once both requests have arrived.
    changed.wait_for(lock, std::chrono::seconds(60), [&] { return in == 2; });
    t.Respond(in == 2 ? 200 : 500, "");
  });
  auto client = WebhookClient::Create(Patient()).value();
  std::vector<int> status(2);
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] { status[i] = client->Post("http://" + server.address() + "/", "x", false)->status; });
  }
  for (auto& t : threads) t.join();
  CHECK(status == std::vector<int>{200, 200});
}

TEST_CASE("webhook: a request without answer is an error that names the URL, not its password") {
  FakeServer server([](const FakeRequest&, FakeServer::Turn& t) { t.Hang(); });
  WebhookOptions o;
  o.timeout = absl::Milliseconds(50);
  auto client = WebhookClient::Create(o).value();
  CHECK(util::Message(client->Post("http://me:secret@" + server.address() + "/x", "{}", false).status()) ==
        "Post http://me:***@" + server.address() + "/x: no answer within 50ms");
}

TEST_CASE("webhook: without a file descriptor left a call fails, and later ones work") {
  FakeServer server([](const FakeRequest&, FakeServer::Turn& t) { t.Respond(200, "ok", "Connection: close\r\n"); });
  auto client = WebhookClient::Create(Patient()).value();
  const std::string url = "http://" + server.address() + "/";
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  // With this limit no further descriptor can be opened.
  size_t used = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++used;
  const rlimit none{std::min<rlim_t>(3, used), before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  const auto failed = client->Post(url, "", false);
  setrlimit(RLIMIT_NOFILE, &before);
  REQUIRE_FALSE(failed.ok());
  CHECK_THAT(util::Message(failed.status()), Catch::Contains("too many open files"));
  CHECK(client->Post(url, "", false)->body == "ok");
}

}  // namespace berth::http
