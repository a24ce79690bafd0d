#include "pkg/scheduler/extender/http_extender.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "pkg/api/decode.h"
#include "pkg/http/url.h"
#include "pkg/util/status.h"

namespace berth::scheduler {
namespace {

using util::Symbol;

// ---- fixtures -----------------------------------------------------------------------------------

api::NodePtr MakeNode(const std::string& name) {
  api::Document d;
  REQUIRE(d.Parse(R"({"kind":"Node","apiVersion":"v1","metadata":{"name":")" + name + R"("},"status":{}})").ok());
  api::DecodeOptions keep;
  keep.keep_node_raw = true;
  return api::DecodeNode(d.root(), keep).value();
}

api::PodPtr PodRequesting(const std::string& resources = "{}") {
  api::Document d;
  REQUIRE(d.Parse(R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"ns","uid":"u-1"},)"
                  R"("spec":{"containers":[{"name":"c","resources":)" +
                  resources + R"(}],"extra":1}})")
              .ok());
  api::DecodeOptions keep;
  keep.keep_raw = true;
  return api::DecodePod(d.root(), keep).value();
}

std::vector<std::string> Names(const std::vector<Symbol>& symbols) {
  std::vector<std::string> out;
  for (Symbol s : symbols) out.push_back(s.string());
  return out;
}

using Strings = std::vector<std::string>;

// A transport that returns prepared answers and records the requests.
struct Script {
  absl::StatusOr<ExtenderTransport::Answer> answer = ExtenderTransport::Answer{200, "{}"};
  std::string url, body;
  bool repeatable = false;
  int calls = 0;
};
class ScriptedTransport final : public ExtenderTransport {
 public:
  explicit ScriptedTransport(Script* script) : script_(script) {}
  absl::StatusOr<Answer> Post(const std::string& url, std::string_view body, bool repeatable) override {
    ++script_->calls;
    script_->url = url;
    script_->body = body;
    script_->repeatable = repeatable;
    return script_->answer;
  }

 private:
  Script* script_;
};

struct Scripted {
  Script script;
  ExtenderConfig config;
  std::vector<api::NodePtr> nodes = {MakeNode("n1"), MakeNode("n2"), MakeNode("n3")};
  Scripted() {
    config.url_prefix = "http://x.example/api//";
    config.filter_verb = "filter";
    config.prioritize_verb = "prioritize";
    config.bind_verb = "bind";
    config.weight = 3;
    config.node_cache_capable = true;
  }
  std::unique_ptr<Extender> Make() { return NewHttpExtender(config, std::make_unique<ScriptedTransport>(&script)); }
  void Answer(std::string body, int status = 200) {
    script.answer = ExtenderTransport::Answer{status, std::move(body)};
  }
  absl::StatusOr<Extender::FilterResult> Filter() { return Make()->Filter(*PodRequesting(), nodes); }
};

constexpr char kPodOnWire[] =
    R"({"metadata":{"name":"p","namespace":"ns","uid":"u-1"},"spec":{"containers":[{"name":"c","resources":{}}],"extra":1}})";

}  // namespace

// ---- requests -----------------------------------------------------------------------------------

TEST_CASE("an extender that knows the nodes is sent names") {
  Scripted s;
  s.Answer(R"({"NodeNames":["n1"]})");
  REQUIRE(s.Filter().ok());
  CHECK(s.script.url == "http://x.example/api/filter");
  CHECK(s.script.body == absl::StrCat(R"({"Pod":)", kPodOnWire, R"(,"Nodes":null,"NodeNames":["n1","n2","n3"]})"));
  CHECK(s.script.repeatable);
}

TEST_CASE("an extender that does not know the nodes is sent whole ones, without kind and apiVersion") {
  Scripted s;
  s.config.node_cache_capable = false;
  s.nodes.pop_back();
  s.Answer(R"({"Nodes":{"items":[{"metadata":{"name":"n2"}}]}})");
  auto extender = s.Make();
  for (int round = 0; round < 2; ++round) {
    auto result = extender->Filter(*PodRequesting(), s.nodes);
    REQUIRE(result.ok());
    CHECK(Names(result->nodes) == Strings{"n2"});
    CHECK(s.script.body == absl::StrCat(R"({"Pod":)", kPodOnWire,
                                        R"(,"Nodes":{"metadata":{},"items":[{"metadata":{"name":"n1"},"status":{}},)",
                                        R"({"metadata":{"name":"n2"},"status":{}}]},"NodeNames":null})"));
  }
}

