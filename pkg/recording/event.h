// The inputs and outputs of the scheduler, one by one in the order in which they occur: the content of a recording
// (README.md in this folder describes the file format).
#pragma once
#include <absl/container/inlined_vector.h>

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "pkg/api/kinds.h"
#include "pkg/scheduler/extender/extender.h"
#include "pkg/scheduler/scheduler.h"
#include "pkg/scheduler/scheduler_actions.h"

namespace berth::recording {

// ---- inputs -------------------------------------------------------------------------------------

// A change of any kind of object that the scheduler watches.
using AnyChange = api::WatchedKinds::Of<std::variant, scheduler::Change>;
// Returns the API's name of the kind of AnyChange's alternative with this index.
std::string_view KindName(size_t index);

// The form of an event's message. Nearly all events say that a pod was assigned to its node.
enum class MessageForm : uint8_t {
  kText,           // as text
  kAssigned,       // "Successfully assigned NAME to NODE" (1.10)
  kAssignedByKey,  // "Successfully assigned NAMESPACE/NAME to NODE" (1.29)
};

// The reply to a request. Nearly all replies only say that the request succeeded, and the first output of nearly all of
// them is the event that a pod was assigned to its node. That event is stored with its input.
class ReplyInput {
 public:
  struct Assigned {
    api::PodPtr pod;  // null if the first output is not such an event, or if there is none
    util::Symbol node;
    MessageForm form = MessageForm::kText;  // never kText if `pod` is set
  };
  ReplyInput() = default;
  explicit ReplyInput(const scheduler::Reply& r) : id_(r.id) {
    if (!r.answer.ok() || r.pod != nullptr) whole_ = std::make_unique<scheduler::Reply>(r);
  }
  scheduler::RequestId id() const { return id_; }
  scheduler::Reply reply() const { return whole_ != nullptr ? *whole_ : scheduler::Reply{id_, {}, nullptr}; }
  const Assigned& assigned() const { return assigned_; }
  void set_assigned(Assigned a) { assigned_ = std::move(a); }

 private:
  scheduler::RequestId id_ = 0;
  std::unique_ptr<scheduler::Reply> whole_;  // null for success without an object
  Assigned assigned_;
};

struct TickInput {};
struct StopInput {};

// ScheduleOne was called and there was a pod to try. What follows for nearly every pod is stored with the input: a node
// was found, and the bind to it was requested.
struct ScheduleInput {
  api::PodPtr pod;  // null if the outputs follow as events of their own
  util::SharedSymbol node;
  uint32_t feasible = 0, ties = 0;
  scheduler::RequestId bind = 0;  // 0 if the bind was not requested, or follows as an event of its own
  uint64_t round_robin = 0;
};

// The response of an extender during a decision.
struct ExtenderAnswer {
  enum class Call : uint8_t { kFilter, kPrioritize, kPreempt };
  Call call = Call::kFilter;
  std::string extender;
  std::string error;                                              // not empty if the call failed
  std::vector<std::string> nodes;                                 // kFilter: survivors
  std::vector<std::pair<std::string, std::string>> failed;        // kFilter: node, reason
  std::vector<std::pair<std::string, int64_t>> scores;            // kPrioritize, by node name
  std::vector<std::pair<std::string, std::string>> unresolvable;  // kFilter: node, reason
  std::vector<scheduler::Extender::AgreedEviction> evictions;     // kPreempt
};

// ---- outputs ------------------------------------------------------------------------------------

struct DecisionOutput {
  DecisionOutput() = default;
  DecisionOutput(api::PodPtr of, const scheduler::Decision& d, uint64_t counter)
      : pod(std::move(of)),
        outcome(d.outcome),
        host(d.host),
        feasible(d.feasible),
        ties(d.ties),
        round_robin(counter),
        error(d.error.empty() ? nullptr : std::make_unique<std::string>(d.error)) {}
  explicit DecisionOutput(const ScheduleInput& s)
      : pod(s.pod),
        outcome(scheduler::Decision::Outcome::kPlaced),
        host(s.node),
        feasible(s.feasible),
        ties(s.ties),
        round_robin(s.round_robin) {}

  api::PodPtr pod;
  scheduler::Decision::Outcome outcome = scheduler::Decision::Outcome::kError;
  util::SharedSymbol host;
  size_t feasible = 0, ties = 0;
  uint64_t round_robin = 0;
  std::unique_ptr<std::string> error;  // null if there is none
};
struct PreemptionOutput {
  api::PodPtr pod;
  scheduler::Preemption preemption;
};
// A request or an event, that is, a call of scheduler::Actions.
struct RequestOutput {
  enum class Kind : uint8_t {
    kBind,
    kCondition,
    kNominate,
    kDelete,
    kGet,
    kGetNode,
    kVolume,
    kEvent,
    kPatch,       // release 1.29: a patch of a pod's status
    kMarkVictim,  // release 1.29: the DisruptionTarget condition of a victim
    kClaim,       // release 1.29: a claim's selected node
  };
  Kind kind = Kind::kBind;
  MessageForm message = MessageForm::kText;  // kEvent: kText is in `words`; other forms follow from `pod` and `node`
  bool flag = false;            // kBind: by an extender. kVolume: annotate. kEvent: a warning. kPatch: `node` counts
  scheduler::RequestId id = 0;  // 0 for kEvent
  api::PodPtr pod;              // null for kGet, kGetNode, kVolume and kClaim
  util::SharedSymbol node;      // kBind, kNominate, kGetNode, kPatch; kEvent: of an assigned pod
  struct Words {
    std::string name;  // kVolume: the volume. kEvent: the reason. kGet, kClaim: "namespace/name"
    std::string text;  // kEvent: the message. kVolume: the claim's key. kClaim: the node. kGet: the uid
  };
  std::unique_ptr<Words> words;  // of kVolume, kGet and kClaim, and of kEvent with MessageForm::kText; else null
  std::unique_ptr<api::PodCondition> condition;  // kCondition, kMarkVictim; kPatch: may be null
};

// ---- everything ---------------------------------------------------------------------------------

// There are four events for each pod, which one thread writes and another reads, so rare parts are behind pointers.
struct Event {
  std::variant<AnyChange, ReplyInput, TickInput, ScheduleInput, StopInput, std::unique_ptr<ExtenderAnswer>,
               DecisionOutput, std::unique_ptr<PreemptionOutput>, RequestOutput>
      what;
  // For inputs: the clock readings while the input was processed. Steady time in microseconds, Unix time in seconds.
  absl::InlinedVector<int64_t, 2> steady;
  absl::InlinedVector<int64_t, 1> wall;

  bool IsInput() const { return what.index() <= 4; }
};

// Receives events in the order in which they happen and leaves `batch` empty. Called on the scheduler's thread; must
// not block.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void Take(std::vector<Event>* batch) = 0;
};

}  // namespace berth::recording
