#include "pkg/scheduler/extender/http_extender.h"

#include <absl/container/flat_hash_set.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <glog/logging.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "pkg/api/json.h"
#include "pkg/api/json_writer.h"
#include "pkg/http/url.h"
#include "pkg/http/webhook.h"
#include "pkg/scheduler/extender/answered_nodes.h"
#include "pkg/scheduler/extender/sent_nodes.h"
#include "pkg/util/contract.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"

namespace berth::scheduler {
namespace {

using api::Json;
using api::JsonWriter;
using util::Symbol;

// Parses the first JSON value of a text and ignores what follows it, as Go's decoder for streams does. `known` may be
// null.
absl::Status ParseFirst(std::string_view text, api::KnownParts* known, api::Document* out) {
  struct First final : api::JsonSink {
    api::Document* out = nullptr;
    bool found = false;
    bool Split(std::string_view, std::string_view) override { return false; }
    absl::Status Element(std::string_view, std::string_view, api::Document&) override { return absl::OkStatus(); }
    absl::Status Value(api::Document& value) override {
      *out = std::move(value);
      found = true;
      return absl::CancelledError("");
    }
  } sink;
  sink.out = out;
  absl::Status read = api::ReadJson(text, sink, known);
  if (sink.found) return absl::OkStatus();
  return read.ok() ? util::InvalidArgument("it is empty") : read;
}

// Returns the JSON of an object without kind and apiVersion, which objects in the requests of upstream do not have.
absl::StatusOr<std::string> Untyped(const std::string& raw) {
  api::Document document;
  BERTH_RETURN_IF_ERROR(document.Parse(raw));
  JsonWriter out;
  out.Object();
  for (const Json::Member& m : document.root().Children()) {
    if (m.key == "kind" || m.key == "apiVersion") continue;
    const size_t begin = m.value.begin_offset();
    out.Key(m.key).Literal(std::string_view(raw).substr(begin, m.value.end_offset() - begin));
  }
  return out.End().Take();
}

// Returns the symbol of a node that an answer names. The cache keeps the names of the nodes that exist.
Symbol NamedNode(std::string_view name) {
  const Symbol known = Symbol::Find(name);
  return known.empty() ? Symbol::InternBriefly(name) : known;
}

// Converts calls to requests and answers to results. Nothing in an answer is trusted: its form is checked, and nodes
// that were not sent are dropped or, in NodeNames and for release 1.29, are errors.
class HttpExtender final : public Extender {
 public:
  HttpExtender(const ExtenderConfig& config, std::unique_ptr<ExtenderTransport> transport)
      : config_(config),
        base_(config.url_prefix),
        shown_(http::RedactUrl(config.url_prefix)),
        transport_(std::move(transport)) {
    while (absl::EndsWith(base_, "/")) base_.pop_back();
    for (const ExtenderManagedResource& r : config.managed_resources) managed_.insert(Symbol(r.name));
  }

  // The name appears in logs, events, conditions and metrics, which must not contain a password.
  const std::string& name() const override { return shown_; }

  bool IsInterested(const api::Pod& pod) const override {
    if (managed_.empty()) return true;
    auto names_one = [&](const std::vector<api::Container>& containers) {
      for (const api::Container& c : containers) {
        for (const api::ResourceList* list : {&c.requests, &c.limits}) {
          for (const auto& [resource, amount] : *list) {
            if (managed_.contains(resource)) return true;
          }
        }
      }
      return false;
    };
    return names_one(pod.tmpl->containers) || names_one(pod.tmpl->init_containers);
  }

  bool IsIgnorable() const override { return config_.ignorable; }

