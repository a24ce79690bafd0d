// The command simulate: pods arrive and end in the course of time, and a scheduler with its queue decides about them.
#include <absl/strings/str_cat.h>
#include <glog/logging.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <iostream>
#include <mutex>
#include <thread>

#include "cmd/schedsim/command.h"
#include "cmd/schedsim/progress.h"
#include "cmd/schedsim/simulate_chart.h"
#include "cmd/schedsim/simulate_report.h"
#include "cmd/schedsim/variants.h"
#include "pkg/api/json_writer.h"
#include "pkg/api/scheduling_fields.h"
#include "pkg/api/stream.h"
#include "pkg/api/validation/value.h"
#include "pkg/simulate/configuration.h"
#include "pkg/simulate/generated.h"
#include "pkg/simulate/input.h"
#include "pkg/simulate/living_cluster.h"
#include "pkg/simulate/simulate.h"
#include "pkg/simulate/times.h"
#include "pkg/util/peak_memory.h"
#include "pkg/util/status.h"

namespace berth::schedsim {
namespace {

using simulate::Micros;

std::atomic<bool> interrupted{false};

// The first SIGINT ends the simulations, the next one the program.
void EndAtInterrupt() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = true; };
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, nullptr);
}

// A scheduler to simulate.
struct SimulatedVariant {
  std::string name;
  recording::CoreConfiguration configuration;
  bool calls_extenders = false;
};

// Returns the text of a member of the only Scenario of the input.
absl::StatusOr<std::string> MemberOfScenario(const Invocation& options, std::string_view member) {
  for (const std::string& file : options.files) {
    auto text = api::ReadInput(file);
    if (!text.ok()) return text.status();
    auto document = api::ReadDocument(*text);
    if (!document.ok()) return document.status();
    const api::Json value = document->root().FindExact(member);
    if (!value.IsNull()) return validation::ToJson(validation::FromJson(value));
  }
  return util::InvalidArgument(absl::StrCat("the Scenario's ", util::ToAbsl(member), " cannot be read twice"));
}

absl::StatusOr<std::vector<SimulatedVariant>> VariantsToSimulate(const Invocation& options,
                                                                 const lab::Scenario& scenario) {
  lab::Algorithm base = scenario.algorithm;
  base.ignore_unknown_fields = options.Get<bool>("ignore-unknown-fields");
  auto variants = VariantsOf(options, base);
  if (!variants.ok()) return variants.status();
  // The texts that the flags name, in the order of the variants.
  std::vector<std::pair<std::string, std::string>> texts;
  for (const auto& [flag, value] : options.ordered) {
    if (flag != "policy" && flag != "config" && flag != "algorithm-provider" && flag != "emulated-version") continue;
    auto& [policy, configuration] = texts.emplace_back();
    if (flag != "policy" && flag != "config") continue;
    auto text = api::ReadInput(value);
    if (!text.ok()) return text.status();
    (flag == "policy" ? policy : configuration) = *std::move(text);
  }
  if (variants->empty()) {
    BERTH_RETURN_IF_ERROR(UsePercentage(options, true, &base));
    const std::string name = base.provider ? *base.provider : std::string(base.release->name);
    variants->push_back({base.policy ? "policy" : base.profiles ? "configuration" : name, base});
    auto& [policy, configuration] = texts.emplace_back();
    for (const auto& [has, member, text] : {std::tuple(base.policy.has_value(), "policy", &policy),
                                            std::tuple(base.profiles.has_value(), "configuration", &configuration)}) {
      if (!has) continue;
      auto found = MemberOfScenario(options, member);
      if (!found.ok()) return found.status();
      *text = *std::move(found);
    }
  }
  std::vector<SimulatedVariant> out;
  for (size_t i = 0; i < variants->size(); ++i) {
    const lab::Variant& v = (*variants)[i];
    auto made = simulate::ConfigurationOf(v.algorithm, texts[i].first, texts[i].second);
    if (!made.ok()) return util::FailedPrecondition(absl::StrCat(v.name, ": ", util::Message(made.status())));
    out.push_back({v.name, *std::move(made), v.algorithm.call_extenders()});
  }
  return out;
}

