// Invariant: nobody sleeps while there is work. An item is in the inbox before Arrived() takes the mutex, and whoever
// held the round looks into the inbox after letting go of it, in the same critical section. So either that thread sees
// the item, or Arrived() sees that nobody holds the round, and finds somebody.
#include "cmd/kube-scheduler/rounds.h"

#include <algorithm>
#include <utility>

#include "pkg/util/contract.h"

namespace berth::kube_scheduler {

Rounds::Rounds(Inbox* inbox, const util::Clock* clock, Host host)
    : inbox_(inbox), clock_(clock), host_(std::move(host)) {
  inbox_->Tell([this](size_t waiting) { Arrived(waiting); });
}

void Rounds::Run(Round round, bool hosted) {
  Lock lock(mutex_);
  BERTH_REQUIRES(holder_ == Holder::kDecider);
  round_ = std::move(round);
  hosted_ = hosted;
  std::vector<InboxItem> items;
  for (;;) {
    const bool last = ended_;
    RunOne(lock, Holder::kDecider, &items, kDecisions);
    if (last) return;
    Sleep(lock);
  }
}

void Rounds::End() {
  const Lock lock(mutex_);
  ended_ = true;
  Wake();
}

bool Rounds::Visit(absl::Duration patience, const std::function<void()>& f) {
  Lock lock(mutex_);
  BERTH_REQUIRES(holder_ != Holder::kVisitor || visitor_ != std::this_thread::get_id());
  ++visitors_;
  const bool free =
      let_go_.wait_for(lock, absl::ToChronoMicroseconds(patience), [this] { return holder_ == Holder::kNobody; });
  --visitors_;
  if (!free) return false;
  holder_ = Holder::kVisitor;
  visitor_ = std::this_thread::get_id();
  lock.unlock();
  f();
  lock.lock();
  LetGo();
  return true;
}

void Rounds::Arrived(size_t waiting) {
  const Lock lock(mutex_);
  if (holder_ != Holder::kNobody || !asleep_) return;
  if (SuitsHost(waiting)) {
    if (!std::exchange(invited_, true)) host_.run_next([this] { RunHosted(); });
  } else {
    Wake();
  }
}

bool Rounds::SuitsHost(size_t waiting) {
  BERTH_REQUIRES(holder_ == Holder::kNobody);
  if (!hosted_ || ended_ || waiting > kFew || !quick_ || !host_.here()) return false;
  const absl::Duration now = clock_->Steady();
  credit_ = std::min(credit_ + (now - credit_at_) / kHostedPart, kMostCredit);
  credit_at_ = now;
  return credit_ > absl::ZeroDuration();
}

void Rounds::RunHosted() {
  Lock lock(mutex_);
  invited_ = false;
  // Somebody else will look into the inbox, or has already taken what there was.
  if (holder_ != Holder::kNobody || !asleep_ || ended_ || inbox_->empty()) return;
  RunOne(lock, Holder::kHost, &hosted_items_, kHostedDecisions);
}

void Rounds::RunOne(Lock& lock, Holder holder, std::vector<InboxItem>* items, int most) {
  holder_ = holder;
  lock.unlock();
  const absl::Duration begin = clock_->Steady();
  inbox_->Take(items);
  const Left left = round_(*items, most);
  items->clear();
  const absl::Duration took = clock_->Steady() - begin;
  lock.lock();
  quick_ = took <= kQuick;
  if (holder == Holder::kHost) credit_ -= took;
  more_ = left.more;
  due_ = left.due;
  LetGo();
}

void Rounds::LetGo() {
  holder_ = Holder::kNobody;
  if (visitors_ > 0) let_go_.notify_one();
  if (more_ || ended_ || due_ < sleeps_until_ || !inbox_->empty()) Wake();
}

// From here to the end of the deciding thread's sleep, asleep_ is false. Thus neither is it woken twice, nor is the
// host asked for what that thread is going to do.
void Rounds::Wake() {
  if (std::exchange(asleep_, false)) work_.notify_one();
}

void Rounds::Sleep(Lock& lock) {
  for (;;) {
    const absl::Duration now = clock_->Steady();
    const bool work = more_ || ended_ || due_ <= now || !inbox_->empty();
    if (work && holder_ == Holder::kNobody && visitors_ == 0) return;
    asleep_ = true;
    // If there is work but another thread's turn, that thread wakes this one, whenever the work is due.
    sleeps_until_ = work ? absl::InfiniteDuration() : due_;
    if (sleeps_until_ - now < absl::Hours(1)) {
      work_.wait_for(lock, absl::ToChronoMicroseconds(sleeps_until_ - now));
    } else {
      work_.wait(lock);
    }
    asleep_ = false;
  }
}

}  // namespace berth::kube_scheduler
