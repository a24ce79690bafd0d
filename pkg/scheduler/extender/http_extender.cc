#include "pkg/scheduler/extender/http_extender.h"

#include <absl/container/flat_hash_set.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include <limits>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "pkg/api/json.h"
#include "pkg/http/url.h"
#include "pkg/http/webhook.h"
#include "pkg/util/status.h"

namespace berth::scheduler {
namespace {

using api::Json;
using util::Symbol;

// The first JSON value of a text; what stands behind it is not looked at.
absl::Status ParseFirst(std::string_view text, api::Document* out) {
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
  absl::Status read = api::ReadJson(text, sink);
  if (sink.found) return absl::OkStatus();
  return read.ok() ? util::InvalidArgument("it is empty") : read;
}

// An object's JSON without the kind and apiVersion that it has on the wire.
absl::StatusOr<std::string> Untyped(const std::string& raw) {
  api::Document document;
  BERTH_RETURN_IF_ERROR(document.Parse(raw));
  std::string out = "{";
  for (const Json::Member& m : document.root().Children()) {
    if (m.key == "kind" || m.key == "apiVersion") continue;
    if (out.size() > 1) out += ',';
    api::AppendJsonString(m.key, &out);
    out += ':';
    out.append(raw, m.value.begin_offset(), m.value.end_offset() - m.value.begin_offset());
  }
  out += '}';
  return out;
}

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

  // A name is shown in logs, events, conditions and metrics, where a password has no place.
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

  absl::StatusOr<FilterResult> Filter(const api::Pod& pod, const std::vector<api::NodePtr>& nodes) override {
    FilterResult out;
    if (config_.filter_verb.empty()) {
      for (const api::NodePtr& n : nodes) out.nodes.emplace_back(n->meta.name);
      return out;
    }
    auto body = Arguments(pod, nodes);
    if (!body.ok()) return body.status();
    api::Document document;
    BERTH_RETURN_IF_ERROR(Ask(config_.filter_verb, *body, true, &document));
    Json answer = document.root();
    if (!answer.IsNull() && !answer.IsObject()) return Misread(config_.filter_verb, "", "an object", answer);
    std::string error;
    BERTH_RETURN_IF_ERROR(ReadError(config_.filter_verb, answer, &error));
    if (!error.empty()) return util::Internal(error);

    absl::flat_hash_set<Symbol> asked;
    for (const api::NodePtr& n : nodes) asked.insert(Symbol(n->meta.name));
    auto survives = [&](std::string_view node) {
      if (asked.erase(Symbol::Find(node)) > 0) {
        out.nodes.emplace_back(node);
      } else {
        LOG_EVERY_N(WARNING, 100) << "Extender " << name() << " let node \"" << node << "\" pass for pod "
                                  << pod.meta.Key() << ", which is not among the nodes that it was asked about (or was "
                                  << "named twice); ignoring it";
      }
    };
    Json names = answer.Find("NodeNames"), whole = answer.Find("Nodes");
    if (!names.IsNull() && !names.IsArray()) return Misread(config_.filter_verb, "NodeNames", "a list of names", names);
    if (!whole.IsNull() && !whole.IsObject()) return Misread(config_.filter_verb, "Nodes", "a NodeList", whole);
    if (config_.node_cache_capable && !names.IsNull()) {
      for (const Json::Member& m : names.Children()) {
        if (!m.value.IsString()) return Misread(config_.filter_verb, "NodeNames", "a list of names", names);
        survives(m.value.Text());
      }
    } else {
      Json items = whole.Find("items");
      if (!items.IsNull() && !items.IsArray())
        return Misread(config_.filter_verb, "Nodes.items", "a list of nodes", items);
      for (const Json::Member& m : items.Children()) {
        Json node = m.value.Find("metadata").Find("name");
        if (!node.IsString()) return Misread(config_.filter_verb, "Nodes.items", "nodes with metadata.name", m.value);
        survives(node.Text());
      }
    }
    Json failed = answer.Find("FailedNodes");
    if (!failed.IsNull() && !failed.IsObject()) {
      return Misread(config_.filter_verb, "FailedNodes", "an object of reasons by node name", failed);
    }
    for (const Json::Member& m : failed.Children()) {
      if (!m.value.IsString() && !m.value.IsNull()) {
        return Misread(config_.filter_verb, "FailedNodes", "an object of reasons by node name", failed);
      }
      out.failed.emplace_back(Symbol(m.key), std::string(m.value.Text()));
    }
    return out;
  }