  absl::StatusOr<FilterResult> Filter(const api::Pod& pod, const std::vector<api::NodePtr>& nodes) override {
    FilterResult out;
    if (config_.filter_verb.empty()) {
      for (const api::NodePtr& n : nodes) out.nodes.emplace_back(n->meta.name);
      return out;
    }
    auto sent = Send(nodes);
    if (!sent.ok()) return sent.status();
    auto body = Arguments(pod, **sent);
    if (!body.ok()) return body.status();
    // Another call may be using the texts of the nodes at this moment; this one then reads the whole answer.
    std::unique_lock texts(answered_mutex_, std::try_to_lock);
    AnsweredNodes* known = texts.owns_lock() && !config_.node_cache_capable ? &answered_ : nullptr;
    if (known != nullptr) known->Expect(**sent);
    api::Document document;
    BERTH_RETURN_IF_ERROR(Ask(config_.filter_verb, *body, true, &document, known));
    Json answer = document.root();
    if (!answer.IsNull() && !answer.IsObject()) return Misread(config_.filter_verb, "", "an object", answer);
    std::string error;
    BERTH_RETURN_IF_ERROR(ReadError(config_.filter_verb, answer, &error));
    if (!error.empty()) return util::Internal(error);
    BERTH_RETURN_IF_ERROR(ReadSurvivors(pod, **sent, answer, known, &out.nodes));
    if (config_.strict_answers)
      BERTH_RETURN_IF_ERROR(ReadFailed(answer, "FailedAndUnresolvableNodes", &out.unresolvable));
    BERTH_RETURN_IF_ERROR(ReadFailed(answer, "FailedNodes", &out.failed));
    // A node that the extender lists as both is unresolvable.
    std::erase_if(out.failed, [&](const auto& f) {
      return std::any_of(out.unresolvable.begin(), out.unresolvable.end(),
                         [&](const auto& u) { return u.first == f.first; });
    });
    return out;
  }

  absl::StatusOr<absl::flat_hash_map<Symbol, int64_t>> Prioritize(const api::Pod& pod,
                                                                  const std::vector<api::NodePtr>& nodes) override {
    absl::flat_hash_map<Symbol, int64_t> out;
    if (config_.prioritize_verb.empty()) return out;
    auto sent = Send(nodes);
    if (!sent.ok()) return sent.status();
    auto body = Arguments(pod, **sent);
    if (!body.ok()) return body.status();
    api::Document document;
    BERTH_RETURN_IF_ERROR(Ask(config_.prioritize_verb, *body, true, &document));
    Json answer = document.root();
    if (!answer.IsNull() && !answer.IsArray()) return Misread(config_.prioritize_verb, "", "a list of scores", answer);
    SentNames names_sent(**sent);
    out.reserve(nodes.size());
    for (const Json::Member& m : answer.Children()) {
      Json host = m.value.Find("Host"), score = m.value.Find("Score");
      if ((!m.value.IsObject() && !m.value.IsNull()) || (!host.IsNull() && !host.IsString()) ||
          (!score.IsNull() && !score.IsInt())) {
        return Misread(config_.prioritize_verb, "", "{\"Host\": text, \"Score\": integer}", m.value);
      }
      int64_t weighted, sum;
      // Products and sums saturate.
      if (__builtin_mul_overflow(score.Int(), config_.weight, &weighted)) {
        weighted = score.Int() < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
      }
      const size_t place = names_sent.Find(host.Text());
      int64_t& total = out[place == SentNames::kNone ? NamedNode(host.Text()) : (*sent)->names[place]];
      if (__builtin_add_overflow(total, weighted, &sum)) {
        sum = weighted < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
      }
      total = sum;
    }
    return out;
  }

  bool SupportsPreemption() const override { return !config_.preempt_verb.empty(); }