// All that the simulations share.
struct ToSimulate {
  std::unique_ptr<lab::Input> input;
  simulate::InputPods pods;
  std::vector<simulate::Step> steps;
  std::unique_ptr<simulate::ArrivalFile> file;
  std::vector<simulate::Generated> generated;
  uint64_t seed = 0;
  std::vector<simulate::Arrival> given;  // pods of the input that no file names
  std::unique_ptr<lab::Workload> workload;
  Micros horizon = 0;
  bool controllers = false;        // they are simulated
  std::vector<std::string> notes;  // sentences about the files, for people

  const lab::Scenario& scenario() const { return input->scenarios[0]; }

  absl::StatusOr<std::unique_ptr<simulate::ArrivalSource>> Arrivals() const {
    std::vector<std::unique_ptr<simulate::ArrivalSource>> sources;
    sources.push_back(simulate::SourceOf(given));
    if (file != nullptr) {
      auto rows = file->Arrivals();
      if (!rows.ok()) return rows.status();
      sources.push_back(*std::move(rows));
    }
    for (size_t i = 0; i < generated.size(); ++i) sources.push_back(generated[i].Arrivals(seed + (i << 32)));
    return simulate::Merged(std::move(sources));
  }
};

// Reads who arrives.
absl::Status PrepareArrivals(const Invocation& options, ToSimulate* s, simulate::ArrivalFacts* facts) {
  auto pods = simulate::PodsOf(s->scenario());
  if (!pods.ok()) return pods.status();
  s->pods = *std::move(pods);
  s->pods.known.workloads_act = s->controllers;
  if (s->controllers) simulate::AddWorkloads(s->scenario(), &s->pods.workload_pods);
  absl::flat_hash_set<const api::Pod*> named;
  if (options.Has("arrivals")) {
    auto file = simulate::ArrivalFile::Open(options.Get<std::string>("arrivals"), &s->pods.known);
    if (!file.ok()) return file.status();
    s->file = *std::move(file);
    *facts = s->file->facts();
    named = s->file->named();
    s->notes.insert(s->notes.end(), s->file->notes().begin(), s->file->notes().end());
  }
  for (const std::string& spec : options.List("generate")) {
    auto generated = simulate::Generated::Parse(spec, &s->pods.known);
    if (!generated.ok()) return generated.status();
    s->generated.push_back(*std::move(generated));
    s->generated.back().AddTo(facts);
    named.insert(s->generated.back().Template());
  }
  s->seed = options.Get<uint64_t>("seed");
  for (simulate::Arrival& a : s->pods.arrivals) {
    if (options.Get<bool>("only-arrivals") || named.contains(a.pod.get())) continue;
    facts->Add(a);
    s->given.push_back(std::move(a));
  }
  s->pods.arrivals.clear();
  return absl::OkStatus();
}

absl::Status Prepare(const Invocation& options, ToSimulate* s) {
  simulate::ArrivalFacts facts;
  BERTH_RETURN_IF_ERROR(PrepareArrivals(options, s, &facts));
  if (options.Has("events")) {
    const std::string path = options.Get<std::string>("events");
    auto read = simulate::ReadSteps(path, s->scenario(), s->pods.workload_pods);
    if (!read.ok()) return read.status();
    s->steps = std::move(read->steps);
    if (read->out_of_order > 0) {
      s->notes.push_back(absl::StrCat(path, ": ", read->out_of_order, " of ", s->steps.size(),
                                      " events are earlier than the one before them; they are sorted by time"));
    }
  }
  s->horizon = std::max(facts.last_time, facts.last_end);
  for (const simulate::Step& step : s->steps) s->horizon = std::max(s->horizon, step.at);
  const lab::Scenario measured = simulate::ToMeasure(s->scenario(), s->steps, facts.sample);
  s->workload = std::make_unique<lab::Workload>(measured);
  return absl::OkStatus();
}