  absl::StatusOr<absl::flat_hash_map<Symbol, int64_t>> Prioritize(const api::Pod& pod,
                                                                  const std::vector<api::NodePtr>& nodes) override {
    absl::flat_hash_map<Symbol, int64_t> out;
    if (config_.prioritize_verb.empty()) return out;
    auto body = Arguments(pod, nodes);
    if (!body.ok()) return body.status();
    api::Document document;
    BERTH_RETURN_IF_ERROR(Ask(config_.prioritize_verb, *body, true, &document));
    Json answer = document.root();
    if (!answer.IsNull() && !answer.IsArray()) return Misread(config_.prioritize_verb, "", "a list of scores", answer);
    for (const Json::Member& m : answer.Children()) {
      Json host = m.value.Find("Host"), score = m.value.Find("Score");
      if ((!m.value.IsObject() && !m.value.IsNull()) || (!host.IsNull() && !host.IsString()) ||
          (!score.IsNull() && !score.IsInt())) {
        return Misread(config_.prioritize_verb, "", "{\"Host\": text, \"Score\": integer}", m.value);
      }
      int64_t weighted, sum;
      if (__builtin_mul_overflow(score.Int(), config_.weight, &weighted)) {
        weighted = score.Int() < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
      }
      int64_t& total = out[Symbol(host.Text())];
      if (__builtin_add_overflow(total, weighted, &sum)) {
        sum = weighted < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
      }
      total = sum;
    }
    return out;
  }

  bool IsBinder() const override { return !config_.bind_verb.empty(); }

  absl::Status Bind(const api::Pod& pod, const std::string& node) override {
    if (!IsBinder()) return util::FailedPrecondition("Unexpected empty bindVerb in extender");
    std::string body = "{\"PodName\":";
    api::AppendJsonString(pod.meta.name, &body);
    body += ",\"PodNamespace\":";
    api::AppendJsonString(pod.meta.ns.str(), &body);
    body += ",\"PodUID\":";
    api::AppendJsonString(pod.meta.uid, &body);
    body += ",\"Node\":";
    api::AppendJsonString(node, &body);
    body += '}';
    api::Document document;
    BERTH_RETURN_IF_ERROR(Ask(config_.bind_verb, body, false, &document));
    std::string error;
    BERTH_RETURN_IF_ERROR(ReadError(config_.bind_verb, document.root(), &error));
    return error.empty() ? absl::OkStatus() : util::Internal(error);
  }

 private:
  absl::Status Ask(const std::string& verb, const std::string& body, bool repeatable, api::Document* answer) {
    auto got = transport_->Post(absl::StrCat(base_, "/", verb), body, repeatable);
    if (!got.ok()) return got.status();
    if (got->status != 200) {
      return util::Unavailable(absl::StrCat("Failed ", verb, " with extender at URL ", shown_, ", code ", got->status));
    }
    if (absl::Status parsed = ParseFirst(got->body, answer); !parsed.ok()) {
      return util::InvalidArgument(
          absl::StrCat("extender at URL ", shown_, ": the answer to ", verb, " is not JSON: ", util::Message(parsed)));
    }
    return absl::OkStatus();
  }

  absl::Status ReadError(const std::string& verb, Json answer, std::string* out) const {
    Json error = answer.Find("Error");
    if (!error.IsNull() && !error.IsString()) return Misread(verb, "Error", "a text", error);
    *out = error.Text();
    return absl::OkStatus();
  }