TEST_CASE("a node that changed is sent as it is now") {
  Scripted s;
  s.config.node_cache_capable = false;
  auto extender = s.Make();
  REQUIRE(extender->Filter(*PodRequesting(), {s.nodes[0]}).ok());
  api::Document d;
  REQUIRE(d.Parse(R"({"metadata":{"name":"n1","labels":{"new":"yes"}}})").ok());
  api::DecodeOptions keep;
  keep.keep_node_raw = true;
  REQUIRE(extender->Filter(*PodRequesting(), {api::DecodeNode(d.root(), keep).value()}).ok());
  CHECK(s.script.body.find(R"("items":[{"metadata":{"name":"n1","labels":{"new":"yes"}}}])") != std::string::npos);
}

TEST_CASE("an extender is asked about a pod or node only with its whole JSON") {
  Scripted s;
  s.config.node_cache_capable = false;
  api::Document d;
  REQUIRE(d.Parse(R"({"metadata":{"name":"bare","namespace":"ns"}})").ok());
  api::PodPtr pod = api::DecodePod(d.root()).value();
  CHECK(util::Message(s.Make()->Filter(*pod, s.nodes).status()) ==
        "extender at URL http://x.example/api//: the JSON of pod ns/bare was not kept");
  api::NodePtr node = api::DecodeNode(d.root()).value();
  CHECK(util::Message(s.Make()->Filter(*PodRequesting(), {node}).status()) ==
        "extender at URL http://x.example/api// wants whole nodes (nodeCacheCapable is false), and the JSON of node "
        "bare "
        "was not kept");
  CHECK(s.script.calls == 0);
}

TEST_CASE("a bind is sent with capitalised names, and never twice") {
  Scripted s;
  REQUIRE(s.Make()->Bind(*PodRequesting(), "n2").ok());
  CHECK(s.script.url == "http://x.example/api/bind");
  CHECK(s.script.body == R"({"PodName":"p","PodNamespace":"ns","PodUID":"u-1","Node":"n2"})");
  CHECK_FALSE(s.script.repeatable);
  s.Answer(R"({"Error":"node is gone"})");
  CHECK(util::Message(s.Make()->Bind(*PodRequesting(), "n2")) == "node is gone");
  s.config.bind_verb = "";
  CHECK_FALSE(s.Make()->IsBinder());
  CHECK(util::Message(s.Make()->Bind(*PodRequesting(), "n2")) == "Unexpected empty bindVerb in extender");
}

// ---- answers ------------------------------------------------------------------------------------

TEST_CASE("members of an answer are read in any letter case") {
  Scripted s;
  for (const char* answer : {R"({"NodeNames":["n1","n3"],"FailedNodes":{"n2":"no"},"Error":""})",
                             R"({"nodenames":["n1","n3"],"failedNodes":{"n2":"no"},"error":""})",
                             R"({"NODENAMES":["n1","n3"],"failednodes":{"n2":"no"},"Nodes":null})"}) {
    s.Answer(answer);
    auto result = s.Filter();
    REQUIRE(result.ok());
    CHECK(Names(result->nodes) == Strings{"n1", "n3"});
    REQUIRE(result->failed.size() == 1);
    CHECK(result->failed[0].first.str() == "n2");
    CHECK(result->failed[0].second == "no");
  }
}

TEST_CASE("release 1.29: an unknown name is an error, and nodes may be refused for good") {
  Scripted s;
  s.config.strict_answers = s.config.refuses_unknown_nodes = true;
  s.Answer(R"({"NodeNames":["n1","n7"]})");
  CHECK(util::Message(s.Filter().status()) ==
        "extender \"http://x.example/api//\" claims a filtered node \"n7\" which is not found in the input node list");
  s.Answer(
      R"({"NodeNames":["n1"],"FailedNodes":{"n2":"busy","n3":"busy"},"FailedAndUnresolvableNodes":{"n3":"never"}})");
  auto result = s.Filter();
  REQUIRE(result.ok());
  CHECK(Names(result->nodes) == Strings{"n1"});
  REQUIRE(result->failed.size() == 1);
  CHECK(result->failed[0] == std::pair(Symbol("n2"), std::string("busy")));
  REQUIRE(result->unresolvable.size() == 1);
  CHECK(result->unresolvable[0] == std::pair(Symbol("n3"), std::string("never")));
  s.Answer("", 503);
  CHECK(util::Message(s.Filter().status()) == "failed filter with extender at URL http://x.example/api//, code 503");
  s.config.names_verb = true;
  CHECK(util::Message(s.Filter().status()) ==
        "failed filter with extender at URL http://x.example/api/filter, code 503");
}