  absl::StatusOr<std::vector<AgreedEviction>> ProcessPreemption(const api::Pod& pod,
                                                                const std::vector<Eviction>& evictions) override {
    BERTH_REQUIRES(SupportsPreemption());
    auto body = PreemptionArguments(pod, evictions);
    if (!body.ok()) return body.status();
    api::Document document;
    BERTH_RETURN_IF_ERROR(Ask(config_.preempt_verb, *body, true, &document));
    const Json nodes = document.root().Find("NodeNameToMetaVictims");
    auto misread = [&] {
      return Misread(config_.preempt_verb, "NodeNameToMetaVictims",
                     "{node: {\"Pods\": [{\"UID\": text}], \"NumPDBViolations\": integer}}", nodes);
    };
    if (!document.root().IsNull() && !document.root().IsObject()) {
      return Misread(config_.preempt_verb, "", "an object", document.root());
    }
    if (!nodes.IsNull() && !nodes.IsObject()) return misread();
    std::vector<AgreedEviction> out;
    for (const Json::Member& m : nodes.Children()) {
      AgreedEviction& agreed = out.emplace_back();
      agreed.node = NamedNode(m.key);
      const Json pods = m.value.Find("Pods"), violations = m.value.Find("NumPDBViolations");
      if ((!m.value.IsObject() && !m.value.IsNull()) || (!pods.IsNull() && !pods.IsArray()) ||
          (!violations.IsNull() && !violations.IsInt())) {
        return misread();
      }
      agreed.violations = violations.IsInt() ? violations.Int() : 0;
      for (const Json::Member& p : pods.Children()) {
        const Json uid = p.value.Find("UID");
        if (!uid.IsString()) return misread();
        agreed.uids.emplace_back(uid.Text());
      }
    }
    return out;
  }

  bool IsBinder() const override { return !config_.bind_verb.empty(); }

  absl::Status Bind(const api::Pod& pod, const std::string& node) override {
    if (!IsBinder()) return util::FailedPrecondition("Unexpected empty bindVerb in extender");
    // A bind may have taken effect even if its answer was lost, so it is not repeatable.
    JsonWriter body;
    body.Object().Member("PodName", pod.meta.name).Member("PodNamespace", pod.meta.ns.str());
    body.Member("PodUID", pod.meta.uid).Member("Node", node).End();
    api::Document document;
    BERTH_RETURN_IF_ERROR(Ask(config_.bind_verb, body.Take(), false, &document));
    std::string error;
    BERTH_RETURN_IF_ERROR(ReadError(config_.bind_verb, document.root(), &error));
    return error.empty() ? absl::OkStatus() : util::Internal(error);
  }

 private:
  std::string ShownFor(const std::string& verb) const {
    return config_.names_verb ? absl::StrCat(shown_.substr(0, shown_.find_last_not_of('/') + 1), "/", verb) : shown_;
  }
  // Posts the body and parses the answer. `known` may be null.
  absl::Status Ask(const std::string& verb, const std::string& body, bool repeatable, api::Document* answer,
                   api::KnownParts* known = nullptr) {
    auto got = transport_->Post(absl::StrCat(base_, "/", verb), body, repeatable);
    if (!got.ok()) return got.status();
    if (got->status != 200) {
      return util::Unavailable(absl::StrCat(config_.strict_answers ? "failed " : "Failed ", verb,
                                            " with extender at URL ", ShownFor(verb), ", code ", got->status));
    }
    if (absl::Status parsed = ParseFirst(got->body, known, answer); !parsed.ok()) {
      return util::InvalidArgument(
          absl::StrCat("extender at URL ", shown_, ": the answer to ", verb, " is not JSON: ", util::Message(parsed)));
    }
    return absl::OkStatus();
  }