  absl::Status Misread(const std::string& verb, const std::string& member, const std::string& wanted, Json got) const {
    return util::InvalidArgument(absl::StrCat("extender at URL ", shown_, ": the answer to ", verb, ": ", member,
                                              member.empty() ? "" : ": ", "expected ", wanted, ", got ", got.Brief()));
  }

  // The body of filter and prioritize.
  absl::StatusOr<std::string> Arguments(const api::Pod& pod, const std::vector<api::NodePtr>& nodes) {
    if (pod.raw == nullptr) {
      return util::FailedPrecondition(
          absl::StrCat("extender at URL ", shown_, ": the JSON of pod ", pod.meta.Key(), " was not kept"));
    }
    auto pod_json = Untyped(*pod.raw);
    if (!pod_json.ok()) return pod_json.status();
    std::string body = absl::StrCat("{\"Pod\":", *pod_json);
    if (config_.node_cache_capable) {
      body += ",\"Nodes\":null,\"NodeNames\":[";
      for (size_t i = 0; i < nodes.size(); ++i) {
        if (i > 0) body += ',';
        api::AppendJsonString(nodes[i]->meta.name, &body);
      }
      body += "]}";
      return body;
    }
    {
      std::lock_guard lock(mutex_);
      if (sent_nodes_.size() > 2 * nodes.size() + 1024) sent_nodes_.clear();  // most of them are gone
    }
    body += ",\"Nodes\":{\"metadata\":{},\"items\":[";
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (i > 0) body += ',';
      BERTH_RETURN_IF_ERROR(AppendNode(*nodes[i], &body));
    }
    body += "]},\"NodeNames\":null}";
    return body;
  }

  // Nodes change seldom and are sent with every pod: what is sent of each is kept.
  absl::Status AppendNode(const api::Node& node, std::string* body) {
    if (node.raw == nullptr) {
      return util::FailedPrecondition(absl::StrCat(
          "extender at URL ", shown_, " wants whole nodes (nodeCacheCapable is false), and the JSON of node ",
          node.meta.name, " was not kept"));
    }
    std::lock_guard lock(mutex_);
    SentNode& sent = sent_nodes_[Symbol(node.meta.name)];
    if (sent.raw != node.raw) {
      auto json = Untyped(*node.raw);
      if (!json.ok()) return json.status();
      sent = {node.raw, std::move(*json)};
    }
    *body += sent.json;
    return absl::OkStatus();
  }

  struct SentNode {
    std::shared_ptr<const std::string> raw;
    std::string json;
  };
  const ExtenderConfig config_;
  std::string base_;         // without trailing slashes
  const std::string shown_;  // the URL without its password
  absl::flat_hash_set<Symbol> managed_;
  std::unique_ptr<ExtenderTransport> transport_;
  std::mutex mutex_;
  absl::flat_hash_map<Symbol, SentNode> sent_nodes_;
};

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
  if (auto url = http::ParseUrl(config.url_prefix); !url.ok()) {
    return util::InvalidArgument(absl::StrCat("extender: urlPrefix ", util::Message(url.status())));
  }
  if (config.http_timeout_nanos < 0) {
    return util::InvalidArgument(absl::StrCat("extender ", http::RedactUrl(config.url_prefix),
                                              ": httpTimeout: ", config.http_timeout_nanos,
                                              " is negative; it should be a number of nanoseconds"));
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
  if (!client.ok()) return client.status();
  return NewHttpExtender(config, std::make_unique<NetworkTransport>(*std::move(client)));
}

std::unique_ptr<Extender> NewHttpExtender(const ExtenderConfig& config, std::unique_ptr<ExtenderTransport> transport) {
  return std::make_unique<HttpExtender>(config, std::move(transport));
}

}  // namespace berth::scheduler
