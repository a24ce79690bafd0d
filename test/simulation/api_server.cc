#include "test/simulation/api_server.h"

#include <absl/strings/escaping.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <utility>

#include "test/simulation/json.h"

namespace berth::simulation {
namespace {

using client::Method;

bool Finished(const std::string& json) {
  return json.find("\"phase\":\"Succeeded\"") != std::string::npos ||
         json.find("\"phase\":\"Failed\"") != std::string::npos;
}

bool Shown(const ObjectPtr& o, bool unfinished_only) {
  return o != nullptr && !(unfinished_only && Finished(o->json));
}

std::string Unescape(std::string_view s) {
  std::string out;
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '%' && i + 2 < s.size()) {
      out += absl::HexStringToBytes(std::string(s.substr(i + 1, 2)));
      i += 2;
    } else {
      out += s[i];
    }
  }
  return out;
}

uint64_t Version(const std::string& text) {
  uint64_t v = 0;
  return absl::SimpleAtoi(text, &v) ? v : 0;
}

// "pods" is in group "", so error texts have no group; only such resources are written.
Response NotFound(const Target& t) {
  return StatusResponse(404, "NotFound", absl::StrCat(t.resource, " \"", t.name, "\" not found"), t.resource, t.name);
}
Response Conflict(const Target& t, std::string_view why) {
  return StatusResponse(
      409, "Conflict",
      absl::StrCat("Operation cannot be fulfilled on ", t.resource, " \"", t.name, "\": ", std::string(why)),
      t.resource, t.name);
}

}  // namespace

Response StatusResponse(int code, std::string_view reason, std::string_view message, std::string_view resource,
                        std::string_view name) {
  Tree t;
  t.SetObject();
  SetText(&t, {"kind"}, "Status");
  SetText(&t, {"apiVersion"}, "v1");
  SetText(&t, {"status"}, code < 300 ? "Success" : "Failure");
  SetText(&t, {"message"}, message);
  SetText(&t, {"reason"}, reason);
  if (!resource.empty()) {
    SetText(&t, {"details", "name"}, name);
    SetText(&t, {"details", "kind"}, resource);
  }
  Set(&t, {"code"}, Node(code));
  return {code, WriteJson(t)};
}

Target ParseTarget(std::string_view text) {
  Target t;
  const size_t mark = text.find('?');
  if (mark != std::string_view::npos) {
    for (const std::string& pair : std::vector<std::string>(absl::StrSplit(std::string(text.substr(mark + 1)), '&'))) {
      const size_t eq = pair.find('=');
      t.query[pair.substr(0, eq)] = eq == std::string::npos ? "" : Unescape(pair.substr(eq + 1));
    }
    text = text.substr(0, mark);
  }
  std::vector<std::string> parts = absl::StrSplit(std::string(text), '/', absl::SkipEmpty());
  size_t at = parts.empty() ? 0 : parts[0] == "api" ? 2 : 3;
  const auto next = [&]() -> std::string { return at < parts.size() ? Unescape(parts[at++]) : ""; };
  t.resource = next();
  if (t.resource == "namespaces") {
    t.ns = next();
    t.resource = next();
  }
  t.name = next();
  t.subresource = next();
  return t;
}

void ApiServer::Reload() {
  cache_.clear();
  for (const char* r : {"pods", "nodes", "services", "replicasets", "poddisruptionbudgets", "storageclasses",
                        "persistentvolumes", "persistentvolumeclaims"}) {
    cache_[r] = etcd_->List(r);
  }
  seen_ = oldest_ = etcd_->version();
  window_.clear();
}

void ApiServer::Stop() {
  up_ = frozen_ = false;
  CutWatches();
}

void ApiServer::CutWatches() {
  for (auto& w : std::exchange(watches_, {})) {
    if (w->over) continue;
    w->over = true;
    w->end();
  }
}

void ApiServer::SendBookmarks() {
  for (const auto& w : watches_) {
    if (w->over || !w->bookmarks || w->next > seen_ + 1) continue;
    w->send(absl::StrCat("{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"", seen_, "\"}}}\n"));
  }
}

