// The command what-if: what would happen to the pods if nodes were drained, removed or added, or the policy were
// changed.
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "cmd/schedsim/result.h"
#include "cmd/schedsim/variants.h"
#include "pkg/api/json_writer.h"
#include "pkg/explain/output.h"
#include "pkg/explain/page.h"
#include "pkg/lab/edit.h"
#include "pkg/lab/picture.h"
#include "pkg/util/status.h"

namespace berth::schedsim {
namespace {

struct WhatIfAnswer {
  lab::Edited edited;
  std::vector<Outcome> outcomes;  // by pending pod of the edited cluster
  std::map<const api::Pod*, scheduler::Symbol> from;
  int64_t placed = 0, pending = 0, placed_before = 0, pending_before = 0;
};

absl::StatusOr<lab::Edits> EditsOf(const Invocation& options) {
  lab::Edits edits;
  edits.drain = options.List("drain");
  edits.cordon = options.List("cordon");
  edits.remove = options.List("remove");
  for (const std::string& text : options.List("add-nodes")) {
    lab::NewNodes n;
    const size_t equals = text.rfind('=');
    n.like = text.substr(0, equals);
    if (equals == std::string::npos || n.like.empty() || !absl::SimpleAtoi(text.substr(equals + 1), &n.count) ||
        n.count < 1 || n.count > 1'000'000) {
      return flags::InvalidValue("add-nodes", text, "must be TEMPLATE=N, N from 1 to 1000000");
    }
    edits.add.push_back(std::move(n));
  }
  return edits;
}

void WriteJson(const WhatIfAnswer& a, const lab::Workload& w, const lab::Metrics& m, api::JsonWriter* out) {
  out->Object().Member("apiVersion", "schedsim/v1").Member("kind", "WhatIf");
  out->Key("before").Object().Member("placed", a.placed_before).Member("pending", a.pending_before).End();
  out->Key("after").Object().Member("placed", a.placed).Member("pending", a.pending).End();
  out->Key("nodes").Object().Member("cordoned", a.edited.cordoned).Member("removed", a.edited.removed);
  out->Member("added", a.edited.added).End();
  out->Key("moves").Array();
  for (const Outcome& o : a.outcomes) {
    auto from = a.from.find(o.pod.get());
    if (from == a.from.end()) continue;
    out->Object().Member("pod", o.pod->meta.Key()).Member("from", from->second.str());
    out->Member("to", o.decision.host.str()).End();
  }
  out->End().Key("pending").Array();
  for (const Outcome& o : a.outcomes) {
    if (!o.placed()) out->Object().Member("pod", o.pod->meta.Key()).Member("error", o.decision.error).End();
  }
  out->End().Key("violatedBudgets").Array();
  for (const auto& b : a.edited.violated) {
    out->Object().Member("budget", b.name).Member("allowed", int64_t{b.allowed}).Key("evicted").Texts(b.evicted).End();
  }
  out->End().Key("withoutController").Texts(a.edited.bare);
  out->Key("notWanted").Texts(a.edited.not_wanted);
  out->Key("withSeveralBudgets").Texts(a.edited.with_several_budgets);
  out->Key("withEmptyDir").Texts(a.edited.with_empty_dir);
  out->Key("allocation").Object();
  for (size_t r = 0; r < w.resources().size(); ++r) {
    out->Key(w.resources()[r]).Literal(absl::StrFormat("%.6f", m.allocation[r]));
  }
  out->End().Key("decisions").Array();
  for (const Outcome& o : a.outcomes) {
    out->Object().Member("pod", o.pod->meta.Key()).Member("host", o.decision.host.str());
    if (!o.placed()) out->Member("error", o.decision.error);
    out->End();
  }
  out->End().End();
}

void WriteTable(const WhatIfAnswer& a, lab::Simulation& sim, const Summary& summary, bool all, explain::Page* page) {
  page->Line(
      absl::StrCat("Nodes: ", a.edited.cordoned, " cordoned, ", a.edited.removed, " removed, ", a.edited.added,
                   " added. Pods: ", a.edited.evictions.size() + a.edited.bare.size() + a.edited.not_wanted.size(),
                   " evicted; ", a.pending, " pending, before ", a.pending_before, "."));
  for (const auto& b : a.edited.violated) {
    page->Line(absl::StrCat("PodDisruptionBudget ", b.name, " would be violated: it allows ", b.allowed,
                            ", evicted are ", explain::Some(b.evicted, 3)),
               explain::Style::kBad);
  }
  if (!a.edited.bare.empty()) {
    page->Line(absl::StrCat("No controller would recreate these, so they are lost: ", explain::Some(a.edited.bare, 3)),
               explain::Style::kBad);
  }
  if (!a.edited.not_wanted.empty()) {
    page->Line(absl::StrCat("Their controllers want fewer pods and do not recreate these: ",
                            explain::Some(a.edited.not_wanted, 3)));
  }
  if (!a.edited.with_several_budgets.empty()) {
    page->Line(absl::StrCat("More than one PodDisruptionBudget selects these, so that their eviction is an error: ",
                            explain::Some(a.edited.with_several_budgets, 3)),
               explain::Style::kBad);
  }
  if (!a.edited.with_empty_dir.empty()) {
    page->Line(absl::StrCat("These lose the data of their emptyDir volumes (kubectl drain --delete-emptydir-data): ",
                            explain::Some(a.edited.with_empty_dir, 3)));
  }
  constexpr size_t kMostRows = 30;
  std::vector<std::vector<std::string>> rows = {{"EVICTED POD", "FROM", "TO"}};
  for (const Outcome& o : a.outcomes) {
    auto from = a.from.find(o.pod.get());
    if (from == a.from.end()) continue;
    if (all || rows.size() <= kMostRows) {
      rows.push_back({o.pod->meta.Key(), from->second.string(), o.placed() ? o.decision.host.string() : "<none>"});
    }
  }
  if (rows.size() > 1) page->Blank().Rows(rows, true);
  if (a.edited.evictions.size() + 1 > rows.size()) {
    page->Line(absl::StrCat("and ", a.edited.evictions.size() + 1 - rows.size(), " more (--all)"));
  }
  page->Blank().Line(absl::StrCat(a.placed, " of ", a.outcomes.size(), " pods placed"),
                     a.pending == 0 ? explain::Style::kGood : explain::Style::kBad);
  summary.Print(sim, page);
}

absl::StatusOr<std::unique_ptr<lab::Simulation>> Decide(const lab::Algorithm& algorithm, WhatIfAnswer* a,
                                                        Summary* summary) {
  const lab::Scenario& s = a->edited.scenario;
  auto sim = lab::Simulation::Make(s, algorithm);
  if (!sim.ok()) return sim.status();
  for (const auto& eviction : a->edited.evictions) a->from[eviction.pod.get()] = eviction.from;
  for (const api::PodPtr& pod : s.pending) {
    Outcome o;
    o.pod = pod;
    o.decision = (*sim)->Place(pod);
    summary->Take(o);
    o.decision.failures.reset();
    ++(o.placed() ? a->placed : a->pending);
    a->outcomes.push_back(std::move(o));
  }
  return sim;
}

// Returns what is allocated of each resource, and the numbers of pods, before and after.
std::string Drawn(const WhatIfAnswer& a, const lab::Workload& before, const lab::Metrics& then,
                  const lab::Workload& after, const lab::Metrics& now) {
  lab::BarGroup shares{"Allocated, of all there is", {}, 1}, pods{"Pods", {}};
  const auto share = [&](const std::string& name, double value) {
    shares.bars.push_back({name, value, absl::StrFormat("%.1f%%", 100 * value)});
  };
  for (size_t r = 0; r < after.resources().size(); ++r) {
    const std::string& name = after.resources()[r];
    const auto known = std::find(before.resources().begin(), before.resources().end(), name);
    if (known != before.resources().end()) {
      share(name + ", before", then.allocation[static_cast<size_t>(known - before.resources().begin())]);
    }
    share(name + ", after", now.allocation[r]);
  }
  for (const auto& [name, n] :
       {std::pair("pending, before", a.pending_before), std::pair("pending, after", a.pending)}) {
    pods.bars.push_back({name, static_cast<double>(n), absl::StrCat(n)});
  }
  return lab::BarsSvg("What if", {shares, pods});
}

int WhatIf(const Invocation& options, std::ostream& out) {
  int exit_status = kExitOk;
  std::unique_ptr<lab::Input> input = ReadOneCluster(options, &exit_status);
  if (input == nullptr) return exit_status;
  auto fail = [&](const absl::Status& s) {
    std::cerr << "schedsim: " << util::Message(s) << "\n";
    return kExitBadInput;
  };
  const lab::Scenario& scenario = input->scenarios[0];
  auto variants = VariantsOf(options, scenario.algorithm);
  if (!variants.ok()) return fail(variants.status());
  const lab::Algorithm algorithm = variants->empty() ? scenario.algorithm : (*variants)[0].algorithm;
  WhatIfAnswer a;
  auto edited = lab::ApplyEdits(scenario, *EditsOf(options));
  if (!edited.ok()) return fail(edited.status());
  a.edited = std::move(*edited);
  const lab::Workload workload_before(scenario), workload(a.edited.scenario);
  const lab::Trial before = lab::RunTrial(scenario, workload_before, scenario.algorithm, {});
  if (!before.error.empty()) return fail(util::InvalidArgument(before.error));
  a.placed_before = before.metrics.placed;
  a.pending_before = before.metrics.pending;
  Summary summary;
  auto sim = Decide(algorithm, &a, &summary);
  if (!sim.ok()) return fail(sim.status());
  lab::Metrics metrics;
  lab::MeasureCluster(workload, (*sim)->cache(), false, &metrics);
  if (options.Has("svg") && !lab::WritePicture(options.Get<std::string>("svg"),
                                               Drawn(a, workload_before, before.metrics, workload, metrics))) {
    return kExitBadInput;
  }
  if (options.output == "placements") {
    WriterOptions how;
    how.format = "placements";
    auto writer = MakeWriter(how, out);
    for (const Outcome& o : a.outcomes) writer->Take(o);
  } else if (options.output == "table") {
    explain::Page page(explain::ScreenOfStdout());
    WriteTable(a, **sim, summary, options.Get<bool>("all"), &page);
    out << page.text();
  } else {
    api::JsonWriter data;
    WriteJson(a, workload, metrics, &data);
    out << data.Finish(options.output);
  }
  return options.Get<bool>("fail-on-pending") && a.pending > 0 ? kExitPending : kExitOk;
}

void AddWhatIfFlags(flags::FlagSet& add) {
  add("drain", Takes<Texts>("A,B|SELECTOR"), "cordon these nodes and evict their pods");
  add("cordon", Takes<Texts>("A,B|SELECTOR"), "let no new pods onto these nodes");
  add("remove", Takes<Texts>("A,B|SELECTOR"), "take these nodes away, and evict their pods");
  add("add-nodes", Takes<Texts>("TEMPLATE=N"), "add N nodes like the one in a file, or like a node of the cluster");
  AddVariantFlags(add);
  add("all", po::bool_switch(), "with -o table: list every evicted pod");
  add("svg", Takes("FILE"), "draw what is allocated and pending, before and after");
  add("fail-on-pending", po::bool_switch(), "exit with status 3 when a pod stays pending");
}

absl::Status CheckWhatIf(const Invocation& options) {
  if (options.List("policy").size() + options.List("algorithm-provider").size() > 1) {
    return util::InvalidArgument("what-if: give one --policy or --algorithm-provider; compare takes several");
  }
  return EditsOf(options).status();
}

constexpr char kWhatIfExamples[] =
    R"(  schedsim what-if cluster.json --drain node-1,node-2
  schedsim what-if cluster.json --remove pool=blue --add-nodes green.yaml=10 --fail-on-pending
  schedsim what-if cluster.json --add-nodes node-1=3 --policy policies/most-pods.json -o json
)";

}  // namespace

extern const Command kWhatIfCommand = {
    .name = "what-if",
    .arguments = "FILE... --drain A,B --add-nodes TEMPLATE=N",
    .summary = "what if nodes are drained, removed or added",
    .outputs = "table json yaml placements",
    .examples = kWhatIfExamples,
    .groups = kGateFlags | kInputFlags,
    .add_flags = AddWhatIfFlags,
    .check = CheckWhatIf,
    .run = WhatIf,
};

}  // namespace berth::schedsim
