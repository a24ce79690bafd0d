// Events of the API live for an hour since their last change, and there are only so many of them; beyond that the
// oldest go early. Owned by the store's thread.
#pragma once
#include <absl/time/time.h>

#include <deque>
#include <string>

#include "pkg/apiserver/store.h"
#include "pkg/util/clock.h"

namespace berth::apiserver {

class EventExpiry final : public EventListener {
 public:
  EventExpiry(Store* store, const util::Clock* clock, absl::Duration ttl, size_t most);
  ~EventExpiry() override;

  // Removes what is too old or too many. Called now and then.
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
  std::deque<Entry> entries_;  // one a write, oldest first; those of overwritten states are stale
};

}  // namespace berth::apiserver
