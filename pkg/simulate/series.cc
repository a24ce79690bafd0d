#include "pkg/simulate/series.h"

#include <algorithm>
#include <utility>

#include "pkg/util/contract.h"

namespace berth::simulate {
namespace {

// Adds a stretch that follows `into`.
void Join(const Stretch& next, Stretch* into) {
  const auto a = static_cast<double>(into->length), b = static_cast<double>(next.length);
  if (a + b <= 0) return;
  const auto mean = [&](double x, double y) { return (x * a + y * b) / (a + b); };
  into->pending = mean(into->pending, next.pending);
  for (size_t r = 0; r < into->used.size(); ++r) {
    into->used[r] = mean(into->used[r], next.used[r]);
    into->offered[r] = mean(into->offered[r], next.offered[r]);
  }
  if (!next.fragmentation.empty()) into->fragmentation = next.fragmentation;
  into->length += next.length;
}

}  // namespace

Series::Series(Micros width, size_t resources, std::function<std::vector<double>()> fragmentation)
    : width_(std::max<Micros>(width, 1)), resources_(resources), fragmentation_(std::move(fragmentation)) {}

void Series::Merge() {
  std::vector<Stretch> merged;
  for (size_t i = 0; i < stretches_.size(); ++i) {
    if (i % 2 == 0) {
      merged.push_back(std::move(stretches_[i]));
    } else {
      Join(stretches_[i], &merged.back());
    }
  }
  stretches_ = std::move(merged);
  width_ *= 2;
}

void Series::Hold(Micros from, Micros to, double pending, const std::vector<double>& used,
                  const std::vector<double>& offered) {
  BERTH_REQUIRES(
      from ==
      (stretches_.empty() ? 0 : static_cast<Micros>(stretches_.size() - 1) * width_ + stretches_.back().length));
  while (to / width_ >= static_cast<Micros>(kMost)) Merge();
  while (from < to) {
    if (stretches_.empty() || stretches_.back().length >= width_) {
      Stretch& s = stretches_.emplace_back();
      s.used.resize(resources_);
      s.offered.resize(resources_);
    }
    Stretch& last = stretches_.back();
    const Stretch piece{std::min(to - from, width_ - last.length), pending, used, offered, {}};
    Join(piece, &last);
    from += piece.length;
    if (last.length >= width_) last.fragmentation = fragmentation_();
  }
}

void Series::Finish() {
  if (!stretches_.empty() && stretches_.back().fragmentation.empty()) {
    stretches_.back().fragmentation = fragmentation_();
  }
}

Stretch Series::Whole() const {
  Stretch whole;
  whole.used.resize(resources_);
  whole.offered.resize(resources_);
  whole.fragmentation.resize(resources_);
  for (const Stretch& s : stretches_) {
    const auto a = static_cast<double>(whole.length), b = static_cast<double>(s.length);
    for (size_t r = 0; r < resources_ && a + b > 0; ++r) {
      const double here = s.fragmentation.empty() ? 0 : s.fragmentation[r];
      whole.fragmentation[r] = (whole.fragmentation[r] * a + here * b) / (a + b);
    }
    Stretch amounts = s;
    amounts.fragmentation.clear();
    Join(amounts, &whole);
  }
  return whole;
}

}  // namespace berth::simulate
