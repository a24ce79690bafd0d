#include "pkg/apiserver/rest.h"

#include <catch2/catch.hpp>

#include "pkg/apiserver/auth.h"
#include "pkg/apiserver/rest_route.h"
#include "pkg/apiserver/table.h"
#include "pkg/util/status.h"

namespace berth::apiserver {
namespace {

struct Front {
  util::ManualClock clock;
  Store store{Version{10}};
  Registry registry{&store, &clock};
  Api api{&registry, &clock};

  HttpResponse Call(std::string method, std::string target, std::string_view body = "", std::string type = "",
                    std::string accept = "") {
    HttpRequest r;
    r.method = std::move(method);
    size_t q = target.find('?');
    r.path = target.substr(0, q);
    if (q != std::string::npos) r.query = target.substr(q + 1);
    r.body = body;
    r.content_type = std::move(type);
    r.accept = std::move(accept);
    return api.Handle(r);
  }
  void Nodes(int n) {
    for (int i = 0; i < n; ++i) {
      std::string json = R"({"metadata":{"name":"n)" + std::to_string(i) + R"("}})";
      REQUIRE(Call("POST", "/api/v1/nodes", json).status == 201);
    }
  }
};

std::string Names(const HttpResponse& r) {
  auto v = ParseJson(r.body);
  if (!v.ok() || v->Find("items") == nullptr) return r.body;
  std::string out;
  for (const Value& e : v->Find("items")->items) out += std::string(e.Find("metadata")->Str("name")) + " ";
  return out;
}

TEST_CASE("YAML answers have sorted keys, and quotes where a reader would take a text for something else") {
  Front f;
  const char* body = R"({"metadata":{"name":"c"},"data":{"d":"true","c":"123","b":"a: b","a":"plain"}})";
  const HttpResponse r = f.Call("POST", "/api/v1/namespaces/default/configmaps", body, "", "application/yaml");
  CHECK(r.content_type == "application/yaml");
  INFO(r.body);
  CHECK(r.body.starts_with(
      "apiVersion: v1\ndata:\n  a: plain\n  b: \"a: b\"\n  c: \"123\"\n  d: \"true\"\nkind: ConfigMap\nmetadata:\n"));
}

TEST_CASE("pages are of one version, whatever happens between them") {
  Front f;
  f.Nodes(5);
  HttpResponse first = f.Call("GET", "/api/v1/nodes?limit=2");
  CHECK(Names(first) == "n0 n1 ");
  auto v = ParseJson(first.body);
  std::string token(v->Find("metadata")->Str("continue"));
  REQUIRE_FALSE(token.empty());
  f.Call("DELETE", "/api/v1/nodes/n3");
  f.Call("POST", "/api/v1/nodes", R"({"metadata":{"name":"n2b"}})");
  CHECK(Names(f.Call("GET", "/api/v1/nodes?limit=2&continue=" + token)) == "n2 n3 ");
  CHECK(Names(f.Call("GET", "/api/v1/nodes")) == "n0 n1 n2 n2b n4 ");
  f.store.ForgetHistory();
  HttpResponse gone = f.Call("GET", "/api/v1/nodes?limit=2&continue=" + token);
  CHECK(gone.status == 410);
  CHECK(gone.body.find("\"reason\":\"Expired\"") != std::string::npos);
}

TEST_CASE("a version that is not there yet is waited for, then times out") {
  Front f;
  HttpResponse r = f.Call("GET", "/api/v1/nodes?resourceVersion=99");
  CHECK(r.wait);
  HttpRequest again;
  again.method = "GET";
  again.path = "/api/v1/nodes";
  again.query = "resourceVersion=99";
  r = f.api.Handle(again, true);
  CHECK_FALSE(r.wait);
  CHECK(r.status == 504);
}

TEST_CASE("routes: what there is, what there is not, what is not allowed") {
  Front f;
  CHECK(f.Call("GET", "/api/v1/nodes").status == 200);
  CHECK(f.Call("GET", "/api/v1/nodes/").status == 200);
  CHECK(f.Call("GET", "/api/v1/foos").status == 404);
  CHECK(f.Call("GET", "//api/v1/nodes").body.find("\"paths\"") != std::string::npos);
  CHECK(f.Call("GET", "/apis/nosuch.io/v1").content_type == "text/plain; charset=utf-8");
  CHECK(f.Call("GET", "/api/v1/nodes/a%2Fb").body.find("could not find the requested resource") != std::string::npos);
  CHECK(f.Call("POST", "/api/v1/pods", "{}").status == 405);
  CHECK(f.Call("DELETE", "/api/v1/pods").status == 405);
  CHECK(f.Call("PUT", "/api/v1/nodes", "{}").status == 405);
  CHECK(f.Call("GET", "/api/v1/namespaces/x/pods/p/binding").status == 405);
  CHECK(f.Call("GET", "/api/v1/nodes", "", "", "text/html").status == 406);
  CHECK(f.Call("POST", "/api/v1/nodes", "x", "text/plain").status == 415);
  CHECK(f.Call("GET", "/api/v1/nodes?limit=x").status == 400);
  CHECK(f.Call("GET", "/api/v1/nodes?resourceVersion=-1").status == 500);
  CHECK(f.Call("GET", "/healthz").body == "ok");
  CHECK(f.Call("GET", "/livez").status == 404);
}

TEST_CASE("one replica set, three versions") {
  Front f;
  std::string set = R"({"metadata":{"name":"s"},"spec":{"template":{"metadata":{"labels":{"a":"b"}},)"
                    R"("spec":{"containers":[{"name":"c","image":"i"}]}}}})";
  CHECK(f.Call("POST", "/apis/extensions/v1beta1/namespaces/d/replicasets", set).status == 201);
  HttpResponse r = f.Call("GET", "/apis/apps/v1/namespaces/d/replicasets/s");
  CHECK(r.body.find(R"("kind":"ReplicaSet","apiVersion":"apps/v1")") != std::string::npos);
  CHECK(r.body.find(R"("selfLink":"/apis/apps/v1/namespaces/d/replicasets/s")") != std::string::npos);
  CHECK(r.body.find(R"("selector":{"matchLabels":{"a":"b"}})") != std::string::npos);
  r = f.Call("PATCH", "/apis/apps/v1/namespaces/d/replicasets/s/scale", R"({"spec":{"replicas":4}})",
             "application/merge-patch+json");
  CHECK(r.body.find(R"("spec":{"replicas":4},"status":{"replicas":0,"selector":"a=b"})") != std::string::npos);
}

TEST_CASE("watch parameters") {
  Front f;
  CHECK(f.Call("GET", "/api/v1/pods?watch=maybe").watch.has_value());
  CHECK_FALSE(f.Call("GET", "/api/v1/pods?watch=0").watch.has_value());
  CHECK(f.Call("GET", "/api/v1/watch/namespaces/d/pods/p").watch.has_value());
  auto start = f.Call("GET", "/api/v1/pods?watch=1&resourceVersion=7&timeoutSeconds=9").watch;
  REQUIRE(start.has_value());
  CHECK(start->from.rv == 7);
  CHECK(start->timeout_seconds == 9);
  CHECK(f.Call("GET", "/api/v1/pods?watch=1&timeoutSeconds=x").status == 400);
}

TEST_CASE("continue tokens") {
  uint64_t rv;
  std::string start, why;
  REQUIRE(DecodeContinue(EncodeContinue(4667, std::string("p2\0", 3)), &rv, &start, &why));
  CHECK(rv == 4667);
  CHECK(start == std::string("p2\0", 3));
  CHECK(EncodeContinue(4667, std::string("p2\0", 3)) ==
        "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NDY2Nywic3RhcnQiOiJwMlx1MDAwMCJ9");
  CHECK_FALSE(DecodeContinue("garbage", &rv, &start, &why));
  CHECK_FALSE(DecodeContinue("e30", &rv, &start, &why));
}

TEST_CASE("what a request is about, to authorization") {
  auto describe = [](std::string method, std::string path, std::string query = "") {
    HttpRequest r;
    r.method = std::move(method);
    r.path = std::move(path);
    r.query = std::move(query);
    RequestInfo i = Api::Describe(Catalog::Of(Version{10}), r);
    return i.verb + " " + i.resource + "/" + i.subresource + " " + i.ns + " " + i.name;
  };
  CHECK(describe("GET", "/api/v1/nodes") == "list nodes/  ");
  CHECK(describe("GET", "/api/v1/nodes", "watch=true") == "watch nodes/  ");
  CHECK(describe("POST", "/api/v1/namespaces/w/pods/x/binding") == "create pods/binding w x");
  CHECK(describe("DELETE", "/api/v1/namespaces/w/pods") == "deletecollection pods/ w ");
  CHECK(describe("GET", "/version") == "get /  ");
}

TEST_CASE("policy rules and token files") {
  auto rules = ParsePolicyFile(
      "# all\n{\"spec\":{\"user\":\"a\",\"namespace\":\"w\",\"resource\":\"pods\",\"readonly\":true}}\n");
  REQUIRE(rules.ok());
  REQUIRE(rules->size() == 1);
  RequestInfo get{true, "get", "", "v1", "pods", "", "w", "x", ""};
  RequestInfo create = get;
  create.verb = "create";
  RequestInfo elsewhere = get;
  elsewhere.ns = "z";
  CHECK((*rules)[0].Allows({"a", {}}, get));
  CHECK_FALSE((*rules)[0].Allows({"b", {}}, get));
  CHECK_FALSE((*rules)[0].Allows({"a", {}}, create));
  CHECK_FALSE((*rules)[0].Allows({"a", {}}, elsewhere));
  CHECK(util::Message(ParsePolicyFile("{}").status()) == "line 1: spec: must be an object");
  CHECK(util::Message(ParsePolicyFile("\n{\"spec\":{\"resource\":\"x\"}}").status())
            .starts_with("line 2: spec: must have a user or a group"));

  auto tokens = ParseTokenFile("t1,alice,1,\"g1,g2\"\n\nt2,bob,2\n");
  REQUIRE(tokens.ok());
  CHECK(tokens->at("t1").groups == std::vector<std::string>{"g1", "g2"});
  CHECK(util::Message(ParseTokenFile("t,a,1\nt,b,2").status()) == "line 2: the token occurs twice");
  CHECK_FALSE(ParseTokenFile("t,\"a,1").ok());
}

TEST_CASE("ages in tables") {
  absl::Time now = absl::FromUnixSeconds(1'500'000'000);  // 2017-07-14T02:40:00Z
  CHECK(Age("2017-07-14T02:39:55Z", now, Version{10}) == "5s");
  CHECK(Age("2017-07-14T02:10:00Z", now, Version{10}) == "30m");
  CHECK(Age("2017-07-13T02:10:00Z", now, Version{10}) == "1d");
  CHECK(Age("2015-07-13T02:10:00Z", now, Version{10}) == "2y");
  CHECK(Age("", now, Version{10}) == "<unknown>");
  const auto age = [](int64_t seconds) {
    const absl::Time then = absl::FromUnixSeconds(1'500'000'000);
    return Age("2017-07-14T02:40:00Z", then + absl::Seconds(seconds), Version{36});
  };
  for (auto [seconds, text] : std::initializer_list<std::pair<int64_t, const char*>>{{119, "119s"},
                                                                                     {120, "2m"},
                                                                                     {125, "2m5s"},
                                                                                     {600, "10m"},
                                                                                     {3 * 3600 - 1, "179m"},
                                                                                     {3 * 3600, "3h"},
                                                                                     {3 * 3600 + 60, "3h1m"},
                                                                                     {8 * 3600 + 60, "8h"},
                                                                                     {47 * 3600, "47h"},
                                                                                     {49 * 3600, "2d1h"},
                                                                                     {192 * 3600, "8d"},
                                                                                     {729 * 86400, "729d"},
                                                                                     {731 * 86400, "2y1d"},
                                                                                     {-1, "0s"},
                                                                                     {-2, "<invalid>"}}) {
    CHECK(age(seconds) == text);
  }
}

}  // namespace
}  // namespace berth::apiserver