TEST_CASE("release 1.29: what an extender is asked about preemption, and what it agrees to") {
  Scripted s;
  CHECK_FALSE(s.Make()->SupportsPreemption());
  s.config.preempt_verb = "preempt";
  s.config.strict_answers = true;
  const auto extender = s.Make();
  REQUIRE(extender->SupportsPreemption());
  const std::vector<Extender::Eviction> evictions = {{Symbol("n1"), {PodRequesting()}, 2},
                                                     {Symbol("n2"), {PodRequesting()}, 0}};
  s.Answer(R"({"NodeNameToMetaVictims":{"n2":{"Pods":[{"UID":"u-1"},{"UID":"u-9"}],"NumPDBViolations":1}}})");
  auto agreed = extender->ProcessPreemption(*PodRequesting(), evictions);
  REQUIRE(agreed.ok());
  CHECK(s.script.url == "http://x.example/api/preempt");
  CHECK(s.script.body == absl::StrCat(R"({"Pod":)", kPodOnWire, R"(,"NodeNameToVictims":null,"NodeNameToMetaVictims":)",
                                      R"({"n1":{"Pods":[{"UID":"u-1"}],"NumPDBViolations":2},)",
                                      R"("n2":{"Pods":[{"UID":"u-1"}],"NumPDBViolations":0}}})"));
  REQUIRE(agreed->size() == 1);
  CHECK((*agreed)[0].node == Symbol("n2"));
  CHECK((*agreed)[0].uids == Strings{"u-1", "u-9"});
  CHECK((*agreed)[0].violations == 1);

  for (const char* nothing : {"{}", "null", R"({"NodeNameToMetaVictims":null})"}) {
    s.Answer(nothing);
    agreed = extender->ProcessPreemption(*PodRequesting(), evictions);
    REQUIRE(agreed.ok());
    CHECK(agreed->empty());
  }
  for (const char* odd : {R"({"NodeNameToMetaVictims":[]})", R"({"NodeNameToMetaVictims":{"n1":{"Pods":[{}]}}})", "[1]",
                          R"({"NodeNameToMetaVictims":{"n1":{"NumPDBViolations":"many"}}})"}) {
    s.Answer(odd);
    agreed = extender->ProcessPreemption(*PodRequesting(), evictions);
    REQUIRE_FALSE(agreed.ok());
    CHECK(util::Message(agreed.status()).find("the answer to preempt") != std::string::npos);
  }

  // An extender that does not know the nodes gets what the cache keeps of the victims.
  s.config.node_cache_capable = false;
  s.Answer("{}");
  REQUIRE(s.Make()->ProcessPreemption(*PodRequesting(), {evictions[0]}).ok());
  CHECK(s.script.body ==
        absl::StrCat(R"({"Pod":)", kPodOnWire,
                     R"(,"NodeNameToVictims":{"n1":{"Pods":[{"metadata":{"name":"p","namespace":"ns","uid":"u-1",)",
                     R"("labels":{}},"spec":{"nodeName":"","priority":0}}],"NumPDBViolations":2}},)",
                     R"("NodeNameToMetaVictims":null})"));
}

