// Replays recorded conversations of kube-scheduler with an API server, with Berth's client in the scheduler's place.
#include <absl/strings/str_replace.h>
#include <regex.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "pkg/api/decode.h"
#include "pkg/api/json.h"
#include "pkg/client/event_correlator.h"
#include "pkg/client/fake_api.h"
#include "pkg/client/informer.h"
#include "pkg/client/json_edit.h"
#include "pkg/client/leaderelection.h"
#include "pkg/client/manual_executor.h"
#include "pkg/client/requests.h"
#include "pkg/client/testing/dialects.h"

namespace berth::client {
namespace {

// One line of test/testdata/wire-client/*.jsonl: {method, path, body, contentType, status, response, watch}.
struct Exchange {
  std::unique_ptr<api::Document> doc = std::make_unique<api::Document>();
  api::Json at(std::string_view key) const { return doc->root().FindExact(key); }
  std::string text(std::string_view key) const { return std::string(at(key).Text()); }
  std::string method() const { return text("method"); }
  std::string path() const { return text("path"); }
  int status() const { return static_cast<int>(at("status").Int()); }
};

std::vector<Exchange> Recording(const std::string& name) {
  std::ifstream in("test/testdata/wire-client/" + name + ".jsonl");
  REQUIRE(in.good());
  std::vector<Exchange> out;
  for (std::string line; std::getline(in, line);) {
    Exchange e;
    REQUIRE(e.doc->Parse(line).ok());
    out.push_back(std::move(e));
  }
  REQUIRE(!out.empty());
  return out;
}

// Returns whether the request has this method and a path that the extended regular expression matches.
bool Matches(const Exchange& e, const std::string& method, const char* path) {
  regex_t pattern;
  REQUIRE(regcomp(&pattern, path, REG_EXTENDED | REG_NOSUB) == 0);
  const bool matches = regexec(&pattern, e.path().c_str(), 0, nullptr, 0) == 0;
  regfree(&pattern);
  return e.method() == method && matches;
}

// Compares two texts as JSON; the order of members does not matter.
std::string Canonical(api::Json j) {
  if (j.IsArray() || j.IsObject()) {
    std::vector<std::string> parts;
    for (auto m : j.Children()) {
      parts.push_back((j.IsObject() ? JsonString(m.key) + ":" : "") + Canonical(m.value));
    }
    if (j.IsObject()) std::sort(parts.begin(), parts.end());
    std::string out = j.IsObject() ? "{" : "[";
    for (auto& p : parts) out += p + ",";
    return out + (j.IsObject() ? "}" : "]");
  }
  return j.Serialize();
}
std::string Canonical(const std::string& text) {
  api::Document d;
  REQUIRE(d.Parse(text).ok());
  return Canonical(d.root());
}

Reply Answered(const Exchange& e) {
  Reply r;
  r.status = e.status();
  r.content_type = "application/json";
  r.body = e.at("response").IsString() ? e.text("response") : e.at("response").Serialize();
  return r;
}

// The recorded scheduler selected its own pods with spec.schedulerName, which Berth does not.
std::string WithoutOwnPods(const std::string& path) {
  return absl::StrReplaceAll(path, {{"spec.schedulerName%3Ddefault-scheduler%2C", ""}});
}

// Each watch has a timeout chosen at random.
std::string WithoutTimeout(std::string path) {
  const std::string_view key = "timeoutSeconds=";
  const size_t begin = path.find(key);
  REQUIRE(begin != std::string::npos);
  const size_t digits = begin + key.size(), end = std::min(path.find_first_not_of("0123456789", digits), path.size());
  REQUIRE(end > digits);
  return path.erase(digits, end - digits);
}

// Plays the recorded list and watch of one resource to an informer. Returns the names of the objects it then holds.
template <typename T, typename Decode>
std::vector<std::string> Follow(const std::vector<Exchange>& recording, Resource resource, Decode decode,
                                size_t piece) {
  std::string path = resource.paths[0];
  const Exchange *list = nullptr, *watch = nullptr;
  for (const Exchange& e : recording) {
    if (e.path().rfind(path + "?", 0) != 0) continue;
    if (e.path().find("watch=true") == std::string::npos) {
      list = list == nullptr ? &e : list;
    } else {
      watch = watch == nullptr ? &e : watch;
    }
  }
  REQUIRE(list != nullptr);
  REQUIRE(watch != nullptr);
  ManualExecutor executor;
  FakeApi api;
  InformerOptions<T> o;
  o.decode = decode;
  o.on_batch = [](InformerBatch<T>) {};
  Informer<T> informer(&executor, &api, resource, o);
  informer.Start();
  CHECK(api.target() == WithoutOwnPods(list->path()));
  std::string body = list->at("response").Serialize() + "\n";
  api.Head(200);
  auto call = api.calls.back();
  for (size_t i = 0; i < body.size(); i += piece) api.Data(body.substr(i, piece), call);
  api.End("", call);
  CHECK(informer.HasSynced());
  CHECK(WithoutTimeout(api.target()) == WithoutTimeout(WithoutOwnPods(watch->path())));
  std::string events;
  for (auto m : watch->at("watch").Children()) events += m.value.Serialize() + "\n";
  api.Head(200);
  for (size_t i = 0; i < events.size(); i += piece) api.Data(events.substr(i, piece));
  CHECK(informer.stats().undecodable == 0);
  CHECK(informer.stats().events == watch->at("watch").size());
  std::vector<std::string> names;
  informer.ForEach([&](const std::shared_ptr<const T>& x) { names.push_back(x->meta.Key()); });
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

TEST_CASE("the recorded lists and watches are followed, however their bytes are cut") {
  auto r = Recording("20-scheduler-lifecycle");
  size_t piece = GENERATE(1, 17, 100'000);
  using Names = std::vector<std::string>;
  CHECK(Follow<api::Node>(
            r, ResourceOf<api::Node>(testing::k1_10), [](api::Json j) { return api::DecodeNode(j); }, piece) ==
        Names{"node-a", "node-b"});
  CHECK(Follow<api::Pod>(
            r, ResourceOf<api::Pod>(testing::k1_10), [](api::Json j) { return api::DecodePod(j); }, piece) ==
        Names{"wire/big", "wire/web-2", "wire/web-3"});
  Follow<api::Service>(
      r, ResourceOf<api::Service>(testing::k1_10), [](api::Json j) { return api::DecodeService(j); }, piece);
  Follow<api::ReplicationController>(
      r, ResourceOf<api::ReplicationController>(testing::k1_10),
      [](api::Json j) { return api::DecodeReplicationController(j); }, piece);
  Follow<api::ReplicaSet>(
      r, ResourceOf<api::ReplicaSet>(testing::k1_10), [](api::Json j) { return api::DecodeReplicaSet(j); }, piece);
  Follow<api::StatefulSet>(
      r, ResourceOf<api::StatefulSet>(testing::k1_10), [](api::Json j) { return api::DecodeStatefulSet(j); }, piece);
  Follow<api::PersistentVolume>(
      r, ResourceOf<api::PersistentVolume>(testing::k1_10), [](api::Json j) { return api::DecodePersistentVolume(j); },
      piece);
  Follow<api::PersistentVolumeClaim>(
      r, ResourceOf<api::PersistentVolumeClaim>(testing::k1_10),
      [](api::Json j) { return api::DecodePersistentVolumeClaim(j); }, piece);
  Follow<api::PodDisruptionBudget>(
      r, ResourceOf<api::PodDisruptionBudget>(testing::k1_10),
      [](api::Json j) { return api::DecodePodDisruptionBudget(j); }, piece);
  Follow<api::StorageClass>(
      r, ResourceOf<api::StorageClass>(testing::k1_10), [](api::Json j) { return api::DecodeStorageClass(j); }, piece);
}

TEST_CASE("every recorded watch of pods can be read") {
  int watches = 0;
  for (const Exchange& e : Recording("05-watch")) {
    if (!e.at("watch").IsArray() || e.path().find("pods") == std::string::npos) continue;
    ++watches;
    std::string events;
    size_t errors = 0;
    for (auto m : e.at("watch").Children()) {
      events += m.value.Serialize() + "\n";
      errors += m.value.Find("type").Text() == "ERROR";
    }
    ManualExecutor executor;
    FakeApi api;
    InformerOptions<api::Pod> o;
    o.decode = [](api::Json j) { return api::DecodePod(j); };
    o.on_batch = [](InformerBatch<api::Pod>) {};
    Informer<api::Pod> informer(&executor, &api, ResourceOf<api::Pod>(testing::k1_10), o);
    informer.Start();
    api.Serve(200, R"({"metadata":{"resourceVersion":"1"},"items":[]})");
    api.Head(200);
    for (size_t i = 0; i < events.size(); i += 7) api.Data(events.substr(i, 7));
    CHECK(informer.stats().undecodable == 0);
    CHECK(informer.stats().events == e.at("watch").size());
    CHECK(informer.stats().watch_failures == errors);
  }
  CHECK(watches > 5);
}

TEST_CASE("bindings are sent as recorded, and their answers understood") {
  int good = 0, bad = 0;
  for (std::string file : {"03-binding", "20-scheduler-lifecycle", "26-scheduler-faults"}) {
    for (const Exchange& e : Recording(file)) {
      if (!Matches(e, "POST", "^/api/v1/namespaces/wire/pods/[^/]*/binding$") || e.at("status").IsNull()) continue;
      CAPTURE(file, e.path());
      FakeApi api;
      Requests requests(&api);
      api::Json body = e.at("body"), meta = body.Find("metadata");
      std::string pod = e.path().substr(29, e.path().size() - 29 - 8);
      std::optional<ApiResult<Nothing>> result;
      requests.Bind({"wire", pod, meta.Find("uid").Text(), body.Find("target").Find("name").Text()},
                    [&](ApiResult<Nothing> r) { result = r; });
      CHECK(api.target() == e.path());
      if (file[0] == '2') CHECK(api.last().request.body == body.Serialize());
      api.last().done(Answered(e));
      REQUIRE(result.has_value());
      CHECK(result->ok() == (e.status() == 201));
      if (result->ok()) {
        ++good;
        continue;
      }
      ++bad;
      api::Json status = e.at("response");
      CHECK(result->error.code == e.status());
      CHECK(result->error.NotFound() == (e.status() == 404));
      CHECK(result->error.Conflict() == (e.status() == 409));
      if (status.Find("kind").Text() == "Status" && !status.Find("message").Text().empty()) {
        CHECK(result->error.message == status.Find("message").Text());
        CHECK(result->error.reason == status.Find("reason").Text());
        CHECK(result->error.details_name == status.Find("details").Find("name").Text());
        CHECK(result->error.details_kind == status.Find("details").Find("kind").Text());
      }
    }
  }
  CHECK(good >= 10);
  CHECK(bad >= 8);
}

TEST_CASE("a condition is put into the server's own pod as the real scheduler does") {
  auto r = Recording("20-scheduler-lifecycle");
  int compared = 0;
  for (const Exchange& e : r) {
    if (!Matches(e, "PUT", "/pods/[^/]*/status$")) continue;
    // The pod as the watch first showed it, written back with the condition that was sent.
    api::Json sent = e.at("body"), name = sent.Find("metadata").Find("name");
    api::Json condition;
    for (auto m : sent.Find("status").Find("conditions").Children()) condition = m.value;
    std::string raw;
    for (const Exchange& w : r) {
      if (!Matches(w, "GET", "^/api/v1/pods.*watch=true")) continue;
      for (auto m : w.at("watch").Children()) {
        api::Json pod = m.value.Find("object");
        if (raw.empty() && pod.Find("metadata").Find("name").Text() == name.Text()) raw = pod.Serialize();
      }
    }
    REQUIRE(!raw.empty());
    PodStatusChange change;
    change.scheduled = api::PodCondition{
        std::string(condition.Find("status").Text()), std::string(condition.Find("reason").Text()),
        std::string(condition.Find("message").Text()), "", std::string(condition.Find("lastTransitionTime").Text())};
    auto body = ApplyPodStatus(raw, change);
    REQUIRE(body.ok());
    CHECK(Canonical(*body) == Canonical(sent));
    ++compared;
  }
  CHECK(compared == 2);
}

TEST_CASE("nomination and deletion of a victim are as recorded") {
  auto r = Recording("21-scheduler-preemption");
  int puts = 0, deletes = 0;
  std::string got;
  for (const Exchange& e : r) {
    if (Matches(e, "GET", "^/api/v1/namespaces/wire/pods/[^/?]*$") && e.status() == 200) {
      got = e.at("response").Serialize();
    }
    if (Matches(e, "PUT", "/pods/[^/]*/status$")) {
      api::Json node = e.at("body").Find("status").Find("nominatedNodeName");
      if (node.IsNull()) continue;
      if (Canonical(got).find(JsonString(e.at("body").Find("metadata").Find("resourceVersion").Text())) ==
          std::string::npos) {
        continue;
      }
      PodStatusChange change;
      change.nominated_node_name = std::string(node.Text());
      auto body = ApplyPodStatus(got, change);
      REQUIRE(body.ok());
      CHECK(Canonical(*body) == Canonical(e.at("body")));
      // Without the condition it is again the pod that was read.
      change.nominated_node_name = "";
      CHECK(Canonical(*ApplyPodStatus(*body, change)) == Canonical(got));
      ++puts;
    }
    if (Matches(e, "DELETE", "/pods/")) {
      FakeApi api;
      Requests requests(&api);
      bool ok = false;
      requests.DeletePod("wire", e.path().substr(e.path().rfind('/') + 1), "",
                         [&](ApiResult<Nothing> x) { ok = x.ok(); });
      CHECK(api.target() == e.path());
      CHECK(Canonical(api.last().request.body) == Canonical(e.at("body")));
      api.last().done(Answered(e));
      CHECK(ok);
      ++deletes;
    }
  }
  CHECK(puts >= 1);
  CHECK(deletes >= 1);
}

TEST_CASE("events are written and counted as recorded") {
  int posts = 0, patches = 0;
  for (std::string file : {"20-scheduler-lifecycle", "21-scheduler-preemption", "26-scheduler-faults"}) {
    EventCorrelator correlator;
    std::map<std::string, Event> known;
    for (const Exchange& e : Recording(file)) {
      if (Matches(e, "POST", "/events$")) {
        api::Json b = e.at("body"), o = b.Find("involvedObject");
        Event event;
        auto text = [](api::Json j, const char* key) { return std::string(j.Find(key).Text()); };
        event.object = {text(o, "kind"), text(o, "apiVersion"), text(o, "namespace"),
                        text(o, "name"), text(o, "uid"),        text(o, "resourceVersion")};
        event.name = text(b.Find("metadata"), "name");
        event.ns = text(b.Find("metadata"), "namespace");
        event.reason = text(b, "reason");
        event.message = text(b, "message");
        event.component = text(b.Find("source"), "component");
        event.type = text(b, "type") == "Normal" ? EventType::kNormal : EventType::kWarning;
        std::string error;
        REQUIRE(absl::ParseTime(absl::RFC3339_full, text(b, "firstTimestamp"), &event.first, &error));
        REQUIRE(absl::ParseTime(absl::RFC3339_full, text(b, "lastTimestamp"), &event.last, &error));
        event.count = static_cast<int>(b.Find("count").Int());
        CHECK(EventJson(event) == b.Serialize());
        ++posts;
        if (event.count > 1) continue;  // anew after a PATCH that found nothing
        known[event.name] = event;
        CHECK(correlator.Correlate(&event, event.last, absl::ZeroDuration()) == EventCorrelator::Outcome::kCreate);
        CHECK(EventName(event.object.name, event.first).size() == event.name.size());
      }
      if (Matches(e, "PATCH", "/events/")) {
        CHECK(e.text("contentType") == "application/strategic-merge-patch+json");
        Event event = known.at(e.path().substr(e.path().rfind('/') + 1));
        std::string error;
        REQUIRE(absl::ParseTime(absl::RFC3339_full, std::string(e.at("body").Find("lastTimestamp").Text()), &event.last,
                                &error));
        event.name = "another";
        event.first = event.last;
        CHECK(correlator.Correlate(&event, event.last, absl::ZeroDuration()) == EventCorrelator::Outcome::kIncrease);
        CHECK(event.name == known.at(e.path().substr(e.path().rfind('/') + 1)).name);
        CHECK(EventPatch(event) == e.at("body").Serialize());
        ++patches;
      }
    }
  }
  CHECK(posts > 15);
  CHECK(patches > 5);
}

TEST_CASE("the lock is created, renewed and taken over with the recorded bytes") {
  int written = 0;
  for (std::string file : {"20-scheduler-lifecycle", "22-scheduler-leader-election"}) {
    std::string got;
    for (const Exchange& e : Recording(file)) {
      if (e.path().find("/endpoints") == std::string::npos) continue;
      if (e.method() == "GET") {
        got = e.status() == 200 ? e.at("response").Serialize() : "";
        continue;
      }
      auto sent = ReadLock("endpoints", e.at("body").Serialize());
      REQUIRE(sent.ok());
      auto ours = WriteLock(LeaderElectionOptions(), got, sent->record);
      REQUIRE(ours.ok());
      CHECK(*ours == e.at("body").Serialize());
      ++written;
    }
  }
  CHECK(written > 15);
}

TEST_CASE("a written condition keeps all that we do not know") {
  std::string raw =
      R"({"metadata":{"name":"p","labels":{"x":"\u003c\"é"}},"spec":{"new":[1.50,{"a":null}]},"status":{"conditions":)"
      R"([{"type":"Other","status":"True"},{"type":"PodScheduled","status":"False","message":"old"},{"type":"Third"}],"x":1}})";
  PodStatusChange change;
  change.scheduled = api::PodCondition{"False", "Unschedulable", "say \"no\"", "", "2018-01-01T00:00:00Z"};
  change.nominated_node_name = "n1";
  auto out = ApplyPodStatus(raw, change);
  REQUIRE(out.ok());
  CHECK(
      *out ==
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","labels":{"x":"\u003c\"é"}},"spec":{"new":[1.50,{"a":null}]},)"
      R"("status":{"conditions":[{"type":"Other","status":"True"},{"type":"PodScheduled","status":"False","lastProbeTime":null,)"
      R"("lastTransitionTime":"2018-01-01T00:00:00Z","reason":"Unschedulable","message":"say \"no\""},{"type":"Third"}],"x":1,)"
      R"("nominatedNodeName":"n1"}})");
  for (auto [before, after] : std::vector<std::pair<std::string, std::string>>{
           {R"({})", R"({"kind":"Pod","apiVersion":"v1","status":{"nominatedNodeName":"n1"}})"},
           {R"({"kind":"Pod","status":null})",
            R"({"apiVersion":"v1","kind":"Pod","status":{"nominatedNodeName":"n1"}})"},
           {R"({"kind":"Pod","apiVersion":"v1","status":{"nominatedNodeName":"old","a":1}})",
            R"({"kind":"Pod","apiVersion":"v1","status":{"nominatedNodeName":"n1","a":1}})"}}) {
    PodStatusChange nominate;
    nominate.nominated_node_name = "n1";
    CHECK(*ApplyPodStatus(before, nominate) == after);
  }
  PodStatusChange clear;
  clear.nominated_node_name = "";
  CHECK(*ApplyPodStatus(R"({"kind":"Pod","apiVersion":"v1","status":{"a":"\"", "nominatedNodeName":"old","b":[ 1 ]}})",
                        clear) == R"({"kind":"Pod","apiVersion":"v1","status":{"a":"\"","b":[ 1 ]}})");
  CHECK_FALSE(ApplyPodStatus("[]", clear).ok());
  CHECK_FALSE(ApplyPodStatus("{", clear).ok());
}