// Reads the input, and decides whether its controllers are simulated. If they are, the input is read with all of its
// objects, and otherwise only with what scheduling reads. Returns false if it cannot be used, with *exit_status set.
bool ReadToSimulate(const Invocation& options, bool has_end, ToSimulate* s, int* exit_status) {
  const std::string mode = options.Get<std::string>("controllers");
  const auto read = [&](bool controllers) {
    *s = {};
    s->controllers = controllers;
    s->input = ReadOneCluster(options, exit_status,
                              {.whole = true,
                               .given = controllers,
                               .quiet = true,
                               .queued = true,
                               .annotations = simulate::PodAnnotations()});
    if (s->input == nullptr) return false;
    const absl::Status prepared = Prepare(options, s);
    if (prepared.ok()) return true;
    ReportInput(*s->input);
    std::cerr << "schedsim: " << util::Message(prepared) << "\n";
    *exit_status = kExitBadInput;
    return false;
  };
  if (!read(mode == "on")) return false;
  std::string why = mode == "auto" ? simulate::WhyControllers(s->scenario(), s->steps, has_end) : "";
  const bool again = std::find(options.files.begin(), options.files.end(), "-") == options.files.end();
  if (!why.empty() && again) {
    if (!read(true)) return false;
    s->notes.push_back(absl::StrCat("controllers and kubelets are simulated, because ", why, " (--controllers=off)"));
  } else if (!why.empty()) {
    s->notes.push_back(
        absl::StrCat("standard input can be read only once: --controllers=on simulates controllers, "
                     "which would matter because ",
                     why));
  }
  return true;
}

// Says that no autoscaler acts, if the input has some.
void NoteAutoscalers(ToSimulate* s) {
  if (s->scenario().manifests == nullptr) return;
  std::string first;
  int64_t others = -1;
  s->scenario().manifests->table().EachOf("HorizontalPodAutoscaler", [&](const world::Value& hpa) {
    if (++others > 0) return;
    first = absl::StrCat(util::ToAbsl(world::NamespaceOf(hpa)), "/", util::ToAbsl(world::NameOf(hpa)));
  });
  if (others < 0) return;
  s->notes.push_back(absl::StrCat("HorizontalPodAutoscaler ", first,
                                  others == 0 ? " does" : absl::StrCat(" and ", others, " more do"),
                                  " nothing, because no load is simulated: --events says when a workload is scaled"));
}

absl::StatusOr<Micros> TimeFlag(const Invocation& options, const char* flag, Micros otherwise) {
  if (!options.Has(flag)) return otherwise;
  auto time = simulate::ParseTimeValue(options.Get<std::string>(flag));
  if (!time.ok()) return flags::InvalidValue(flag, options.Get<std::string>(flag), util::Message(time.status()));
  return time;
}

absl::StatusOr<simulate::Options> OptionsOf(const Invocation& options) {
  simulate::Options o;
  for (const auto& [flag, out] : {std::pair("bind-delay", &o.bind_delay), std::pair("start-delay", &o.start_delay),
                                  std::pair("end-delay", &o.end_delay), std::pair("eviction-delay", &o.eviction_delay),
                                  std::pair("until", &o.until)}) {
    auto time = TimeFlag(options, flag, *out);
    if (!time.ok()) return time.status();
    *out = *time;
  }
  o.ends_by_itself = o.until == simulate::kNever;
  o.budgets = !options.Get<bool>("ignore-budgets");
  o.seed = options.Get<uint64_t>("seed");
  o.cut = &interrupted;
  return o;
}

