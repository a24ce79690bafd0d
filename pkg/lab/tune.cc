#include "pkg/lab/tune.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>

#include "pkg/api/json_writer.h"
#include "pkg/scheduler/policy/decode.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"

namespace berth::lab {
namespace {

constexpr std::array<int, 8> kWeights = {0, 1, 2, 3, 5, 10, 20, 40};
constexpr std::array<const char*, 4> kTuned = {"LeastRequestedPriority", "MostRequestedPriority",
                                               "BalancedResourceAllocation", "SelectorSpreadPriority"};
constexpr size_t kMostLabels = 6;      // the search space grows with each label
constexpr size_t kBatch = 16;          // policies evaluated at once; does not depend on the number of cores
constexpr size_t kFinalistsEach = 10;  // for each objective
constexpr int64_t kFirstStructured = 20;

// A label key that some nodes have and others do not, and whether nodes with it are preferred.
struct LabelPreference {
  std::string key;
  bool presence = false;
  friend auto operator<=>(const LabelPreference&, const LabelPreference&) = default;
};

// A policy: one weight for each priority in kTuned and for each label preference. Weight 0 leaves it out.
struct Genome {
  std::array<int, kTuned.size()> weights{};
  std::vector<int> labels;
  friend auto operator<=>(const Genome&, const Genome&) = default;
};

struct Evaluated {
  Genome genome;
  Metrics metrics;
  std::vector<double> values;  // by objective; smaller is better
};

// Returns preferences for the keys that divide the nodes most evenly. A Policy can only test whether a node has the
// key. Keys that fewer than 1% of the nodes have are ignored.
std::vector<LabelPreference> SplittingLabels(const Scenario& scenario) {
  std::map<std::string, size_t> nodes_with;
  size_t nodes = 0;
  for (const api::Object& o : scenario.cluster) {
    const auto* node = std::get_if<api::NodePtr>(&o);
    if (node == nullptr) continue;
    ++nodes;
    for (const auto& [key, value] : (*node)->labels) ++nodes_with[key.string()];
  }
  std::vector<std::pair<size_t, std::string>> split;  // distance from an even division, and the key
  for (const auto& [key, with] : nodes_with) {
    if (with == nodes || with * 100 < nodes) continue;
    split.emplace_back(2 * with > nodes ? 2 * with - nodes : nodes - 2 * with, key);
  }
  std::sort(split.begin(), split.end());
  if (split.size() > kMostLabels) split.resize(kMostLabels);
  std::vector<LabelPreference> out;
  for (const auto& [far, key] : split) {
    out.push_back({key, false});
    out.push_back({key, true});
  }
  return out;
}

std::string PriorityName(const LabelPreference& label) {
  std::string name = label.presence ? "PreferWith" : "PreferWithout";
  bool upper = true;
  for (char c : label.key) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) {
      upper = true;
      continue;
    }
    name += upper ? absl::ascii_toupper(static_cast<unsigned char>(c)) : c;
    upper = false;
  }
  return name;
}

// Returns the Policy as a file. Priorities of what pods request themselves have their default weights.
std::string PolicyText(const Genome& g, const std::vector<LabelPreference>& labels) {
  api::JsonWriter out(api::JsonWriter::Layout::kIndented);
  out.Object().Member("kind", "Policy").Member("apiVersion", "v1").Key("priorities").Array();
  auto begin = [&](std::string_view name, int weight) { out.Object().Member("name", name).Member("weight", weight); };
  auto add = [&](std::string_view name, int weight) {
    if (weight == 0) return;
    begin(name, weight);
    out.End();
  };
  for (size_t i = 0; i < kTuned.size(); ++i) add(kTuned[i], g.weights[i]);
  for (size_t i = 0; i < g.labels.size(); ++i) {
    if (g.labels[i] == 0) continue;
    begin(PriorityName(labels[i]), g.labels[i]);
    out.Key("argument").Object().Key("labelPreference").Object();
    out.Member("label", labels[i].key).Member("presence", labels[i].presence).End().End().End();
  }
  add("InterPodAffinityPriority", 1);
  add("NodeAffinityPriority", 1);
  add("TaintTolerationPriority", 1);
  add("NodePreferAvoidPodsPriority", 10000);
  return out.End().End().Finish();
}