  // Appends the nodes that the answer to `filter` lets pass, in its order. Those that were not sent, or are named
  // twice, are logged and left out. `known` is what the answer was parsed with, or null.
  absl::Status ReadSurvivors(const api::Pod& pod, const SentNodes& sent, Json answer, const AnsweredNodes* known,
                             std::vector<Symbol>* out) const {
    SentNames places(sent);
    std::vector<bool> survived(sent.nodes.size(), false);
    std::string unknown;  // the first name that was not sent
    out->reserve(sent.nodes.size());
    auto survives = [&](size_t place, std::string_view node) {
      if (place == SentNames::kNone && unknown.empty()) unknown = node;
      if (place != SentNames::kNone && !survived[place]) {
        survived[place] = true;
        out->push_back(sent.names[place]);
        return;
      }
      LOG_EVERY_N(WARNING, 100) << "Extender " << name() << " let node \""
                                << (place == SentNames::kNone ? node : sent.names[place].str()) << "\" pass for pod "
                                << pod.meta.Key() << ", which is not among the nodes that it was asked about (or was "
                                << "named twice); ignoring it";
    };
    Json names = answer.Find("NodeNames"), whole = answer.Find("Nodes");
    if (!names.IsNull() && !names.IsArray()) return Misread(config_.filter_verb, "NodeNames", "a list of names", names);
    if (!whole.IsNull() && !whole.IsObject()) return Misread(config_.filter_verb, "Nodes", "a NodeList", whole);
    if (config_.node_cache_capable && !names.IsNull()) {
      for (const Json::Member& m : names.Children()) {
        if (!m.value.IsString()) return Misread(config_.filter_verb, "NodeNames", "a list of names", names);
        survives(places.Find(m.value.Text()), m.value.Text());
      }
      if (unknown.empty() || !config_.refuses_unknown_nodes) return absl::OkStatus();
      return util::Internal(absl::StrCat("extender ", util::GoQuoted(shown_), " claims a filtered node ",
                                         util::GoQuoted(unknown), " which is not found in the input node list"));
    }
    const Json items = whole.Find("items");
    if (!items.IsNull() && !items.IsArray()) {
      return Misread(config_.filter_verb, "Nodes.items", "a list of nodes", items);
    }
    if (const auto* read = known == nullptr ? nullptr : known->Read(items)) {
      for (const AnsweredNodes::Node& node : *read) survives(node.place, node.name);
      return absl::OkStatus();
    }
    for (const Json::Member& m : items.Children()) {
      Json node = m.value.Find("metadata").Find("name");
      if (!node.IsString()) return Misread(config_.filter_verb, "Nodes.items", "nodes with metadata.name", m.value);
      survives(places.Find(node.Text()), node.Text());
    }
    return absl::OkStatus();
  }

  // Appends the (node, reason) pairs of a member of the answer.
  absl::Status ReadFailed(Json answer, const std::string& member,
                          std::vector<std::pair<Symbol, std::string>>* out) const {
    const Json failed = answer.Find(member);
    bool readable = failed.IsNull() || failed.IsObject();
    for (const Json::Member& m : failed.Children()) {
      readable = readable && (m.value.IsString() || m.value.IsNull());
      if (readable) out->emplace_back(NamedNode(m.key), std::string(m.value.Text()));
    }
    if (readable) return absl::OkStatus();
    return Misread(config_.filter_verb, member, "an object of reasons by node name", failed);
  }

  // Sets `out` to the member Error of the answer, which is empty if there is no error.
  absl::Status ReadError(const std::string& verb, Json answer, std::string* out) const {
    Json error = answer.Find("Error");
    if (!error.IsNull() && !error.IsString()) return Misread(verb, "Error", "a text", error);
    *out = error.Text();
    return absl::OkStatus();
  }

  // Returns the error for an answer that has another form than `wanted`.
  absl::Status Misread(const std::string& verb, const std::string& member, const std::string& wanted, Json got) const {
    return util::InvalidArgument(absl::StrCat("extender at URL ", shown_, ": the answer to ", verb, ": ", member,
                                              member.empty() ? "" : ": ", "expected ", wanted, ", got ", got.Brief()));
  }

  absl::StatusOr<std::string> PodJson(const api::Pod& pod) const {
    if (pod.raw != nullptr) return Untyped(*pod.raw);
    return util::FailedPrecondition(
        absl::StrCat("extender at URL ", shown_, ": the JSON of pod ", pod.meta.Key(), " was not kept"));
  }

