// One writer for each format. All of them receive the same outcomes, so that formats cannot disagree about a decision.
#include "cmd/schedsim/result.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>
#include <absl/strings/strip.h>
#include <absl/time/clock.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "pkg/api/json_writer.h"
#include "pkg/flags/flag_set.h"
#include "pkg/lab/experiment.h"
#include "pkg/lab/fixes.h"
#include "pkg/lab/metrics.h"
#include "pkg/util/contract.h"
#include "pkg/util/csv.h"
#include "pkg/util/peak_memory.h"
#include "pkg/util/status.h"

namespace berth::schedsim {
namespace {

using api::JsonWriter;
using scheduler::Decision;

void WriteFailures(const scheduler::NodeFailures& failures, JsonWriter* j) {
  std::map<std::string_view, std::vector<std::string_view>> by_node;
  failures.ForEach([&](scheduler::Symbol node, const std::vector<scheduler::FailureReason>& reasons) {
    auto& texts = by_node[node.str()];
    for (const auto& r : reasons) texts.push_back(r.text.str());
    std::sort(texts.begin(), texts.end());
  });
  j->Key("failures").Object();
  for (const auto& [node, texts] : by_node) j->Key(node).Texts(texts);
  j->End();
}

void WriteScores(const scheduler::DecisionTrace& t, const std::vector<size_t>& nodes, JsonWriter* j) {
  j->Key("scores").Object();
  for (size_t i : nodes) {
    j->Key(t.feasible[i].str()).Object();
    for (const auto& p : t.priorities) j->Member(p.name, p.scores[i]);
    j->End();
  }
  j->End().Key("totals").Object();
  for (size_t i : nodes) j->Member(t.feasible[i].str(), t.totals[i]);
  j->End();
}

// Returns the indexes into trace.feasible of the nodes whose scores are shown: all by name, or the best first.
std::vector<size_t> ScoredNodes(const scheduler::DecisionTrace& t, const Detail& detail) {
  std::vector<size_t> order(t.totals.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (detail.kind != Detail::Kind::kTop) return order;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (t.totals[a] != t.totals[b]) return t.totals[a] > t.totals[b];
    return t.feasible[a].str() > t.feasible[b].str();
  });
  order.resize(std::min(order.size(), detail.top));
  return order;
}

void WritePreemption(const scheduler::Preemption& p, JsonWriter* j) {
  const auto name = [&](const api::PodPtr& pod) { j->Name(pod->meta.ns.str(), pod->meta.name); };
  j->Key("preemption").Object().Member("node", p.node.str()).Key("victims").Each(p.victims, name);
  j->Key("nominatedToClear").Each(p.nominated_to_clear, name).End();
}

// Writes the additional members of decisions of releases after 1.10.
void WriteFields(const lab::DecisionFields& f, bool tell_failures, JsonWriter* j) {
  if (tell_failures && !f.rejections.empty()) {
    j->Key("rejections").Object();
    for (const auto& [node, rejection] : f.rejections) j->Member(node, rejection);
    j->End();
  }
  if (!f.ties.empty()) j->Key("ties").Texts(f.ties);
  j->MemberUnlessEmpty("hint", f.hint).MemberUnlessEmpty("preemptionError", f.preemption_error);
}

// Writes the members of one decision.
void WriteDecision(const Outcome& o, const Detail& detail, JsonWriter* j) {
  const Decision& d = o.decision;
  const scheduler::DecisionTrace& t = o.trace;
  j->Key("pod").Name(o.pod->meta.ns.str(), o.pod->meta.name);
  if (o.fields != nullptr && !o.fields->not_attempted.empty()) {
    j->Member("notAttempted", o.fields->not_attempted);
    return;
  }
  j->Member("host", d.host.str());
  if (!o.placed()) j->Member("error", d.error);
  const auto& failures = t.failures != nullptr ? t.failures : d.failures;
  const bool tell_failures = detail.kind == Detail::Kind::kAll || (detail.kind != Detail::Kind::kNone && !o.placed());
  if (tell_failures && failures != nullptr && failures->size() > 0) WriteFailures(*failures, j);
  if (!t.totals.empty()) WriteScores(t, ScoredNodes(t, detail), j);
  if (o.fields != nullptr) WriteFields(*o.fields, tell_failures, j);
  if (d.evaluated > 0) j->Member("evaluated", d.evaluated);
  if (o.preemption) WritePreemption(*o.preemption, j);
}

class JsonResultWriter final : public ResultWriter {
 public:
  JsonResultWriter(const WriterOptions& options, std::ostream& out) : detail_(options.detail), out_(out) {}

