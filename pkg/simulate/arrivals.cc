#include "pkg/simulate/arrivals.h"

#include <algorithm>
#include <utility>

namespace berth::simulate {
namespace {

constexpr size_t kMostInSample = 2'048;

class ListSource final : public ArrivalSource {
 public:
  explicit ListSource(std::vector<Arrival> arrivals) : arrivals_(std::move(arrivals)) {
    std::stable_sort(arrivals_.begin(), arrivals_.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
  }
  bool Next(Arrival* out) override {
    if (next_ == arrivals_.size()) return false;
    *out = std::move(arrivals_[next_++]);
    return true;
  }

 private:
  std::vector<Arrival> arrivals_;
  size_t next_ = 0;
};

class MergedSource final : public ArrivalSource {
 public:
  explicit MergedSource(std::vector<std::unique_ptr<ArrivalSource>> sources) {
    for (auto& s : sources) {
      Head head;
      head.source = std::move(s);
      head.there = head.source->Next(&head.arrival);
      heads_.push_back(std::move(head));
    }
  }
  bool Next(Arrival* out) override {
    Head* first = nullptr;
    for (Head& h : heads_) {
      if (h.there && (first == nullptr || h.arrival.at < first->arrival.at)) first = &h;
    }
    if (first == nullptr) return false;
    std::swap(*out, first->arrival);
    first->there = first->source->Next(&first->arrival);
    return true;
  }
  absl::Status status() const override {
    for (const Head& h : heads_) {
      if (absl::Status s = h.source->status(); !s.ok()) return s;
    }
    return absl::OkStatus();
  }

 private:
  struct Head {
    std::unique_ptr<ArrivalSource> source;
    Arrival arrival;
    bool there = false;
  };
  std::vector<Head> heads_;
};

}  // namespace

void ArrivalFacts::Add(const Arrival& a, int64_t count) {
  if (count <= 0) return;
  last_time = std::max(last_time, a.at);
  if (const Micros end = Plus(a.at, a.duration); end != kNever) last_end = std::max(last_end, end);
  // The sample has the pods whose number is a multiple of every_.
  const int64_t known = pods;
  const auto next = [this](int64_t number) { return (number + every_ - 1) / every_ * every_; };
  for (int64_t i = next(known); i < known + count; i = next(i + 1)) {
    sample.push_back(a.pod);
    if (sample.size() <= kMostInSample) continue;
    // Every second one stays.
    for (size_t j = 0; 2 * j < sample.size(); ++j) sample[j] = sample[2 * j];
    sample.resize((sample.size() + 1) / 2);
    every_ *= 2;
  }
  pods += count;
}

std::unique_ptr<ArrivalSource> SourceOf(std::vector<Arrival> arrivals) {
  return std::make_unique<ListSource>(std::move(arrivals));
}

std::unique_ptr<ArrivalSource> Merged(std::vector<std::unique_ptr<ArrivalSource>> sources) {
  if (sources.size() == 1) return std::move(sources[0]);
  return std::make_unique<MergedSource>(std::move(sources));
}

}  // namespace berth::simulate