// Returns whether `a` is at least as good as `b` everywhere and better somewhere.
bool Dominates(const std::vector<double>& a, const std::vector<double>& b) {
  bool better = false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) return false;
    better = better || a[i] < b[i];
  }
  return better;
}

// Returns the indices of the elements of `all` that no other one dominates; of equal ones, the first.
std::vector<size_t> FrontOf(const std::vector<Evaluated>& all) {
  std::vector<size_t> front;
  for (size_t i = 0; i < all.size(); ++i) {
    bool out = false;
    for (size_t j = 0; j < all.size() && !out; ++j) {
      out = Dominates(all[j].values, all[i].values) || (j < i && all[j].values == all[i].values);
    }
    if (!out) front.push_back(i);
  }
  return front;
}

// One search. Everything random comes from random_ in a fixed order, and results are appended in the order of the
// batch, so that the result does not depend on threads.
class Tuner {
 public:
  Tuner(const Scenario& scenario, const TuneOptions& options, const std::function<void(size_t, size_t)>& step)
      : scenario_(scenario),
        options_(options),
        step_(step),
        random_(options.seed),
        labels_(SplittingLabels(scenario)),
        objectives_(options.objectives) {
    for (Objective o : {Objective::kPending, Objective::kFragmentation, Objective::kNodes, Objective::kSpread}) {
      if (options.objectives.size() == 1 && o != objectives_[0]) objectives_.push_back(o);
    }
    for (const api::Object& o : scenario.cluster) {
      has_spreading_ =
          has_spreading_ || (!std::holds_alternative<api::PodPtr>(o) && !std::holds_alternative<api::NodePtr>(o));
    }
    SplitTrace();
  }

  absl::StatusOr<TuneResult> Run() {
    const Workload training(training_);
    BERTH_RETURN_IF_ERROR(Search(training));
    return Finals();
  }

 private:
  uint64_t Below(uint64_t n) { return random_() % n; }  // std::uniform_int_distribution differs between libraries
  int RandomWeight() { return kWeights[Below(kWeights.size())]; }

  // Divides the pods into those that the search sees and those that it does not. In each of the two traces, copies of
  // its own pods take the places of the others, so that both have the length of the whole.
  void SplitTrace() {
    const size_t n = scenario_.pending.size();
    std::vector<size_t> order(n);
    for (size_t i = 0; i < n; ++i) order[i] = i;
    for (size_t i = n; i > 1; --i) std::swap(order[i - 1], order[Below(i)]);
    const auto held = static_cast<size_t>(options_.held_back * static_cast<double>(n));
    std::vector<bool> is_held(n, false);
    for (size_t i = 0; i < held; ++i) is_held[order[i]] = true;
    auto resample = [&](bool keep_held) {
      std::vector<size_t> pool;
      for (size_t i = 0; i < n; ++i) {
        if (is_held[i] == keep_held) pool.push_back(i);
      }
      Scenario s = scenario_;
      for (size_t i = 0; i < n && !pool.empty(); ++i) {
        if (is_held[i] == keep_held) continue;
        auto twin = std::make_shared<api::Pod>(*scenario_.pending[pool[Below(pool.size())]]);
        absl::StrAppend(&twin->meta.name, "-again-", i);
        absl::StrAppend(&twin->meta.uid, "-again-", i);
        s.pending[i] = std::move(twin);
      }
      return s;
    };
    training_ = resample(false);
    if (held > 0) held_back_ = resample(true);
  }

  absl::StatusOr<Algorithm> AlgorithmOf(const Genome& g) const {
    auto policy = scheduler::DecodePolicy(PolicyText(g, labels_));
    if (!policy.ok()) return policy.status();
    Algorithm a = scenario_.algorithm;
    a.provider.reset();
    a.policy = std::move(*policy);
    a.policy_from_flag = false;
    return a;
  }

  std::vector<double> ValuesOf(const Workload& w, const Metrics& m) const {
    std::vector<double> values;
    for (Objective o : objectives_) values.push_back(ValueOf(o, w, m));
    return values;
  }

