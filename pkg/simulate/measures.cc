#include "pkg/simulate/measures.h"

#include <absl/strings/str_cat.h>
#include <time.h>

#include <algorithm>

#include "pkg/simulate/times.h"
#include "pkg/util/status.h"

namespace berth::simulate {
namespace {

double ThreadCpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

Placement PlacementOf(const Measures::Waiter& w, std::string_view key) {
  Placement p;
  p.pod = key;
  p.priority = w.pod.Priority();
  p.arrived = w.arrived;
  p.attempts = w.attempts;
  return p;
}

}  // namespace

Measures::Measures(const Case& what, const Options& options, const Timeline* timeline,
                   std::function<std::vector<double>()> fragmentation)
    : workload_(*what.workload), options_(options), timeline_(timeline), used_(workload_.resources().size()) {
  out_.cpu_seconds = -ThreadCpuSeconds();
  out_.series = Series(std::max<Micros>(what.horizon / 120, 1), used_.size(), std::move(fragmentation));
}

void Measures::Arrived() {
  ++out_.pods;
  if (out_.first_arrival == kNever) out_.first_arrival = timeline_->now();
  out_.last_change = timeline_->now();
}

void Measures::Placed(const Waiter& w, std::string_view node, bool is_new) {
  const Micros now = timeline_->now(), wait = now - w.arrived;
  out_.last_change = now;
  if (is_new) ++out_.placed;
  out_.waits.Add(wait);
  out_.waits_by_priority[w.pod.Priority()].Add(wait);
  const util::Symbol ns = w.pod.meta.ns;
  if (last_waits_ == nullptr || ns != last_namespace_) {
    last_namespace_ = ns;
    last_waits_ = &out_.waits_by_namespace[ns.string()];
  }
  last_waits_->Add(wait);
  if (!options_.placement) return;
  const std::string key = w.pod.meta.Key();
  Placement p = PlacementOf(w, key);
  p.placed = now;
  p.node = node;
  options_.placement(p);
}

void Measures::NeverPlaced(const Waiter& w, const std::string& why) {
  ++out_.never_placed;
  ++out_.never_placed_why[why];
  if (!options_.placement) return;
  const std::string key = w.pod.meta.Key();
  Placement p = PlacementOf(w, key);
  p.why = why;
  options_.placement(p);
}

void Measures::Use(const std::shared_ptr<const api::PodTemplate>& t, double by) {
  const std::vector<int64_t>& request = RequestOf(t);
  for (size_t r = 0; r < used_.size(); ++r) used_[r] += by * static_cast<double>(request[r]);
}

// Pods of one template follow one another, and there are few templates. Those of Jobs are one for each Job, and are
// kept here after the Job is gone.
const std::vector<int64_t>& Measures::RequestOf(const std::shared_ptr<const api::PodTemplate>& t) {
  constexpr size_t kMostTemplates = 1'024;
  auto known = requests_.find(t.get());
  if (known == requests_.end()) {
    if (requests_.size() >= kMostTemplates) requests_.clear();
    // Keeps the template, whose address would otherwise be used again.
    known = requests_.emplace(t.get(), std::pair(t, workload_.RequestOf(*t))).first;
  }
  return known->second.second;
}

void Measures::HoldUntil(Micros to, size_t waiting, const std::vector<double>& offered) {
  out_.series.Hold(timeline_->now(), to, static_cast<double>(waiting), used_, offered);
}

void Measures::NoteIdleStep(std::string_view event, const std::string& node, std::string_view why) {
  if (out_.idle_steps++ > 0) return;
  out_.first_idle_step =
      absl::StrCat(TimeText(timeline_->now()), ": ", util::ToAbsl(event), " ", node, ": the node ", util::ToAbsl(why));
}

Outcome Measures::Finish() {
  out_.end = timeline_->now();
  out_.series.Finish();
  out_.cpu_seconds += ThreadCpuSeconds();
  return std::move(out_);
}

}  // namespace berth::simulate
