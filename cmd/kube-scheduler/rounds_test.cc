#include "cmd/kube-scheduler/rounds.h"

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cctype>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pkg/util/clock.h"

namespace berth::kube_scheduler {
namespace {

// The rounds of a scheduler whose inputs are letters. The thread that makes the object is the host; what it is to run
// next is run by RunNext().
class LetterRounds {
 public:
  explicit LetterRounds(bool hosted = true) {
    clock.Advance(absl::Seconds(1));
    decider_ = std::thread([this, hosted] {
      rounds.Run([this](std::vector<InboxItem>& items, int most) { return Round(items, most); }, hosted);
    });
    AwaitSleep();
  }
  ~LetterRounds() {
    rounds.End();
    decider_.join();
  }

  // Returns when the deciding thread sleeps and has nothing to do. In the same step in which it lets go of the round it
  // falls asleep, or goes on with what there is.
  void AwaitSleep() {
    while (!rounds.Visit(absl::Seconds(1), [] {})) {
    }
  }
  void Put(char letter) {
    inbox.Put(std::function<void()>([this, letter] {
      const std::lock_guard lock(mutex_);
      applied_ += std::this_thread::get_id() == host_ ? static_cast<char>(std::toupper(letter)) : letter;
      news_.notify_all();
    }));
  }
  void PutFromAnotherThread(char letter) {
    std::thread([this, letter] { Put(letter); }).join();
  }
  // Returns how many functions there were.
  size_t RunNext() {
    const auto functions = std::exchange(next, {});
    for (const auto& f : functions) f();
    return functions.size();
  }
  // Returns the letters that have been applied when there are `count` of them, in capitals if the host has done it.
  std::string Applied(size_t count) {
    std::unique_lock lock(mutex_);
    news_.wait(lock, [&] { return applied_.size() >= count; });
    return applied_;
  }

  // Returns when the deciding thread has run so many rounds.
  void AwaitRounds(size_t count) {
    std::unique_lock lock(mutex_);
    news_.wait(lock, [&] { return rounds_of_decider_ >= count; });
  }
  bool limits_kept() {
    const std::lock_guard lock(mutex_);
    return limits_kept_;
  }

  util::ManualClock clock;
  Inbox inbox{1000};
  std::vector<std::function<void()>> next;  // what the host is to run
  Rounds rounds{&inbox,
                &clock,
                {[this] { return std::this_thread::get_id() == host_; },
                 [this](std::function<void()> f) { next.push_back(std::move(f)); }}};
  std::function<void()> in_round = [] {};  // called in each round with items
  Rounds::Left left;                       // of rounds with items that the host runs

 private:
  Rounds::Left Round(std::vector<InboxItem>& items, int most) {
    for (InboxItem& item : items) std::get<std::function<void()>>(item)();
    if (const auto f = in_round; !items.empty()) f();  // a copy, because it may change itself
    const bool hosted = std::this_thread::get_id() == host_;
    const std::lock_guard lock(mutex_);
    limits_kept_ = limits_kept_ && most == (hosted ? Rounds::kHostedDecisions : Rounds::kDecisions);
    if (hosted) return left;
    ++rounds_of_decider_;
    news_.notify_all();
    return {};
  }