TEST_CASE("which nodes pass; B-29 fixed: those that were not in the request do not") {
  Scripted s;
  struct Case {
    const char* what;
    bool knows_nodes;
    const char* answer;
    Strings pass;
  };
  const Case rows[] = {
      {"names to one that knows nodes", true, R"({"NodeNames":["n3","n1"]})", {"n3", "n1"}},
      {"whole nodes from one that knows nodes", true, R"({"Nodes":{"items":[{"metadata":{"name":"n2"}}]}})", {"n2"}},
      {"names win", true, R"({"NodeNames":["n1"],"Nodes":{"items":[{"metadata":{"name":"n2"}}]}})", {"n1"}},
      {"no names at all", true, R"({"NodeNames":[]})", {}},
      {"names from one that does not know nodes", false, R"({"NodeNames":["n1"]})", {}},
      {"null", true, "null", {}},
      {"an empty object", true, "{}", {}},
      {"names nobody has", true, R"({"NodeNames":["ghost","n1",""]})", {"n1"}},
      {"names twice", true, R"({"NodeNames":["n1","n1"]})", {"n1"}},
      {"behind the first value nothing counts", true, R"({"NodeNames":["n1"]} {"NodeNames":["n2"]})", {"n1"}},
  };
  for (const Case& row : rows) {
    INFO(row.what);
    s.config.node_cache_capable = row.knows_nodes;
    s.Answer(row.answer);
    auto result = s.Filter();
    REQUIRE(result.ok());
    CHECK(Names(result->nodes) == row.pass);
  }
}

TEST_CASE("without a verb nothing is asked") {
  Scripted s;
  s.config.filter_verb = s.config.prioritize_verb = "";
  auto result = s.Filter();
  REQUIRE(result.ok());
  CHECK(Names(result->nodes) == Strings{"n1", "n2", "n3"});
  CHECK(s.Make()->Prioritize(*PodRequesting(), s.nodes).value().empty());
  CHECK(s.script.calls == 0);
}

TEST_CASE("B-30 fixed: errors of an extender keep their text, which is no format string") {
  Scripted s;
  s.Answer(R"({"NodeNames":["n1"],"Error":"100%d sure: %s"})");
  CHECK(util::Message(s.Filter().status()) == "100%d sure: %s");
  s.Answer("{}", 503);
  CHECK(util::Message(s.Filter().status()) == "Failed filter with extender at URL http://x.example/api//, code 503");
  s.Answer("{}", 204);
  CHECK(util::Message(s.Make()->Bind(*PodRequesting(), "n1")) ==
        "Failed bind with extender at URL http://x.example/api//, code 204");
  s.script.answer = util::Unavailable("Post http://x.example/api/filter: no route");
  CHECK(util::Message(s.Filter().status()) == "Post http://x.example/api/filter: no route");
}

TEST_CASE("an answer of the wrong shape is an error that says so") {
  Scripted s;
  struct Case {
    const char* answer;
    const char* error;
  };
  const Case rows[] = {
      {"[]", "the answer to filter: expected an object, got []"},
      {R"({"NodeNames":"n1"})", R"(the answer to filter: NodeNames: expected a list of names, got "n1")"},
      {R"({"NodeNames":[1]})", "the answer to filter: NodeNames: expected a list of names, got [1]"},
      {R"({"Nodes":[]})", "the answer to filter: Nodes: expected a NodeList, got []"},
      {R"({"Nodes":{"items":{}}})", "the answer to filter: Nodes.items: expected a list of nodes, got {}"},
      {R"({"Nodes":{"items":[{}]}})", "the answer to filter: Nodes.items: expected nodes with metadata.name, got {}"},
      {R"({"FailedNodes":["n1"]})",
       R"(the answer to filter: FailedNodes: expected an object of reasons by node name, got ["n1"])"},
      {R"({"Error":5})", "the answer to filter: Error: expected a text, got 5"},
      {"", "the answer to filter is not JSON: it is empty"},
  };
  for (const Case& row : rows) {
    INFO(row.answer);
    s.Answer(row.answer);
    CHECK(util::Message(s.Filter().status()) == absl::StrCat("extender at URL http://x.example/api//: ", row.error));
  }
  s.Answer("{\"NodeNames\":[");
  CHECK(util::Message(s.Filter().status()).find("the answer to filter is not JSON: line 1, column") !=
        std::string::npos);
}

