// How many more of a pod fit, where, and what stops the next one.
#include <absl/strings/str_cat.h>

#include <iostream>
#include <map>

#include "cmd/schedsim/command.h"
#include "pkg/api/stream.h"
#include "pkg/explain/explanation.h"
#include "pkg/explain/output.h"
#include "pkg/lab/simulation.h"
#include "pkg/util/status.h"

namespace berth::schedsim {
namespace {

using explain::Counted;
using explain::Describe;
using explain::Explanation;
using explain::JsonOut;
using explain::Some;
using explain::Table;
using explain::Way;
using lab::Input;
using lab::Scenario;
using lab::Simulation;

// Without --max a pod that nothing limits (a Policy without PodFitsResources) would go on for ever.
constexpr int64_t kMostReplicas = 1'000'000;
constexpr size_t kMostNodes = 40;
constexpr size_t kMostWays = 5;

// One pod spec and what became of it.
struct Answer {
  std::string file;
  api::PodPtr spec;
  int64_t replicas = 0;
  bool limited = false;  // stopped by --max, not by the cluster
  std::map<std::string, int64_t> by_node;
  Explanation next;  // of the first that does not fit, unless limited
};

// Takes each pod of a file: Pods, and the templates of workloads.
class SpecReader final : public api::JsonSink {
 public:
  std::vector<api::PodPtr> pods;

  bool Split(std::string_view inside, std::string_view key) override { return inside.empty() && key == "items"; }
  absl::Status Element(std::string_view, std::string_view, api::Document& element) override {
    any_element_ = true;
    return Take(element.root());
  }
  absl::Status Value(api::Document& rest) override {
    if (!std::exchange(any_element_, false)) return Take(rest.root());
    return absl::OkStatus();
  }

 private:
  absl::Status Take(api::Json j) {
    api::Json tmpl = j.Find("spec").Find("template");
    absl::StatusOr<api::PodPtr> pod;
    if (tmpl.IsObject()) {
      // A workload's template, under the workload's own name.
      api::Json labels = tmpl.Find("metadata").Find("labels");
      std::string text =
          absl::StrCat("{\"metadata\":{\"name\":", Quoted(j, "name"), ",\"namespace\":", Quoted(j, "namespace"),
                       ",\"labels\":", labels.Serialize(), "},\"spec\":", tmpl.Find("spec").Serialize(), "}");
      api::Document made;
      BERTH_RETURN_IF_ERROR(made.Parse(text));
      pod = api::DecodePod(made.root(), {.server_defaults = true});
    } else {
      std::string_view kind = j.Find("kind").Text();
      if (kind != "Pod") {
        return util::InvalidArgument(
            absl::StrCat("kind ", api::GoQuoted(kind), ": a Pod, or a workload with a pod template, is needed here"));
      }
      pod = api::DecodePod(j, {.server_defaults = true});
    }
    if (!pod.ok()) return pod.status();
    if ((*pod)->meta.name.empty()) {
      auto named = std::make_shared<api::Pod>(**pod);
      named->meta.name = absl::StrCat("pod-", pods.size() + 1);
      *pod = std::move(named);
    }
    pods.push_back(*pod);
    return absl::OkStatus();
  }

  static std::string Quoted(api::Json object, std::string_view member) {
    return object.Find("metadata").Find(member).Serialize();
  }