void ApiServer::Compact(size_t commits) {
  while (window_.size() > commits) {
    oldest_ = window_.front().version;
    window_.pop_front();
  }
}

void ApiServer::CatchUp(uint64_t version) {
  if (!up_ || frozen_) return;
  const auto& history = etcd_->history();
  if (history.empty() || version <= seen_) return;
  const uint64_t first = history.front().version;  // versions are consecutive
  for (uint64_t v = std::max(seen_ + 1, first); v <= version && v - first < history.size(); ++v) {
    const Commit& c = history[v - first];
    if (c.after == nullptr) {
      cache_[c.resource].erase(c.key);
    } else {
      cache_[c.resource][c.key] = c.after;
    }
    window_.push_back(c);
    seen_ = c.version;
    for (const auto& w : watches_) {
      if (!w->over && w->next <= c.version) Send(w.get(), c);
    }
  }
  watches_.remove_if([](const auto& w) { return w->over; });
}

void ApiServer::Send(Watch* w, const Commit& c) const {
  w->next = c.version + 1;
  if (c.resource != w->resource) return;
  const bool was = Shown(c.before, w->unfinished_pods_only), is = Shown(c.after, w->unfinished_pods_only);
  if (!was && !is) return;
  std::string json = (is ? c.after : c.after != nullptr ? c.after : c.before)->json;
  if (!is) {
    // What is gone has the version of its going.
    Tree t = ParseJson(json);
    SetText(&t, {"metadata", "resourceVersion"}, absl::StrCat(c.version));
    json = WriteJson(t);
  }
  w->send(absl::StrCat("{\"type\":\"", is ? (was ? "MODIFIED" : "ADDED") : "DELETED", "\",\"object\":", json, "}\n"));
}

Response ApiServer::List(const Target& t) {
  // A version other than 0 is the oldest that will do. The real server waits for its cache, but for three seconds only.
  if (auto it = t.query.find("resourceVersion"); it != t.query.end() && Version(it->second) > seen_) {
    return StatusResponse(504, "Timeout",
                          absl::StrCat("Too large resource version: ", it->second, ", current: ", seen_));
  }
  const bool cached = t.query.contains("resourceVersion");
  const Etcd::Table& table = cached ? cache_[t.resource] : etcd_->List(t.resource);
  std::string out = absl::StrCat("{\"kind\":\"List\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"",
                                 cached ? seen_ : etcd_->version(), "\"},\"items\":[");
  const bool unfinished = t.query.contains("fieldSelector");
  bool first = true;
  for (const auto& [key, o] : table) {
    if (!Shown(o, unfinished)) continue;
    absl::StrAppend(&out, first ? "" : ",", o->json);
    first = false;
  }
  out += "]}";
  return {200, std::move(out)};
}

std::shared_ptr<ApiServer::Watch> ApiServer::Open(const Target& t, Response* refused) {
  auto it = t.query.find("resourceVersion");
  const bool begins_with_list = t.query.contains("sendInitialEvents");
  const uint64_t from = it == t.query.end() || begins_with_list ? seen_ : Version(it->second);
  if (begins_with_list && it != t.query.end() && Version(it->second) > seen_) {
    *refused =
        StatusResponse(504, "Timeout", absl::StrCat("Too large resource version: ", it->second, ", current: ", seen_));
    return nullptr;
  }
  if (from < oldest_) {
    *refused = StatusResponse(410, "Gone", absl::StrCat("too old resource version: ", from, " (", oldest_, ")"));
    return nullptr;
  }
  auto w = std::make_shared<Watch>();
  w->resource = t.resource;
  w->unfinished_pods_only = t.query.contains("fieldSelector");
  w->bookmarks = t.query.contains("allowWatchBookmarks");
  w->begins_with_list = begins_with_list;
  w->is_current = it == t.query.end() || it->second.empty();
  w->next = from + 1;
  watches_.push_back(w);
  return w;
}