TEST_CASE("scores are weighted, added up where a host comes twice, and never wrap") {
  Scripted s;
  s.Answer(R"([{"Host":"n1","Score":4},{"host":"n2","score":-1},{"HOST":"n1","SCORE":1},{"host":"n3"},null])");
  auto scores = s.Make()->Prioritize(*PodRequesting(), s.nodes);
  REQUIRE(scores.ok());
  CHECK(scores->at(Symbol("n1")) == 15);
  CHECK(scores->at(Symbol("n2")) == -3);
  CHECK(scores->at(Symbol("n3")) == 0);
  s.Answer(R"([{"Host":"n1","Score":9223372036854775807},{"Host":"n1","Score":9223372036854775807}])");
  CHECK(s.Make()->Prioritize(*PodRequesting(), s.nodes)->at(Symbol("n1")) == std::numeric_limits<int64_t>::max());
  for (const char* bad :
       {R"([{"Host":"n1","Score":1.5}])", R"([{"Host":"n1","Score":"1"}])", R"([{"Host":1}])", "[5]", "{}"}) {
    INFO(bad);
    s.Answer(bad);
    CHECK_FALSE(s.Make()->Prioritize(*PodRequesting(), s.nodes).ok());
  }
}

TEST_CASE("interest goes by managed resources, in requests or limits, of any container") {
  Scripted s;
  CHECK(s.Make()->IsInterested(*PodRequesting()));
  s.config.managed_resources = {{"example.com/fpga", true}, {"example.com/nic", false}};
  auto extender = s.Make();
  CHECK_FALSE(extender->IsInterested(*PodRequesting()));
  CHECK_FALSE(extender->IsInterested(*PodRequesting(R"({"requests":{"cpu":"1","example.com/other":"1"}})")));
  CHECK(extender->IsInterested(*PodRequesting(R"({"requests":{"cpu":"1","example.com/nic":"0"}})")));
  CHECK(extender->IsInterested(*PodRequesting(R"({"limits":{"example.com/fpga":"2"}})")));
  api::Document d;
  REQUIRE(
      d.Parse(
           R"({"metadata":{"name":"p"},"spec":{"initContainers":[{"resources":{"limits":{"example.com/nic":"1"}}}]}})")
          .ok());
  CHECK(extender->IsInterested(*api::DecodePod(d.root()).value()));
}

// ---- against a real server ----------------------------------------------------------------------