  void Begin(const lab::Scenario& scenario) override {
    text_.clear();
    JsonWriter j(&text_);
    j.Object().Member("apiVersion", "schedsim/v1").Member("kind", "Result").Member("name", scenario.name);
    j.Key("decisions").Array();
    out_ << text_;
    first_ = true;
  }
  void Take(const Outcome& outcome) override {
    text_.clear();
    JsonWriter j(&text_);
    WriteDecision(outcome, detail_, &j.Object());
    j.End();
    if (!std::exchange(first_, false)) out_ << ',';
    out_ << text_;
  }
  void End(lab::Simulation&) override { out_ << "]}\n"; }
  void Error(const lab::Scenario& scenario, const std::string& error) override {
    if (!scenario.is_scenario) return;
    out_ << JsonWriter().Object().Member("name", scenario.name).Member("error", error).End().Finish();
  }

 private:
  const Detail detail_;
  std::ostream& out_;
  std::string text_;  // reused
  bool first_ = true;
};

// Writes one decision per line. If there are several Scenarios, each line names its own.
class JsonLinesWriter final : public ResultWriter {
 public:
  JsonLinesWriter(const WriterOptions& options, std::ostream& out)
      : detail_(options.detail), several_(options.several), out_(out) {}

  void Begin(const lab::Scenario& scenario) override { name_ = scenario.name; }
  void Take(const Outcome& outcome) override {
    text_.clear();
    JsonWriter j(&text_);
    j.Object();
    if (several_) j.Member("scenario", name_);
    WriteDecision(outcome, detail_, &j);
    j.End().EndLine();
    out_ << text_;
  }
  void End(lab::Simulation&) override {}

 private:
  const Detail detail_;
  const bool several_;
  std::ostream& out_;
  std::string name_, text_;
};

class CsvWriter final : public ResultWriter {
 public:
  CsvWriter(const WriterOptions& options, std::ostream& out) : several_(options.several), out_(out) {
    out_ << (several_ ? "scenario," : "") << "namespace,name,node,nodes,feasible,error\n";
  }
  void Begin(const lab::Scenario& scenario) override { name_ = scenario.name; }
  void Take(const Outcome& o) override {
    if (several_) out_ << util::CsvCell(name_) << ",";
    out_ << util::CsvCell(o.pod->meta.ns.str()) << "," << util::CsvCell(o.pod->meta.name) << ","
         << util::CsvCell(o.decision.host.str()) << "," << o.decision.nodes << "," << o.decision.feasible << ","
         << util::CsvCell(o.placed() ? "" : o.decision.error) << "\n";
  }
  void End(lab::Simulation&) override {}

 private:
  const bool several_;
  std::ostream& out_;
  std::string name_;
};

// Writes a line "ns/name node" for each pod, with "-" if it has no node.
class PlacementsWriter final : public ResultWriter {
 public:
  PlacementsWriter(const WriterOptions& options, std::ostream& out) : several_(options.several), out_(out) {}
  void Begin(const lab::Scenario& scenario) override {
    if (several_) out_ << "# " << scenario.name << "\n";
  }
  void Take(const Outcome& o) override {
    std::string_view host = o.decision.host.str();
    out_ << o.pod->meta.Key() << ' ' << (host.empty() ? "-" : host) << '\n';
  }
  void End(lab::Simulation&) override {}
  void Error(const lab::Scenario& scenario, const std::string&) override { Begin(scenario); }

 private:
  const bool several_;
  std::ostream& out_;
};

// Writes tables for users: pods by node, the reasons why others were not placed (-o table, -o wide), and the summary.
class TableWriter final : public ResultWriter {
 public:
  TableWriter(const WriterOptions& options, std::ostream& out)
      : list_(options.format != "summary" && options.list),
        summary_(options.format != "wide"),
        screen_(options.screen),
        out_(out) {
    if (!summary_) screen_.width = 0;
  }