void ApiServer::Begin(Watch* w) const {
  if (w->begins_with_list) {
    const auto in_cache = cache_.find(w->resource);
    const Etcd::Table none;
    const Etcd::Table& table = w->is_current              ? etcd_->List(w->resource)
                               : in_cache == cache_.end() ? none
                                                          : in_cache->second;
    const uint64_t version = w->is_current ? etcd_->version() : seen_;
    for (const auto& [key, o] : table) {
      if (Shown(o, w->unfinished_pods_only)) w->send(absl::StrCat("{\"type\":\"ADDED\",\"object\":", o->json, "}\n"));
    }
    w->send(absl::StrCat("{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"", version,
                         "\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}\n"));
    w->next = version + 1;
    return;
  }
  for (const Commit& c : window_) {
    if (c.version >= w->next) Send(w, c);
  }
}

Response ApiServer::Handle(Method method, const Target& t, std::string_view body) {
  if (t.resource == "events") return {method == Method::kPost ? 201 : 200, std::string(body.empty() ? "{}" : body)};
  ObjectPtr o = etcd_->Get(t.resource, t.Key());
  switch (method) {
    case Method::kGet:
      if (o == nullptr) return NotFound(t);
      return {200, o->json};
    case Method::kPost: {
      if (t.subresource == "binding") return Bind(t, body);
      Target named = t;
      named.name = TextAt(ParseJson(body), {"metadata", "name"});
      if (etcd_->Get(named.resource, named.Key()) != nullptr) {
        return StatusResponse(409, "AlreadyExists", absl::StrCat(t.resource, " \"", named.name, "\" already exists"),
                              t.resource, named.name);
      }
      return {201, etcd_->Put(named.resource, named.Key(), body)->json};
    }
    case Method::kPut:
      if (o == nullptr) return NotFound(t);
      return t.subresource == "status" ? PutStatus(t, body) : PutWhole(t, body);
    case Method::kDelete:
      if (o == nullptr) return NotFound(t);
      return DeletePod(t, body);
    case Method::kPatch:
      if (o == nullptr) return NotFound(t);
      if (t.resource != "pods" || t.subresource != "status") break;
      return PatchStatus(t, body);
  }
  return StatusResponse(405, "MethodNotAllowed", "the server does not allow this method on the requested resource");
}

Response ApiServer::Bind(const Target& t, std::string_view body) {
  ObjectPtr o = etcd_->Get("pods", t.Key());
  if (o == nullptr) return NotFound(t);
  const Tree binding = ParseJson(body);
  const std::string uid = TextAt(binding, {"metadata", "uid"}), node = TextAt(binding, {"target", "name"});
  if (!uid.empty() && uid != o->uid) {
    return Conflict(t,
                    absl::StrCat("Precondition failed: UID in precondition: ", uid, ", UID in object meta: ", o->uid));
  }
  Tree pod = ParseJson(o->json);
  if (At(pod, {"metadata", "deletionTimestamp"}) != nullptr)
    return Conflict(t, "pod is being deleted, cannot be assigned to a host");
  const std::string on = TextAt(pod, {"spec", "nodeName"});
  if (!on.empty()) return Conflict(t, absl::StrCat("pod ", t.name, " is already assigned to node \"", on, "\""));
  SetText(&pod, {"spec", "nodeName"}, node);
  Tree condition =
      ParseJson(R"({"type":"PodScheduled","status":"True","lastProbeTime":null,"lastTransitionTime":null})");
  Node list(rapidjson::kArrayType);
  list.PushBack(Node(condition, pod.GetAllocator()), pod.GetAllocator());
  Set(&pod, {"status", "conditions"}, std::move(list));
  etcd_->Put("pods", t.Key(), WriteJson(pod));
  return {201, R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201})"};
}

Response ApiServer::PutStatus(const Target& t, std::string_view body) {
  ObjectPtr o = etcd_->Get("pods", t.Key());
  Tree now = ParseJson(o->json), sent = ParseJson(body);
  const std::string version = TextAt(sent, {"metadata", "resourceVersion"}), uid = TextAt(sent, {"metadata", "uid"});
  if (uid != o->uid) {
    return Conflict(t,
                    absl::StrCat("Precondition failed: UID in precondition: ", uid, ", UID in object meta: ", o->uid));
  }
  if (version != absl::StrCat(o->version)) {
    return Conflict(t, "the object has been modified; please apply your changes to the latest version and try again");
  }
  if (const Node* status = At(sent, {"status"}); status != nullptr) {
    Set(&now, {"status"}, Node(*status, now.GetAllocator()));
  }
  return {200, etcd_->Put("pods", t.Key(), WriteJson(now))->json};
}

