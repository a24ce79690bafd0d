// The command compare: places the same pods by several algorithms and shows the results side by side.
#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <fstream>
#include <iostream>
#include <map>

#include "cmd/schedsim/ladder.h"
#include "cmd/schedsim/progress.h"
#include "cmd/schedsim/variants.h"
#include "pkg/api/json_writer.h"
#include "pkg/explain/output.h"
#include "pkg/explain/page.h"
#include "pkg/lab/chart.h"
#include "pkg/lab/release_comparison.h"
#include "pkg/scheduler/factory/factory.h"
#include "pkg/util/csv.h"
#include "pkg/util/status.h"

namespace berth::schedsim {
namespace {

using lab::Metrics;
using lab::Trial;
using lab::Variant;

constexpr size_t kSamples = 200;  // points of a curve in the SVG
constexpr size_t kMostPods = 20;  // listed one by one, unless --changes sets another number

struct ScenarioComparison {
  const lab::Scenario* scenario = nullptr;
  const lab::Workload* workload = nullptr;
  std::vector<Variant> variants;
  std::vector<Trial> trials;
  bool by_pod = false;  // whether each pod's difference from the first variant is listed
  std::vector<std::vector<lab::PodDifference>> differences;  // by variant; none for the first
  std::vector<UpgradeStep> steps;                            // of an upgrade

