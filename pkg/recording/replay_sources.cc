// The clock and extenders of a replayed scheduler.
#include "pkg/recording/replay.h"
#include "pkg/scheduler/extender/http_extender.h"
#include "pkg/util/status.h"

namespace berth::recording {

void ReplayClock::Set(const Event& e) {
  steady_.assign(e.steady.begin(), e.steady.end());
  wall_.assign(e.wall.begin(), e.wall.end());
  next_steady_ = next_wall_ = 0;
}

// If there are more readings than were recorded, the last one is repeated.
absl::Duration ReplayClock::Steady() const {
  if (next_steady_ < steady_.size()) last_steady_ = steady_[next_steady_++];
  return absl::Microseconds(last_steady_);
}

absl::Time ReplayClock::Wall() const {
  if (next_wall_ < wall_.size()) last_wall_ = wall_[next_wall_++];
  return absl::FromUnixSeconds(last_wall_);
}

// Uses the real extender only to know which pods it is interested in; it is never called.
class ReplayExtenders::OneExtender final : public scheduler::Extender {
 public:
  OneExtender(ReplayExtenders* all, std::unique_ptr<scheduler::Extender> real) : all_(all), real_(std::move(real)) {}
  const std::string& name() const override { return real_->name(); }
  bool IsInterested(const api::Pod& pod) const override { return real_->IsInterested(pod); }
  bool IsIgnorable() const override { return real_->IsIgnorable(); }
  bool IsBinder() const override { return real_->IsBinder(); }
  absl::Status Bind(const api::Pod&, const std::string&) override {
    return util::FailedPrecondition("a replayed scheduler binds nothing");
  }
  absl::StatusOr<FilterResult> Filter(const api::Pod&, const std::vector<api::NodePtr>&) override {
    const ExtenderAnswer* a = Next(ExtenderAnswer::Call::kFilter);
    if (a == nullptr) return util::Unavailable("no answer of extender " + name() + " is recorded");
    if (!a->error.empty()) return util::Unavailable(a->error);
    FilterResult r;
    for (const std::string& n : a->nodes) r.nodes.emplace_back(n);
    for (const auto& [n, reason] : a->failed) r.failed.emplace_back(util::Symbol(n), reason);
    for (const auto& [n, reason] : a->unresolvable) r.unresolvable.emplace_back(util::Symbol(n), reason);
    return r;
  }
  absl::StatusOr<absl::flat_hash_map<util::Symbol, int64_t>> Prioritize(const api::Pod&,
                                                                        const std::vector<api::NodePtr>&) override {
    const ExtenderAnswer* a = Next(ExtenderAnswer::Call::kPrioritize);
    if (a == nullptr) return util::Unavailable("no answer of extender " + name() + " is recorded");
    if (!a->error.empty()) return util::Unavailable(a->error);
    absl::flat_hash_map<util::Symbol, int64_t> scores;
    for (const auto& [n, score] : a->scores) scores[util::Symbol(n)] = score;
    return scores;
  }
  bool SupportsPreemption() const override { return real_->SupportsPreemption(); }
  absl::StatusOr<std::vector<AgreedEviction>> ProcessPreemption(const api::Pod&,
                                                                const std::vector<Eviction>&) override {
    const ExtenderAnswer* a = Next(ExtenderAnswer::Call::kPreempt);
    if (a == nullptr) return util::Unavailable("no answer of extender " + name() + " is recorded");
    if (!a->error.empty()) return util::Unavailable(a->error);
    return a->evictions;
  }

 private:
  const ExtenderAnswer* Next(ExtenderAnswer::Call call) {
    if (all_->next_ == all_->answers_.size()) return nullptr;
    const ExtenderAnswer& a = all_->answers_[all_->next_];
    if (a.call != call || a.extender != name()) return nullptr;
    ++all_->next_;
    return &a;
  }
  ReplayExtenders* all_;
  std::unique_ptr<scheduler::Extender> real_;
};

scheduler::ExtenderFactory ReplayExtenders::Factory() {
  return [this](const scheduler::ExtenderConfig& c) -> absl::StatusOr<std::unique_ptr<scheduler::Extender>> {
    auto real = scheduler::NewHttpExtender(c);
    if (!real.ok()) return real.status();
    return std::make_unique<OneExtender>(this, *std::move(real));
  };
}

void ReplayExtenders::Set(std::vector<ExtenderAnswer> answers) {
  answers_ = std::move(answers);
  next_ = 0;
}

}  // namespace berth::recording
