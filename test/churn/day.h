// A day of churn: whether the memory of a scheduler grows with the pods that come and go.
#pragma once
#include <cstdint>
#include <ostream>
#include <string>

namespace berth::churn {

struct DayOptions {
  uint64_t nodes = 1000;
  uint64_t pods = 1'000'000;     // that come in all
  uint64_t templates = 100'000;  // of which they are, each with labels and names of its own
  uint64_t live = 10'000;        // pods that are there at a time
  uint64_t seed = 1;
  uint64_t kept_mib = 0;  // the limit of kept answers; 0: the default one
  std::string release;    // empty: the default one
};

// Lets a scheduler with its queue decide and bind the pods, and ends the oldest; every tenth pod a node changes. Prints
// the resident memory at each tenth of the day, then a line of JSON. Returns 1 if it was more than 5 % larger at the
// end than after the first fifth, else 0.
int RunDay(const DayOptions& options, std::ostream& out);

}  // namespace berth::churn