  const std::thread::id host_ = std::this_thread::get_id();
  std::mutex mutex_;
  std::condition_variable news_;
  std::string applied_;
  size_t rounds_of_decider_ = 0;
  bool limits_kept_ = true;
  std::thread decider_;
};

TEST_CASE("rounds: the host runs the round for what it has put while the deciding thread sleeps") {
  LetterRounds r;
  r.Put('a');
  r.Put('b');
  CHECK(r.RunNext() == 1);
  CHECK(r.Applied(2) == "AB");
  r.Put('c');
  CHECK(r.RunNext() == 1);
  CHECK(r.Applied(3) == "ABC");
}

TEST_CASE("rounds: what another thread puts wakes the deciding thread") {
  LetterRounds r;
  r.PutFromAnotherThread('a');
  CHECK(r.Applied(1) == "a");
  r.AwaitSleep();
  r.Put('b');
  // Both are applied by one thread, in their order, whichever comes first.
  r.PutFromAnotherThread('c');
  CHECK(r.Applied(3) == "abc");
  r.AwaitSleep();
  CHECK(r.RunNext() == 1);
  CHECK(r.Applied(3) == "abc");
}

TEST_CASE("rounds: the host runs no round if that may block, for many items, or after a long round") {
  SECTION("may block") {
    LetterRounds r(/*hosted=*/false);
    r.Put('a');
    CHECK(r.Applied(1) == "a");
    CHECK(r.RunNext() == 0);
  }
  SECTION("many items") {
    LetterRounds r;
    for (size_t i = 0; i <= Rounds::kFew; ++i) r.Put('a');
    CHECK(r.Applied(Rounds::kFew + 1).size() == Rounds::kFew + 1);
    r.AwaitSleep();
    r.RunNext();
    CHECK(r.Applied(1) == std::string(Rounds::kFew + 1, 'a'));
  }
  SECTION("a long round") {
    LetterRounds r;
    r.in_round = [&] { r.clock.Advance(Rounds::kQuick * 2); };
    r.Put('a');
    CHECK(r.RunNext() == 1);
    CHECK(r.Applied(1) == "A");
    r.in_round = [] {};
    r.Put('b');
    CHECK(r.RunNext() == 0);
    CHECK(r.Applied(2) == "Ab");
    r.AwaitSleep();
    r.Put('c');
    CHECK(r.RunNext() == 1);
    CHECK(r.Applied(3) == "AbC");
  }
}

TEST_CASE("rounds: the host spends a limited part of its time on them") {
  LetterRounds r;
  r.in_round = [&] { r.clock.Advance(Rounds::kQuick); };
  size_t hosted = 0;
  for (; r.Put('a'), r.RunNext() == 1; ++hosted) CHECK(r.Applied(hosted + 1).back() == 'A');
  const auto affordable = Rounds::kMostCredit / Rounds::kQuick;
  CHECK(hosted >= static_cast<size_t>(affordable));
  CHECK(hosted <= static_cast<size_t>(affordable) * 2);
  CHECK(r.Applied(hosted + 1).back() == 'a');
  r.AwaitSleep();
  r.clock.Advance(Rounds::kMostCredit * Rounds::kHostedPart);
  r.Put('a');
  CHECK(r.RunNext() == 1);
  CHECK(r.Applied(hosted + 2).back() == 'A');
}

TEST_CASE("rounds: the deciding thread goes on with what the host leaves") {
  LetterRounds r;
  SECTION("something that was put meanwhile") {
    r.in_round = [&] {
      r.in_round = [] {};
      r.PutFromAnotherThread('b');
    };
    r.Put('a');
    CHECK(r.RunNext() == 1);
    CHECK(r.Applied(2) == "Ab");
  }
  SECTION("further decisions") {
    r.left.more = true;
    r.Put('a');
    CHECK(r.RunNext() == 1);
    CHECK(r.Applied(1) == "A");
    r.AwaitRounds(2);  // the first is that of the beginning
  }
  SECTION("something that is due earlier than anything before") {
    r.left.due = r.clock.Steady();
    r.Put('a');
    CHECK(r.RunNext() == 1);
    r.AwaitRounds(2);
  }
  r.AwaitSleep();
  CHECK(r.limits_kept());
}

TEST_CASE("rounds: the last round applies what was put before the end, and the host runs none after it") {
  LetterRounds r;
  r.in_round = [&] {
    r.in_round = [] {};
    r.PutFromAnotherThread('b');
    r.rounds.End();
  };
  r.PutFromAnotherThread('a');
  CHECK(r.Applied(2) == "ab");
  r.AwaitSleep();
  r.Put('c');
  CHECK(r.RunNext() == 0);
}

TEST_CASE("rounds: a visitor has the state for itself, or no turn") {
  LetterRounds r;
  bool in_time = true;
  r.in_round = [&] {
    r.in_round = [] {};
    std::thread([&] { in_time = r.rounds.Visit(absl::Milliseconds(1), [] {}); }).join();
  };
  r.Put('a');
  CHECK(r.RunNext() == 1);
  CHECK_FALSE(in_time);
  // What comes during a visit is done after it.
  CHECK(r.rounds.Visit(absl::Seconds(1), [&] {
    r.Put('b');
    CHECK(r.RunNext() == 0);
  }));
  CHECK(r.Applied(2) == "Ab");
}

// Nothing is ever due here, so an item that was forgotten would never be applied.
TEST_CASE("rounds: nothing is forgotten and nobody shares the state, whoever puts and whenever") {
  constexpr int kItems = 20'000;
  util::RealClock clock;
  Inbox inbox(1000);
  std::vector<std::function<void()>> next;
  static thread_local bool is_host = false;
  Rounds rounds(&inbox, &clock,
                {[] { return is_host; }, [&](std::function<void()> f) { next.push_back(std::move(f)); }});
  // Used by whoever holds the round.
  std::array<int, 2> applied{};
  bool in_order = true;
  std::atomic<size_t> hosted = 0;
  std::atomic<int> put_by_loop = kItems;
  const auto put = [&](size_t who, int n) {
    inbox.Put(std::function<void()>([&, who, n] { in_order = in_order && applied[who]++ == n; }));
  };
  std::thread decider([&] {
    rounds.Run(
        [&](std::vector<InboxItem>& items, int most) {
          for (InboxItem& item : items) std::get<std::function<void()>>(item)();
          if (most == Rounds::kHostedDecisions) ++hosted;
          return Rounds::Left();
        },
        /*hosted=*/true);
  });
  std::thread loop([&] {
    is_host = true;
    int i = 0;
    const auto put_and_host = [&] {
      put(0, i++);
      for (const auto& f : std::exchange(next, {})) f();
    };
    while (i < kItems) put_and_host();
    // On a busy machine the deciding thread may not have slept yet, so that the host got no round.
    while (hosted == 0) {
      rounds.Visit(absl::Seconds(1), [] {});
      put_and_host();
    }
    put_by_loop = i;
  });
  std::thread other([&] {
    for (int i = 0; i < kItems; ++i) {
      put(1, i);
      if (i % 64 == 0) std::this_thread::yield();
    }
  });
  loop.join();
  other.join();
  const auto all = [&] { return applied[0] == put_by_loop && applied[1] == kItems; };
  for (bool done = false; !done;) rounds.Visit(absl::Seconds(1), [&] { done = all(); });
  rounds.End();
  decider.join();
  CHECK(all());
  CHECK(in_order);
  CHECK(hosted > 0);
}

}  // namespace
}  // namespace berth::kube_scheduler
