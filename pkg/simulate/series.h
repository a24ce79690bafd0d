// What changes in the course of a simulation, as means over equal stretches of time.
#pragma once
#include <functional>
#include <vector>

#include "pkg/simulate/virtual_clock.h"

namespace berth::simulate {

// One stretch of time.
struct Stretch {
  Micros length = 0;                  // less than the others for the last one
  double pending = 0;                 // pods without a node, mean over the time
  std::vector<double> used, offered;  // by resource, mean over the time
  std::vector<double> fragmentation;  // by resource, at the end: the share of what is free that pods cannot use
};

// Sums up amounts over time. There are at most kMost stretches: when there would be more, each two become one, so that
// the size does not depend on the simulated time. Thread-safety: as a standard container.
class Series {
 public:
  static constexpr size_t kMost = 240;

  // `width` is the length of a stretch at the beginning, not 0. `fragmentation` returns the present value.
  Series(Micros width, size_t resources, std::function<std::vector<double>()> fragmentation);

  // Notes that these amounts held from `from` to `to`. REQUIRES: `from` is the `to` of the last call, or 0.
  void Hold(Micros from, Micros to, double pending, const std::vector<double>& used,
            const std::vector<double>& offered);
  // Ends the last stretch. Nothing may be noted afterwards.
  void Finish();
  const std::vector<Stretch>& stretches() const { return stretches_; }
  Micros width() const { return width_; }
  // Returns the means over the whole time.
  Stretch Whole() const;

 private:
  void Merge();

  Micros width_;
  size_t resources_;
  std::function<std::vector<double>()> fragmentation_;
  std::vector<Stretch> stretches_;  // all but the last have the whole width
};

}  // namespace berth::simulate