namespace {

// Runs test/testdata/extender_server.py in its own process.
class Server {
 public:
  explicit Server(const std::vector<std::string>& args = {}) {
    int in[2], out[2];
    REQUIRE(pipe2(in, O_CLOEXEC) == 0);
    REQUIRE(pipe2(out, O_CLOEXEC) == 0);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(in[0], 0);
      dup2(out[1], 1);
      std::vector<const char*> argv = {"python3", "test/testdata/extender_server.py"};
      for (const std::string& a : args) argv.push_back(a.c_str());
      argv.push_back(nullptr);
      execvp("python3", const_cast<char* const*>(argv.data()));
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    stdin_ = in[1];
    std::FILE* lines = fdopen(out[0], "r");
    int port = 0;
    REQUIRE(std::fscanf(lines, "%d", &port) == 1);
    std::fclose(lines);
    address_ = absl::StrCat("127.0.0.1:", port);
  }
  ~Server() { Stop(); }
  void Stop() {
    if (pid_ <= 0) return;
    close(stdin_);
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  const std::string& address() const { return address_; }

 private:
  pid_t pid_ = 0;
  int stdin_ = -1;
  std::string address_;
};

ExtenderConfig ConfigFor(const std::string& url) {
  ExtenderConfig c;
  c.url_prefix = url;
  c.filter_verb = "filter";
  c.prioritize_verb = "prioritize";
  c.bind_verb = "bind";
  c.weight = 2;
  c.node_cache_capable = true;
  c.http_timeout_nanos = 60'000'000'000;
  return c;
}

std::vector<api::NodePtr> FourNodes() {
  return {MakeNode("n1"), MakeNode("n2"), MakeNode("n3"), MakeNode("n4")};
}

std::string FilterError(const ExtenderConfig& config) {
  auto extender = NewHttpExtender(config);
  if (!extender.ok()) return util::Message(extender.status());
  return util::Message((*extender)->Filter(*PodRequesting(), FourNodes()).status());
}

}  // namespace

TEST_CASE("a real extender filters, scores and binds") {
  Server server;
  for (bool knows_nodes : {true, false}) {
    ExtenderConfig config = ConfigFor("http://" + server.address() + "/even/");
    config.node_cache_capable = knows_nodes;
    auto extender = NewHttpExtender(config).value();
    auto result = extender->Filter(*PodRequesting(), FourNodes());
    REQUIRE(result.ok());
    CHECK(Names(result->nodes) == Strings{"n1", "n3"});
    REQUIRE(result->failed.size() == 2);
    CHECK(result->failed[1].second == "odd one out");
    auto scores = extender->Prioritize(*PodRequesting(), FourNodes());
    REQUIRE(scores.ok());
    CHECK(scores->at(Symbol("n4")) == 6);
    CHECK(extender->Bind(*PodRequesting(), "n1").ok());
  }
}

TEST_CASE("a real extender that lies about nodes is believed only about those it was asked for") {
  Server server;
  auto extender = NewHttpExtender(ConfigFor("http://" + server.address() + "/lie")).value();
  auto result = extender->Filter(*PodRequesting(), FourNodes());
  REQUIRE(result.ok());
  CHECK(Names(result->nodes) == Strings{"n1", "n2", "n3", "n4"});
}

TEST_CASE("what goes over the wire") {
  Server server;
  CHECK(FilterError(ConfigFor("http://" + server.address() + "/echo")) ==
        absl::StrCat("/echo/filter application/json {\"Pod\":", kPodOnWire,
                     R"(,"Nodes":null,"NodeNames":["n1","n2","n3","n4"]})"));
}

TEST_CASE("a real extender that refuses, breaks off, or answers nonsense") {
  Server server;
  std::string base = "http://" + server.address();
  CHECK(FilterError(ConfigFor(base + "/refuse")) ==
        absl::StrCat("Failed filter with extender at URL ", base, "/refuse, code 500"));
  CHECK(FilterError(ConfigFor(base + "/drop")) == absl::StrCat("Post ", base, "/drop/filter: EOF"));
  CHECK(FilterError(ConfigFor(base + "/garbage")).find("the answer to filter is not JSON: line 1") !=
        std::string::npos);
  CHECK_THAT(FilterError(ConfigFor(base + "/huge")), Catch::Contains("the answer is larger than "));
  server.Stop();
  CHECK(FilterError(ConfigFor(base + "/pass")) ==
        absl::StrCat("Post ", base, "/pass/filter: dial tcp ", server.address(), ": connect: connection refused"));
}

TEST_CASE("a real extender that hangs is left at the timeout") {
  Server server;
  ExtenderConfig config = ConfigFor("http://" + server.address() + "/hang");
  config.http_timeout_nanos = 150'000'000;
  auto begin = absl::Now();
  CHECK(FilterError(config) == absl::StrCat("Post ", config.url_prefix, "/filter: no answer within 150ms"));
  CHECK(absl::Now() - begin < absl::Seconds(30));
}

TEST_CASE("connections are reused, and one that the server closed is replaced") {
  Server server;
  auto extender = NewHttpExtender(ConfigFor("http://" + server.address() + "/count")).value();
  for (int i = 0; i < 3; ++i) {
    CHECK(util::Message(extender->Filter(*PodRequesting(), FourNodes()).status()) == "1");
  }
  auto closing = NewHttpExtender(ConfigFor("http://" + server.address() + "/once")).value();
  for (int i = 0; i < 20; ++i) REQUIRE(closing->Filter(*PodRequesting(), FourNodes()).ok());
}

TEST_CASE("host names are looked up") {
  Server server;
  std::string port = server.address().substr(server.address().find(':'));
  // The C library resolves this short form of 127.0.0.1 on every machine, while localhost needs an entry in /etc/hosts.
  auto extender = NewHttpExtender(ConfigFor("http://127.1" + port + "/pass")).value();
  CHECK(extender->Filter(*PodRequesting(), FourNodes()).ok());
  CHECK(FilterError(ConfigFor("http://no-such-host.invalid/pass")).find("lookup no-such-host.invalid: ") !=
        std::string::npos);
}

TEST_CASE("a URL that is none is refused when the extender is made") {
  CHECK(FilterError(ConfigFor("x.example/api")) ==
        "extender: urlPrefix \"x.example/api\" is not a URL: it should begin with http:// or https://");
  CHECK(FilterError(ConfigFor("http://")) == "extender: urlPrefix \"http://\" is not a URL: it has no host");
  CHECK(FilterError(ConfigFor("http://x:99999")) ==
        "extender: urlPrefix \"http://x:99999\" is not a URL: the port should be a number from 1 to 65535");
  CHECK(http::ParseUrl("https://[::1]:8443/a?b=c#d")->target == "/a?b=c");
  CHECK(http::ParseUrl("https://[::1]:8443/a?b=c#d")->host == "::1");
  CHECK(http::ParseUrl("HTTPS://user:pw@x.example")->port == 443);
}

TEST_CASE("a user and password in the URL are sent, and the password is shown nowhere") {
  Server server;
  const std::string url = "http://me:s%2Fcret@" + server.address();
  const auto authorization = FilterError(ConfigFor(url + "/authorization"));
  CHECK(authorization == "Basic bWU6cy9jcmV0");
  auto extender = NewHttpExtender(ConfigFor(url + "/refuse")).value();
  CHECK(extender->name() == "http://me:***@" + server.address() + "/refuse");
  CHECK(FilterError(ConfigFor(url + "/refuse")) ==
        absl::StrCat("Failed filter with extender at URL http://me:***@", server.address(), "/refuse, code 500"));
  server.Stop();
  CHECK(FilterError(ConfigFor(url + "/pass")) == absl::StrCat("Post http://me:***@", server.address(),
                                                              "/pass/filter: dial tcp ", server.address(),
                                                              ": connect: connection refused"));
  CHECK(FilterError(ConfigFor("http://me:secret@x:99999")) ==
        "extender: urlPrefix \"http://me:***@x:99999\" is not a URL: the port should be a number from 1 to 65535");
}

// ---- TLS ----------------------------------------------------------------------------------------

namespace {

// A certificate authority with a server certificate for localhost and 127.0.0.1 and a client certificate.
struct Certificates {
  std::filesystem::path dir;
  Certificates() {
    char pattern[] = "/tmp/extender-test-XXXXXX";
    dir = mkdtemp(pattern);
    std::ofstream(dir / "names") << "subjectAltName=DNS:localhost,DNS:extender.test,IP:127.0.0.1\n";
    std::string script = "cd " + dir.string() + R"( && exec >/dev/null 2>&1 && set -e
      openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=test-ca -keyout ca.key -out ca.crt
      for who in server client other; do
        openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=$who -keyout $who.key -out $who.csr
        openssl x509 -req -in $who.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile names -out $who.crt
      done)";
    REQUIRE(std::system(script.c_str()) == 0);
  }
  ~Certificates() { std::filesystem::remove_all(dir); }
  std::string Path(const char* name) const { return dir / name; }
  std::string Text(const char* name) const {
    std::ifstream in(dir / name);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
  }
};

}  // namespace

