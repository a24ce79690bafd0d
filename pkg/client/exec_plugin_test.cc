#include "pkg/client/exec_plugin.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "pkg/client/fake_server.h"
#include "pkg/client/rest.h"
#include "pkg/util/status.h"

namespace berth::client {
namespace {

constexpr char kV1[] = "client.authentication.k8s.io/v1";

ExecPluginConfig Shell(const std::string& script, absl::Duration timeout = absl::Seconds(60)) {
  ExecPluginConfig c;
  c.command = "sh";
  c.args = {"-c", script};
  c.api_version = kV1;
  c.timeout = timeout;
  return c;
}

std::string Printed(const std::string& status) {
  return std::string(R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":)") + status +
         "}";
}

std::string RunError(const ExecPluginConfig& c) {
  return util::Message(RunExecPlugin(c).status());
}

// An exec plugin whose runs are answered by the test.
struct Scripted {
  ExecPlugin::Run Run() {
    return [this]() -> absl::StatusOr<ExecCredential> {
      runs.Put(1);
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return !answers.empty(); });
      auto answer = answers.front();
      answers.pop_front();
      return answer;
    };
  }
  void Answer(absl::StatusOr<ExecCredential> a) {
    std::lock_guard lock(mutex);
    answers.push_back(std::move(a));
    changed.notify_all();
  }
  Mailbox<int> runs;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<absl::StatusOr<ExecCredential>> answers;
};

}  // namespace

TEST_CASE("exec: what a plugin prints is its credential") {
  auto c = RunExecPlugin(
      Shell("cat; printf '" + Printed(R"({"token":"t","expirationTimestamp":"2024-05-01T10:00:00Z"})") + "'"));
  CAPTURE(c.status().ToString());
  REQUIRE(c.ok());
  CHECK(c->token == "t");
  CHECK(c->expires == absl::FromUnixSeconds(1714557600));
  c = ParseExecCredential(Printed(R"({"clientCertificateData":"C","clientKeyData":"K"})"), kV1);
  REQUIRE(c.ok());
  CHECK(c->cert_pem == "C");
  CHECK(c->expires == absl::InfiniteFuture());
}

TEST_CASE("exec: a plugin that fails says why, with its standard error") {
  ExecPluginConfig missing = Shell("");
  missing.command = "/nonexistent/plugin";
  missing.install_hint = "Install it from example.com.";
  CHECK(RunError(missing) == "exec: executable /nonexistent/plugin not found\n\nInstall it from example.com.");
  CHECK(RunError(Shell("echo 'no session: run login' >&2; exit 3")) ==
        "exec: executable sh failed with exit code 3: no session: run login");
  CHECK(RunError(Shell("kill -TERM $$")) == "exec: executable sh was ended by signal 15");
  CHECK(RunError(Shell("echo waiting >&2; sleep 600 & wait", absl::Seconds(6))) ==
        "exec: executable sh did not answer within 6s: waiting");
  CHECK(RunError(Shell("exec >&- 2>&-; sleep 600", absl::Milliseconds(200))) ==
        "exec: executable sh did not answer within 200ms");
  const auto parse = [](const std::string& text) { return util::Message(ParseExecCredential(text, kV1).status()); };
  CHECK_THAT(parse("oops"), Catch::StartsWith("decoding stdout: line 1"));
  CHECK(parse(R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1"})") ==
        "exec plugin is configured to use API version client.authentication.k8s.io/v1, plugin returned version "
        "client.authentication.k8s.io/v1beta1");
  CHECK(parse(Printed("null")) == "exec plugin didn't return a status field");
  CHECK(parse(Printed("{}")) == "exec plugin didn't return a token or cert/key pair");
  CHECK(parse(Printed(R"({"clientKeyData":"K"})")) == "exec plugin returned only certificate or key, not both");
  CHECK(parse(Printed(R"({"token":"a\nb"})")) == "exec plugin returned a token with control characters");
  CHECK_THAT(parse(Printed(R"({"token":"a","expirationTimestamp":"soon"})")), Catch::Contains("must be a time"));
}