// A strategic merge patch of a status and of annotations: conditions are told apart by their types, null removes.
Response ApiServer::PatchStatus(const Target& t, std::string_view body) {
  ObjectPtr o = etcd_->Get("pods", t.Key());
  Tree pod = ParseJson(o->json);
  const Tree patch = ParseJson(body);
  const std::string uid = TextAt(patch, {"metadata", "uid"});
  if (!uid.empty() && uid != o->uid) return Conflict(t, "the UID in the precondition does not match");
  auto& memory = pod.GetAllocator();
  const auto merge = [&memory](Node* into, const Node& from) {
    for (const auto& m : from.GetObject()) {
      into->RemoveMember(m.name);
      if (!m.value.IsNull()) into->AddMember(Node(m.name, memory), Node(m.value, memory), memory);
    }
  };
  if (const Node* annotations = At(patch, {"metadata", "annotations"}); annotations != nullptr) {
    if (At(pod, {"metadata", "annotations"}) == nullptr)
      Set(&pod, {"metadata", "annotations"}, Node(rapidjson::kObjectType));
    merge(&pod["metadata"]["annotations"], *annotations);
  }
  const Node* status = At(patch, {"status"});
  if (status == nullptr || !status->IsObject()) {
    const std::string json = WriteJson(pod);
    return {200, json == o->json ? json : etcd_->Put("pods", t.Key(), json)->json};
  }
  Node conditions(rapidjson::kArrayType);
  if (const Node* now = At(pod, {"status", "conditions"}); now != nullptr) conditions.CopyFrom(*now, memory);
  if (const Node* changes = At(*status, {"conditions"}); changes != nullptr) {
    for (const Node& change : changes->GetArray()) {
      Node* same = nullptr;
      for (Node& c : conditions.GetArray()) {
        if (TextAt(c, {"type"}) == TextAt(change, {"type"})) same = &c;
      }
      if (same == nullptr) {
        conditions.PushBack(Node(rapidjson::kObjectType), memory);
        same = &conditions[conditions.Size() - 1];
      }
      merge(same, change);
    }
  }
  merge(&pod["status"], *status);
  pod["status"].RemoveMember("$setElementOrder/conditions");
  Set(&pod, {"status", "conditions"}, std::move(conditions));
  const std::string json = WriteJson(pod);
  return {200, json == o->json ? json : etcd_->Put("pods", t.Key(), json)->json};
}

Response ApiServer::PutWhole(const Target& t, std::string_view body) {
  ObjectPtr o = etcd_->Get(t.resource, t.Key());
  const std::string version = TextAt(ParseJson(body), {"metadata", "resourceVersion"});
  if (!version.empty() && version != absl::StrCat(o->version)) {
    return Conflict(t, "the object has been modified; please apply your changes to the latest version and try again");
  }
  return {200, etcd_->Put(t.resource, t.Key(), body)->json};
}

Response ApiServer::DeletePod(const Target& t, std::string_view body) {
  ObjectPtr o = etcd_->Get(t.resource, t.Key());
  const std::string uid = TextAt(ParseJson(body.empty() ? "{}" : body), {"preconditions", "uid"});
  if (!uid.empty() && uid != o->uid) return Conflict(t, "the UID in the precondition does not match");
  Tree pod = ParseJson(o->json);
  if (TextAt(pod, {"spec", "nodeName"}).empty()) {
    etcd_->Delete(t.resource, t.Key());
    return {200, o->json};
  }
  if (At(pod, {"metadata", "deletionTimestamp"}) == nullptr) {
    SetText(&pod, {"metadata", "deletionTimestamp"}, "2017-07-14T02:40:00Z");
    Set(&pod, {"metadata", "deletionGracePeriodSeconds"}, Node(30));
    o = etcd_->Put(t.resource, t.Key(), WriteJson(pod));
  }
  return {200, o->json};
}

}  // namespace berth::simulation
