// Short answers are sent at once. Those that take long go through AnswerLater(), which bounds how many are waiting;
// `working_` counts them from the request to the response. Viewers, which follow the nodes, all receive the same chunks
// if they group by the same label.
#include "pkg/ui/server.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/time/clock.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "pkg/api/json_writer.h"
#include "pkg/ui/answers.h"
#include "pkg/ui/assets.h"
#include "pkg/util/status.h"

namespace berth::ui {
namespace {

constexpr absl::Duration kLookPeriod = absl::Milliseconds(250);
constexpr size_t kMostBody = size_t{1} << 20, kMostTarget = 4096, kMostFound = 50;

http::ServerResponse Answer(int status, std::string_view type, std::string_view body) {
  http::ServerResponse r;
  r.status = status;
  r.content_type = std::string(type);
  r.body = std::string(body);
  r.no_sniff = true;
  r.gzip = true;
  r.headers = {
      {"Content-Security-Policy", "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
      {"Cache-Control", "no-store"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Resource-Policy", "same-origin"}};
  return r;
}
http::ServerResponse Json(std::string_view body) {
  return Answer(200, "application/json", body);
}
http::ServerResponse Error(int status, std::string_view text) {
  return Answer(status, "application/json", api::JsonWriter().Object().Member("error", text).End().Finish());
}

http::ServerResponse FromStatus(const absl::Status& s) {
  const int status = absl::IsNotFound(s) ? 404 : absl::IsInvalidArgument(s) ? 400 : absl::IsUnavailable(s) ? 503 : 500;
  return Error(status, util::Message(s));
}

// Returns whether an authority ("host:port", "[v6]:port" or "host") names this host.
bool NamesThisMachine(std::string_view authority) {
  const std::string_view host =
      authority.substr(0, authority.starts_with('[') ? authority.find(']') + 1 : authority.find(':'));
  return host == "localhost" || host == "127.0.0.1" || host == "[::1]";
}

// Returns whether a page of another site made the browser send the request. Such a page could not read the answer, but
// it could keep the scheduler busy.
bool FromOtherSite(const http::ServerRequest& r) {
  const std::string_view origin = r.Header("Origin");
  const size_t scheme = origin.find("://");
  if (!origin.empty() && (scheme == std::string_view::npos || origin.substr(scheme + 3) != r.Header("Host")))
    return true;
  const std::string_view site = r.Header("Sec-Fetch-Site");
  const bool navigation = r.Header("Sec-Fetch-Mode") == "navigate";
  return !site.empty() && site != "same-origin" && site != "none" && !navigation;
}

int HexDigit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}
// Decodes "%2F" as "/" and so on. Text that is not such a sequence is kept.
std::string Unescaped(std::string_view s) {
  std::string out;
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '%' && i + 2 < s.size() && HexDigit(s[i + 1]) >= 0 && HexDigit(s[i + 2]) >= 0) {
      out.push_back(static_cast<char>(HexDigit(s[i + 1]) * 16 + HexDigit(s[i + 2])));
      i += 2;
    } else {
      out.push_back(s[i] == '+' ? ' ' : s[i]);
    }
  }
  return out;
}
std::map<std::string, std::string, std::less<>> ParametersOf(std::string_view query) {
  std::map<std::string, std::string, std::less<>> out;
  for (size_t at = 0; at < query.size();) {
    const size_t end = std::min(query.find('&', at), query.size());
    const std::string_view one = query.substr(at, end - at);
    const size_t equals = std::min(one.find('='), one.size());
    out[Unescaped(one.substr(0, equals))] = Unescaped(one.substr(std::min(equals + 1, one.size())));
    at = end + 1;
  }
  return out;
}

}  // namespace

// A browser that follows the nodes: a stream of server-sent events. It may outlive the server, and checks `alive_`
// before it uses the server.
class Server::Viewer final : public http::StreamSource {
 public:
  Viewer(Server* server, std::string label)
      : server_(server), alive_(server->alive_), label_(std::move(label)), end_(absl::Now() + kLongestStream) {
    server_->viewers_[label_].insert(this);
    ++server_->viewer_count_;
  }
  ~Viewer() override { Leave(); }
  void Start(http::StreamWriter* writer) override {
    writer_ = writer;
    writer_->Send(http::MakeChunk("retry: 2000\n\n"));
  }
  void Send(const http::Chunk& c) {
    if (writer_ != nullptr) writer_->Send(c);
  }
  bool over() const { return absl::Now() > end_; }
  void Finish() {
    Leave();
    if (writer_ != nullptr) std::exchange(writer_, nullptr)->Finish();
  }
  bool has_all = false;  // has been sent all nodes