TEST_CASE("exec: one run serves everybody, is kept, renewed ahead, and replaced after a refusal") {
  util::ManualClock clock;
  Scripted plugin;
  IoThread io;
  auto p = std::make_shared<ExecPlugin>(plugin.Run(), &clock);
  Mailbox<std::string> ready;
  const auto get = [&] { p->Get(&ready, io.executor(), [&](const absl::Status& s) { ready.Put(util::Message(s)); }); };
  const auto credential = [&](const char* token, absl::Duration life) {
    return ExecCredential{token, "", "", clock.Wall() + life};
  };
  const auto token = [&] {
    uint64_t number;
    return p->credential(&number).token;
  };
  get();
  get();
  REQUIRE(plugin.runs.WaitFor(1));
  plugin.Answer(credential("one", absl::Minutes(60)));
  REQUIRE(ready.WaitFor(2));
  get();
  CHECK(ready.values().size() == 3);  // at once
  CHECK(plugin.runs.values().size() == 1);
  // The credential is renewed before it expires; requests use the old one meanwhile.
  clock.Advance(absl::Minutes(58) + absl::Seconds(1));
  get();
  CHECK(ready.values().size() == 4);
  CHECK(token() == "one");
  REQUIRE(plugin.runs.WaitFor(2));
  plugin.Answer(credential("two", absl::Minutes(60)));
  while (token() != "two") std::this_thread::yield();
  // After the server has refused a credential, the next request waits for a new one.
  uint64_t number = 0;
  p->credential(&number);
  p->Refused(number - 1);  // an answer to a request that was sent with the one before
  get();
  CHECK(ready.values().size() == 5);
  p->Refused(number);
  get();
  CHECK(ready.values().size() == 5);
  REQUIRE(plugin.runs.WaitFor(3));
  plugin.Answer(util::Unavailable("exec: executable x failed with exit code 1: log in first"));
  REQUIRE(ready.WaitFor(6));
  CHECK(ready.values()[5] == "getting credentials: exec: executable x failed with exit code 1: log in first");
  // After a failure the plugin is not run again for every request.
  get();
  REQUIRE(ready.WaitFor(7));
  CHECK(plugin.runs.values().size() == 3);
  clock.Advance(absl::Seconds(2));
  get();
  REQUIRE(plugin.runs.WaitFor(4));
  // A waiter that was forgotten is not called.
  p->Forget(&ready);
  plugin.Answer(credential("three", absl::Minutes(1)));
  while (token() != "three") std::this_thread::yield();
  io.Run([] {});
  CHECK(ready.values().size() == 7);
}

TEST_CASE("exec: a client sends the plugin's token, and another one after a 401") {
  util::RealClock clock;
  Scripted plugin;
  plugin.Answer(ExecCredential{"one", "", ""});
  plugin.Answer(ExecCredential{"two", "", ""});
  FakeServer server([](const FakeRequest& r, FakeServer::Turn& t) {
    const auto a = r.headers.find("authorization");
    const bool good = a != r.headers.end() && a->second == "Bearer two";
    if (r.target == "/stream" && good) {
      t.StartChunks();
      t.Chunk("data");
      t.EndChunks();
    } else {
      t.Respond(good ? 200 : 401, "{}");
    }
  });
  IoThread io;
  RestConfig c;
  c.url = "http://" + server.address();
  c.host = "127.0.0.1";
  c.port = static_cast<uint16_t>(server.port());
  c.plugin = std::make_shared<ExecPlugin>(plugin.Run(), &clock);
  c.qps = -1;
  auto client = RestClient::New(io.executor(), c).value();
  Request r;
  r.target = "/x";
  CHECK(DoBlocking(io.executor(), client.get(), r).status == 401);
  CHECK(DoBlocking(io.executor(), client.get(), r).status == 200);
  Mailbox<std::string> got;
  std::unique_ptr<Stream> stream;
  io.Run([&] {
    r.target = "/stream";
    StreamHandlers h;
    h.on_data = [&](std::string_view d) { got.Put(std::string(d)); };
    h.on_end = [&](const std::string& e) { got.Put("end" + e); };
    stream = client->Open(r, {}, std::move(h));
  });
  REQUIRE(got.WaitFor(2));
  CHECK(got.values() == std::vector<std::string>{"data", "end"});
  io.Run([&] {
    stream.reset();
    client.reset();
  });
}

TEST_CASE("exec: without a credential a request fails with the plugin's words") {
  util::RealClock clock;
  Scripted plugin;
  plugin.Answer(util::Unavailable("exec: executable x not found"));
  IoThread io;
  RestConfig c;
  c.url = "http://127.0.0.1:1";
  c.host = "127.0.0.1";
  c.port = 1;
  c.plugin = std::make_shared<ExecPlugin>(plugin.Run(), &clock);
  auto client = RestClient::New(io.executor(), c).value();
  Request r;
  r.target = "/x";
  const Reply reply = DoBlocking(io.executor(), client.get(), r);
  CHECK(reply.error == "Get \"http://127.0.0.1:1/x\": getting credentials: exec: executable x not found");
  CHECK_FALSE(reply.maybe_done);
  io.Run([&] { client.reset(); });
}

}  // namespace berth::client
