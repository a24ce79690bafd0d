// Deletes Event objects a certain time (an hour by default) after their last change. If there are more Events than a
// maximum, the oldest are deleted earlier. Thread-safety: used on the store's thread only.
#pragma once
#include <absl/time/time.h>

#include <deque>
#include <string>

#include "pkg/store/store.h"
#include "pkg/util/clock.h"

namespace berth::apiserver {

class EventExpiry final : public EventListener {
 public:
  EventExpiry(Store* store, const util::Clock* clock, absl::Duration ttl, size_t most);
  ~EventExpiry() override;

  // Deletes events that are too old or too many. To be called periodically.
  void Sweep();
  void OnEvent(const EventPtr& e) override;

 private:
  struct Entry {
    absl::Duration at;
    std::string ns, name;
    uint64_t rv;
  };
  Store* store_;
  const ResourceInfo& events_;
  const util::Clock* clock_;
  const absl::Duration ttl_;
  const size_t most_;
  std::deque<Entry> entries_;  // one for each write, oldest first; entries of overwritten states are stale
};

}  // namespace berth::apiserver
