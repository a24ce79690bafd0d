// simulate: runs simulated worlds, one for each seed, and says what broke.
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>
#include <absl/strings/strip.h>
#include <absl/time/clock.h>
#include <absl/time/time.h>
#include <glog/logging.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "pkg/heap/heap.h"
#include "pkg/util/status.h"
#include "pkg/util/symbol.h"
#include "test/simulation/plan.h"

namespace berth::simulation {
namespace {

constexpr const char* kUsage =
    R"(usage: simulate [--seeds=A..B | --new=S [--from=N]] [--jobs=N] [--seconds=S] [--verbose] [PLAN...]

Runs the simulated cluster of each seed, and those of the plans (files that an earlier failure left).
  --seeds=A..B   the seeds, both included
  --new=S        seeds that nobody has run, for S seconds by the clock; the first one is printed
  --from=N       with --new: the first seed; without it, one that is taken from the clock
  --jobs=N       that many processes (default 1)
  --seconds=S    begin no further seed after S seconds of CPU time in a process
  --verbose      print everything that happens to stderr
  --shrink=N     at most N runs to make a plan that fails small (default 300)
  --record=DIR   record the schedulers of every run in a folder below DIR, for `schedsim replay`; those of a run that
                 fails are recorded in any case (default DIR: simulation-recordings)
  --stop         end with the first failure
  --list         print the actors and end
The last line sums up. Exit status: 0 when nothing broke, 1 when something did, 2 for usage.
)";

struct Options {
  uint64_t first = 1, last = 0;
  int jobs = 1, shrink = 300;
  int64_t seconds = 0;
  absl::Time until = absl::InfiniteFuture();
  bool verbose = false, list = false, stop = false;
  std::string record = "simulation-recordings";
  bool record_all = false;
  std::vector<std::string> plans;
};

struct Totals {
  uint64_t runs = 0, failed = 0, events = 0, faults = 0, binds = 0, virtual_seconds = 0;
};

// Seeds without end: from `from` on or, if that is 0, such as no earlier run has had unless it began in the same
// second.
void TakeNewSeeds(int64_t seconds, uint64_t from, Options* o) {
  const absl::Time now = absl::Now();
  o->first = from != 0 ? from : static_cast<uint64_t>(absl::ToUnixSeconds(now)) * 1000;
  o->last = std::numeric_limits<uint64_t>::max() / 2;
  o->until = now + absl::Seconds(seconds);
  std::cout << "new seeds from " << o->first << " on; to repeat one: --seeds=N..N\n" << std::flush;
}

bool ParseArguments(int argc, char** argv, Options* o) {
  int64_t new_seconds = 0;
  uint64_t from = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    const std::string value = a.substr(a.find('=') == std::string::npos ? a.size() : a.find('=') + 1);
    const size_t dots = value.find("..");
    if (a.rfind("--seeds=", 0) == 0) {
      if (dots == std::string::npos || !absl::SimpleAtoi(value.substr(0, dots), &o->first) ||
          !absl::SimpleAtoi(value.substr(dots + 2), &o->last)) {
        return false;
      }
    } else if (a.rfind("--new=", 0) == 0) {
      if (!absl::SimpleAtoi(value, &new_seconds) || new_seconds < 1) return false;
    } else if (a.rfind("--from=", 0) == 0) {
      if (!absl::SimpleAtoi(value, &from) || from < 1) return false;
    } else if (a.rfind("--jobs=", 0) == 0) {
      if (!absl::SimpleAtoi(value, &o->jobs) || o->jobs < 1) return false;
    } else if (a.rfind("--shrink=", 0) == 0) {
      if (!absl::SimpleAtoi(value, &o->shrink)) return false;
    } else if (a.rfind("--seconds=", 0) == 0) {
      if (!absl::SimpleAtoi(value, &o->seconds)) return false;
    } else if (a.rfind("--record=", 0) == 0) {
      o->record = value;
      o->record_all = true;
      if (value.empty()) return false;
    } else if (a == "--verbose") {
      o->verbose = true;
    } else if (a == "--stop") {
      o->stop = true;
    } else if (a == "--list") {
      o->list = true;
    } else if (a[0] == '-') {
      return false;
    } else {
      o->plans.push_back(a);
    }
  }
  if (new_seconds > 0) TakeNewSeeds(new_seconds, from, o);
  return from == 0 || new_seconds > 0;
}

void Add(const Outcome& o, Totals* t) {
  ++t->runs;
  t->events += o.events;
  t->faults += o.faults;
  t->binds += o.binds;
  t->virtual_seconds += static_cast<uint64_t>(absl::ToInt64Seconds(o.virtual_time));
}