  bool any_element_ = false;
};

absl::StatusOr<std::vector<std::pair<std::string, api::PodPtr>>> ReadSpecs(const std::vector<std::string>& files) {
  std::vector<std::pair<std::string, api::PodPtr>> specs;
  for (const std::string& file : files) {
    auto text = api::ReadInput(file);
    if (!text.ok()) return text.status();
    SpecReader reader;
    if (absl::Status s = api::ReadDocuments(*text, reader); !s.ok()) {
      return absl::Status(s.code(), absl::StrCat(file, ": ", s.message()));
    }
    if (reader.pods.empty()) return util::InvalidArgument(absl::StrCat(file, ": no pod in it"));
    for (api::PodPtr& p : reader.pods) specs.emplace_back(file, std::move(p));
  }
  return specs;
}

// Replicas are pods of their own, bound to no node.
api::PodPtr Replica(const api::Pod& spec, int64_t number) {
  auto pod = std::make_shared<api::Pod>(spec);
  pod->meta.name = absl::StrCat(spec.meta.name, "-", number);
  pod->meta.uid = absl::StrCat("capacity-", number);
  pod->node_name = scheduler::Symbol();
  pod->nominated_node_name = scheduler::Symbol();
  pod->phase = api::PodPhase::kPending;
  return pod;
}

absl::StatusOr<Answer> Fill(const Scenario& scenario, const std::string& file, const api::PodPtr& spec, int64_t max) {
  auto sim = Simulation::Make(scenario);
  if (!sim.ok()) return sim.status();
  for (const api::PodPtr& pod : scenario.pending) (*sim)->Place(pod);
  Answer a;
  a.file = file;
  a.spec = spec;
  for (;;) {
    if (a.replicas == max) {
      a.limited = true;
      return a;
    }
    api::PodPtr pod = Replica(*spec, a.replicas + 1);
    scheduler::Decision d = (*sim)->Place(pod);
    if (d.outcome != scheduler::Decision::Outcome::kPlaced) {
      a.next = (*sim)->Explain(pod);
      return a;
    }
    ++a.replicas;
    ++a.by_node[d.host.string()];
  }
}

std::string AnswerTable(const Answer& a) {
  std::string out = absl::StrCat(a.file, ": ", a.spec->meta.Key(), ": ", a.limited ? "at least " : "", a.replicas,
                                 a.replicas == 1 ? " more fits" : " more fit");
  if (a.limited) absl::StrAppend(&out, " (stopped there: --max)");
  absl::StrAppend(&out, ", on ", Counted(static_cast<int64_t>(a.by_node.size()), "node"), "\n");
  if (!a.by_node.empty()) {
    std::vector<std::vector<std::string>> rows(1, {"  NODE", "MORE"});
    if (a.by_node.size() <= kMostNodes) {
      for (const auto& [node, n] : a.by_node) rows.push_back({absl::StrCat("  ", node), absl::StrCat(n)});
    } else {
      std::map<int64_t, std::vector<std::string>, std::greater<>> alike;
      for (const auto& [node, n] : a.by_node) alike[n].push_back(node);
      for (const auto& [n, nodes] : alike) {
        rows.push_back({nodes.size() == 1 ? absl::StrCat("  ", nodes[0])
                                          : absl::StrCat("  ", nodes.size(), " nodes (", Some(nodes, 2), "), each"),
                        absl::StrCat(n)});
      }
    }
    out += Table(rows);
  }
  if (a.limited) return out;
  absl::StrAppend(&out, "  The next one: ", a.next.decision.error, "\n");
  for (size_t i = 0; i < std::min(a.next.ways.size(), kMostWays); ++i) {
    absl::StrAppend(&out, i == 0 ? "  It would fit after: " : "  or: ", Describe(a.next.ways[i]), "\n");
  }
  if (a.next.ways.size() > kMostWays) {
    absl::StrAppend(&out, "  and ", a.next.ways.size() - kMostWays, " other ways (-o json has all)\n");
  }
  return out;
}

void WriteAnswer(const Answer& a, JsonOut* out) {
  out->Object().Member("podSpec", a.file).Member("pod", a.spec->meta.Key()).Member("replicas", a.replicas);
  out->Member("limited", a.limited).Key("nodes").Object();
  for (const auto& [node, n] : a.by_node) out->Member(node, n);
  out->End();
  if (!a.limited) {
    out->Key("next").Object().Member("error", a.next.decision.error).Key("failures").Object();
    for (const auto& n : a.next.by_node) {
      std::vector<std::string> texts;
      for (const auto& j : n.judgements) {
        for (const auto& r : j.reasons) texts.push_back(r.text.string());
        if (!j.error.empty()) texts.push_back(j.error);
      }
      if (!texts.empty()) out->Key(n.name).Texts(texts);
    }
    out->End().Key("waysToFit").Array();
    for (const Way& w : a.next.ways) {
      explain::WriteWay(w, out);
    }
    out->End().End();
  }
  out->End();
}

int Capacity(const Invocation& options, std::ostream& out) {
  int exit_status = kExitOk;
  auto specs = ReadSpecs(options.List("pod-spec"));
  if (!specs.ok()) {
    std::cerr << "schedsim: --pod-spec: " << util::Message(specs.status()) << "\n";
    return kExitBadInput;
  }
  std::unique_ptr<Input> input = ReadOrComplain(options, &exit_status);
  if (input == nullptr) return exit_status;
  int64_t max = options.Get<int64_t>("max");
  if (max == 0) max = kMostReplicas;
  JsonOut data;
  data.Object().Member("apiVersion", "schedsim/v1").Member("kind", "Capacity").Key("answers").Array();
  for (const Scenario& scenario : input->scenarios) {
    for (const auto& [file, spec] : *specs) {
      absl::StatusOr<Answer> a = util::InvalidArgument(scenario.error);
      if (scenario.error.empty()) a = Fill(scenario, file, spec, max);
      if (!a.ok()) {
        std::cerr << "schedsim: " << scenario.name << (scenario.name.empty() ? "" : ": ") << util::Message(a.status())
                  << "\n";
        return kExitBadInput;
      }
      if (options.output == "table") {
        if (!scenario.name.empty()) out << "Scenario " << scenario.name << "\n";
        out << AnswerTable(*a);
      } else {
        WriteAnswer(*a, &data);
      }
    }
  }
  if (options.output != "table") out << data.End().End().Finish(options.output);
  return exit_status;
}

void AddFlags(boost::program_options::options_description_easy_init& add) {
  namespace po = boost::program_options;
  add("pod-spec", po::value<std::vector<std::string>>()->value_name("FILE"), "a pod to multiply (may be repeated)");
  add("max", po::value<int64_t>()->value_name("N")->default_value(0), "stop after this many replicas (0: no limit)");
}

absl::Status Check(const Invocation& options) {
  if (options.List("pod-spec").empty()) {
    return util::InvalidArgument("capacity: --pod-spec FILE is needed: the pod to multiply");
  }
  if (options.Get<int64_t>("max") < 0) return util::InvalidArgument("--max: must be 0 or more");
  return absl::OkStatus();
}

}  // namespace

extern const Command kCapacityCommand = {
    .name = "capacity",
    .arguments = "FILE... --pod-spec FILE",
    .summary = "how many more of these pods fit, and what stops the next one",
    .outputs = "table json yaml",
    .groups = kAlgorithmFlags | kGateFlags | kInputFlags,
    .add_flags = AddFlags,
    .check = Check,
    .run = Capacity,
};

}  // namespace berth::schedsim
