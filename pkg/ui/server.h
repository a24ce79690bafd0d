// /ui/ and /ui/api/: the page, and what it shows as JSON. Only reads.
//
// Threading: one server thread; the source's callbacks come on it.
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
  // Who follows the nodes at a time; what is answered at a time that takes long; how long a stream lasts until the
  // browser has to connect again; how long a question may wait and a drain may be worked on.
  static constexpr size_t kMostViewers = 32, kMostWork = 8;
  static constexpr absl::Duration kLongestStream = absl::Hours(1), kLongestWork = absl::Seconds(10);

  // `after` calls a function on the server's thread when the time has passed. `source` outlives the object. The object
  // lives as long as callbacks of `source` and `after` may come.
  using After = std::function<void(absl::Duration, std::function<void()>)>;
  Server(Source* source, After after);
  ~Server();
  Server(const Server&) = delete;

  // Whether a path is answered here.
  static bool Serves(std::string_view path) { return path == "/ui" || path.starts_with("/ui/"); }
  // Answers a request. With `authorized` false it must come from this machine and name this machine in its Host header,
  // so that neither another machine nor a page of another site that has a name for this address reads the cluster.
  void Handle(const http::ServerRequest& request, http::Responder answer, bool authorized);

 private:
  class Viewer;
  using Parameters = std::map<std::string, std::string, std::less<>>;
  void Api(const http::ServerRequest& request, http::Responder answer, std::string_view path);
  void Pending(const Parameters& parameters, http::Responder answer);
  void Pod(std::string key, http::Responder answer);
  void Search(std::string text, http::Responder answer);
  void Simulate(const std::string& body, http::Responder answer);
  // Answers with what `make` returns, which is called where it keeps nobody waiting.
  void AnswerLater(http::Responder answer, std::function<absl::StatusOr<std::string>()> make);
  bool Busy(const http::Responder& answer) const;
  void Follow(http::Responder answer, const std::string& label);
  void Look();
  void SendTo(const std::set<Viewer*>& viewers, std::string_view label, const Snapshot& now);

  Source* source_;
  const After after_;
  Simulator simulator_;                               // of the source's worker
  std::map<std::string, std::set<Viewer*>> viewers_;  // by the label that they group nodes by
  size_t viewer_count_ = 0;
  bool looking_ = false;
  std::shared_ptr<const Snapshot> last_;  // what the viewers have seen
  size_t working_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace berth::ui
