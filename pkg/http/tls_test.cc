#include "pkg/http/tls.h"

#include <catch2/catch.hpp>

#include "pkg/http/client.h"
#include "pkg/http/testing/certificates.h"
#include "pkg/http/testing/fake_server.h"
#include "pkg/http/testing/temp_dir.h"
#include "pkg/util/status.h"

namespace berth::http {
namespace {

struct TlsFixture {
  explicit TlsFixture(const std::string& certificate, bool ask_client = false, bool resumes = true) {
    FakeServer::Tls tls{Certs().dir.path(certificate + ".pem"), Certs().dir.path(certificate + ".key"),
                        ask_client ? Certs().dir.path("ca.pem") : "", resumes};
    server = std::make_unique<FakeServer>(
        [](const FakeRequest& r, FakeServer::Turn& t) {
          if (r.target == "/stream") {
            t.StartChunks();
            t.Chunk("one");
            t.Close();
          } else {
            t.Respond(200, std::string(100'000, 'x'));
            if (r.target == "/once") t.Close();
          }
        },
        &tls);
  }
  Reply Ask(TlsOptions tls) {
    HttpOptions o;
    o.host = "127.0.0.1";
    o.port = static_cast<uint16_t>(server->port());
    o.tls = std::move(tls);
    auto client = NewHttpClient(io.executor(), o);
    REQUIRE(client.ok());
    Request r;
    r.target = "/";
    Reply reply;
    for (int i = 0; i < 3; ++i) reply = DoBlocking(io.executor(), client->get(), r);
    io.Run([&] { client->reset(); });
    return reply;
  }
  std::unique_ptr<FakeServer> server;
  IoThread io;
};

TlsOptions Trust(const std::string& ca = "ca.pem", const std::string& name = "") {
  TlsOptions t;
  t.ca_pem = Certs().Read(ca);
  t.server_name = name;
  return t;
}

}  // namespace

TEST_CASE("a server that is who it should be is trusted") {
  TlsFixture f("server");
  Reply r = f.Ask(Trust());
  CHECK(r.error == "");
  CHECK(r.status == 200);
  CHECK(r.body.size() == 100'000);
  CHECK(f.Ask(Trust("ca.pem", "good.example")).status == 200);
  for (auto& q : f.server->requests()) CHECK(q.connection <= 2);  // kept alive
}

TEST_CASE("a server that is not is refused, unless nobody looks") {
  TlsFixture f("named");
  CHECK_THAT(f.Ask(Trust()).error,
             Catch::StartsWith("x509: IP address mismatch: the server's certificate is not for 127.0.0.1"));
  CHECK_THAT(f.Ask(Trust("ca.pem", "evil.example")).error,
             Catch::StartsWith("x509: hostname mismatch: the server's certificate is not for evil.example"));
  CHECK_THAT(f.Ask(Trust("other.pem", "good.example")).error,
             Catch::StartsWith("x509: certificate signed by unknown authority"));
  TlsOptions roots;
  roots.server_name = "good.example";
  CHECK_THAT(f.Ask(roots).error, Catch::StartsWith("x509: certificate signed by unknown authority"));
  CHECK(f.server->requests().empty());
  TlsOptions blind;
  blind.insecure_skip_verify = true;
  CHECK(f.Ask(blind).status == 200);
}

TEST_CASE("our certificate is shown to a server that asks") {
  TlsFixture f("server", true);
  CHECK(f.Ask(Trust()).status == 0);
  TlsOptions t = Trust();
  t.cert_pem = Certs().Read("client.pem");
  t.key_pem = Certs().Read("client.key");
  CHECK(f.Ask(t).status == 200);
}

// Returns the statuses of four requests, each of which ends its connection.
std::vector<int> AskOnFourConnections(TlsFixture* f, TlsOptions tls) {
  HttpOptions o;
  o.host = "127.0.0.1";
  o.port = static_cast<uint16_t>(f->server->port());
  o.tls = std::move(tls);
  auto client = NewHttpClient(f->io.executor(), o);
  REQUIRE(client.ok());
  Request r;
  r.target = "/once";
  std::vector<int> statuses;
  for (int i = 0; i < 4; ++i) statuses.push_back(DoBlocking(f->io.executor(), client->get(), r).status);
  f->io.Run([&] { client->reset(); });
  return statuses;
}

TEST_CASE("a new connection resumes the session of the last one, if that is asked for") {
  TlsOptions t = Trust();
  t.cert_pem = Certs().Read("client.pem");
  t.key_pem = Certs().Read("client.key");
  TlsFixture f("server", true);
  CHECK(AskOnFourConnections(&f, t) == std::vector<int>{200, 200, 200, 200});
  CHECK(f.server->resumed() == 0);
  t.resume = true;
  CHECK(AskOnFourConnections(&f, t) == std::vector<int>{200, 200, 200, 200});
  CHECK(f.server->resumed() == 3);
  // A server that cannot, and says so by ending the handshake, is asked for whole ones from then on.
  TlsFixture cannot("server", true, false);
  CHECK(AskOnFourConnections(&cannot, t) == std::vector<int>{200, 0, 200, 200});
}

TEST_CASE("certificates are read again when their files change, once they fit together") {
  const auto& c = Certs();
  TempDir dir;
  const auto copy = [&](const char* from, const char* to) { dir.Write(to, c.Read(from)); };
  copy("other.pem", "ca.pem");  // neither side would trust the other
  copy("other.pem", "client.pem");
  copy("other.key", "client.key");
  FakeServer::Tls tls{c.dir.path("server.pem"), c.dir.path("server.key"), c.dir.path("ca.pem")};
  FakeServer server([](const FakeRequest&, FakeServer::Turn& t) { t.Respond(200, "hello"); }, &tls);
  IoThread io;
  HttpOptions o;
  o.host = "127.0.0.1";
  o.port = static_cast<uint16_t>(server.port());
  o.tls = Trust("other.pem");
  o.tls->cert_pem = c.Read("other.pem");
  o.tls->key_pem = c.Read("other.key");
  o.tls->ca_file = dir.path("ca.pem");
  o.tls->cert_file = dir.path("client.pem");
  o.tls->key_file = dir.path("client.key");
  o.tls->file_age = absl::ZeroDuration();
  auto client = NewHttpClient(io.executor(), o);
  REQUIRE(client.ok());
  const auto ask = [&] {
    Request r;
    r.target = "/";
    return DoBlocking(io.executor(), client->get(), r);
  };
  CHECK_THAT(ask().error, Catch::StartsWith("x509: certificate signed by unknown authority"));
  copy("ca.pem", "ca.pem");
  CHECK(ask().status == 0);  // the client trusts the server now, but not vice versa
  copy("client.pem", "client.pem");
  CHECK(ask().status == 0);  // the key has not been written yet
  copy("client.key", "client.key");
  CHECK(ask().body == "hello");
  CHECK(ask().body == "hello");
  CHECK(server.requests().back().connection == server.requests().front().connection);
  // A certificate that cannot be used changes nothing; one that can ends the connection made with the previous one.
  std::ofstream(dir.path("client.pem")).close();
  CHECK(ask().body == "hello");
  CHECK(server.requests().back().connection == server.requests().front().connection);
  copy("other.pem", "client.pem");
  copy("other.key", "client.key");
  CHECK(ask().status == 0);
  io.Run([&] { client->reset(); });
}

TEST_CASE("a connection that is busy while the certificates change ends with its answer") {
  const bool pipeline = GENERATE(false, true);
  const auto& c = Certs();
  TempDir dir;
  FakeServer::Tls tls{c.dir.path("server.pem"), c.dir.path("server.key"), c.dir.path("ca.pem")};
  Mailbox<bool> go_on;
  FakeServer server(
      [&](const FakeRequest& r, FakeServer::Turn& t) {
        if (r.target == "/slow") go_on.WaitFor(1);
        t.Respond(200, "hello");
      },
      &tls);
  IoThread io;
  HttpOptions o;
  o.host = "127.0.0.1";
  o.port = static_cast<uint16_t>(server.port());
  o.tls = Trust();
  o.tls->cert_pem = c.Read("client.pem");
  o.tls->key_pem = c.Read("client.key");
  o.tls->cert_file = dir.Write("client.pem", o.tls->cert_pem);
  o.tls->file_age = absl::ZeroDuration();
  auto client = NewHttpClient(io.executor(), o);
  REQUIRE(client.ok());
  Request r;
  r.pipeline = pipeline;
  r.target = "/slow";
  Mailbox<Reply> slow;
  io.Run([&] { (*client)->Do(r, [&](Reply reply) { slow.Put(std::move(reply)); }); });
  REQUIRE(server.WaitForRequests(1));
  dir.Write("client.pem", o.tls->cert_pem + "\n");
  r.target = "/";
  CHECK(DoBlocking(io.executor(), client->get(), r).body == "hello");
  CHECK(server.requests().back().connection == 2);
  go_on.Put(true);
  REQUIRE(slow.WaitFor(1));
  CHECK(slow.values()[0].body == "hello");
  CHECK(DoBlocking(io.executor(), client->get(), r).body == "hello");
  CHECK(server.requests().back().connection == 2);
  io.Run([&] { client->reset(); });
}

TEST_CASE("a plain server on a TLS port is an error, and so is a connection cut in the middle") {
  FakeServer plain([](const FakeRequest&, FakeServer::Turn& t) { t.Close(); });
  IoThread io;
  HttpOptions o;
  o.host = "127.0.0.1";
  o.port = static_cast<uint16_t>(plain.port());
  o.tls = Trust();
  o.tls_timeout = absl::Milliseconds(50);
  auto client = NewHttpClient(io.executor(), o);
  REQUIRE(client.ok());
  // The server waits for the end of a request that never comes.
  CHECK(
      DoBlocking(io.executor(), client->get(), Request{Method::kGet, "/", "", "", {}, false, false, true, {}}).error ==
      "net/http: TLS handshake timeout");
  io.Run([&] { client->reset(); });

  TlsFixture f("server");
  o.port = static_cast<uint16_t>(f.server->port());
  o.tls_timeout = absl::Seconds(60);
  client = NewHttpClient(io.executor(), o);
  CHECK(DoBlocking(io.executor(), client->get(), Request{Method::kGet, "/stream", "", "", {}, false, false, true, {}})
            .error == "unexpected EOF");
  io.Run([&] { client->reset(); });
}

TEST_CASE("TLS settings that cannot work are refused with the reason") {
  auto error = [](TlsOptions t) { return util::Message(NewTlsContext(t).status()); };
  TlsOptions t;
  t.ca_pem = "nonsense";
  CHECK_THAT(error(t), Catch::StartsWith("unable to load root certificates (certificate-authority): "));
  t = Trust();
  t.cert_pem = Certs().Read("client.pem");
  CHECK(error(t) == "a client certificate needs a client key");
  t.key_pem = Certs().Read("server.key");
  CHECK_THAT(error(t), Catch::Contains("client key"));
  t.key_pem = "nonsense";
  CHECK_THAT(error(t), Catch::StartsWith("unable to load client key (client-key): "));
  t.cert_pem = "nonsense";
  CHECK_THAT(error(t), Catch::StartsWith("unable to load client certificate (client-certificate): "));
  t = Trust();
  t.insecure_skip_verify = true;
  CHECK(error(t) == "specifying a root certificates file with the insecure flag is not allowed");
}

}  // namespace berth::http
