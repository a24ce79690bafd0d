// The pods that arrive in the course of a simulation, one after another.
#pragma once
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/simulate/virtual_clock.h"

namespace berth::simulate {

struct Arrival {
  Micros at = 0;
  Micros duration = kNever;  // how long the pod runs once it has started
  // The pod, or one that is like it in all but its name and uid; see `named`.
  api::PodPtr pod;
  bool as_is = false;  // it is that pod, and `name` is empty
  std::string name;
};

class ArrivalSource {
 public:
  virtual ~ArrivalSource() = default;
  // Gets the next arrival, at the same time as the last one or later. Returns false when there is none. The object may
  // be reused from call to call, so that memory is.
  virtual bool Next(Arrival* out) = 0;
  // Returns why a source has ended early; it was read without an error before.
  virtual absl::Status status() const { return absl::OkStatus(); }
};

// What is known of the arrivals of an input before the first of them is simulated.
struct ArrivalFacts {
  int64_t pods = 0;
  Micros last_time = 0;  // of an arrival
  Micros last_end = 0;   // of pods that start when they arrive, and end
  // Pods that are like those that arrive: every so many of them, at most 2,048.
  std::vector<api::PodPtr> sample;

  // Adds `count` arrivals that are alike, of which `a` is the last. Takes time by the logarithm of their number.
  void Add(const Arrival& a, int64_t count = 1);

 private:
  int64_t every_ = 1;
};

// Returns a source of arrivals that are there already, ordered by time. Among equals their order stays.
std::unique_ptr<ArrivalSource> SourceOf(std::vector<Arrival> arrivals);
// Returns the arrivals of several sources in the order of time; of those at the same time the ones of earlier sources
// come first.
std::unique_ptr<ArrivalSource> Merged(std::vector<std::unique_ptr<ArrivalSource>> sources);

}  // namespace berth::simulate