  // Returns the body of filter and prioritize requests.
  absl::StatusOr<std::string> Arguments(const api::Pod& pod, const SentNodes& sent) {
    auto pod_json = PodJson(pod);
    if (!pod_json.ok()) return pod_json.status();
    std::string body;
    body.reserve(pod_json->size() + sent.json.size() + 80);
    JsonWriter out(&body);
    out.Object().Key("Pod").Literal(*pod_json);
    if (config_.node_cache_capable) {
      out.Key("Nodes").Literal("null").Key("NodeNames").Array().ElementsOf(sent.json).End();
    } else {
      out.Key("Nodes").Object().Key("metadata").Literal("{}").Key("items").Array().ElementsOf(sent.json).End().End();
      out.Key("NodeNames").Literal("null");
    }
    out.End();
    return body;
  }

  // Returns the body of preempt requests. Victims have only the fields that the cache keeps of bound pods.
  absl::StatusOr<std::string> PreemptionArguments(const api::Pod& pod, const std::vector<Eviction>& evictions) const {
    auto body = PodJson(pod);
    if (!body.ok()) return body.status();
    const bool meta = config_.node_cache_capable;
    JsonWriter out;
    out.Object().Key("Pod").Literal(*body);
    if (meta) out.Key("NodeNameToVictims").Literal("null");
    out.Key(meta ? "NodeNameToMetaVictims" : "NodeNameToVictims").Object();
    for (const Eviction& e : evictions) {
      out.Key(e.node.str()).Object().Key("Pods");
      out.Each(e.victims, [&](const api::PodPtr& p) { meta ? WriteUid(*p, &out) : WriteVictim(*p, &out); });
      out.Member("NumPDBViolations", e.violations).End();
    }
    out.End();
    if (!meta) out.Key("NodeNameToMetaVictims").Literal("null");
    return out.End().Take();
  }
  static void WriteUid(const api::Pod& pod, JsonWriter* out) { out->Object().Member("UID", pod.meta.uid).End(); }
  static void WriteVictim(const api::Pod& pod, JsonWriter* out) {
    out->Object().Key("metadata").Object().Member("name", pod.meta.name).Member("namespace", pod.meta.ns.str());
    out->Member("uid", pod.meta.uid).Key("labels").Object();
    for (const auto& [key, value] : pod.tmpl->labels) out->Member(key.str(), value.str());
    out->End().End().Key("spec").Object().Member("nodeName", pod.node_name.str());
    out->Member("priority", pod.Priority()).End().End();
  }

  // Returns the nodes as they are sent. Most lists equal the previous one or differ in few nodes, so its texts are
  // reused.
  absl::StatusOr<std::shared_ptr<const SentNodes>> Send(const std::vector<api::NodePtr>& nodes) {
    std::lock_guard lock(mutex_);
    if (last_ != nullptr && last_->nodes == nodes) return last_;
    auto sent = std::make_shared<SentNodes>();
    sent->nodes = nodes;
    sent->names.reserve(nodes.size());
    sent->ends.reserve(nodes.size());
    if (last_ != nullptr) sent->json.reserve(last_->json.size() + 64);
    size_t before = 0;  // index in the previous list that comes next
    for (const api::NodePtr& node : nodes) {
      if (!sent->json.empty()) sent->json += ',';
      if (last_ != nullptr) {
        const size_t end = std::min(before + kNodesSkipped, last_->nodes.size());
        size_t same = before;
        while (same < end && last_->nodes[same] != node) ++same;
        if (same < end) {
          sent->json += last_->Text(same);
          sent->names.push_back(last_->names[same]);
          sent->ends.push_back(sent->json.size());
          before = same + 1;
          continue;
        }
      }
      sent->names.emplace_back(node->meta.name);
      if (config_.node_cache_capable) {
        api::AppendJsonString(node->meta.name, &sent->json);
      } else {
        BERTH_RETURN_IF_ERROR(AppendNode(*node, sent->names.back(), &sent->json));
      }
      sent->ends.push_back(sent->json.size());
    }
    if (whole_nodes_.size() > 2 * nodes.size() + 1024) whole_nodes_.clear();  // most of the nodes are gone
    last_ = std::move(sent);
    return last_;
  }

