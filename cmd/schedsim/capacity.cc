// The command capacity: how many more of some pods fit, where, what prevents the next one, and how many nodes are
// missing.
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <sys/stat.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "cmd/schedsim/capacity_nodes.h"
#include "cmd/schedsim/command.h"
#include "cmd/schedsim/progress.h"
#include "pkg/api/json_writer.h"
#include "pkg/api/zone.h"
#include "pkg/explain/output.h"
#include "pkg/explain/page.h"
#include "pkg/lab/capacity.h"
#include "pkg/lab/picture.h"
#include "pkg/lab/pod_specs.h"
#include "pkg/util/status.h"

namespace berth::schedsim {
namespace {

using api::JsonWriter;
using explain::Counted;
using explain::Page;
using explain::Style;
using lab::Filled;
using lab::PodShare;
using lab::Scenario;

// Without --max, a pod that nothing limits (as with a Policy without PodFitsResources) would never stop fitting.
constexpr int64_t kMostRounds = 1'000'000;

// The value "FILE" or "FILE=RATIO" of a flag. If a file with the whole value as its name exists, the value is that
// file.
struct SpecFlag {
  std::string file;
  int64_t ratio = 0;  // 0: not given
};

absl::StatusOr<SpecFlag> ParseSpecFlag(const std::string& text) {
  struct stat unused {};
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || stat(text.c_str(), &unused) == 0) return SpecFlag{text};
  SpecFlag flag{text.substr(0, equals)};
  if (absl::SimpleAtoi(text.substr(equals + 1), &flag.ratio) && flag.ratio > 0 && flag.ratio <= 1'000'000) return flag;
  return flags::InvalidValue("pod-spec", text, "must be FILE or FILE=RATIO, RATIO a whole number above 0");
}

// If any ratio is given, all pods together are one mix. Otherwise each pod is answered for separately.
struct Specs {
  std::vector<std::vector<PodShare>> groups;
  std::vector<std::vector<lab::PodSpec>> read;  // what the pods of each group are before admission
};

absl::StatusOr<Specs> ReadSpecs(const Invocation& options) {
  std::vector<PodShare> shares;
  std::vector<lab::PodSpec> read;
  std::map<std::string, int64_t> passed_over;
  lab::Validator validator(ReadOptionsOf(options).validate, options.algorithm.release->version);
  bool mixed = false;
  for (const std::string& text : options.List("pod-spec")) {
    auto flag = ParseSpecFlag(text);
    if (!flag.ok()) return flag.status();
    mixed = mixed || flag->ratio > 0;
    auto pods = lab::ReadPodSpecs(flag->file, &validator, &passed_over);
    if (!pods.ok()) return util::InvalidArgument(absl::StrCat("--pod-spec: ", util::Message(pods.status())));
    for (lab::PodSpec& p : *pods) {
      shares.push_back({flag->file, p.pod, std::max<int64_t>(flag->ratio, 1)});
      read.push_back(std::move(p));
    }
  }
  for (const auto& [kind, count] : passed_over) {
    std::cerr << "schedsim: --pod-spec: skipped " << Counted(count, "object") << " of kind " << kind
              << ", which has no pod template\n";
  }
  for (const std::string& w : validator.Warnings()) std::cerr << "schedsim: " << w << "\n";
  if (const std::vector<std::string> errors = validator.Errors(); !errors.empty()) {
    return util::InvalidArgument(absl::StrJoin(errors, "\nschedsim: "));
  }
  Specs specs;
  if (mixed || options.Has("add-node")) {
    specs.groups.push_back(std::move(shares));
    specs.read.push_back(std::move(read));
  } else {
    for (PodShare& s : shares) specs.groups.push_back({std::move(s)});
    for (lab::PodSpec& s : read) specs.read.push_back({std::move(s)});
  }
  return specs;
}

// Returns the pods as admission leaves them in the scenario's cluster.
absl::StatusOr<std::vector<std::vector<PodShare>>> Admitted(const Specs& specs, const Scenario& scenario) {
  std::vector<std::vector<PodShare>> groups = specs.groups;
  for (size_t g = 0; g < groups.size(); ++g) {
    for (size_t i = 0; i < groups[g].size(); ++i) {
      auto admitted = lab::AdmittedSpec(specs.read[g][i], scenario);
      if (!admitted.ok()) {
        return util::InvalidArgument(
            absl::StrCat("--pod-spec: ", groups[g][i].file, ": ", util::Message(admitted.status())));
      }
      groups[g][i].spec = *admitted;
    }
  }
  return groups;
}

// The nodes of a cluster, grouped by the value of a label.
class Groups {
 public:
  // An empty label groups by zone.
  Groups(const Scenario& scenario, const std::string& label) : heading_(label.empty() ? "ZONE" : label) {
    for (const api::Object& o : scenario.cluster) {
      const auto* node = std::get_if<api::NodePtr>(&o);
      if (node == nullptr) continue;
      const api::Labels& labels = (*node)->labels;
      const scheduler::Symbol value =
          label.empty() ? api::ZoneOf(labels) : labels.Get(scheduler::Symbol(label)).value_or(scheduler::Symbol());
      nodes_[value.empty() ? "(none)" : value.string()].push_back((*node)->meta.name);
    }
  }
  const std::string& heading() const { return heading_; }
  const std::map<std::string, std::vector<std::string>>& nodes() const { return nodes_; }