  void Begin(const lab::Scenario& scenario) override {
    rows_.assign(1, {"POD", "NODE"});
    styles_.assign(1, explain::Style::kHeading);
    placed_ = pods_ = 0;
    totals_ = Summary();
    if (!scenario.name.empty()) out_ << explain::Page(screen_).Line("Scenario " + scenario.name).text();
  }
  void Take(const Outcome& o) override {
    ++pods_;
    placed_ += o.placed();
    if (summary_) totals_.Take(o);
    if (!list_) return;
    rows_.push_back({o.pod->meta.Key(), o.placed() ? o.decision.host.string() : "<none>  " + o.decision.error});
    styles_.push_back(o.placed() ? explain::Style::kPlain : explain::Style::kBad);
    if (!o.preemption || o.preemption->node.empty()) return;
    std::string text = absl::StrCat("would fit on ", o.preemption->node.string(), " after evicting");
    for (const auto& v : o.preemption->victims) absl::StrAppend(&text, " ", v->meta.Key());
    rows_.push_back({"", text});
    styles_.push_back(explain::Style::kPlain);
  }
  void End(lab::Simulation& simulation) override {
    explain::Page page(screen_);
    if (list_) page.Rows(rows_, true, styles_);
    page.Line(absl::StrCat(placed_, " of ", pods_, " pods placed"),
              placed_ == pods_ ? explain::Style::kGood : explain::Style::kBad);
    if (summary_) totals_.Print(simulation, &page);
    out_ << page.text();
  }

