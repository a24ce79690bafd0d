// What kubelets write into the status of pods and nodes.
#pragma once
#include <absl/time/time.h>

#include <cstdint>
#include <string_view>

#include "pkg/api/quantity.h"
#include "pkg/world/objects.h"

namespace berth::world::living {

// `version` is that of the kubelet. What the node says of itself already stays.
void WriteNodeStatus(std::string_view ip, std::string_view version, absl::Time now, Value* node);

// The pod does not fit: phase Failed.
void WriteRejected(std::string_view reason, std::string_view message, absl::Time now, Value* pod);
// Its containers are being created.
void WriteCreating(std::string_view host_ip, absl::Time now, Value* pod);
// Its containers run; init containers have ended, except sidecars.
void WriteRunning(std::string_view ip, bool ready, int64_t restarts, absl::Time now, Value* pod);
// The containers of a pod that runs get what its spec asks for.
void WriteResources(Value* pod);
// Returns whether they have it.
bool HasItsResources(const Value& pod);
// Its containers have ended and wait to be started again.
void WriteWaiting(int64_t exit_code, absl::Duration back_off, absl::Time now, Value* pod);
// Its containers have ended for good.
void WriteFinished(int64_t exit_code, absl::Time now, Value* pod);

// Returns whether the first container waits to be started again, and how often it has been.
bool IsWaiting(const Value& pod);
int64_t RestartsOf(const Value& pod);

// Returns an amount in the units of kubelets' messages: thousandths of a CPU, bytes, pieces.
int64_t UnitsOf(std::string_view resource, const api::Quantity& amount);

}  // namespace berth::world::living