TEST_CASE("a volume gets its claim, and the mark of who bound it") {
  auto out =
      ApplyClaimRef(R"({"metadata":{"name":"pv","annotations":{"a":"b"}},"spec":{"capacity":{"storage":"1Gi"}}})",
                    {"ns", "claim", "u1", "9"}, true);
  REQUIRE(out.ok());
  CHECK(
      *out ==
      R"({"kind":"PersistentVolume","apiVersion":"v1","metadata":{"name":"pv","annotations":{"a":"b","pv.kubernetes.io/bound-by-controller":"yes"}},)"
      R"("spec":{"capacity":{"storage":"1Gi"},"claimRef":{"kind":"PersistentVolumeClaim","namespace":"ns","name":"claim","uid":"u1",)"
      R"("apiVersion":"v1","resourceVersion":"9"}}})");
  CHECK(
      *ApplyClaimRef(R"({"kind":"PersistentVolume","apiVersion":"v1","spec":{"claimRef":{"name":"old"}}})",
                     {"n", "c", "u", ""}, false) ==
      R"({"kind":"PersistentVolume","apiVersion":"v1","spec":{"claimRef":{"kind":"PersistentVolumeClaim","namespace":"n","name":"c","uid":"u","apiVersion":"v1"}}})");
}

TEST_CASE("M-22 fixed: a pod is deleted with its uid as precondition") {
  FakeApi api;
  Requests requests(&api);
  requests.DeletePod("ns", "p", "u1", [](ApiResult<Nothing>) {});
  CHECK(api.last().request.body == R"({"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"u1"}})");
}