  // Evaluates the whole batch in parallel and appends the results to `to`.
  absl::Status Evaluate(const Scenario& scenario, const Workload& w, const std::vector<Genome>& batch,
                        const TrialOptions& how, std::vector<Evaluated>* to) {
    std::vector<Trial> trials(batch.size());
    RunOnAllCores(batch.size(), [&](size_t i) {
      auto algorithm = AlgorithmOf(batch[i]);
      if (algorithm.ok()) {
        trials[i] = RunTrial(scenario, w, *algorithm, how);
      } else {
        trials[i].error = util::Message(algorithm.status());
      }
    });
    for (size_t i = 0; i < batch.size(); ++i) {
      if (!trials[i].error.empty()) return util::InvalidArgument(trials[i].error);
      to->push_back({batch[i], trials[i].metrics, ValuesOf(w, trials[i].metrics)});
    }
    return absl::OkStatus();
  }

  Genome Default() const {
    Genome g;
    g.weights = {1, 0, 1, 1};
    g.labels.assign(labels_.size(), 0);
    return g;
  }

  // Returns policies that are known to be good for some clusters.
  std::vector<Genome> Known() const {
    std::vector<Genome> out = {Default()};
    Genome g = Default();
    g.weights = {0, 1, 1, 1};
    out.push_back(g);
    g.weights = {0, 10, 0, 0};
    out.push_back(g);
    for (size_t l = 0; l < labels_.size(); ++l) {
      for (bool full : {false, true}) {
        g = Default();
        if (full) g.weights = {0, 1, 1, 1};
        g.labels[l] = kFirstStructured;
        out.push_back(g);
      }
    }
    return out;
  }

  Genome RandomGenome() {
    Genome g = Default();
    for (int& w : g.weights) w = RandomWeight();
    if (!has_spreading_) g.weights[3] = 1;
    // At most two label preferences, and not both of them for the same key.
    for (int n = static_cast<int>(Below(3)); n > 0 && !labels_.empty(); --n) {
      const size_t l = Below(labels_.size());
      g.labels[l] = RandomWeight();
      g.labels[l ^ 1] = 0;
    }
    return g;
  }

  // Returns a policy that differs in one or two weights.
  Genome Neighbour(Genome g) {
    const size_t genes = (has_spreading_ ? 4 : 3) + labels_.size();
    for (size_t changes = 1 + Below(2); changes > 0; --changes) {
      const size_t gene = Below(genes), label = gene - (genes - labels_.size());
      int& weight = gene < genes - labels_.size() ? g.weights[gene] : g.labels[label];
      auto at = static_cast<size_t>(std::find(kWeights.begin(), kWeights.end(), weight) - kWeights.begin());
      if (Below(3) == 0) {
        weight = RandomWeight();
      } else if (Below(2) == 0) {
        weight = kWeights[std::min(at + 1, kWeights.size() - 1)];
      } else {
        weight = kWeights[at == 0 ? 0 : at - 1];
      }
      if (gene >= genes - labels_.size() && weight > 0) g.labels[label ^ 1] = 0;
    }
    return g;
  }

  // The first half of the budget is spent on known and random policies, the second on neighbours of the present front.
  // Stops early if new policies are hard to find.
  absl::Status Search(const Workload& w) {
    const auto budget = static_cast<size_t>(options_.budget);
    std::set<Genome> known;
    std::vector<Genome> next;
    for (const Genome& g : Known()) {
      if (tried_.size() + next.size() < budget && known.insert(g).second) next.push_back(g);
    }
    size_t in_vain = 0;  // consecutive policies that had been tried before
    while (!next.empty()) {
      for (size_t begin = 0; begin < next.size(); begin += kBatch) {
        const std::vector<Genome> batch(next.begin() + static_cast<ptrdiff_t>(begin),
                                        next.begin() + static_cast<ptrdiff_t>(std::min(begin + kBatch, next.size())));
        BERTH_RETURN_IF_ERROR(Evaluate(training_, w, batch, {}, &tried_));
        if (step_) step_(tried_.size(), budget);
      }
      next.clear();
      const bool local = tried_.size() >= budget / 2;
      const std::vector<size_t> front = local ? FrontOf(tried_) : std::vector<size_t>();
      while (next.size() < kBatch && tried_.size() + next.size() < budget && in_vain < 1000) {
        Genome g = local ? Neighbour(tried_[front[Below(front.size())]].genome) : RandomGenome();
        if (known.insert(g).second) {
          next.push_back(std::move(g));
          in_vain = 0;
        } else {
          ++in_vain;
        }
      }
    }
    return absl::OkStatus();
  }

