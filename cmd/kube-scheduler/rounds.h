// Which thread runs the next round of the scheduler.
//
// A round takes what has arrived in the inbox, applies it, lets time pass and decides. The thread that runs it *holds*
// the round: the state of the scheduler is its own from the round's begin to its end, and nobody else's. There are
// three kinds of holders:
//
//   the deciding thread   Run(); holds the first round, and all rounds while there is much to do. It sleeps when there
//                         is nothing left to do and nothing is due.
//   the host              an I/O thread. While the deciding thread sleeps and little arrives, the host runs the round
//                         for what it has put into the inbox itself, right after the function that put it. A pod that
//                         comes alone is thereby decided and bound without a switch of threads.
//   a visitor             any thread that looks at the state: Visit().
//
// Each holder looks into the inbox after it has let go, and wakes the deciding thread for what has been put meanwhile.
// So nothing that was put waits for somebody who sleeps, and items are applied in the order in which they were put.
#pragma once
#include <absl/time/time.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "cmd/kube-scheduler/inbox.h"
#include "pkg/util/clock.h"

namespace berth::kube_scheduler {

// Thread-safety: as each method says.
class Rounds {
 public:
  // What a round leaves.
  struct Left {
    bool more = false;                              // there is something to do without any further input
    absl::Duration due = absl::InfiniteDuration();  // when the next round must run at the latest; steady clock
  };
  // Applies the items and makes at most `most` decisions.
  using Round = std::function<Left(std::vector<InboxItem>& items, int most)>;

  // The I/O thread that may run rounds.
  struct Host {
    std::function<bool()> here;                           // returns whether the caller is on that thread
    std::function<void(std::function<void()>)> run_next;  // runs a function on that thread after the present one
  };

  // The most decisions in a round of the deciding thread, so that neither inputs nor decisions wait long for the other.
  static constexpr int kDecisions = 64;
  // The host has sockets to look after. So it runs a round only for a few changes, replies and commands, makes few
  // decisions in it, and does so only if the last round was quick and all that it has run took a small part of its
  // time.
  static constexpr size_t kFew = 32;
  static constexpr int kHostedDecisions = 16;
  static constexpr absl::Duration kQuick = absl::Milliseconds(1);
  static constexpr int kHostedPart = 4;  // one in so many
  static constexpr absl::Duration kMostCredit = absl::Milliseconds(5);

  // The arguments must outlive the object, and the object all threads that put something into the inbox. Nobody
  // may put anything into the inbox before the constructor returns.
  Rounds(Inbox* inbox, const util::Clock* clock, Host host);
  Rounds(const Rounds&) = delete;

  // Runs rounds on the calling thread, which becomes the deciding thread, until End() is called. The host and visitors
  // get no turn before the first of them has run. `hosted`: whether the host may run rounds; not if a round may block.
  // REQUIRES: called once.
  void Run(Round round, bool hosted);
  // Lets Run() return after one more round, for what has been put before. The host runs no round afterwards. May be
  // called from any thread.
  void End();
  // Calls f while the caller holds the round, and returns true; returns false if the caller got no turn within
  // `patience`. May be called from any thread. REQUIRES: the caller does not hold the round already.
  bool Visit(absl::Duration patience, const std::function<void()>& f);

 private:
  enum class Holder : uint8_t { kNobody, kDecider, kHost, kVisitor };
  using Lock = std::unique_lock<std::mutex>;

  // Called when the calling thread has put something into the inbox, where `waiting` things wait now.
  void Arrived(size_t waiting);
  // Returns whether the host may run the round for so many items. REQUIRES: nobody holds it.
  bool SuitsHost(size_t waiting);
  void RunHosted();
  // Runs a round and lets go of it. The lock is released meanwhile.
  void RunOne(Lock& lock, Holder holder, std::vector<InboxItem>* items, int most);
  // Lets the next thread hold the round, and wakes it if it sleeps.
  void LetGo();
  // Wakes the deciding thread if it sleeps.
  void Wake();
  // Returns when there is something for the deciding thread to do, nobody holds the round, and no visitor waits.
  void Sleep(Lock& lock);

  Inbox* const inbox_;
  const util::Clock* const clock_;
  const Host host_;
  Round round_;                          // set before anybody but the deciding thread may hold the round
  std::vector<InboxItem> hosted_items_;  // used by the host only

  std::mutex mutex_;
  // The members below are guarded by mutex_.
  std::condition_variable let_go_;  // wakes visitors
  std::condition_variable work_;    // wakes the deciding thread
  Holder holder_ = Holder::kDecider;
  std::thread::id visitor_;  // the last one that held the round
  bool hosted_ = false, ended_ = false;
  bool asleep_ = false;   // the deciding thread waits for work_, and nobody has woken it
  bool invited_ = false;  // the host is going to call RunHosted()
  bool quick_ = false;    // the last round was quick
  // What the host may spend on rounds, as of a time of the steady clock.
  absl::Duration credit_, credit_at_;
  int visitors_ = 0;  // threads that wait for let_go_
  // What the last round has left, and until when the deciding thread sleeps if nobody wakes it; steady clock.
  bool more_ = false;
  absl::Duration due_ = absl::InfiniteDuration(), sleeps_until_ = absl::InfiniteDuration();
};

}  // namespace berth::kube_scheduler