 private:
  void Leave() {
    if (left_ || alive_.expired()) return;
    left_ = true;
    --server_->viewer_count_;
    auto it = server_->viewers_.find(label_);
    it->second.erase(this);
    if (it->second.empty()) server_->viewers_.erase(it);
  }
  Server* server_;
  std::weak_ptr<bool> alive_;
  const std::string label_;
  const absl::Time end_;
  http::StreamWriter* writer_ = nullptr;
  bool left_ = false;
};

Server::Server(Source* source, After after)
    : source_(source), after_(std::move(after)), simulator_(&source->algorithms()) {}
Server::~Server() = default;

void Server::Handle(const http::ServerRequest& r, http::Responder answer, bool authorized) {
  if (!authorized && (!r.loopback || !NamesThisMachine(r.Header("Host")))) {
    return answer.Send(Error(403,
                             "This page is served to this machine only, under the names localhost and 127.0.0.1. From "
                             "elsewhere use kubectl port-forward, or the secure port."));
  }
  if (FromOtherSite(r)) return answer.Send(Error(403, "Cross-site requests are not allowed."));
  if (r.path.size() + r.query.size() > kMostTarget) return answer.Send(Error(414, "The address is too long."));
  if (r.body.size() > kMostBody) {
    return answer.Send(Error(413, absl::StrCat("The body is larger than ", kMostBody, " bytes.")));
  }
  if (r.path == "/ui") {
    http::ServerResponse moved = Answer(301, "text/plain", "");
    moved.headers.emplace_back("Location", "/ui/");
    return answer.Send(std::move(moved));
  }
  const std::string_view path = std::string_view(r.path).substr(4);
  const bool simulate = path == "api/simulate";
  if (simulate ? r.method != "POST" : r.method != "GET" && r.method != "HEAD") {
    http::ServerResponse e = Error(405, "This method is not allowed here.");
    e.headers.emplace_back("Allow", simulate ? "POST" : "GET, HEAD");
    return answer.Send(std::move(e));
  }
  if (path.starts_with("api/")) return Api(r, std::move(answer), path.substr(4));
  const Asset* asset = FindAsset(path);
  if (asset == nullptr) return answer.Send(Error(404, "There is no such page."));
  answer.Send(Answer(200, asset->type, asset->content));
}

void Server::Api(const http::ServerRequest& r, http::Responder answer, std::string_view path) {
  const Parameters parameters = ParametersOf(r.query);
  const auto parameter = [&](std::string_view name) {
    const auto it = parameters.find(name);
    return it == parameters.end() ? std::string() : it->second;
  };
  if (path == "summary") {
    source_->GetSnapshot([this, answer](const std::shared_ptr<const Snapshot>& s) {
      answer.Send(Json(SummaryJson(*s, source_->history(), source_->live())));
    });
  } else if (path == "nodes") {
    if (r.Header("Accept") == "text/event-stream" && r.method == "GET")
      return Follow(std::move(answer), parameter("label"));
    source_->GetSnapshot([answer, label = parameter("label")](const std::shared_ptr<const Snapshot>& s) {
      answer.Send(Json(NodesJson(*s, label)));
    });
  } else if (path == "pending") {
    Pending(parameters, std::move(answer));
  } else if (path.starts_with("nodes/") && path.size() > 6) {
    Node(Unescaped(path.substr(6)), std::move(answer));
  } else if (path == "fixes") {
    Fixes(std::move(answer));
  } else if (path == "preemptions") {
    answer.Send(Json(PreemptionsJson(source_->history())));
  } else if (path == "config") {
    answer.Send(Json(source_->ConfigurationJson()));
  } else if (path == "simulate") {
    Simulate(r.body, std::move(answer));
  } else if (path == "search") {
    Search(parameter("q"), std::move(answer));
  } else if (path.starts_with("pods/") && path.find('/', 5) != std::string_view::npos) {
    Pod(Unescaped(path.substr(5)), std::move(answer));
  } else {
    answer.Send(
        Error(404,
              "There are /ui/api/summary, nodes, nodes/NAME, pending, fixes, pods/NAMESPACE/NAME, preemptions, config, "
              "search?q=TEXT "
              "and, by POST, simulate."));
  }
}

// ---- what takes long ------------------------------------------------------------------------------

bool Server::Busy(const http::Responder& answer) const {
  if (working_ < kMostWork) return false;
  answer.Send(Error(503, "Too many requests are in progress. Try again in a moment."));
  return true;
}

// The age of the request is checked when its turn comes: if it has waited too long, it is rejected instead of being
// computed for a client that has probably given up.
void Server::AnswerLater(http::Responder answer, std::function<absl::StatusOr<std::string>()> make) {
  auto result = std::make_shared<absl::StatusOr<std::string>>();
  const absl::Time asked = absl::Now();
  const auto work = [result, asked, make = std::move(make)] {
    *result = absl::Now() - asked > kLongestWork
                  ? util::Unavailable("The request waited too long behind others. Try again in a moment.")
                  : make();
  };
  source_->Work(work, [this, answer, result] {
    --working_;
    answer.Send(result->ok() ? Json(**result) : FromStatus(result->status()));
  });
}

void Server::Pending(const Parameters& parameters, http::Responder answer) {
  PendingFilter f;
  for (const auto& [name, value] : parameters) {
    std::string* text = name == "reason"      ? &f.reason
                        : name == "namespace" ? &f.ns
                        : name == "owner"     ? &f.owner
                        : name == "place"     ? &f.place
                                              : nullptr;
    size_t* number = name == "offset" ? &f.offset : name == "limit" ? &f.limit : nullptr;
    if (text != nullptr) *text = value;
    uint64_t parsed = 0;
    if (number != nullptr && !absl::SimpleAtoi(value, &parsed)) {
      return answer.Send(Error(400, absl::StrCat(name, ": \"", value, "\" is not a number")));
    }
    if (number != nullptr) *number = parsed;
  }
  if (Busy(answer)) return;
  ++working_;
  source_->GetPending([this, answer, f](const std::shared_ptr<const PendingPods>& pods) {
    AnswerLater(answer, [pods, f] { return PendingJson(*pods, f, absl::Now()); });
  });
}

void Server::Pod(std::string key, http::Responder answer) {
  if (Busy(answer)) return;
  ++working_;
  source_->GetPending([this, answer, key = std::move(key)](const std::shared_ptr<const PendingPods>& pods) {
    source_->GetCluster([this, answer, key, pods](const std::shared_ptr<const Cluster>& cluster) {
      AnswerLater(answer, [this, cluster, pods, key] {
        const auto pending =
            std::find_if(pods->begin(), pods->end(), [&](const PendingPod& p) { return p.pod->meta.Key() == key; });
        return simulator_.PodJson(cluster, source_->history(), key, pending == pods->end() ? nullptr : &*pending);
      });
    });
  });
}

void Server::Node(std::string name, http::Responder answer) {
  if (Busy(answer)) return;
  ++working_;
  source_->GetCluster([this, answer, name = std::move(name)](const std::shared_ptr<const Cluster>& cluster) {
    AnswerLater(answer, [this, cluster, name] { return simulator_.NodeJson(cluster, name); });
  });
}

void Server::Fixes(http::Responder answer) {
  if (Busy(answer)) return;
  ++working_;
  source_->GetPending([this, answer](const std::shared_ptr<const PendingPods>& pods) {
    source_->GetCluster([this, answer, pods](const std::shared_ptr<const Cluster>& cluster) {
      AnswerLater(answer,
                  [this, cluster, pods] { return simulator_.FixesJson(cluster, *pods, absl::Now() + kLongestWork); });
    });
  });
}

void Server::Search(std::string text, http::Responder answer) {
  if (text.empty()) return answer.Send(Error(400, "q: give a part of a name"));
  if (Busy(answer)) return;
  ++working_;
  source_->GetCluster([this, answer, text = std::move(text)](const std::shared_ptr<const Cluster>& cluster) {
    AnswerLater(answer, [cluster, text] { return SearchJson(*cluster, text, kMostFound); });
  });
}

void Server::Simulate(const std::string& body, http::Responder answer) {
  if (Busy(answer)) return;
  ++working_;
  source_->GetCluster([this, answer, body](const std::shared_ptr<const Cluster>& cluster) {
    AnswerLater(answer,
                [this, cluster, body] { return simulator_.SimulateJson(cluster, body, absl::Now() + kLongestWork); });
  });
}

// ---- following the nodes --------------------------------------------------------------------------

void Server::Follow(http::Responder answer, const std::string& label) {
  if (viewer_count_ >= kMostViewers) {
    return answer.Send(Error(503, absl::StrCat("Already ", kMostViewers, " people are looking. Try again later.")));
  }
  http::ServerResponse r = Answer(200, "text/event-stream", "");
  r.gzip = false;
  r.stream = std::make_shared<Viewer>(this, label);
  answer.Send(std::move(r));
  if (!looking_) Look();
}

// While there are viewers, sends the changes since the previous snapshot to all viewers.
void Server::Look() {
  looking_ = viewer_count_ > 0;
  if (!looking_) {
    last_.reset();
    return;
  }
  source_->GetSnapshot([this](std::shared_ptr<const Snapshot> now) {
    std::vector<Viewer*> over;
    for (const auto& [label, viewers] : viewers_) {
      SendTo(viewers, label, *now);
      std::copy_if(viewers.begin(), viewers.end(), std::back_inserter(over), [](Viewer* v) { return v->over(); });
    }
    for (Viewer* v : over) v->Finish();
    last_ = std::move(now);
    after_(kLookPeriod, [this, alive = std::weak_ptr<bool>(alive_)] {
      if (!alive.expired()) Look();
    });
  });
}

void Server::SendTo(const std::set<Viewer*>& viewers, std::string_view label, const Snapshot& now) {
  bool whole = last_ == nullptr;
  std::string delta;
  if (!whole && last_.get() != &now) delta = NodesDeltaJson(*last_, now, label, &whole);
  // Without changes an SSE comment is sent, which shows that the connection is alive.
  const http::Chunk changed =
      http::MakeChunk(delta.empty() ? ": no change\n\n" : absl::StrCat("event: changes\ndata: ", delta, "\n"));
  http::Chunk all;
  for (Viewer* v : viewers) {
    if (v->has_all && !whole) {
      v->Send(changed);
      continue;
    }
    if (all == nullptr) all = http::MakeChunk(absl::StrCat("event: nodes\ndata: ", NodesJson(now, label), "\n"));
    v->has_all = true;
    v->Send(all);
  }
}

}  // namespace berth::ui