 private:
  const bool list_, summary_;
  explain::Screen screen_;
  std::ostream& out_;
  Summary totals_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<explain::Style> styles_;
  int64_t placed_ = 0, pods_ = 0;
};

std::string OwnerOf(const api::Pod& pod) {
  const auto& owner = pod.tmpl->controller;
  if (!owner) return absl::StrCat("pods of ", pod.meta.ns.string(), " without a controller");
  return absl::StrCat(owner->kind.string(), " ", pod.meta.ns.string(), "/", owner->name);
}

// Returns an amount in the units that users write: cores, binary multiples of bytes, pieces.
std::string AmountText(const std::string& resource, double amount) {
  if (resource == "cpu") return absl::StrFormat("%.4g", amount / 1000);
  if (resource != "memory" && resource != "ephemeral-storage" && !resource.starts_with("hugepages-")) {
    return absl::StrFormat("%.0f", amount);
  }
  static constexpr const char* kUnits[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  size_t unit = 0;
  for (; amount >= 10000 && unit < 6; ++unit) amount /= 1024;
  return absl::StrFormat("%.0f%s", amount, kUnits[unit]);
}

}  // namespace

absl::StatusOr<Detail> ParseDetail(std::string_view text) {
  if (text == "none") return Detail{Detail::Kind::kNone};
  if (text == "pending") return Detail{Detail::Kind::kPending};
  if (text == "all") return Detail{Detail::Kind::kAll};
  absl::string_view number = util::ToAbsl(text);
  uint32_t top = 0;
  if (absl::ConsumePrefix(&number, "top=") && absl::SimpleAtoi(number, &top) && top > 0) {
    return Detail{Detail::Kind::kTop, top};
  }
  return flags::InvalidValue("detail", text, "must be none, pending, top=N or all");
}

std::unique_ptr<ResultWriter> MakeWriter(const WriterOptions& options, std::ostream& out) {
  if (options.format == "json") return std::make_unique<JsonResultWriter>(options, out);
  if (options.format == "jsonl") return std::make_unique<JsonLinesWriter>(options, out);
  if (options.format == "csv") return std::make_unique<CsvWriter>(options, out);
  if (options.format == "placements") return std::make_unique<PlacementsWriter>(options, out);
  BERTH_REQUIRES(options.format == "table" || options.format == "wide" || options.format == "summary");
  return std::make_unique<TableWriter>(options, out);
}

void Summary::Take(const Outcome& o) {
  ++pods_;
  placed_ += o.placed();
  if (o.placed()) return;
  std::string reasons = o.decision.error;
  if (o.decision.failures != nullptr && o.decision.failures->size() > 0) {
    std::vector<std::string> names;
    for (const auto& [reason, nodes] : o.decision.failures->Histogram()) names.push_back(reason);
    std::sort(names.begin(), names.end());
    reasons = absl::StrJoin(names, ", ");
  }
  ++by_reason_[lab::MainReason(o.decision)];
  if (waiting_.size() < lab::kMostFixPods) waiting_.push_back(o.pod);
  Group& group = pending_[{reasons, OwnerOf(*o.pod)}];
  if (group.pods++ == 0) group.first_error = o.decision.error;
}

void Summary::PrintReasons(lab::Simulation& simulation, explain::Page* page) const {
  std::vector<std::pair<int64_t, std::string>> reasons;
  int64_t pods = 0;
  for (const auto& [reason, n] : by_reason_) {
    reasons.emplace_back(-n, reason);
    pods += n;
  }
  std::sort(reasons.begin(), reasons.end());
  std::vector<std::vector<std::string>> rows = {{"PENDING", "REASON THAT DECIDES"}};
  for (const auto& [n, reason] : reasons) rows.push_back({absl::StrCat(-n), reason});
  page->Blank().Rows(rows, true);
  constexpr absl::Duration kLongest = absl::Seconds(5);
  const auto seen = std::min(pods, static_cast<int64_t>(waiting_.size()));
  for (const lab::Fix& fix : lab::FixesOfNodes(&simulation, waiting_, absl::Now() + kLongest)) {
    page->Line(absl::StrCat(fix.what, " places ", fix.placed, " of ", seen), explain::Style::kFaint);
  }
}

void Summary::Print(lab::Simulation& simulation, explain::Page* page) const {
  if (!pending_.empty()) {
    PrintReasons(simulation, page);
    std::vector<std::pair<std::string, const Group*>> groups;
    for (const auto& [key, group] : pending_) groups.emplace_back(key.second, &group);
    std::stable_sort(groups.begin(), groups.end(),
                     [](const auto& a, const auto& b) { return a.second->pods > b.second->pods; });
    std::vector<std::vector<std::string>> rows = {{"PENDING", "OF", "WHY (THE FIRST OF THEM)"}};
    for (const auto& [owner, group] : groups) rows.push_back({absl::StrCat(group->pods), owner, group->first_error});
    page->Blank().Rows(rows, true);
  }
  const lab::Workload cluster(simulation.scenario());
  if (cluster.node_count() == 0) return;
  const std::vector<int64_t> free = cluster.Free(simulation.cache());
  const size_t width = cluster.resources().size();
  std::vector<std::vector<std::string>> rows = {{"USED IN ZONE", "NODES"}};
  for (const std::string& r : cluster.resources()) rows[0].push_back(r);
  auto add = [&](const std::string& name, auto in_zone) {
    std::vector<double> used(width, 0), total(width, 0);
    int64_t nodes = 0;
    for (size_t n = 0; n < cluster.node_count(); ++n) {
      if (!in_zone(n)) continue;
      ++nodes;
      for (size_t r = 0; r < width; ++r) {
        total[r] += static_cast<double>(cluster.allocatable(n, r));
        used[r] += static_cast<double>(cluster.allocatable(n, r) - free[n * width + r]);
      }
    }
    rows.push_back({name, absl::StrCat(nodes)});
    for (size_t r = 0; r < width; ++r) {
      rows.back().push_back(total[r] > 0 ? absl::StrFormat("%.1f%%", 100 * used[r] / total[r]) : "-");
    }
  };
  for (size_t z = 0; z < cluster.zones().size() && cluster.zones().size() > 1; ++z) {
    add(cluster.zones()[z].empty() ? "(no zone)" : cluster.zones()[z],
        [&](size_t n) { return cluster.zone_of(n) == z; });
  }
  add("all", [](size_t) { return true; });
  rows.push_back({"allocatable", ""});
  for (size_t r = 0; r < width; ++r) rows.back().push_back(AmountText(cluster.resources()[r], cluster.total(r)));
  page->Blank().Rows(rows, true);
}

namespace {

double Quantile(const std::vector<float>& sorted, double q) {
  if (sorted.empty()) return 0;
  return sorted[std::min(sorted.size() - 1, static_cast<size_t>(q * static_cast<double>(sorted.size())))];
}

}  // namespace

std::string Stats::Json() {
  std::sort(micros.begin(), micros.end());
  const auto number = [](double value, int digits) { return absl::StrFormat("%.*f", digits, value); };
  api::JsonWriter j;
  j.Object().Member("nodes", nodes).Member("pods", pods).Member("scheduled", scheduled);
  j.Member("unschedulable", pods - scheduled);
  j.Key("wallSeconds").Literal(number(wall_seconds, 6)).Key("cpuSeconds").Literal(number(cpu_seconds, 6));
  j.Key("p50Micros")
      .Literal(number(Quantile(micros, 0.50), 3))
      .Key("p99Micros")
      .Literal(number(Quantile(micros, 0.99), 3));
  j.Member("peakRSSBytes", util::PeakMemoryBytes());
  return j.End().Finish();
}

}  // namespace berth::schedsim
