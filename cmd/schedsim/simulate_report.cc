#include "cmd/schedsim/simulate_report.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>

#include "pkg/api/json_writer.h"
#include "pkg/explain/output.h"
#include "pkg/explain/page.h"
#include "pkg/simulate/times.h"
#include "pkg/util/csv.h"

namespace berth::schedsim {
namespace {

using simulate::Micros;
using SimulatedOutcome = simulate::Outcome;
using simulate::SecondsText;
using simulate::Stretch;
using simulate::TimeText;
using simulate::Waits;

double ShareOf(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

// Returns a number with four digits behind the point, or fewer.
std::string ShortNumber(double value) {
  std::string text = absl::StrFormat("%.4f", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string PercentCell(double share) {
  return absl::StrFormat("%.1f%%", 100 * share);
}

// ---- json ---------------------------------------------------------------------------------------

void WaitMembers(const Waits& waits, api::JsonWriter* j) {
  j->Object();
  for (const auto& [name, share] : {std::pair("p50", 0.5), std::pair("p90", 0.9), std::pair("p99", 0.99)}) {
    j->Key(name).Literal(SecondsText(waits.Percentile(share)));
  }
  j->Key("max").Literal(SecondsText(waits.max()));
  j->Key("mean").Literal(ShortNumber(waits.Mean() / simulate::kSecond));
  j->Member("pods", waits.count());
  j->End();
}

void ShareMembers(const lab::Workload& w, const std::vector<double>& values, const std::vector<double>* of,
                  api::JsonWriter* j) {
  j->Object();
  for (size_t r = 0; r < w.resources().size() && r < values.size(); ++r) {
    j->Key(w.resources()[r]).Literal(ShortNumber(of == nullptr ? values[r] : ShareOf(values[r], (*of)[r])));
  }
  j->End();
}

void StretchMembers(const lab::Workload& w, const Stretch& s, api::JsonWriter* j) {
  j->Key("pending").Literal(ShortNumber(s.pending));
  j->Key("utilisation");
  ShareMembers(w, s.used, &s.offered, j);
  j->Key("fragmentation");
  ShareMembers(w, s.fragmentation, nullptr, j);
}

void DrainMembers(const SimulatedOutcome& o, api::JsonWriter* j) {
  j->Key("drains").Array();
  for (const simulate::Drain& d : o.drains) {
    j->Object().Member("node", d.node).Key("begunSeconds").Literal(SecondsText(d.begun));
    if (d.empty != simulate::kNever) j->Key("emptySeconds").Literal(SecondsText(d.empty));
    j->Member("evictions", d.evictions).End();
  }
  j->End();
}

void CaseMembers(const SimulationReport& report, const SimulatedCase& c, api::JsonWriter* j) {
  const lab::Workload& w = *report.workload;
  const SimulatedOutcome& o = c.outcome;
  j->Member("pods", o.pods).Member("placed", o.placed).Member("neverPlaced", o.never_placed);
  j->Key("waitSeconds");
  WaitMembers(o.waits, j);
  j->Key("makespanSeconds").Literal(SecondsText(o.makespan()));
  j->Member("preemptions", o.preemptions).Member("evictions", o.evictions);
  j->Member("victims", o.victims).Member("refusedEvictions", o.refusals).Member("lost", o.lost);
  if (report.controllers) j->Member("jobsCompleted", o.jobs_completed).Member("jobsFailed", o.jobs_failed);
  j->Key("absentPodSeconds").Literal(SecondsText(o.absent));
  j->Member("attempts", o.attempts).Member("nodes", static_cast<int64_t>(o.nodes));
  j->Key("endSeconds").Literal(SecondsText(o.end)).Member("cut", o.cut);
  j->Key("neverPlacedBy").Object();
  for (const auto& [why, pods] : o.never_placed_why) j->Member(why, pods);
  j->End();
  j->Key("waitSecondsByPriority").Object();
  for (const auto& [priority, waits] : o.waits_by_priority) {
    j->Key(absl::StrCat(priority));
    WaitMembers(waits, j);
  }
  j->End().Key("waitSecondsByNamespace").Object();
  for (const auto& [ns, waits] : o.waits_by_namespace) {
    j->Key(ns);
    WaitMembers(waits, j);
  }
  j->End().Key("mean").Object();
  StretchMembers(w, o.series.Whole(), j);
  j->End().Key("series").Array();
  Micros at = 0;
  for (const Stretch& s : o.series.stretches()) {
    at += s.length;
    j->Object().Key("untilSeconds").Literal(SecondsText(at));
    StretchMembers(w, s, j);
    j->End();
  }
  j->End();
  DrainMembers(o, j);
}

// ---- summary ------------------------------------------------------------------------------------

std::vector<std::string> WaitCells(const Waits& w) {
  if (w.count() == 0) return {"-", "-", "-", "-"};
  return {TimeText(w.Percentile(0.5)), TimeText(w.Percentile(0.9)), TimeText(w.Percentile(0.99)), TimeText(w.max())};
}

void SimulatedRows(const SimulationReport& report, explain::Page* page) {
  const size_t r = report.workload->scarcest();
  std::vector<std::vector<std::string>> rows = {
      {"POLICY", "PLACED", "NEVER", "WAIT P50", "P90", "P99", "MAX", "IN USE", "FRAG", "MAKESPAN"}};
  for (const SimulatedCase& c : report.cases) {
    const SimulatedOutcome& o = c.outcome;
    std::vector<std::string>& row = rows.emplace_back();
    row = {c.name, absl::StrCat(o.placed), absl::StrCat(o.never_placed)};
    if (!c.error.empty()) {
      row = {c.name, "-"};
      continue;
    }
    for (std::string& cell : WaitCells(o.waits)) row.push_back(std::move(cell));
    const Stretch mean = o.series.Whole();
    row.push_back(PercentCell(ShareOf(mean.used[r], mean.offered[r])));
    row.push_back(PercentCell(mean.fragmentation[r]));
    row.push_back(TimeText(o.makespan()));
  }
  page->Rows(rows, true).Blank();
}

void EvictionRows(const SimulationReport& report, explain::Page* page) {
  const bool any = std::any_of(report.cases.begin(), report.cases.end(), [](const SimulatedCase& c) {
    return c.outcome.preemptions > 0 || c.outcome.evictions > 0 || !c.outcome.drains.empty();
  });
  if (!any) return;
  std::vector<std::vector<std::string>> rows = {
      {"POLICY", "PREEMPTIONS", "EVICTED", "REFUSED", "LOST", "ABSENT", "DRAINED", "IN"}};
  for (const SimulatedCase& c : report.cases) {
    const SimulatedOutcome& o = c.outcome;
    const auto empty = std::count_if(o.drains.begin(), o.drains.end(),
                                     [](const simulate::Drain& d) { return d.empty != simulate::kNever; });
    Micros from = simulate::kNever, to = 0;
    for (const simulate::Drain& d : o.drains) {
      from = std::min(from, d.begun);
      if (d.empty != simulate::kNever) to = std::max(to, d.empty);
    }
    rows.push_back({c.name, absl::StrCat(o.preemptions), absl::StrCat(o.evictions), absl::StrCat(o.refusals),
                    absl::StrCat(o.lost), TimeText(o.absent), absl::StrCat(empty, "/", o.drains.size()),
                    empty == 0 ? "-" : TimeText(to - from)});
  }
  page->Rows(rows, true).Blank();
}

// Jobs that are over, if controllers were simulated and any was.
void JobRows(const SimulationReport& report, explain::Page* page) {
  std::vector<std::vector<std::string>> rows = {{"POLICY", "JOBS COMPLETE", "FAILED"}};
  bool any = false;
  for (const SimulatedCase& c : report.cases) {
    any = any || c.outcome.jobs_completed > 0 || c.outcome.jobs_failed > 0;
    rows.push_back({c.name, absl::StrCat(c.outcome.jobs_completed), absl::StrCat(c.outcome.jobs_failed)});
  }
  if (report.controllers && any) page->Rows(rows, true).Blank();
}

template <typename Map>
void GroupRows(const SimulationReport& report, const char* heading, Map SimulatedOutcome::*waits, explain::Page* page) {
  constexpr size_t kMostGroups = 12;
  std::vector<std::vector<std::string>> rows = {{heading, "POLICY", "PODS", "WAIT P50", "P90", "P99", "MAX"}};
  std::map<typename Map::key_type, int> groups;
  for (const SimulatedCase& c : report.cases) {
    for (const auto& [key, w] : c.outcome.*waits) ++groups[key];
  }
  if (groups.size() < 2) return;
  size_t shown = 0;
  for (const auto& [key, n] : groups) {
    if (++shown > kMostGroups) break;
    for (const SimulatedCase& c : report.cases) {
      const auto found = (c.outcome.*waits).find(key);
      if (found == (c.outcome.*waits).end()) continue;
      std::vector<std::string>& row = rows.emplace_back();
      row = {absl::StrCat(key), c.name, absl::StrCat(found->second.count())};
      for (std::string& cell : WaitCells(found->second)) row.push_back(std::move(cell));
    }
  }
  page->Rows(rows, true);
  if (groups.size() > kMostGroups) {
    page->Line(absl::StrCat("and ", groups.size() - kMostGroups, " more (-o json has all)"), explain::Style::kFaint);
  }
  page->Blank();
}

void NeverPlacedRows(const SimulationReport& report, explain::Page* page) {
  constexpr size_t kMostReasons = 8;
  std::vector<std::vector<std::string>> rows = {{"NEVER PLACED", "POLICY", "THE REASON THAT MOST NODES GAVE"}};
  for (const SimulatedCase& c : report.cases) {
    std::vector<std::pair<int64_t, std::string>> reasons;
    for (const auto& [why, pods] : c.outcome.never_placed_why) reasons.emplace_back(-pods, why);
    std::sort(reasons.begin(), reasons.end());
    for (size_t i = 0; i < std::min(reasons.size(), kMostReasons); ++i) {
      rows.push_back({absl::StrCat(-reasons[i].first), c.name, reasons[i].second});
    }
  }
  if (rows.size() > 1) page->Rows(rows, true).Blank();
}

}  // namespace

const char kPlacementHeader[] = "policy,pod,priority,arrived,placed,waited,node,attempts,why\n";

void AppendPlacement(const std::string& policy, const simulate::Placement& p, std::string* out) {
  const bool placed = p.placed != simulate::kNever;
  absl::StrAppend(out, util::CsvCell(policy), ",", util::CsvCell(p.pod), ",", p.priority, ",", SecondsText(p.arrived),
                  ",", placed ? SecondsText(p.placed) : "", ",", placed ? SecondsText(p.placed - p.arrived) : "");
  absl::StrAppend(out, ",", util::CsvCell(p.node), ",", p.attempts, ",", util::CsvCell(p.why), "\n");
}

void WriteSimulationJson(const SimulationReport& report, std::ostream& out) {
  for (const SimulatedCase& c : report.cases) {
    api::JsonWriter j;
    j.Object().Member("apiVersion", "schedsim/v1").Member("kind", "Simulation");
    j.Member("policy", c.name).Member("release", c.release).Member("seed", static_cast<int64_t>(report.seed));
    if (c.error.empty()) {
      CaseMembers(report, c, &j);
    } else {
      j.Member("error", c.error);
    }
    j.End();
    out << j.Finish("json");
  }
}

void WriteSimulationSummary(const SimulationReport& report, std::ostream& out) {
  explain::Page page(explain::ScreenOfStdout());
  const auto first =
      std::find_if(report.cases.begin(), report.cases.end(), [](const auto& c) { return c.error.empty(); });
  if (first != report.cases.end()) {
    const SimulatedOutcome& o = first->outcome;
    page.Line(absl::StrCat(explain::Counted(static_cast<int64_t>(o.nodes), "node"), ", ",
                           explain::Counted(o.pods, "pod"), " in ", TimeText(o.end), "; scarcest is ",
                           report.workload->resources()[report.workload->scarcest()]));
    page.Blank();
  }
  for (const SimulatedCase& c : report.cases) {
    if (c.outcome.cut) {
      page.Line(absl::StrCat(c.name, ": cut at ", TimeText(c.outcome.end), ", before the end"), explain::Style::kBad);
      page.Blank();
    }
  }
  SimulatedRows(report, &page);
  JobRows(report, &page);
  EvictionRows(report, &page);
  GroupRows(report, "PRIORITY", &SimulatedOutcome::waits_by_priority, &page);
  GroupRows(report, "NAMESPACE", &SimulatedOutcome::waits_by_namespace, &page);
  NeverPlacedRows(report, &page);
  page.Line(
      absl::StrCat("WAIT: from the arrival of a pod until it was placed. IN USE: share of ",
                   report.workload->resources()[report.workload->scarcest()],
                   " that pods requested, mean over the time. FRAG: share of what was free of it that a pod drawn "
                   "from these could not use. MAKESPAN: from the first arrival until the last pod arrived, was "
                   "placed or ended."),
      explain::Style::kFaint);
  out << page.text();
}

}  // namespace berth::schedsim
