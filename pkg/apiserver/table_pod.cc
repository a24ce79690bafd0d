// The cells of a pod.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <string>

#include "pkg/apiserver/table.h"
#include "pkg/apiserver/table_cells.h"
#include "pkg/apiserver/table_rows.h"
#include "pkg/util/status.h"

namespace berth::apiserver {

namespace {

using cells::Int;
using cells::Or;
using cells::Str;

// Returns how many of a pod's readiness gates are open: "1/2".
std::string ReadinessGates(const Value& pod) {
  const Value* gates = pod.At({"spec", "readinessGates"});
  if (gates == nullptr || gates->empty()) return "<none>";
  const Value* conditions = pod.At({"status", "conditions"});
  const auto open = std::count_if(gates->items.begin(), gates->items.end(), [&](const Value& gate) {
    return conditions != nullptr &&
           std::any_of(conditions->items.begin(), conditions->items.end(), [&](const Value& c) {
             return c.Str("type") == gate.Str("conditionType") && c.Str("status") == "True";
           });
  });
  return absl::StrCat(open, "/", gates->items.size());
}

// What the columns Ready, Status and Restarts say, as in Kubernetes 1.36 pkg/printers/internalversion.
struct PodState {
  size_t total = 0, ready = 0;
  int64_t restarts = 0;
  std::string last_end;  // when the last of the containers that were started again had ended; empty if none has
  std::string reason;

  // REQUIRES: the times of a pod are all written alike, as a server does.
  void NoteEnd(const Value& container_status) {
    last_end = std::max(last_end, std::string(Str(container_status, {"lastState", "terminated", "finishedAt"})));
  }
};

bool IsTrue(const Value& v, std::string_view member) {
  const Value* flag = v.Find(member);
  return flag != nullptr && flag->AsBool();
}

bool HasTrueCondition(const Value& pod, std::string_view type) {
  const Value* conditions = pod.At({"status", "conditions"});
  return conditions != nullptr && std::any_of(conditions->items.begin(), conditions->items.end(), [&](const Value& c) {
           return c.Str("type") == type && c.Str("status") == "True";
         });
}

// Returns the reason of a state "terminated", or its signal or exit code if it has none.
std::string EndOf(const Value& terminated) {
  if (const std::string_view reason = terminated.Str("reason"); !reason.empty()) return std::string(reason);
  if (const int64_t signal = Int(terminated, {"signal"}); signal != 0) return absl::StrCat("Signal:", signal);
  return absl::StrCat("ExitCode:", Int(terminated, {"exitCode"}));
}

// Reads the init containers. Returns whether one of them has not ended yet, or not well.
bool ReadInitContainers(const Value& pod, PodState* state, int64_t* restarts_of_sidecars) {
  const Value* specs = pod.At({"spec", "initContainers"});
  const auto stays = [&](std::string_view name) {
    return specs != nullptr && std::any_of(specs->items.begin(), specs->items.end(), [&](const Value& c) {
             return c.Str("name") == name && c.Str("restartPolicy") == "Always";
           });
  };
  const size_t all = specs == nullptr ? 0 : specs->items.size();
  for (size_t i = 0; i < all; ++i) state->total += stays(specs->items[i].Str("name")) ? 1 : 0;
  const Value* statuses = pod.At({"status", "initContainerStatuses"});
  for (size_t i = 0; statuses != nullptr && i < statuses->items.size(); ++i) {
    const Value& s = statuses->items[i];
    const bool sidecar = stays(s.Str("name"));
    state->restarts += Int(s, {"restartCount"});
    state->NoteEnd(s);
    if (sidecar) *restarts_of_sidecars += Int(s, {"restartCount"});
    const Value* terminated = s.At({"state", "terminated"});
    if (terminated != nullptr && Int(*terminated, {"exitCode"}) == 0) continue;
    if (sidecar && IsTrue(s, "started")) {
      state->ready += IsTrue(s, "ready") ? 1 : 0;
      continue;
    }
    const std::string_view waiting = Str(s, {"state", "waiting", "reason"});
    if (terminated != nullptr) {
      state->reason = absl::StrCat("Init:", EndOf(*terminated));
    } else if (!waiting.empty() && waiting != "PodInitializing") {
      state->reason = absl::StrCat("Init:", util::ToAbsl(waiting));
    } else {
      state->reason = absl::StrCat("Init:", i, "/", all);
    }
    return true;
  }
  return false;
}

PodState StateOfPod(const Value& pod) {
  PodState state;
  const Value* containers = pod.At({"spec", "containers"});
  state.total = containers == nullptr ? 0 : containers->items.size();
  state.reason = Or(Str(pod, {"status", "reason"}), Str(pod, {"status", "phase"}));
  if (const Value* conditions = pod.At({"status", "conditions"})) {
    for (const Value& c : conditions->items) {
      if (c.Str("type") == "PodScheduled" && c.Str("reason") == "SchedulingGated") state.reason = "SchedulingGated";
    }
  }
  int64_t restarts_of_sidecars = 0;
  const bool initializing = ReadInitContainers(pod, &state, &restarts_of_sidecars);
  const Value* statuses = pod.At({"status", "containerStatuses"});
  if (!initializing || HasTrueCondition(pod, "Initialized")) {
    state.restarts = restarts_of_sidecars;
    bool runs = false;
    for (size_t i = statuses == nullptr ? 0 : statuses->items.size(); i-- > 0;) {
      const Value& s = statuses->items[i];
      state.restarts += Int(s, {"restartCount"});
      state.NoteEnd(s);
      if (const std::string_view waiting = Str(s, {"state", "waiting", "reason"}); !waiting.empty()) {
        state.reason = waiting;
      } else if (const Value* terminated = s.At({"state", "terminated"})) {
        state.reason = EndOf(*terminated);
      } else if (IsTrue(s, "ready") && s.At({"state", "running"}) != nullptr) {
        runs = true;
        ++state.ready;
      }
    }
    if (state.reason == "Completed" && runs) state.reason = HasTrueCondition(pod, "Ready") ? "Running" : "NotReady";
  }
  if (pod.At({"metadata", "deletionTimestamp"}) != nullptr) state.reason = "Terminating";
  return state;
}

}  // namespace

void PodRow(const Value& v, absl::Time now, Row* out) {
  const PodState state = StateOfPod(v);
  out->Text(absl::StrCat(state.ready, "/", state.total));
  out->Text(state.reason);
  out->Number(state.restarts);
  out->Text(state.restarts == 0 || state.last_end.empty()
                ? absl::StrCat(state.restarts)
                : absl::StrCat(state.restarts, " (", Age(state.last_end, now, out->release), " ago)"));
  out->Text(Or(Str(v, {"status", "podIP"}), "<none>"));
  out->Text(Or(Str(v, {"spec", "nodeName"}), "<none>"));
  out->Text(Or(Str(v, {"status", "nominatedNodeName"}), "<none>"));
  out->Text(ReadinessGates(v));
}

}  // namespace berth::apiserver
