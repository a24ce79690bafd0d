// The source of the page's data: a running scheduler or a result.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "pkg/ui/history.h"
#include "pkg/ui/snapshot.h"

namespace berth::ui {

// Methods are called on the server's thread. `done` is called on that thread too, inside the call or later. The objects
// are immutable.
class Source {
 public:
  template <typename T>
  using Done = std::function<void(std::shared_ptr<const T>)>;
  virtual ~Source() = default;

  virtual void GetSnapshot(Done<Snapshot> done) = 0;
  virtual void GetPending(Done<PendingPods> done) = 0;
  virtual void GetCluster(Done<Cluster> done) = 0;
  // Runs `work`, which may take long, and then `done` on the server's thread. A live source runs `work` on a thread of
  // its own, one call after another in their order. A result runs both functions inside the call.
  virtual void Work(std::function<void()> work, std::function<void()> done) = 0;
  virtual const Algorithms& algorithms() = 0;
  // Returns a JSON object.
  virtual std::string ConfigurationJson() = 0;
  virtual const History& history() = 0;
  // Returns false for a result, which does not change.
  virtual bool live() const = 0;
};

}  // namespace berth::ui
