// The command tune: finds Policies that are better for these pods, and shows what each of them costs.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_split.h>

#include <filesystem>
#include <fstream>
#include <iostream>

#include "cmd/schedsim/progress.h"
#include "cmd/schedsim/variants.h"
#include "pkg/api/json.h"
#include "pkg/api/json_writer.h"
#include "pkg/explain/page.h"
#include "pkg/lab/picture.h"
#include "pkg/lab/tune.h"
#include "pkg/util/status.h"

namespace berth::schedsim {
namespace {

using lab::Metrics;
using lab::Tuned;

absl::StatusOr<std::vector<lab::Objective>> ObjectivesOf(const Invocation& options) {
  std::vector<lab::Objective> out;
  for (absl::string_view name : absl::StrSplit(options.Get<std::string>("objective"), ',')) {
    auto objective = lab::ObjectiveNamed(util::FromAbsl(absl::StripAsciiWhitespace(name)));
    if (!objective.ok()) return objective.status();
    if (std::find(out.begin(), out.end(), *objective) == out.end()) out.push_back(*objective);
  }
  return out;
}

void WriteMetrics(const lab::Workload& w, const Metrics& m, api::JsonWriter* out) {
  out->Member("placed", m.placed).Member("pending", m.pending);
  if (m.fragmentation.empty()) return;
  out->Key("allocation").Literal(absl::StrFormat("%.6f", m.allocation[w.scarcest()]));
  out->Key("fragmentation").Literal(absl::StrFormat("%.6f", m.fragmentation[w.scarcest()]));
  out->Member("nodesInUse", m.nodes_in_use).Key("imbalance").Literal(absl::StrFormat("%.6f", m.imbalance));
  out->Key("zoneSkew").Literal(absl::StrFormat("%.6f", m.zone_skew));
}

std::string JsonLine(const lab::Workload& w, const lab::TuneResult& result, const Tuned& t) {
  api::JsonWriter out;
  out.Object().Member("name", t.name);
  WriteMetrics(w, t.metrics, &out);
  if (!t.held_back.fragmentation.empty()) {
    out.Key("heldBack").Object();
    WriteMetrics(w, t.held_back, &out);
    out.End();
  }
  out.Key("default").Object();
  WriteMetrics(w, result.baseline.metrics, &out);
  out.End();
  api::Document policy;
  if (policy.Parse(t.policy).ok()) out.Key("policy").Literal(policy.root().Serialize());
  return out.End().Finish("json");
}

// Returns the priorities of a policy with their weights, without those that every policy of the search has.
std::string PrioritiesOf(const Tuned& t) {
  api::Document d;
  std::string out;
  if (!d.Parse(t.policy).ok()) return out;
  for (auto p : d.root().Find("priorities").Children()) {
    std::string_view name = p.value.Find("name").Text();
    const int64_t weight = p.value.Find("weight").Int();
    const bool usual = name == "NodePreferAvoidPodsPriority" || name == "InterPodAffinityPriority" ||
                       name == "NodeAffinityPriority" || name == "TaintTolerationPriority";
    if (usual) continue;
    absl::StrAppend(&out, out.empty() ? "" : ", ", util::ToAbsl(name), " x", weight);
  }
  return out;
}

void WriteTable(const lab::Workload& w, const lab::TuneResult& r, const std::string& folder, explain::Page* page) {
  page->Line(absl::StrCat(r.tried, " policies tried; none of these is better than another in every respect:")).Blank();
  std::vector<std::vector<std::string>> rows = {
      {"POLICY", "PLACED", "PENDING", "FRAG", "NODES", "IMBAL", "UNSEEN", "PRIORITIES"}};
  auto add = [&](const Tuned& t) {
    auto percent = [](double share) { return absl::StrFormat("%.1f%%", 100 * share); };
    rows.push_back({t.name, absl::StrCat(t.metrics.placed), absl::StrCat(t.metrics.pending),
                    percent(t.metrics.fragmentation[w.scarcest()]), absl::StrCat(t.metrics.nodes_in_use),
                    percent(t.metrics.imbalance), absl::StrCat(t.held_back.placed), PrioritiesOf(t)});
  };
  add(r.baseline);
  for (const Tuned& t : r.front) add(t);
  page->Rows(rows, true).Blank();
  page->Line(absl::StrCat("FRAG: share of free ", w.resources()[w.scarcest()], " that a pod drawn from these cannot ",
                          "use. NODES: in use. IMBAL: standard deviation of their use. UNSEEN: pods placed of a trace ",
                          "as long, made of the pods that the search did not see."),
             explain::Style::kFaint);
  page->Line(folder.empty() ? "Write the policies to files with --out DIR."
                            : absl::StrCat("The policies are in ", folder, "/."),
             explain::Style::kFaint);
}

// Writes each policy of the front to a file of its own. Returns false, after an error message, if one cannot be
// written.
bool WritePolicies(const lab::TuneResult& result, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  for (const Tuned& t : result.front) {
    const std::string path = absl::StrCat(folder, "/", t.name, ".json");
    std::ofstream file(path, std::ios::binary);
    file << t.policy;
    file.close();
    if (file) continue;
    std::cerr << "schedsim: --out: cannot write " << path << "\n";
    return false;
  }
  return true;
}

// Returns the value of an objective, as it is drawn.
double DrawnValue(lab::Objective o, const lab::Workload& w, const Metrics& m) {
  return o == lab::Objective::kPending ? static_cast<double>(m.pending) : lab::ValueOf(o, w, m);
}

// Returns the front as points. A single objective is drawn against the one that most often stands against it.
std::string FrontSvg(const lab::Workload& w, const lab::TuneResult& r, const std::vector<lab::Objective>& objectives) {
  const lab::Objective x = objectives[0];
  const lab::Objective y = objectives.size() > 1                 ? objectives[1]
                           : x == lab::Objective::kFragmentation ? lab::Objective::kNodes
                                                                 : lab::Objective::kFragmentation;
  const auto axis = [](lab::Objective o) {
    const bool share = o == lab::Objective::kFragmentation || o == lab::Objective::kSpread;
    return lab::Axis{absl::StrCat(lab::NameOf(o), ", less is better"), share};
  };
  std::vector<lab::Point> points;
  for (const Tuned& t : r.front) {
    points.push_back({t.name, DrawnValue(x, w, t.metrics), DrawnValue(y, w, t.metrics)});
  }
  points.push_back({r.baseline.name, DrawnValue(x, w, r.baseline.metrics), DrawnValue(y, w, r.baseline.metrics), true});
  return lab::PointsSvg(absl::StrCat("The best of ", r.tried, " policies"), axis(x), axis(y), points);
}

int Tune(const Invocation& options, std::ostream& out) {
  int exit_status = kExitOk;
  std::unique_ptr<lab::Input> input = ReadOneCluster(options, &exit_status);
  if (input == nullptr) return exit_status;
  lab::TuneOptions how;
  how.objectives = *ObjectivesOf(options);
  how.budget = options.Get<int64_t>("budget");
  how.seed = options.Get<uint64_t>("seed");
  how.held_back = options.Get<double>("hold-back");
  absl::StatusOr<lab::TuneResult> result;
  {
    Progress progress("trying policies", static_cast<size_t>(how.budget));
    result = lab::Tune(input->scenarios[0], how, [&](size_t done, size_t) { progress.Show(done); });
  }
  if (!result.ok()) {
    std::cerr << "schedsim: " << util::Message(result.status()) << "\n";
    return kExitBadInput;
  }
  const lab::Workload workload(input->scenarios[0]);
  const std::string folder = options.Has("out") ? options.Get<std::string>("out") : "";
  if (!folder.empty() && !WritePolicies(*result, folder)) exit_status = kExitBadInput;
  if (options.Has("svg") &&
      !lab::WritePicture(options.Get<std::string>("svg"), FrontSvg(workload, *result, how.objectives))) {
    exit_status = kExitBadInput;
  }
  if (options.output == "json") {
    for (const Tuned& t : result->front) out << JsonLine(workload, *result, t);
  } else {
    explain::Page page(explain::ScreenOfStdout());
    WriteTable(workload, *result, folder, &page);
    out << page.text();
  }
  return exit_status;
}

void AddTuneFlags(flags::FlagSet& add) {
  add("objective", Takes("O[,O...]")->default_value("pending"),
      "what to minimise: pending, fragmentation, nodes, spread");
  add("budget", Takes<int64_t>("N")->default_value(200), "how many policies to try");
  add("seed", Takes<uint64_t>("S")->default_value(1), "seed of the search; the same seed gives the same result");
  add("hold-back", Takes<double>("SHARE")->default_value(0.25, "0.25"),
      "share of the pods that is hidden from the search, to evaluate the policies with");
  add("out", Takes("DIR"), "write each policy to a file in this folder");
  add("svg", Takes("FILE"), "plot the policies by two of the objectives");
}

absl::Status CheckTune(const Invocation& options) {
  if (const int64_t budget = options.Get<int64_t>("budget"); budget < 1) {
    return flags::InvalidValue("budget", budget, "must be 1 or more");
  }
  const double held = options.Get<double>("hold-back");
  if (!(held >= 0 && held <= 0.9)) {
    return flags::InvalidValue("hold-back", absl::StrCat(held), "must be from 0 to 0.9");
  }
  return ObjectivesOf(options).status();
}

constexpr char kTuneExamples[] =
    R"(  schedsim tune trace.json.gz --budget 300 --out tuned        policies that leave fewer pods pending
  schedsim tune cluster.json --objective nodes,spread -o json
)";

}  // namespace

extern const Command kTuneCommand = {
    .name = "tune",
    .arguments = "FILE... --objective O --budget N",
    .summary = "search for policies that serve these pods better",
    .outputs = "table json",
    .examples = kTuneExamples,
    .groups = kGateFlags | kInputFlags,
    .add_flags = AddTuneFlags,
    .check = CheckTune,
    .run = Tune,
};

}  // namespace berth::schedsim
