// Writes the results of schedsim: one writer for each format of `run -o`.
#pragma once
#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "pkg/explain/page.h"
#include "pkg/lab/simulation.h"
#include "pkg/scheduler/core/generic_scheduler.h"

namespace berth::schedsim {

// One pod's decision, with what explains it if a writer asked for that.
struct Outcome {
  api::PodPtr pod;
  scheduler::Decision decision;
  scheduler::DecisionTrace trace;
  std::optional<scheduler::Preemption> preemption;
  const lab::DecisionFields* fields = nullptr;  // null: the release has none; valid during ResultWriter::Take

  bool placed() const { return decision.outcome == scheduler::Decision::Outcome::kPlaced; }
};

// The value of --detail: how much of each decision -o json and -o jsonl contain.
struct Detail {
  enum class Kind {
    kNone,     // the node, or the error
    kPending,  // and for pods that are not placed, every node that failed
    kTop,      // and the scores of the best nodes
    kAll,      // every node that failed and the scores of every other
  };
  Kind kind = Kind::kAll;
  size_t top = 0;  // kTop: how many nodes

  // Returns whether decisions must be made with a trace, which takes time on every node.
  bool needs_trace() const { return kind == Kind::kTop || kind == Kind::kAll; }
};
// Parses "none", "pending", "top=N" or "all".
absl::StatusOr<Detail> ParseDetail(std::string_view text);

// Writes decisions as they are made. A decision is only kept if the format needs it at the end.
class ResultWriter {
 public:
  virtual ~ResultWriter() = default;
  virtual void Begin(const lab::Scenario& scenario) = 0;
  virtual void Take(const Outcome& outcome) = 0;
  virtual void End(lab::Simulation& simulation) = 0;
  // Reports a Scenario that cannot be run.
  virtual void Error(const lab::Scenario& /*scenario*/, const std::string& /*error*/) {}
};

struct WriterOptions {
  std::string format;  // of -o
  Detail detail;
  bool several = false;  // there is more than one Scenario
  bool list = true;      // -o table: list the pods one by one
  explain::Screen screen;
};
// `out` must outlive the writer. REQUIRES: the format is one that `run` declares.
std::unique_ptr<ResultWriter> MakeWriter(const WriterOptions& options, std::ostream& out);

// For -o table and -o summary: how many pods were placed, why the others were not, and how much is in use.
class Summary {
 public:
  void Take(const Outcome& outcome);
  void Print(lab::Simulation& simulation, explain::Page* page) const;

 private:
  void PrintReasons(lab::Simulation& simulation, explain::Page* page) const;
  struct Group {
    int64_t pods = 0;
    std::string first_error;
  };
  int64_t pods_ = 0, placed_ = 0;
  std::map<std::string, int64_t> by_reason_;                      // pending pods by the reason that decided
  std::vector<api::PodPtr> waiting_;                              // the first pending pods
  std::map<std::pair<std::string, std::string>, Group> pending_;  // by reasons and owner
};

// The numbers that --stats prints as a line of JSON. Times are those of the decisions alone; CPU time is that of all
// threads.
struct Stats {
  size_t nodes = 0, pods = 0, scheduled = 0;
  double wall_seconds = 0, cpu_seconds = 0;
  std::vector<float> micros;  // of each decision
  std::string Json();         // also measures the peak memory, and sorts `micros`
};

}  // namespace berth::schedsim