// Checks what does not go together with controllers or without them, and says when a cluster is cut that nobody ends.
absl::Status CheckControllers(const Invocation& options, const ToSimulate& what,
                              const std::vector<SimulatedVariant>& variants, simulate::Options* common) {
  constexpr Micros kYear = 366 * 24 * 3600 * simulate::kSecond;
  const bool restarts = std::any_of(what.steps.begin(), what.steps.end(),
                                    [](const simulate::Step& s) { return s.kind == simulate::Step::Kind::kRestart; });
  if (!what.controllers) {
    if (!restarts) return absl::OkStatus();
    return util::InvalidArgument("--events: restart needs controllers: leave out --controllers=off");
  }
  if (options.Has("eviction-delay")) {
    return util::InvalidArgument(
        "--eviction-delay: with controllers, the pods of a failed node go when it has been silent for the release's "
        "grace period and they do not tolerate that any longer (tolerationSeconds); leave it out, or say "
        "--controllers=off");
  }
  const std::string& repeats = what.scenario().repeats;
  if (!repeats.empty() && common->until == simulate::kNever) {
    return util::InvalidArgument(
        absl::StrCat(repeats, " creates pods forever: say when to end with --until, as in ", "--until 30d"));
  }
  for (const SimulatedVariant& v : variants) {
    const absl::Status sound =
        simulate::CheckLivingInput(what.scenario(), what.steps, (*release::Named(v.configuration.release))->version);
    if (!sound.ok()) return util::InvalidArgument(absl::StrCat(v.name, ": ", util::Message(sound)));
  }
  // Containers that fail again and again, for instance, never come to rest.
  if (common->until == simulate::kNever) common->until = simulate::Plus(what.horizon, kYear);
  return absl::OkStatus();
}

// Runs the simulations on all cores, and shows how far the slowest one is.
void RunAll(const ToSimulate& what, const std::vector<SimulatedVariant>& variants, const simulate::Options& common,
            const Invocation& invocation, std::ostream& out, SimulationReport* report) {
  const bool csv = invocation.output == "csv", alone = variants.size() == 1;
  std::vector<std::atomic<Micros>> now(variants.size());
  const auto work = [&](size_t i) {
    SimulatedCase& c = report->cases[i];
    simulate::Options o = common;
    o.configuration = variants[i].configuration;
    o.calls_extenders = variants[i].calls_extenders;
    o.ties = invocation.algorithm.ties;
    o.now = &now[i];
    if (invocation.Has("record-dir")) {
      o.record_dir = invocation.Get<std::string>("record-dir");
      if (!alone) absl::StrAppend(&o.record_dir, "/", c.name);
    }
    if (csv) {
      o.placement = [&c, &out, alone](const simulate::Placement& p) {
        constexpr size_t kPiece = size_t{1} << 16;
        AppendPlacement(c.name, p, &c.placements);
        if (!alone || c.placements.size() < kPiece) return;
        out << c.placements;
        c.placements.clear();
      };
    }
    auto arrivals = what.Arrivals();
    auto outcome = arrivals.ok() ? simulate::Simulate({&what.scenario(), what.workload.get(), &what.steps,
                                                       &what.pods.workload_pods, what.horizon},
                                                      *std::move(arrivals), o)
                                 : absl::StatusOr<simulate::Outcome>(arrivals.status());
    if (outcome.ok()) {
      c.outcome = *std::move(outcome);
    } else {
      c.error = util::Message(outcome.status());
    }
    now[i] = simulate::kNever;
  };
  std::mutex mutex;
  std::condition_variable ended;
  bool over = false;
  std::thread all([&] {
    lab::RunOnAllCores(variants.size(), work);
    const std::lock_guard lock(mutex);
    over = true;
    ended.notify_one();
  });
  {
    Progress progress("simulating", 0);
    std::unique_lock lock(mutex);
    while (!ended.wait_for(lock, std::chrono::milliseconds(100), [&] { return over; })) {
      Micros least = simulate::kNever;
      for (const auto& n : now) least = std::min(least, n.load());
      if (least == simulate::kNever) continue;
      // Pods that still wait then go on, for as long as it takes.
      const std::string so_far = simulate::TimeText(least);
      if (least > what.horizon) {
        progress.Show(so_far);
      } else {
        progress.Show(absl::StrCat(so_far, " of ", simulate::TimeText(what.horizon)),
                      static_cast<double>(least) / static_cast<double>(std::max<Micros>(1, what.horizon)));
      }
    }
  }
  all.join();
}

