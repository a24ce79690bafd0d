// What goes into the scheduler and what comes out of it, one by one and in the order in which it happens: the content
// of a recording (README.md in this folder describes the file format).
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "pkg/api/kinds.h"
#include "pkg/scheduler/scheduler.h"
#include "pkg/scheduler/scheduler_actions.h"

namespace berth::recording {

// ---- inputs -------------------------------------------------------------------------------------

// Of each kind of object that the scheduler is told about.
using AnyChange = api::WatchedKinds::Of<std::variant, scheduler::Change>;
// The kind of AnyChange's alternative of this index, as the API names it.
std::string_view KindName(size_t index);

struct TickInput {};
struct ScheduleInput {};  // ScheduleOne was called, and there was a pod to try
struct StopInput {};

// The answer of an extender, given while a pod was decided.
struct ExtenderAnswer {
  enum class Call : uint8_t { kFilter, kPrioritize };
  Call call = Call::kFilter;
  std::string extender;
  std::string error;                                        // not empty: the call failed
  std::vector<std::string> nodes;                           // kFilter: survivors
  std::vector<std::pair<std::string, std::string>> failed;  // kFilter: node, reason
  std::vector<std::pair<std::string, int64_t>> scores;      // kPrioritize, by node name
};

// ---- outputs ------------------------------------------------------------------------------------

struct DecisionOutput {
  api::PodPtr pod;
  scheduler::Decision decision;
  uint64_t round_robin = 0;
};
struct PreemptionOutput {
  api::PodPtr pod;
  scheduler::Preemption preemption;
};
// A request or an event: a call of scheduler::Actions.
struct RequestOutput {
  enum class Kind : uint8_t { kBind, kCondition, kNominate, kDelete, kGet, kGetNode, kVolume, kEvent };
  Kind kind = Kind::kBind;
  scheduler::RequestId id = 0;  // 0 for kEvent
  api::PodPtr pod;              // null for kGetNode and kVolume
  // kBind, kNominate, kGetNode: the node. kVolume: the volume. kEvent: the reason.
  std::string name;
  bool flag = false;     // kBind: by an extender. kVolume: annotate. kEvent: a warning
  std::string text;      // kEvent: the message. kVolume: "namespace/name" of the claim. kGet: the uid
  std::string pod_name;  // "namespace/name" for kGet, which has no object
  std::unique_ptr<api::PodCondition> condition;  // kCondition
};

// ---- everything ---------------------------------------------------------------------------------

struct Event {
  std::variant<AnyChange, scheduler::Reply, TickInput, ScheduleInput, StopInput, ExtenderAnswer, DecisionOutput,
               PreemptionOutput, RequestOutput>
      what;
  // Of inputs: the readings of the clocks while the input was worked on. Microseconds of steady time; seconds of Unix
  // time.
  std::vector<int64_t> steady, wall;

  bool IsInput() const { return what.index() <= 4; }
};

// Takes events in the order in which they happen. Events are moved from. Called on the scheduler's thread; never waits.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void Take(std::vector<Event>* batch) = 0;
};

}  // namespace berth::recording