 private:
  std::string heading_;
  std::map<std::string, std::vector<std::string>> nodes_;
};

// The numbers of replicas that fit on the nodes of one group.
struct Spread {
  int64_t nodes = 0, with_any = 0, replicas = 0;
  std::vector<int64_t> quantiles;  // by node: 0, 25, 50, 75, 100 %

  Spread(const std::vector<std::string>& names, const std::map<std::string, int64_t>& by_node) {
    std::vector<int64_t> counts;
    for (const std::string& name : names) {
      auto it = by_node.find(name);
      counts.push_back(it == by_node.end() ? 0 : it->second);
      replicas += counts.back();
      with_any += counts.back() > 0;
    }
    nodes = static_cast<int64_t>(counts.size());
    std::sort(counts.begin(), counts.end());
    for (int q = 0; q <= 4 && !counts.empty(); ++q) {
      quantiles.push_back(counts[(counts.size() - 1) * static_cast<size_t>(q) / 4]);
    }
  }
};

// Returns the names of a mix of pods: "FILE: NAMESPACE/NAME x2 + ...".
std::string NamesOf(const std::vector<PodShare>& pods) {
  std::vector<std::string> names;
  for (const PodShare& p : pods) {
    names.push_back(absl::StrCat(p.file, ": ", p.spec->meta.Key(), p.ratio == 1 ? "" : absl::StrCat(" x", p.ratio)));
  }
  return absl::StrJoin(names, " + ");
}

void WriteGroups(const Filled& f, const Groups& groups, Page* page) {
  std::vector<std::vector<std::string>> rows = {
      {groups.heading(), "NODES", "MORE", "LEAST", "25%", "MEDIAN", "75%", "MOST ON A NODE"}};
  std::vector<std::string> all;
  auto add = [&](const std::string& name, const std::vector<std::string>& nodes) {
    const Spread s(nodes, f.by_node);
    rows.push_back({name, absl::StrCat(s.nodes), absl::StrCat(s.replicas)});
    for (int64_t q : s.quantiles) rows.back().push_back(absl::StrCat(q));
  };
  for (const auto& [name, nodes] : groups.nodes()) {
    all.insert(all.end(), nodes.begin(), nodes.end());
    if (groups.nodes().size() > 1) add(name, nodes);
  }
  add("all", all);
  page->Blank().Rows(rows, true);
}

void WriteNodes(const Filled& f, Page* page) {
  std::vector<std::vector<std::string>> rows = {{"NODE", "MORE"}};
  for (const auto& [node, n] : f.by_node) rows.push_back({node, absl::StrCat(n)});
  page->Blank().Rows(rows, true);
}

void WriteTable(const std::vector<PodShare>& pods, const Filled& f, const Groups& groups, bool wide, Page* page) {
  int64_t total = 0;
  for (int64_t n : f.replicas) total += n;
  std::string line = absl::StrCat(NamesOf(pods), ": ", f.limited ? "at least " : "");
  const size_t nodes = f.by_node.size();
  if (pods.size() == 1 && pods[0].ratio == 1) {
    absl::StrAppend(&line, total, total == 1 ? " more fits" : " more fit");
  } else {
    absl::StrAppend(&line, Counted(f.rounds, "round"), f.rounds == 1 ? " fits whole" : " fit whole", " (",
                    Counted(total, "pod"), " placed)");
  }
  absl::StrAppend(&line, ", on ", Counted(static_cast<int64_t>(nodes), "node"), f.limited ? " (--max)" : "");
  page->Line(line, Style::kHeading);
  if (wide) {
    WriteNodes(f, page);
  } else {
    WriteGroups(f, groups, page);
  }
  if (f.limited) return;
  page->Blank().Line(
      absl::StrCat(
          pods.size() == 1 ? "The next one" : absl::StrCat("The next one of ", pods[f.stopped_by].spec->meta.Key()),
          ": ", f.next.decision.error),
      Style::kBad);
  for (const std::string& sentence : f.next.lacking) page->Line(sentence, Style::kBad);
  explain::WriteWays(f.next.ways, page);
}

void WriteJson(const std::vector<PodShare>& pods, const Filled& f, const Groups& groups, JsonWriter* out) {
  int64_t total = 0;
  for (int64_t n : f.replicas) total += n;
  out->Object().Member("podSpec", pods[0].file).Member("pod", pods[0].spec->meta.Key()).Member("replicas", total);
  out->Member("rounds", f.rounds).Key("pods").Array();
  for (size_t i = 0; i < pods.size(); ++i) {
    out->Object().Member("podSpec", pods[i].file).Member("pod", pods[i].spec->meta.Key());
    out->Member("ratio", pods[i].ratio).Member("replicas", f.replicas[i]).End();
  }
  out->End().Member("limited", f.limited).Key("groups").Array();
  for (const auto& [name, nodes] : groups.nodes()) {
    const Spread s(nodes, f.by_node);
    out->Object().Member("value", name).Member("nodes", s.nodes).Member("nodesWithAny", s.with_any);
    out->Member("replicas", s.replicas).Key("quantiles").Array();
    for (int64_t q : s.quantiles) out->Number(q);
    out->End().End();
  }
  out->End().Key("nodes").Object();
  for (const auto& [node, n] : f.by_node) out->Member(node, n);
  out->End();
  if (!f.limited) {
    out->Key("next").Object().Member("pod", pods[f.stopped_by].spec->meta.Key());
    out->Member("error", f.next.decision.error).Key("failures").Object();
    for (const auto& n : f.next.by_node) {
      std::vector<std::string> texts;
      for (const auto& j : n.results) {
        for (const auto& r : j.reasons) texts.push_back(r.text.string());
        if (!j.error.empty()) texts.push_back(j.error.text);
      }
      if (!texts.empty()) out->Key(n.name).Texts(texts);
    }
    out->End().Key("waysToFit").Array();
    for (const explain::Way& w : f.next.ways) WriteWay(w, out);
    out->End().End();
  }
  out->End();
}

// Adds bars with the replicas by group.
void Draw(const std::vector<PodShare>& pods, const Filled& f, const Groups& groups,
          std::vector<lab::BarGroup>* picture) {
  lab::BarGroup& bars = picture->emplace_back();
  bars.title = absl::StrCat(NamesOf(pods), f.limited ? ": at least" : "");
  for (const auto& [name, nodes] : groups.nodes()) {
    const Spread s(nodes, f.by_node);
    bars.bars.push_back({name, static_cast<double>(s.replicas),
                         absl::StrCat(s.replicas, " on ", s.with_any, " of ", Counted(s.nodes, "node"))});
  }
}

// Writes the answers about one scenario, to the page or as JSON.
absl::Status AnswerOne(const Invocation& options, const Scenario& scenario, const Specs& specs, Page* page,
                       JsonWriter* data, std::vector<lab::BarGroup>* picture) {
  if (!scenario.error.empty()) return util::InvalidArgument(scenario.error);
  const bool people = options.output == "table" || options.output == "wide";
  if (people && !scenario.name.empty()) page->Line(absl::StrCat("Scenario ", scenario.name));
  Progress progress("placing pods", 0);
  auto step = [&](size_t done) { progress.Show(done); };
  auto admitted = Admitted(specs, scenario);
  if (!admitted.ok()) return admitted.status();
  if (options.Has("add-node")) {
    const std::vector<PodShare> none;
    return AnswerNodes(options, scenario, admitted->empty() ? none : (*admitted)[0], step, page, data, picture);
  }
  const Groups groups(scenario, options.Has("by") ? options.Get<std::string>("by") : "");
  int64_t max = options.Get<int64_t>("max");
  bool first = true;
  for (const auto& pods : *admitted) {
    auto filled = lab::Fill(scenario, pods, max == 0 ? kMostRounds : max, step);
    if (!filled.ok()) return filled.status();
    Draw(pods, *filled, groups, picture);
    if (people) {
      if (!std::exchange(first, false)) page->Blank();
      WriteTable(pods, *filled, groups, options.output == "wide", page);
    } else {
      WriteJson(pods, *filled, groups, data);
    }
  }
  return absl::OkStatus();
}

int Capacity(const Invocation& options, std::ostream& out) {
  int exit_status = kExitOk;
  auto specs = ReadSpecs(options);
  if (!specs.ok()) {
    std::cerr << "schedsim: " << util::Message(specs.status()) << "\n";
    return kExitBadInput;
  }
  std::unique_ptr<lab::Input> input = ReadOrComplain(options, &exit_status);
  if (input == nullptr) return exit_status;
  explain::Screen screen = explain::ScreenOfStdout();
  if (options.output == "wide") screen.width = 0;
  Page page(screen);
  std::vector<lab::BarGroup> picture;
  JsonWriter data;
  data.Object().Member("apiVersion", "schedsim/v1").Member("kind", "Capacity").Key("answers").Array();
  for (const Scenario& scenario : input->scenarios) {
    if (absl::Status s = AnswerOne(options, scenario, *specs, &page, &data, &picture); !s.ok()) {
      std::cerr << "schedsim: " << scenario.name << (scenario.name.empty() ? "" : ": ") << util::Message(s) << "\n";
      return kExitBadInput;
    }
  }
  if (options.Has("svg") &&
      !lab::WritePicture(options.Get<std::string>("svg"), lab::BarsSvg("How many more fit", picture))) {
    exit_status = kExitBadInput;
  }
  if (options.output == "table" || options.output == "wide") {
    out << page.text();
  } else {
    out << data.End().End().Finish(options.output);
  }
  return exit_status;
}

void AddCapacityFlags(flags::FlagSet& add) {
  add("pod-spec", Takes<Texts>("FILE[=RATIO]"),
      "the pod to add copies of; for a workload, its pod template; may be repeated. With RATIOs, pods are added in "
      "rounds: RATIO pods of each spec per round");
  add("max", Takes<int64_t>("N")->default_value(0), "stop after this many replicas or rounds (0: no limit)");
  add("by", Takes("LABEL"), "count by the values of this node label instead of by zone");
  add("add-node", Takes<Texts>("TEMPLATE[=PRICE]"),
      "count how many more nodes like this one (a file, or a node of the cluster) all pending pods and --replicas of "
      "each --pod-spec need, except those that do not fit even an empty one. May be repeated: finds a cheap mix");
  add("replicas", Takes<int64_t>("N")->default_value(1),
      "with --add-node: how many pods of each spec, times its RATIO");
  add("svg", Takes("FILE"), "draw the answer as bars");
}

absl::Status CheckCapacity(const Invocation& options) {
  if (options.List("pod-spec").empty() && !options.Has("add-node")) {
    return util::InvalidArgument(
        "capacity: give --pod-spec FILE, the pod to add copies of, or --add-node TEMPLATE, to count the nodes that all "
        "pending pods need");
  }
  for (const std::string& text : options.List("pod-spec")) BERTH_RETURN_IF_ERROR(ParseSpecFlag(text).status());
  BERTH_RETURN_IF_ERROR(CheckOffers(options));
  if (const int64_t max = options.Get<int64_t>("max"); max < 0) {
    return flags::InvalidValue("max", max, "must be 0 or more");
  }
  const int64_t replicas = options.Get<int64_t>("replicas");
  if (replicas < 1 || replicas > kMostRounds) {
    return flags::InvalidValue("replicas", replicas, absl::StrCat("must be from 1 to ", kMostRounds));
  }
  return absl::OkStatus();
}

constexpr char kCapacityExamples[] =
    R"(  schedsim capacity cluster.json --pod-spec web.yaml                    how many more, and what stops the next
  schedsim capacity cluster.json --pod-spec web.yaml --by kubernetes.io/arch
  schedsim capacity cluster.json --pod-spec web.yaml=3 --pod-spec db.yaml=1   three of one with one of the other
  schedsim capacity cluster.json apps.yaml --add-node node-1              how many such nodes until all of them fit
  schedsim capacity cluster.json --pod-spec web.yaml --replicas 500 --add-node big.yaml
  schedsim capacity cluster.json --add-node small.yaml=0.20 --add-node big.yaml=0.35   the cheapest mix
)";

}  // namespace

extern const Command kCapacityCommand = {
    .name = "capacity",
    .arguments = "FILE... --pod-spec FILE",
    .summary = "how many more of these pods fit, or how many nodes they need",
    .outputs = "table wide json yaml",
    .examples = kCapacityExamples,
    .groups = kAlgorithmFlags | kGateFlags | kInputFlags,
    .add_flags = AddCapacityFlags,
    .check = CheckCapacity,
    .run = Capacity,
};

}  // namespace berth::schedsim
