// One of several API servers before one etcd. Single objects are read from and written to etcd; lists from version 0
// and watches come from a watch cache, which lags behind and remembers only so much, as the real one's does.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "pkg/client/http.h"
#include "test/simulation/etcd.h"

namespace berth::simulation {

struct Response {
  int status = 200;
  std::string body;
};

Response StatusResponse(int code, std::string_view reason, std::string_view message, std::string_view resource = {},
                        std::string_view name = {});

// A path of the API, taken apart.
struct Target {
  std::string resource, ns, name, subresource;  // resource is empty when the path is none of the API
  std::map<std::string, std::string> query;
  std::string Key() const { return ns.empty() ? name : ns + "/" + name; }
};
Target ParseTarget(std::string_view target);

class ApiServer {
 public:
  // A watch that is being served. `send` gets one event, `end` comes last; neither comes after `over` is set.
  struct Watch {
    std::string resource;
    bool unfinished_pods_only = false, bookmarks = false;
    // Whether what there is comes first, and then a bookmark that says so; and whether that is what etcd has now and
    // not what this server knows.
    bool begins_with_list = false, is_current = false;
    uint64_t next = 0;  // the first version not sent yet
    std::function<void(std::string event)> send;
    std::function<void()> end;
    bool over = false;
  };

  explicit ApiServer(Etcd* etcd) : etcd_(etcd) { Reload(); }

  // Everything but lists and watches of whole resources.
  Response Handle(client::Method method, const Target& target, std::string_view body);
  Response List(const Target& target);
  // Returns null and an answer when the watch cannot be served.
  std::shared_ptr<Watch> Open(const Target& target, Response* refused);

  // Sends a watch that was just opened what is in the cache from its version on. Call once its `send` is set.
  void Begin(Watch* w) const;

  // The watch cache takes what etcd has, up to `version`, and tells the watches.
  void CatchUp(uint64_t version);
  // Tells the watches that want to know how far it is, as the real one does now and then.
  void SendBookmarks();
  // From now on the watch cache takes nothing, as one does whose connection to etcd is gone; or it does again.
  void Freeze() { frozen_ = true; }
  void Thaw() {
    frozen_ = false;
    CatchUp(etcd_->version());
  }
  // The watch cache forgets all but the last `commits` changes.
  void Compact(size_t commits);
  // It goes down: watches end. When it is up again its cache is new.
  void Stop();
  void Start() {
    Reload();
    up_ = true;
  }
  bool up() const { return up_; }
  // Cuts all watches, as a load balancer or a proxy does now and then.
  void CutWatches();
  uint64_t seen() const { return seen_; }
  size_t watches() const { return watches_.size(); }

 private:
  void Reload();
  void Send(Watch* w, const Commit& c) const;
  Response Bind(const Target& t, std::string_view body);
  Response PutStatus(const Target& t, std::string_view body);
  Response PutWhole(const Target& t, std::string_view body);
  Response DeletePod(const Target& t, std::string_view body);
  Response PatchStatus(const Target& t, std::string_view body);

  Etcd* etcd_;
  bool up_ = true, frozen_ = false;
  uint64_t seen_ = 0, oldest_ = 0;  // versions in the cache; a watch may begin at oldest_ or later
  std::map<std::string, Etcd::Table> cache_;
  std::deque<Commit> window_;
  std::list<std::shared_ptr<Watch>> watches_;
};

}  // namespace berth::simulation