  // Returns how many pods go to another node than with the first variant, or are placed by only one of the two.
  int64_t Moves(size_t variant) const {
    int64_t moves = 0;
    for (size_t i = 0; i < trials[variant].hosts.size(); ++i) moves += trials[variant].hosts[i] != trials[0].hosts[i];
    return moves;
  }
  std::string Reasons(size_t variant) const {
    std::vector<std::pair<int64_t, std::string>> sorted;
    for (const auto& [reason, pods] : trials[variant].metrics.pending_by_reason) sorted.emplace_back(-pods, reason);
    std::sort(sorted.begin(), sorted.end());
    std::string out;
    for (const auto& [pods, reason] : sorted) absl::StrAppend(&out, out.empty() ? "" : "; ", -pods, " ", reason);
    return out;
  }
};

std::string Percent(double share) {
  return absl::StrFormat("%.1f%%", 100 * share);
}
// Formats a share with enough digits to tell two runs apart, and never as -0.
std::string Share(double share) {
  return absl::StrFormat("%.6f", share + 0.0);
}

// Returns a column name: "example.com/gpu-milli" -> "example_com_gpu_milli".
std::string ColumnName(const std::string& resource) {
  std::string out = resource;
  for (char& c : out) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return out;
}

void WriteCsv(const ScenarioComparison& c, std::ostream& out) {
  const auto& resources = c.workload->resources();
  out << "policy,nodes,pods,placed,pending";
  for (const std::string& r : resources) out << ",alloc_" << ColumnName(r);
  for (const std::string& r : resources) out << ",frag_" << ColumnName(r);
  out << ",imbalance,zone_skew,nodes_in_use,compaction,preemptions,moves,pending_by_reason,error\n";
  for (size_t v = 0; v < c.variants.size(); ++v) {
    const Metrics& m = c.trials[v].metrics;
    out << util::CsvCell(c.variants[v].name) << "," << c.workload->node_count() << "," << c.scenario->pending.size();
    if (!c.trials[v].error.empty()) {
      out << std::string(2 * resources.size() + 9, ',') << "," << util::CsvCell(c.trials[v].error) << "\n";
      continue;
    }
    out << "," << m.placed << "," << m.pending;
    for (double share : m.allocation) out << "," << Share(share);
    for (double share : m.fragmentation) out << "," << Share(share);
    out << "," << Share(m.imbalance) << "," << Share(m.zone_skew) << "," << m.nodes_in_use << "," << m.compaction << ","
        << m.preemptions << "," << c.Moves(v) << "," << util::CsvCell(c.Reasons(v)) << ",\n";
  }
}

std::string KindText(lab::PodDifference::Kind kind) {
  switch (kind) {
    case lab::PodDifference::Kind::kElsewhere:
      return "elsewhere";
    case lab::PodDifference::Kind::kNoLongerFits:
      return "no longer fits";
    case lab::PodDifference::Kind::kNewlyFits:
      break;
  }
  return "newly fits";
}

void DifferencesJson(const ScenarioComparison& c, api::JsonWriter* out) {
  if (!c.by_pod) return;
  out->Key("differences").Array();
  for (size_t v = 1; v < c.variants.size(); ++v) {
    for (const lab::PodDifference& d : c.differences[v]) {
      out->Object().Member("policy", c.variants[v].name);
      out->Member("pod", d.pod->meta.Key()).Member("change", KindText(d.kind));
      out->Member("before", d.before.str()).Member("after", d.after.str());
      out->Member("rule", d.rule).Member("why", d.why).End();
    }
  }
  out->End();
}

void WriteJson(const ScenarioComparison& c, api::JsonWriter* out) {
  out->Object().Member("apiVersion", "schedsim/v1").Member("kind", "Comparison");
  out->Member("nodes", static_cast<int64_t>(c.workload->node_count()));
  out->Member("pods", static_cast<int64_t>(c.scenario->pending.size())).Key("policies").Array();
  auto shares = [&](const char* key, const std::vector<double>& values) {
    out->Key(key).Object();
    for (size_t r = 0; r < values.size(); ++r) out->Key(c.workload->resources()[r]).Literal(Share(values[r]));
    out->End();
  };
  for (size_t v = 0; v < c.variants.size(); ++v) {
    const Trial& t = c.trials[v];
    const Metrics& m = t.metrics;
    out->Object().Member("policy", c.variants[v].name);
    if (!t.error.empty()) {
      out->Member("error", t.error).End();
      continue;
    }
    out->Member("placed", m.placed).Member("pending", m.pending).Key("pendingByReason").Object();
    for (const auto& [reason, pods] : m.pending_by_reason) out->Member(reason, pods);
    out->End();
    shares("allocation", m.allocation);
    shares("fragmentation", m.fragmentation);
    out->Key("imbalance").Literal(Share(m.imbalance)).Key("zoneSkew").Literal(Share(m.zone_skew));
    out->Member("nodesInUse", m.nodes_in_use).Member("compaction", m.compaction);
    out->Member("preemptions", m.preemptions).Member("moves", c.Moves(v)).End();
  }
  out->End();
  DifferencesJson(c, out);
  if (!c.steps.empty()) StepsJson(c.steps, /*with_pods=*/c.variants.size() > 2, out);
  out->End();
}

// For -o wide: every resource, and the preemptions.
void WriteResources(const ScenarioComparison& c, explain::Page* page) {
  const auto& resources = c.workload->resources();
  std::vector<std::vector<std::string>> rows = {{"ALLOC / FRAG"}};
  rows[0].insert(rows[0].end(), resources.begin(), resources.end());
  rows[0].emplace_back("PREEMPTIONS");
  for (size_t v = 0; v < c.variants.size(); ++v) {
    if (!c.trials[v].error.empty()) continue;
    const Metrics& m = c.trials[v].metrics;
    rows.push_back({c.variants[v].name});
    for (size_t r = 0; r < resources.size(); ++r) {
      rows.back().push_back(absl::StrCat(Percent(m.allocation[r]), " / ", Percent(m.fragmentation[r])));
    }
    rows.back().push_back(absl::StrCat(m.preemptions));
  }
  page->Rows(rows, true).Blank();
}

void WriteTable(const ScenarioComparison& c, bool wide, explain::Page* page) {
  const size_t r = c.workload->scarcest();
  const std::string& scarce = c.workload->resources()[r];
  page->Line(absl::StrCat(explain::Counted(static_cast<int64_t>(c.workload->node_count()), "node"), ", ",
                          explain::Counted(static_cast<int64_t>(c.scenario->pending.size()), "pod"),
                          " to place; scarcest is ", scarce));
  page->Blank();
  std::vector<std::vector<std::string>> rows = {
      {"POLICY", "PLACED", "PENDING", "ALLOC", "FRAG", "IMBAL", "SKEW", "NODES", "LEAST", "MOVES"}};
  for (size_t v = 0; v < c.variants.size(); ++v) {
    const Metrics& m = c.trials[v].metrics;
    rows.push_back({c.variants[v].name});
    if (!c.trials[v].error.empty()) {
      rows.back().emplace_back("-");
      continue;
    }
    for (const std::string& cell :
         {absl::StrCat(m.placed), absl::StrCat(m.pending), Percent(m.allocation[r]), Percent(m.fragmentation[r]),
          Percent(m.imbalance), Percent(m.zone_skew), absl::StrCat(m.nodes_in_use), absl::StrCat(m.compaction),
          absl::StrCat(c.Moves(v))}) {
      rows.back().push_back(cell);
    }
  }
  page->Rows(rows, true).Blank();
  if (wide) WriteResources(c, page);
  rows = {{"POLICY", "PENDING, BY THE REASON THAT MOST NODES GAVE"}};
  std::vector<explain::Style> styles = {explain::Style::kHeading};
  for (size_t v = 0; v < c.variants.size(); ++v) {
    const bool bad = !c.trials[v].error.empty();
    if (!bad && c.trials[v].metrics.pending == 0) continue;
    rows.push_back({c.variants[v].name, bad ? "cannot run: " + c.trials[v].error : c.Reasons(v)});
    styles.push_back(bad ? explain::Style::kBad : explain::Style::kPlain);
  }
  if (rows.size() > 1) page->Rows(rows, false, styles).Blank();
  page->Line(absl::StrCat("ALLOC: share of ", scarce, " that is in use. FRAG: share of what is free of it that a pod ",
                          "drawn from these cannot use. IMBAL: standard deviation over the nodes of the share of cpu ",
                          "and memory in use. SKEW: of cpu, between the zones. NODES: with a pod. LEAST: nodes that ",
                          "hold the same pods, packed anew. MOVES: pods that go elsewhere than with the first."),
             explain::Style::kFaint);
}

// Compares the pods' nodes with a variant and with the first one, and lists at most `most` pods.
void WriteDifferences(const ScenarioComparison& c, size_t variant, size_t most, explain::Page* page) {
  const auto& all = c.differences[variant];
  page->Blank();
  if (all.empty()) {
    page->Line(absl::StrCat("Every pod goes to the same node with ", c.variants[0].name, " and ",
                            c.variants[variant].name, "."));
    return;
  }
  std::map<std::pair<std::string, std::string>, int64_t> by_rule;
  for (const auto& d : all) ++by_rule[{KindText(d.kind), d.rule.empty() ? "-" : d.rule}];
  std::vector<std::vector<std::string>> rows = {{"PODS", "CHANGE", "RULE THAT MADE THE DIFFERENCE"}};
  for (const auto& [key, pods] : by_rule) rows.push_back({absl::StrCat(pods), key.first, key.second});
  page->Rows(rows, true).Blank();
  rows = {{"POD", c.variants[0].name, c.variants[variant].name, "WHY"}};
  for (size_t i = 0; i < std::min(all.size(), most); ++i) {
    const lab::PodDifference& d = all[i];
    auto node = [](scheduler::Symbol s) { return s.empty() ? std::string("-") : s.string(); };
    rows.push_back({d.pod->meta.Key(), node(d.before), node(d.after), d.why});
  }
  if (most > 0) page->Rows(rows, true);
  if (all.size() > most) {
    page->Line(absl::StrCat("and ", all.size() - most, " more (-o json lists all)"), explain::Style::kFaint);
  }
}

// Returns whether the variants are releases and nothing else: then each is compared with the one before.
bool IsUpgrade(const Invocation& options, const ScenarioComparison& c) {
  if (options.List("emulated-version").size() < 2) return false;
  const auto& first = c.variants[0].algorithm.release;
  if (c.variants.size() == 2 && c.variants[1].algorithm.release == first) return false;
  return options.List("policy").empty() && options.List("config").empty() && options.List("algorithm-provider").empty();
}

// Computes the differences by pod if releases are compared or --changes is given.
absl::Status FindDifferences(const Invocation& options, ScenarioComparison* c) {
  c->differences.resize(c->variants.size());
  const bool draws_steps = options.Has("svg") && c->variants.size() > 2;
  if (IsUpgrade(options, *c)) {
    if (options.output == "csv" && !draws_steps) return absl::OkStatus();
    auto steps = StepsOfUpgrade(*c->scenario, c->variants, c->trials);
    if (!steps.ok()) return steps.status();
    c->steps = *std::move(steps);
    // Of two releases, the list of pods stands beside the step.
    c->by_pod = c->steps.size() == 1 && c->variants.size() == 2 &&
                (!options.Has("changes") || options.Get<int64_t>("changes") > 0);
    if (c->by_pod) c->differences[1] = c->steps[0].differences;
    return absl::OkStatus();
  }
  const bool asked = options.Has("changes") && options.Get<int64_t>("changes") > 0;
  const bool releases = c->variants.size() == 2 && c->variants[0].algorithm.release != c->variants[1].algorithm.release;
  c->by_pod = options.output != "csv" && (asked || (releases && !options.Has("changes")));
  for (size_t v = 1; v < c->variants.size() && c->by_pod; ++v) {
    if (!c->trials[0].error.empty() || !c->trials[v].error.empty()) continue;
    auto found = lab::CompareByPod(*c->scenario, c->variants[0], c->variants[v]);
    if (!found.ok()) return found.status();
    c->differences[v] = *std::move(found);
  }
  return absl::OkStatus();
}

// A single variant is compared with the default algorithm, a configuration with the default of its release.
Variant DefaultFor(const Invocation& options, lab::Algorithm base) {
  base.policy.reset();
  base.profiles.reset();
  if (options.List("config").empty()) {
    base.provider = std::string(scheduler::kDefaultProvider);
    return {*base.provider, base};
  }
  base.provider.reset();
  return {std::string(base.release->name), base};
}

bool WriteChart(const ScenarioComparison& c, const std::string& file) {
  std::vector<lab::Curve> curves;
  for (size_t v = 0; v < c.variants.size(); ++v) curves.push_back({c.variants[v].name, c.trials[v].samples});
  std::ofstream out(file, std::ios::binary);
  out << (c.variants.size() <= 2 || c.steps.empty()
              ? lab::ChartSvg(c.workload->resources()[c.workload->scarcest()], curves)
              : StepsSvg(c.steps));
  out.close();
  if (out) return true;
  std::cerr << "schedsim: --svg: cannot write " << file << "\n";
  return false;
}

// Variants run on all cores at the same time; each has its own simulation, so their results do not depend on one
// another.
int CompareScenarios(const Invocation& options, std::ostream& out) {
  int exit_status = kExitOk;
  std::unique_ptr<lab::Input> input = ReadOneCluster(options, &exit_status);
  if (input == nullptr) return exit_status;
  ScenarioComparison c;
  c.scenario = &input->scenarios[0];
  lab::Algorithm base = c.scenario->algorithm;
  // The comparison shows what each release decided, and 1.10 ignored fields of later releases.
  base.ignore_unknown_fields = true;
  auto variants = VariantsOf(options, base);
  if (!variants.ok()) {
    std::cerr << "schedsim: " << util::Message(variants.status()) << "\n";
    return kExitBadInput;
  }
  c.variants = std::move(*variants);
  if (c.variants.size() == 1) c.variants.insert(c.variants.begin(), DefaultFor(options, base));
  const lab::Workload workload(*c.scenario);
  c.workload = &workload;
  c.trials.resize(c.variants.size());
  lab::TrialOptions how;
  how.compaction = how.preemptions = true;
  how.samples = options.Has("svg") ? kSamples : 0;
  {
    Progress progress("comparing policies", c.variants.size());
    lab::RunOnAllCores(
        c.variants.size(),
        [&](size_t v) { c.trials[v] = lab::RunTrial(*c.scenario, workload, c.variants[v].algorithm, how); },
        [&](size_t done) { progress.Show(done); });
  }
  for (size_t v = 0; v < c.variants.size(); ++v) {
    if (c.trials[v].error.empty()) continue;
    std::cerr << "schedsim: " << c.variants[v].name << ": " << c.trials[v].error << "\n";
    exit_status = kExitBadInput;
  }
  if (absl::Status found = FindDifferences(options, &c); !found.ok()) {
    std::cerr << "schedsim: " << util::Message(found) << "\n";
    return kExitBadInput;
  }
  // A variant that cannot run places nothing.
  for (Trial& t : c.trials) t.hosts.resize(c.scenario->pending.size());
  if (options.output == "csv") {
    WriteCsv(c, out);
  } else if (options.output == "table" || options.output == "wide") {
    const bool wide = options.output == "wide";
    const size_t most = options.Has("changes") ? static_cast<size_t>(options.Get<int64_t>("changes")) : kMostPods;
    explain::Page page(wide ? explain::Screen() : explain::ScreenOfStdout());
    WriteTable(c, wide, &page);
    const bool steps = !c.steps.empty() && (!c.by_pod || c.steps[0].touched() > 0);
    for (size_t v = 1; v < c.variants.size() && c.by_pod && !steps; ++v) WriteDifferences(c, v, most, &page);
    if (steps) WriteSteps(c.steps, c.by_pod || options.Has("changes") ? most : 0, &page);
    out << page.text();
  } else {
    api::JsonWriter data;
    WriteJson(c, &data);
    out << data.Finish(options.output);
  }
  if (options.Has("svg") && !WriteChart(c, options.Get<std::string>("svg"))) exit_status = kExitBadInput;
  return exit_status;
}

void AddCompareFlags(flags::FlagSet& add) {
  AddVariantFlags(add);
  add("changes", Takes<int64_t>("N"),
      "for the first N pods that go elsewhere than under the first policy, say which rule made the difference; 0: for "
      "none (default for two releases: 20)");
  add("svg", Takes("FILE"),
      "draw allocation and fragmentation over arrived load; for more than two releases, how many pods each step "
      "affects");
}

absl::Status CheckCompare(const Invocation& options) {
  if (options.Has("changes") && options.Get<int64_t>("changes") < 0) {
    return flags::InvalidValue("changes", options.Get<int64_t>("changes"), "must be 0 or more");
  }
  for (const char* flag : {"policy", "algorithm-provider", "emulated-version", "config"}) {
    if (!options.List(flag).empty()) return absl::OkStatus();
  }
  return util::InvalidArgument(
      "compare: say what to compare: --policy FILE, --algorithm-provider NAME, --emulated-version RELEASE or --config "
      "FILE");
}

constexpr char kCompareExamples[] =
    R"(  schedsim compare cluster.json --policy mine.json           against the default
  schedsim compare trace.json.gz --algorithm-provider DefaultProvider --policy a.json --policy b.json -o csv
  schedsim compare trace.json.gz --policy a.json --policy b.json --svg load.svg
  schedsim compare cluster.json --policy mine.json --changes 5     which rule sent the first 5 pods elsewhere
  schedsim compare cluster.json --emulated-version=OLD --emulated-version=NEW     what changes with an upgrade
)";

}  // namespace

extern const Command kCompareCommand = {
    .name = "compare",
    .arguments = "FILE... --policy A --policy B",
    .summary = "the same pods under several policies, side by side",
    .outputs = "table wide json yaml csv",
    .examples = kCompareExamples,
    .groups = kGateFlags | kInputFlags,
    .add_flags = AddCompareFlags,
    .check = CheckCompare,
    .run = CompareScenarios,
};

}  // namespace berth::schedsim