// The line of --stats, of all simulations together.
std::string StatsLine(const SimulationReport& report, double wall) {
  int64_t pods = 0, placed = 0, never = 0;
  double cpu = 0;
  for (const SimulatedCase& c : report.cases) {
    pods += c.outcome.pods;
    placed += c.outcome.placed;
    never += c.outcome.never_placed;
    cpu += c.outcome.cpu_seconds;
  }
  api::JsonWriter j;
  j.Object().Member("nodes", report.workload->node_count()).Member("pods", pods).Member("scheduled", placed);
  j.Member("unschedulable", never).Key("wallSeconds").Literal(absl::StrCat(wall));
  j.Key("cpuSeconds").Literal(absl::StrCat(cpu)).Member("peakRSSBytes", util::PeakMemoryBytes());
  return j.End().Finish();
}

// Says what the output does not.
void SayWhatHappened(const SimulatedCase& c) {
  const auto say = [&](const std::string& what) { std::cerr << "schedsim: " << c.name << ": " << what << "\n"; };
  if (!c.error.empty()) say(c.error);
  if (c.outcome.cut) say(absl::StrCat("cut at ", simulate::TimeText(c.outcome.end), " of simulated time"));
  if (c.outcome.idle_steps > 0) {
    say(absl::StrCat("steps of --events with nothing to do: ", c.outcome.idle_steps, ", the first at ",
                     c.outcome.first_idle_step));
  }
  if (c.outcome.refused_pods > 0) {
    say(absl::StrCat("pods that the API server rejected: ", c.outcome.refused_pods, ", the first at ",
                     c.outcome.first_refused));
  }
  if (c.outcome.renamed > 0) {
    say(absl::StrCat("pods whose name was taken when they arrived, and that got another one: ", c.outcome.renamed));
  }
}

int RunSimulate(const Invocation& options, std::ostream& out) {
  api::KeepSchedulingFields();
  // What a daemon logs about each attempt would be a line for each of a month's.
  if (FLAGS_v == 0) FLAGS_minloglevel = google::GLOG_FATAL;
  int exit_status = kExitOk;
  const auto complain = [](const absl::Status& s) {
    std::cerr << "schedsim: " << util::Message(s) << "\n";
    return kExitBadInput;
  };
  auto common = OptionsOf(options);
  if (!common.ok()) return complain(common.status());
  ToSimulate what;
  if (!ReadToSimulate(options, common->until != simulate::kNever, &what, &exit_status)) return exit_status;
  NoteAutoscalers(&what);
  ReportInput(*what.input);
  auto variants = VariantsToSimulate(options, what.scenario());
  if (!variants.ok()) return complain(variants.status());
  for (const std::string& note : what.notes) std::cerr << "schedsim: " << note << "\n";
  common->controllers = what.controllers;
  if (absl::Status s = CheckControllers(options, what, *variants, &*common); !s.ok()) return complain(s);
  SimulationReport report;
  report.workload = what.workload.get();
  report.controllers = what.controllers;
  report.seed = options.Get<uint64_t>("seed");
  for (const SimulatedVariant& v : *variants) {
    SimulatedCase& c = report.cases.emplace_back();
    c.name = v.name;
    c.release = v.configuration.release;
  }
  EndAtInterrupt();
  if (options.output == "csv") out << kPlacementHeader;
  const auto begun = std::chrono::steady_clock::now();
  RunAll(what, *variants, *common, options, out, &report);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begun;
  for (const SimulatedCase& c : report.cases) {
    if (!c.error.empty()) exit_status = kExitBadInput;
    SayWhatHappened(c);
    if (options.output == "csv") out << c.placements;
  }
  if (options.output == "json") WriteSimulationJson(report, out);
  if (options.output == "summary") WriteSimulationSummary(report, out);
  if (options.Has("svg")) {
    const std::string file = options.Get<std::string>("svg");
    std::ofstream picture(file, std::ios::binary);
    picture << SimulationSvg(report);
    picture.close();
    if (!picture) return complain(util::InvalidArgument(absl::StrCat("--svg: cannot write ", file)));
  }
  if (options.Get<bool>("stats")) std::cerr << StatsLine(report, wall.count());
  return exit_status;
}