// Runs one plan, every fourth one twice, as a run must repeat exactly.
void RunOne(const std::string& name, const Plan& plan, const Options& options, Totals* t) {
  const std::string folder = absl::StrCat(options.record, "/", absl::StrReplaceAll(name, {{" ", "-"}, {"/", "-"}}));
  const auto recorded = [&](const Plan& p, bool verbose) {
    std::filesystem::create_directories(folder);
    return RunPlan(p, verbose, folder);
  };
  const Outcome o = options.record_all ? recorded(plan, options.verbose) : RunPlan(plan, options.verbose);
  Add(o, t);
  if (!o.problem.empty()) {
    ++t->failed;
    const Plan small = options.shrink > 0 ? Shrink(plan, options.shrink) : plan;
    std::ostringstream text;
    text << name << ": " << o.problem << "\nshrunk to " << small.steps.size() << " of " << plan.steps.size()
         << " steps, which end with: " << (options.record_all ? RunPlan(small, false) : recorded(small, false)).problem
         << "\nits schedulers are recorded below " << folder << ", one folder each: schedsim replay FOLDER"
         << "\n---- keep as test/simulation/kept/NAME.plan\n"
         << WritePlan(small) << "----\n";
    std::cout << text.str() << std::flush;
    return;
  }
  if (plan.seed % 4 == 0) {
    const Outcome again = RunPlan(plan, false);
    if (again.hash != o.hash || again.problem != o.problem) {
      ++t->failed;
      std::cout << name << ": a second run differs from the first\n" << std::flush;
    }
  }
}

Totals RunSeeds(const Options& o, int job) {
  Totals t;
  for (uint64_t seed = o.first + static_cast<uint64_t>(job); seed <= o.last; seed += static_cast<uint64_t>(o.jobs)) {
    if (o.seconds > 0 && std::clock() / CLOCKS_PER_SEC >= o.seconds) break;
    if (absl::Now() >= o.until) break;
    RunOne(absl::StrCat("seed ", seed), MakePlan(seed), o, &t);
    if (o.stop && t.failed > 0) break;
  }
  return t;
}

// Each job is a process: the core's tables of interned texts belong to one thread at a time.
Totals RunJobs(const Options& o) {
  if (o.jobs == 1) return RunSeeds(o, 0);
  Totals all;
  std::vector<std::pair<pid_t, int>> children;
  for (int job = 0; job < o.jobs; ++job) {
    int ends[2];
    if (pipe(ends) != 0) break;
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      const Totals t = RunSeeds(o, job);
      const bool told = write(ends[1], &t, sizeof t) == static_cast<ssize_t>(sizeof t);
      _exit(told ? 0 : 1);
    }
    close(ends[1]);
    children.emplace_back(child, ends[0]);
  }
  for (auto [child, end] : children) {
    Totals t;
    const bool told = read(end, &t, sizeof t) == static_cast<ssize_t>(sizeof t);
    int status = 0;
    waitpid(child, &status, 0);
    if (!told || status != 0) {
      std::cout << "a process that ran seeds ended with status " << status << "\n";
      ++all.failed;
      continue;
    }
    all.runs += t.runs;
    all.failed += t.failed;
    all.events += t.events;
    all.faults += t.faults;
    all.binds += t.binds;
    all.virtual_seconds += t.virtual_seconds;
  }
  return all;
}

int Main(int argc, char** argv) {
  Options o;
  if (!ParseArguments(argc, argv, &o)) {
    std::cerr << kUsage;
    return 2;
  }
  if (o.list) {
    for (const Actor& a : Actors()) std::cout << a.name << " " << a.weight << "\n";
    return 0;
  }
  Totals all;
  for (const std::string& path : o.plans) {
    std::ifstream in(path);
    std::ostringstream text;
    text << in.rdbuf();
    auto plan = ReadPlan(text.str());
    if (!in || !plan.ok()) {
      std::cerr << path << ": " << (in ? util::Message(plan.status()) : "cannot be read") << "\n";
      return 2;
    }
    RunOne(path, *plan, o, &all);
  }
  if (o.last >= o.first) {
    const Totals t = RunJobs(o);
    all.runs += t.runs;
    all.failed += t.failed;
    all.events += t.events;
    all.faults += t.faults;
    all.binds += t.binds;
    all.virtual_seconds += t.virtual_seconds;
  }
  std::cout << "simulate: " << all.runs << " worlds, " << all.virtual_seconds / 3600 << " hours of cluster life, "
            << all.events << " events, " << all.binds << " binds, " << all.faults << " faults: " << all.failed
            << " failed\n";
  return all.failed == 0 && all.runs > 0 ? 0 : 1;
}

}  // namespace
}  // namespace berth::simulation

int main(int argc, char** argv) {
  berth::heap::UseHugePages();
  FLAGS_logtostderr = true;
  // What goes wrong in there is expected; only what ends the process is of interest.
  FLAGS_minloglevel = google::FATAL;
  google::InitGoogleLogging(argv[0]);
  // A symbol that is used beyond the life of its text ends the run.
  berth::util::FreeSymbolsAtOnceForTest();
  return berth::simulation::Main(argc, argv);
}