TEST_CASE("an extender that speaks TLS") {
  Certificates certs;
  Server server({certs.Path("server.crt"), certs.Path("server.key")});
  ExtenderConfig config = ConfigFor("https://" + server.address() + "/pass");
  auto works = [&] { return FilterError(config).empty(); };

  SECTION("is not trusted without its authority") {
    CHECK(FilterError(config).find("x509: certificate signed by unknown authority") != std::string::npos);
  }
  SECTION("is trusted by an authority in a file") {
    config.tls = ExtenderTls{};
    config.tls->ca_file = certs.Path("ca.crt");
    CHECK(works());
    config.enable_https = true;
    CHECK(works());
  }
  SECTION("is trusted by an authority given as data, which wins over a file") {
    config.tls = ExtenderTls{};
    config.tls->ca_data = certs.Text("ca.crt");
    config.tls->ca_file = "/nonexistent";
    CHECK(works());
  }
  SECTION("is trusted blindly with enableHttps and no authority, or with Insecure") {
    config.enable_https = true;
    CHECK(works());
    config.enable_https = false;
    config.tls = ExtenderTls{};
    config.tls->insecure = true;
    CHECK(works());
  }
  SECTION("must have the name that is asked for") {
    config.tls = ExtenderTls{};
    config.tls->ca_file = certs.Path("ca.crt");
    config.tls->server_name = "extender.test";
    CHECK(works());
    config.tls->server_name = "somebody.else";
    CHECK(FilterError(config).find("x509: hostname mismatch") != std::string::npos);
  }
  SECTION("is not met half way: plain HTTP to a TLS port fails") {
    config.url_prefix = "http://" + server.address() + "/pass";
    CHECK_FALSE(works());
  }
  SECTION("bad settings are refused at start") {
    config.tls = ExtenderTls{};
    config.tls->ca_file = "/nonexistent";
    CHECK(FilterError(config) == "open /nonexistent: no such file or directory");
    config.tls->ca_file = certs.Path("ca.crt");
    config.tls->insecure = true;
    CHECK(FilterError(config) == "specifying a root certificates file with the insecure flag is not allowed");
    config.tls->insecure = false;
    config.tls->ca_file = certs.Path("names");
    CHECK(FilterError(config) ==
          "unable to load root certificates (certificate-authority): no start line (PEM routines)");
    config.tls->ca_file = "";
    config.tls->cert_file = certs.Path("client.crt");
    CHECK(FilterError(config) == "a client certificate needs a client key");
    config.tls->key_file = certs.Path("other.key");
    CHECK_FALSE(works());
  }
}