TEST_CASE("reads and reviews") {
  FakeApi api;
  Requests requests(&api);
  ApiResult<api::PodPtr> pod;
  requests.GetPod("ns", "p/1", [&](ApiResult<api::PodPtr> r) { pod = r; });
  CHECK(api.target() == "/api/v1/namespaces/ns/pods/p%2F1");
  std::string body =
      R"({"metadata":{"name":"p","namespace":"ns"},"spec":{"nodeName":"n","containers":[]},"unknown":1})";
  api.Answer(200, body);
  REQUIRE(pod.ok());
  CHECK(pod.value->node_name.str() == "n");
  CHECK(*pod.value->raw == body);
  requests.GetPod("ns", "p", [&](ApiResult<api::PodPtr> r) { pod = r; });
  api.Answer(200, "garbage");
  CHECK_THAT(pod.error.message, Catch::StartsWith("the server's answer about pods \"p\" cannot be decoded: "));
  ApiResult<std::shared_ptr<const api::ConfigMap>> map;
  requests.GetConfigMap("kube-system", "policy", [&](auto r) { map = r; });
  CHECK(api.target() == "/api/v1/namespaces/kube-system/configmaps/policy");
  api.Answer(200, R"({"metadata":{"name":"policy"},"data":{"policy.cfg":"{}"}})");
  REQUIRE(map.ok());
  CHECK(map.value->data.at(0).first == "policy.cfg");
  requests.GetNode("n1", [](auto) {});
  CHECK(api.target() == "/api/v1/nodes/n1");

  ApiResult<UserInfo> user;
  requests.ReviewToken("se\"cret", [&](ApiResult<UserInfo> r) { user = r; });
  CHECK(api.target() == "/apis/authentication.k8s.io/v1/tokenreviews");
  CHECK_THAT(api.last().request.body, Catch::Contains(R"("spec":{"token":"se\"cret"})"));
  api.Answer(404, "");
  CHECK(api.target() == "/apis/authentication.k8s.io/v1beta1/tokenreviews");
  api.Answer(201,
             R"({"status":{"authenticated":true,"user":{"username":"jane","groups":["a","b"],"extra":{"k":["v"]}}}})");
  REQUIRE(user.ok());
  CHECK(user.value.authenticated);
  CHECK(user.value.groups == std::vector<std::string>{"a", "b"});
  ApiResult<AccessAnswer> access;
  requests.ReviewAccess({user.value, "get", "/metrics"}, [&](ApiResult<AccessAnswer> r) { access = r; });
  CHECK(api.target() == "/apis/authorization.k8s.io/v1/subjectaccessreviews");
  CHECK_THAT(api.last().request.body,
             Catch::Contains(R"("spec":{"nonResourceAttributes":{"path":"/metrics","verb":"get"},"user":"jane",)"
                             R"("groups":["a","b"],"extra":{"k":["v"]}})"));
  api.Answer(201, R"({"status":{"allowed":true,"reason":"RBAC"}})");
  CHECK(access.value.allowed);
  requests.ReviewAccess({user.value, "get", "/metrics"}, [&](ApiResult<AccessAnswer> r) { access = r; });
  api.Answer(201, R"({"status":{"allowed":true,"denied":true}})");
  CHECK_FALSE(access.value.allowed);
  requests.ReviewAccess({user.value, "get", "/metrics"}, [&](ApiResult<AccessAnswer> r) { access = r; });
  api.Answer(500, "oh");
  CHECK_FALSE(access.ok());
}

}  // namespace berth::client