void AddSimulateFlags(flags::FlagSet& add) {
  AddVariantFlags(add);
  add("arrivals", Takes("CSV"),
      "which pods arrive when, and how long they run: columns time, duration, name and others, or a trace of openb");
  add("events", Takes("CSV"),
      "what happens to nodes and workloads: columns time, event (join, leave, fail, drain, roll, scale, restart), "
      "object, value");
  add("generate", Takes<Texts>("SPEC"),
      "pods that arrive at random (may be repeated): rate=100/h,for=30d,duration=2h,cpu=500m,memory=1Gi and others");
  add("only-arrivals", po::bool_switch(), "ignore pending pods that no row of --arrivals names");
  add("controllers", Takes("auto|on|off")->default_value("auto"),
      "simulate controllers and kubelets, not only pods (auto: if there are CronJobs and --until, Jobs whose pods end "
      "and that need more completions than they run at a time, or restarts)");
  add("seed", Takes<uint64_t>("N")->default_value(1), "seed of the random numbers");
  for (const auto& [flag, help] :
       {std::pair("bind-delay", "how long the API server takes for a request (default 0)"),
        std::pair("start-delay", "how long a bound pod takes to start (default 0)"),
        std::pair("end-delay", "how long an evicted pod takes to end (default 0)"),
        std::pair("eviction-delay", "how long after a node fails its pods are evicted (default 5m)"),
        std::pair("until", "when to end the simulation")}) {
    add(flag, Takes("TIME"), help);
  }
  add("ignore-budgets", po::bool_switch(), "drain nodes in spite of PodDisruptionBudgets");
  add("ignore-unknown-fields", po::bool_switch(), "ignore pod fields newer than the emulated release");
  add("record-dir", Takes("DIR"), "record what the scheduler does, for replay");
  add("svg", Takes("FILE"), "draw what is in use, the pending pods, and waiting times");
  add("stats", po::bool_switch(), "print a line of JSON with times and memory to standard error");
}

absl::Status CheckSimulate(const Invocation& options) {
  if (options.Has("record-dir") && options.algorithm.ties.kind != lab::Ties::Kind::kTurn) {
    return util::InvalidArgument("--ties: a recording is replayed with ties in turn; leave out --ties or --record-dir");
  }
  const std::string& mode = options.Get<std::string>("controllers");
  if (mode != "auto" && mode != "on" && mode != "off") {
    return flags::InvalidValue("controllers", mode, "must be auto, on or off");
  }
  auto checked = OptionsOf(options);
  return checked.ok() ? absl::OkStatus() : checked.status();
}

constexpr char kSimulateExamples[] =
    R"(  schedsim simulate cluster.yaml --arrivals day.csv   how long pods of that day wait
  schedsim simulate openb.json.gz --arrivals openb_pod_list_default.csv.gz --policy a.json --policy b.json
  schedsim simulate cluster.yaml --events night.csv -o json   what failures of nodes cost
)";

}  // namespace

extern const Command kSimulateCommand = {
    .name = "simulate",
    .arguments = "FILE... [--arrivals CSV] [--events CSV]",
    .summary = "arrivals over days and months: waiting times, utilisation, evictions",
    .outputs = "summary json csv",
    .examples = kSimulateExamples,
    .groups = kGateFlags | kInputFlags,
    .add_flags = AddSimulateFlags,
    .check = CheckSimulate,
    .run = RunSimulate,
};

}  // namespace berth::schedsim
