// Serves /ui/ and /ui/api/: the page, and its data as JSON. Nothing can be changed through it.
//
// Thread-safety: used on the server's thread only; the source calls back on that thread.
#pragma once
#include <absl/time/time.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "pkg/http/server.h"
#include "pkg/ui/simulator.h"
#include "pkg/ui/source.h"

namespace berth::ui {

class Server {
 public:
  // The most viewers that follow the nodes, and the most answers that are being computed, at a time; how long a stream
  // lasts before the browser has to connect again; and how long a request may wait or a drain be computed.
  static constexpr size_t kMostViewers = 32, kMostWork = 8;
  static constexpr absl::Duration kLongestStream = absl::Hours(1), kLongestWork = absl::Seconds(10);

  // `after` calls a function on the server's thread after a time. `source` must outlive the object. The object must not
  // be destroyed while `source` or `after` may still call back.
  using After = std::function<void(absl::Duration, std::function<void()>)>;
  Server(Source* source, After after);
  ~Server();
  Server(const Server&) = delete;

  // Returns whether this class answers requests for a path.
  static bool Serves(std::string_view path) { return path == "/ui" || path.starts_with("/ui/"); }
  // Answers a request. If `authorized` is false, the request must come from this host and name it in its Host header.
  // Otherwise other machines, or a page of another site that has a DNS name for this address, could read the cluster.
  void Handle(const http::ServerRequest& request, http::Responder answer, bool authorized);

 private:
  class Viewer;
  using Parameters = std::map<std::string, std::string, std::less<>>;
  void Api(const http::ServerRequest& request, http::Responder answer, std::string_view path);
  void Pending(const Parameters& parameters, http::Responder answer);
  void Pod(std::string key, http::Responder answer);
  void Node(std::string name, http::Responder answer);
  void Fixes(http::Responder answer);
  void Search(std::string text, http::Responder answer);
  void Simulate(const std::string& body, http::Responder answer);
  // Answers with the result of `make`, which is called by Source::Work and may take long.
  void AnswerLater(http::Responder answer, std::function<absl::StatusOr<std::string>()> make);
  bool Busy(const http::Responder& answer) const;
  void Follow(http::Responder answer, const std::string& label);
  void Look();
  void SendTo(const std::set<Viewer*>& viewers, std::string_view label, const Snapshot& now);

  Source* source_;
  const After after_;
  Simulator simulator_;                               // used on the source's worker
  std::map<std::string, std::set<Viewer*>> viewers_;  // by the label by which they group nodes
  size_t viewer_count_ = 0;
  bool looking_ = false;
  std::shared_ptr<const Snapshot> last_;  // the snapshot that the viewers have received
  size_t working_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace berth::ui
