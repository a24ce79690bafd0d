// How schedsim tells what was decided.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "pkg/scheduler/core/generic_scheduler.h"

namespace berth::schedsim {

// One pod's decision, with what explains it where it was asked for.
struct Outcome {
  api::PodPtr pod;
  scheduler::Decision decision;
  scheduler::DecisionTrace trace;
  bool preemption_tried = false;
  scheduler::Preemption preemption;
};

// {"apiVersion":"schedsim/v1","kind":"Result","name":...,"decisions":[...]} in one line.
std::string ResultJson(const std::string& name, const std::vector<Outcome>& outcomes);
std::string ErrorJson(const std::string& name, const std::string& error);

// A line "ns/name node" for each pod, "-" for none.
std::string Placements(const std::vector<Outcome>& outcomes);

// For people: pods by where they went, and why the rest did not.
std::string ResultTable(const std::string& name, const std::vector<Outcome>& outcomes);

// What --stats prints, as one JSON line. Times are of the decisions alone, CPU of all threads.
struct Stats {
  size_t nodes = 0, pods = 0, scheduled = 0;
  double wall_seconds = 0, cpu_seconds = 0;
  std::vector<double> micros;  // of each decision
  std::string Json() const;    // measures the peak memory too
};

}  // namespace berth::schedsim