  // Returns the front of the training and the best policies for each objective. The default is always the first.
  std::vector<Genome> Finalists() const {
    std::set<size_t> chosen = {0};
    std::vector<size_t> order(tried_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    for (size_t o = 0; o < options_.objectives.size(); ++o) {
      std::stable_sort(order.begin(), order.end(),
                       [&](size_t a, size_t b) { return tried_[a].values < tried_[b].values; });
      std::stable_sort(order.begin(), order.end(),
                       [&](size_t a, size_t b) { return tried_[a].values[o] < tried_[b].values[o]; });
      chosen.insert(order.begin(), order.begin() + static_cast<ptrdiff_t>(std::min(order.size(), kFinalistsEach)));
    }
    const std::vector<size_t> front = FrontOf(tried_);
    for (size_t i = 0; i < front.size() && chosen.size() < 3 * kFinalistsEach; ++i) chosen.insert(front[i]);
    std::vector<Genome> out;
    for (size_t i : chosen) out.push_back(tried_[i].genome);
    return out;
  }

  // Evaluates the finalists on all pods and on those held back. The first finalist is the default.
  absl::StatusOr<TuneResult> Finals() {
    TuneResult result;
    result.tried = static_cast<int64_t>(tried_.size());
    const std::vector<Genome> finalists = Finalists();
    std::vector<Evaluated> whole, unseen;
    TrialOptions how;
    how.compaction = true;
    const Workload all(scenario_);
    BERTH_RETURN_IF_ERROR(Evaluate(scenario_, all, finalists, how, &whole));
    if (!held_back_.pending.empty()) {
      const Workload others(held_back_);
      BERTH_RETURN_IF_ERROR(Evaluate(held_back_, others, finalists, {}, &unseen));
    }
    auto tell = [&](size_t i, const std::string& name) {
      return Tuned{name, PolicyText(whole[i].genome, labels_), whole[i].metrics,
                   unseen.empty() ? Metrics() : unseen[i].metrics};
    };
    result.baseline = tell(0, "default");
    std::vector<size_t> front = FrontOf(whole);
    std::stable_sort(front.begin(), front.end(), [&](size_t a, size_t b) { return whole[a].values < whole[b].values; });
    if (front.size() > options_.most_shown) front.resize(options_.most_shown);
    for (size_t k = 0; k < front.size(); ++k) result.front.push_back(tell(front[k], absl::StrCat("policy-", k + 1)));
    return result;
  }

  const Scenario& scenario_;
  const TuneOptions& options_;
  const std::function<void(size_t, size_t)>& step_;
  std::mt19937_64 random_;
  const std::vector<LabelPreference> labels_;  // both preferences for a key are adjacent: l ^ 1 is the opposite of l
  std::vector<Objective> objectives_;          // the dimensions of the front
  bool has_spreading_ = false;                 // whether there may be services or controllers whose pods to spread
  Scenario training_, held_back_;
  std::vector<Evaluated> tried_;
};

}  // namespace

const char* NameOf(Objective objective) {
  switch (objective) {
    case Objective::kPending:
      return "pending";
    case Objective::kFragmentation:
      return "fragmentation";
    case Objective::kNodes:
      return "nodes";
    case Objective::kSpread:
      return "spread";
  }
  return "";
}

absl::StatusOr<Objective> ObjectiveNamed(std::string_view name) {
  for (Objective o : {Objective::kPending, Objective::kFragmentation, Objective::kNodes, Objective::kSpread}) {
    if (name == NameOf(o)) return o;
  }
  return util::InvalidArgument(absl::StrCat("--objective: invalid value ", util::GoQuoted(name),
                                            ": must be pending, fragmentation, nodes or spread"));
}

double ValueOf(Objective objective, const Workload& workload, const Metrics& m) {
  switch (objective) {
    case Objective::kPending:
      return static_cast<double>(m.pending);
    case Objective::kFragmentation:
      return m.fragmentation.empty() ? 0 : m.fragmentation[workload.scarcest()];
    case Objective::kNodes:
      return static_cast<double>(m.nodes_in_use);
    case Objective::kSpread:
      return m.imbalance;
  }
  return 0;
}

absl::StatusOr<TuneResult> Tune(const Scenario& scenario, const TuneOptions& options,
                                const std::function<void(size_t done, size_t of)>& step) {
  if (scenario.pending.empty()) return util::InvalidArgument("there is no pending pod to tune for");
  return Tuner(scenario, options, step).Run();
}

}  // namespace berth::lab