TEST_CASE("an extender that wants a client certificate") {
  Certificates certs;
  Server server({certs.Path("server.crt"), certs.Path("server.key"), certs.Path("ca.crt")});
  ExtenderConfig config = ConfigFor("https://" + server.address() + "/pass");
  config.tls = ExtenderTls{};
  config.tls->ca_file = certs.Path("ca.crt");
  CHECK_FALSE(FilterError(config).empty());
  config.tls->cert_file = certs.Path("client.crt");
  config.tls->key_data = certs.Text("client.key");
  CHECK(FilterError(config).empty());
}

// ---- proxies ------------------------------------------------------------------------------------

namespace {

struct WithEnvironment {
  std::string name;
  WithEnvironment(const char* n, const std::string& value) : name(n) { setenv(n, value.c_str(), 1); }
  ~WithEnvironment() { unsetenv(name.c_str()); }
};

}  // namespace

TEST_CASE("proxies of the environment are used, but not for what no_proxy names, nor for this machine") {
  Server proxy;
  WithEnvironment http("http_proxy", proxy.address());  // like curl and Go, a proxy without a scheme is accepted
  ExtenderConfig config = ConfigFor("http://extender.invalid:8080/echo");
  CHECK(FilterError(config).rfind("http://extender.invalid:8080/echo/filter application/json", 0) == 0);
  {
    WithEnvironment none("no_proxy", "example.com, .invalid");
    CHECK(FilterError(config).find("lookup extender.invalid: ") != std::string::npos);
  }
  {
    // Extenders are often reached at an address of the cluster's service network, which proxies cannot reach.
    WithEnvironment network("no_proxy", "192.0.2.0/24");
    ExtenderConfig inside = ConfigFor("http://192.0.2.7:9/echo");
    inside.http_timeout_nanos = 100'000'000;
    CHECK(FilterError(inside).rfind("Post http://192.0.2.7:9/echo/filter: ", 0) == 0);
    CHECK(FilterError(ConfigFor("http://198.51.100.7:9/echo")).rfind("http://198.51.100.7:9/echo/filter", 0) == 0);
  }
  {
    WithEnvironment all("no_proxy", "*");
    CHECK(FilterError(config).find("lookup extender.invalid: ") != std::string::npos);
  }
  Server direct;
  CHECK(FilterError(ConfigFor("http://" + direct.address() + "/echo")).rfind("/echo/filter", 0) == 0);
  proxy.Stop();
  CHECK(FilterError(config).find("dial tcp " + proxy.address() + ": connect: connection refused") != std::string::npos);
}

TEST_CASE("TLS goes through a proxy's tunnel, and is still checked") {
  Certificates certs;
  Server server({certs.Path("server.crt"), certs.Path("server.key")});
  Server proxy;
  WithEnvironment https("https_proxy", "http://" + proxy.address());
  std::string port = server.address().substr(server.address().find(':'));
  ExtenderConfig config = ConfigFor("https://extender.test" + port + "/pass");
  config.tls = ExtenderTls{};
  config.tls->ca_file = certs.Path("ca.crt");
  CHECK(FilterError(config).empty());
  config.tls->server_name = "somebody.else";
  CHECK(FilterError(config).find("x509: hostname mismatch") != std::string::npos);
}

}  // namespace berth::scheduler
