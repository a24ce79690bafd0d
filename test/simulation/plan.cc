#include "test/simulation/plan.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <algorithm>

#include "pkg/api/scheduling_fields.h"
#include "pkg/util/status.h"
#include "test/simulation/world.h"

namespace berth::simulation {
namespace {

std::vector<Actor>& Registered() {
  static std::vector<Actor> actors;
  return actors;
}

const Actor* FindActor(const std::string& name) {
  for (const Actor& a : Registered()) {
    if (a.name == name) return &a;
  }
  return nullptr;
}

}  // namespace

bool RegisterActor(Actor actor) {
  Registered().push_back(actor);
  return true;
}

std::vector<Actor> Actors() {
  std::vector<Actor> sorted = Registered();
  std::sort(sorted.begin(), sorted.end(), [](const Actor& a, const Actor& b) { return std::string(a.name) < b.name; });
  return sorted;
}

Plan MakePlan(uint64_t seed) {
  Random r(seed * 0x2545f4914f6cdd1dull + 1);
  Plan p;
  p.seed = seed;
  p.pod_priority = r.Chance(0.5);
  const auto releases = release::All();
  p.release = std::string(releases[r.Below(releases.size())].name);
  p.claims = r.Chance(0.5);
  p.living =
      Random(seed * 0x9e3779b97f4a7c15ull).Chance(0.5);  // of its own, so that the rest of old seeds is as it was
  p.schedulers = static_cast<int>(r.Between(1, 3));
  p.servers = static_cast<int>(r.Between(1, 3));
  p.length_millis = r.Between(60, 900) * 1000;
  const std::vector<Actor> actors = Actors();
  int64_t total = 0;
  // In each plan some actors are busier than others, and some do nothing.
  std::vector<int64_t> weights;
  for (const Actor& a : actors) {
    weights.push_back(r.Chance(0.2) ? 0 : a.weight * r.Between(1, 10));
    total += weights.back();
  }
  const int64_t steps = r.Between(30, 250);
  for (int64_t i = 0; i < steps && total > 0; ++i) {
    int64_t ticket = r.Between(0, total - 1);
    size_t which = 0;
    while (ticket >= weights[which]) ticket -= weights[which++];
    p.steps.push_back({r.Between(0, p.length_millis), actors[which].name, r.Next() >> 32});
  }
  std::stable_sort(p.steps.begin(), p.steps.end(),
                   [](const Step& a, const Step& b) { return a.at_millis < b.at_millis; });
  return p;
}

std::string WritePlan(const Plan& p) {
  std::string out =
      absl::StrCat("world seed=", p.seed, " release=", p.release, " priority=", p.pod_priority ? 1 : 0,
                   " claims=", p.claims ? 1 : 0, " living=", p.living ? 1 : 0, " schedulers=", p.schedulers,
                   " servers=", p.servers, " length=", p.length_millis, "\n");
  for (const Step& s : p.steps) absl::StrAppend(&out, s.at_millis, " ", s.actor, " ", s.seed, "\n");
  return out;
}

absl::StatusOr<Plan> ReadPlan(std::string_view text) {
  Plan p;
  int line = 0;
  for (const std::string& l : std::vector<std::string>(absl::StrSplit(std::string(text), '\n'))) {
    ++line;
    if (l.empty() || l[0] == '#') continue;
    const std::vector<std::string> words = absl::StrSplit(l, ' ', absl::SkipEmpty());
    if (words[0] == "world") {
      for (size_t i = 1; i < words.size(); ++i) {
        const std::pair<std::string, std::string> kv = absl::StrSplit(words[i], absl::MaxSplits('=', 1));
        if (kv.first == "release") {
          if (const auto named = release::Named(kv.second); !named.ok())
            return util::InvalidArgument(absl::StrCat("line ", line, ": release: ", util::Message(named.status())));
          p.release = kv.second;
          continue;
        }
        uint64_t v = 0;
        if (!absl::SimpleAtoi(kv.second, &v))
          return util::InvalidArgument(absl::StrCat("line ", line, ": ", words[i], " is no number"));
        if (kv.first == "seed") p.seed = v;
        if (kv.first == "priority") p.pod_priority = v != 0;
        if (kv.first == "claims") p.claims = v != 0;
        if (kv.first == "living") p.living = v != 0;
        if (kv.first == "schedulers") p.schedulers = static_cast<int>(v);
        if (kv.first == "servers") p.servers = static_cast<int>(v);
        if (kv.first == "length") p.length_millis = static_cast<int64_t>(v);
      }
      continue;
    }
    Step s;
    if (words.size() != 3 || !absl::SimpleAtoi(words[0], &s.at_millis) || !absl::SimpleAtoi(words[2], &s.seed) ||
        FindActor(words[1]) == nullptr) {
      return util::InvalidArgument(absl::StrCat("line ", line, ": \"", l, "\" is no step: MILLISECONDS ACTOR SEED"));
    }
    s.actor = words[1];
    p.steps.push_back(s);
  }
  return p;
}

Outcome RunPlan(const Plan& plan, bool verbose, const std::string& record_dir) {
  WorldOptions options;
  options.seed = plan.seed;
  options.release = plan.release;
  options.pod_priority = plan.pod_priority || Emulated(plan.release).always_has_priorities;
  options.claims = plan.claims && Emulated(plan.release).can_schedule_volumes;
  options.living = plan.living;
  options.schedulers = static_cast<size_t>(std::max(1, plan.schedulers));
  options.servers = static_cast<size_t>(std::max(1, plan.servers));
  options.record_dir = record_dir;
  if (!record_dir.empty()) api::KeepSchedulingFields();
  World world(options);
  world.verbose = verbose;
  Random shape(plan.seed ^ 0x736861);
  const int64_t nodes = shape.Between(2, 12);
  for (int64_t i = 0; i < nodes; ++i) {
    NodeSpec n;
    n.name = absl::StrCat("n", i);
    n.zone = absl::StrCat("z", i % 3);
    n.milli_cpu = 1000 * shape.Between(2, 8);
    n.tainted = shape.Chance(0.15);
    world.CreateNode(n);
  }
  for (const Step& s : plan.steps) {
    world.loop.At(absl::Milliseconds(s.at_millis), [&world, &s] {
      Random r(s.seed);
      world.Record(absl::StrCat("step ", s.actor));
      FindActor(s.actor)->step(&world, &r);
    });
  }
  world.RunUntil(absl::Milliseconds(plan.length_millis));
  if (world.problem().empty()) world.Settle();
  Outcome o;
  o.problem = world.problem();
  o.hash = world.history_hash();
  o.events = world.loop.count();
  o.faults = world.fault_count();
  o.binds = world.binds();
  o.decisions = world.decisions();
  o.virtual_time = world.loop.now();
  return o;
}

Plan Shrink(Plan plan, int runs) {
  const auto fails = [&](const Plan& p) { return runs-- > 0 && !RunPlan(p, false).problem.empty(); };
  for (size_t chunk = std::max<size_t>(1, plan.steps.size() / 2); runs > 0;) {
    bool smaller = false;
    for (size_t from = 0; from < plan.steps.size() && runs > 0;) {
      Plan less = plan;
      const size_t to = std::min(from + chunk, less.steps.size());
      less.steps.erase(less.steps.begin() + static_cast<std::ptrdiff_t>(from),
                       less.steps.begin() + static_cast<std::ptrdiff_t>(to));
      if (fails(less)) {
        plan = std::move(less);
        smaller = true;
      } else {
        from = to;
      }
    }
    if (chunk == 1 && !smaller) break;
    chunk = std::max<size_t>(1, chunk / 2);
  }
  return plan;
}

}  // namespace berth::simulation