  // Appends the JSON of a node. It is kept for later calls, because nodes are sent with every pod but rarely change.
  absl::Status AppendNode(const api::Node& node, Symbol name, std::string* body) {
    if (node.raw == nullptr) {
      return util::FailedPrecondition(absl::StrCat(
          "extender at URL ", shown_, " wants whole nodes (nodeCacheCapable is false), and the JSON of node ",
          node.meta.name, " was not kept"));
    }
    WholeNode& whole = whole_nodes_[name];
    if (whole.raw != node.raw) {
      auto json = Untyped(*node.raw);
      if (!json.ok()) return json.status();
      whole = {node.raw, std::move(*json)};
    }
    *body += whole.json;
    return absl::OkStatus();
  }

  // How many nodes of the previous list are compared to find the next one.
  static constexpr size_t kNodesSkipped = 16;

  // A node's JSON as it is sent, and the JSON from the API server from which it was made.
  struct WholeNode {
    api::SharedText raw;
    std::string json;
  };
  const ExtenderConfig config_;
  std::string base_;         // without trailing slashes
  const std::string shown_;  // the URL without its password
  absl::flat_hash_set<Symbol> managed_;
  std::unique_ptr<ExtenderTransport> transport_;
  // Guards whole_nodes_ and last_.
  std::mutex mutex_;
  absl::flat_hash_map<Symbol, WholeNode> whole_nodes_;
  std::shared_ptr<const SentNodes> last_;
  std::mutex answered_mutex_;
  AnsweredNodes answered_;  // guarded by answered_mutex_
};

// Sends the bodies over the network.
class NetworkTransport final : public ExtenderTransport {
 public:
  explicit NetworkTransport(std::unique_ptr<http::WebhookClient> client) : client_(std::move(client)) {}
  absl::StatusOr<Answer> Post(const std::string& url, std::string_view body, bool repeatable) override {
    auto answer = client_->Post(url, body, repeatable);
    if (!answer.ok()) return answer.status();
    return Answer{answer->status, std::move(answer->body)};
  }

 private:
  std::unique_ptr<http::WebhookClient> client_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Extender>> NewHttpExtender(const ExtenderConfig& config) {
  // All problems of the configuration are reported together.
  std::vector<std::string> problems;
  if (auto url = http::ParseUrl(config.url_prefix); !url.ok()) {
    problems.push_back(absl::StrCat("extender: urlPrefix ", util::Message(url.status())));
  }
  if (config.http_timeout_nanos < 0) {
    problems.push_back(absl::StrCat("extender ", http::RedactUrl(config.url_prefix), ": httpTimeout: ",
                                    config.http_timeout_nanos, " is negative; it should be a number of nanoseconds"));
  }
  http::WebhookOptions options;
  if (config.http_timeout_nanos > 0) options.timeout = absl::Nanoseconds(config.http_timeout_nanos);
  http::TlsOptions& tls = options.tls;
  if (config.tls) {
    const ExtenderTls& t = *config.tls;
    tls.insecure_skip_verify = t.insecure;
    tls.server_name = t.server_name;
    tls.ca_pem = t.ca_data;
    tls.ca_file = t.ca_file;
    tls.cert_pem = t.cert_data;
    tls.cert_file = t.cert_file;
    tls.key_pem = t.key_data;
    tls.key_file = t.key_file;
  }
  if (config.enable_https && tls.ca_pem.empty() && tls.ca_file.empty()) tls.insecure_skip_verify = true;
  auto client = http::WebhookClient::Create(std::move(options));
  if (!client.ok()) problems.push_back(util::Message(client.status()));
  if (!problems.empty()) return util::InvalidArgument(absl::StrJoin(problems, ", "));
  return NewHttpExtender(config, std::make_unique<NetworkTransport>(*std::move(client)));
}

std::unique_ptr<Extender> NewHttpExtender(const ExtenderConfig& config, std::unique_ptr<ExtenderTransport> transport) {
  return std::make_unique<HttpExtender>(config, std::move(transport));
}

}  // namespace berth::scheduler
