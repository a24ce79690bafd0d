#include "pkg/capi/episode.h"

#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "pkg/api/json.h"
#include "pkg/api/json_writer.h"
#include "pkg/capi/calls.h"
#include "pkg/simulate/configuration.h"
#include "pkg/simulate/times.h"
#include "pkg/util/status.h"

namespace berth::capi {
namespace {

using api::Json;
using scheduler::Row;
using scheduler::RowSet;
using simulate::Micros;

// The rule of nodes that an agent did not choose.
constexpr char kAgent[] = "Agent";

// Returns a number of seconds as a time; an infinite one is never.
absl::StatusOr<Micros> TimeOf(double seconds, const char* what, size_t pod) {
  constexpr double kMost = 1e12;
  if (std::isinf(seconds) && seconds > 0) return simulate::kNever;
  if (seconds >= 0 && seconds <= kMost) return static_cast<Micros>(std::llround(seconds * simulate::kSecond));
  return util::InvalidArgument(absl::StrCat(what, " of pod ", pod, ": ", seconds, ": must be seconds from 0 on"));
}

// Returns the text of a member of the options with which the cluster was opened; empty if there is none.
std::string MemberOf(const std::string& options, const char* key) {
  api::Document document;
  if (options.empty() || !document.Parse(options).ok()) return {};
  const Json value = document.root().FindExact(key);
  return value.IsNull() ? std::string() : value.Serialize();
}

}  // namespace

absl::Status Episode::ReadOptions(std::string_view text) {
  if (text.empty()) return absl::OkStatus();
  api::Document document;
  if (absl::Status s = document.Parse(text); !s.ok())
    return util::InvalidArgument(absl::StrCat("options: ", s.message()));
  if (!document.root().IsObject()) return util::InvalidArgument("options: must be a JSON object");
  const auto wrong = [](std::string_view key, Json v, std::string_view right) {
    return util::InvalidArgument(
        absl::StrCat("options: ", util::ToAbsl(key), ": ", v.Brief(), ": ", util::ToAbsl(right)));
  };
  for (auto [key, v] : document.root().Children()) {
    if (v.IsNull()) continue;
    Micros* time = key == "bindDelay"    ? &options_.bind_delay
                   : key == "startDelay" ? &options_.start_delay
                   : key == "endDelay"   ? &options_.end_delay
                   : key == "until"      ? &options_.until
                                         : nullptr;
    if (time != nullptr) {
      auto parsed = simulate::ParseTime(v.Text());
      if (!parsed.ok()) return wrong(key, v, util::Message(parsed.status()));
      *time = *parsed;
    } else if (key == "arrivals") {
      if (!v.IsString() || v.Text().empty() || v.Text() == "-") return wrong(key, v, "must be the path of a file");
      auto file = simulate::ArrivalFile::Open(std::string(v.Text()), &inputs_.known);
      if (!file.ok()) return file.status();
      file_ = *std::move(file);
    } else if (key == "generate") {
      if (!v.IsArray()) return wrong(key, v, "must be a list of texts");
      for (auto [index, spec] : v.Children()) {
        auto made = simulate::Generated::Parse(spec.Text(), &inputs_.known);
        if (!made.ok()) return made.status();
        generated_.push_back(*std::move(made));
      }
    } else if (key == "seed") {
      if (!v.IsInt() || v.Int() < 0) return wrong(key, v, "must be a whole number from 0 on");
      seed_ = static_cast<uint64_t>(v.Int());
    } else {
      return wrong(key, v,
                   "unknown option; must be one of arrivals, generate, seed, bindDelay, startDelay, endDelay, until");
    }
  }
  return absl::OkStatus();
}

// Reads who arrives when. What a file or a generated pod names does not arrive by itself.
absl::Status Episode::Prepare(Cluster& cluster, const Pace& pace) {
  auto copy = CopyOf(cluster);
  if (!copy.ok()) return copy.status();
  copy_ = *std::move(copy);
  const lab::Scenario& scenario = *copy_->scenario;
  auto inputs = simulate::PodsOf(scenario);
  if (!inputs.ok()) return inputs.status();
  inputs_ = *std::move(inputs);
  BERTH_RETURN_IF_ERROR(ReadOptions(pace.options));
  simulate::ArrivalFacts facts;
  absl::flat_hash_set<const api::Pod*> named;
  if (file_ != nullptr) {
    facts = file_->facts();
    named = file_->named();
  }
  for (const simulate::Generated& g : generated_) {
    g.AddTo(&facts);
    named.insert(g.Template());
  }
  for (size_t i = 0; i < pace.pods.size(); ++i) {
    if (named.contains(pace.pods[i].get())) continue;
    simulate::Arrival& a = given_.emplace_back();
    a.pod = pace.pods[i];
    a.as_is = true;
    auto at = TimeOf(pace.arrivals == nullptr ? 0 : pace.arrivals[i], "the arrival", i);
    if (!at.ok()) return at.status();
    if (*at == simulate::kNever) return util::InvalidArgument(absl::StrCat("the arrival of pod ", i, " is infinite"));
    a.at = *at;
    if (pace.durations != nullptr) {
      auto duration = TimeOf(pace.durations[i], "the duration", i);
      if (!duration.ok()) return duration.status();
      a.duration = *duration;
    }
    facts.Add(a);
  }
  horizon_ = std::max(facts.last_time, facts.last_end);
  workload_ = std::make_unique<lab::Workload>(simulate::ToMeasure(scenario, steps_, facts.sample));
  const std::string policy = MemberOf(copy_->past.options, "policy");
  const std::string configuration = MemberOf(copy_->past.options, "configuration");
  const lab::Algorithm& a = copy_->algorithm;
  if ((a.policy && policy.empty()) || (a.profiles && configuration.empty())) {
    return util::InvalidArgument(
        "an episode takes a Policy or configuration that the options of the cluster name, not "
        "one of a Scenario");
  }
  auto made = simulate::ConfigurationOf(a, policy, configuration);
  if (!made.ok()) return made.status();
  options_.configuration = *std::move(made);
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<Episode>> Episode::Begin(Cluster& cluster, const Pace& pace) {
  if (cluster.cache().node_count() != cluster.cache().row_count()) {
    return util::InvalidArgument("nodes were removed from the cluster: begin the episode with a copy of it");
  }
  auto e = std::make_shared<Episode>();
  e->nodes_ = cluster.cache().row_count();
  BERTH_RETURN_IF_ERROR(e->Prepare(cluster, pace));
  return e;
}

absl::StatusOr<std::unique_ptr<simulate::ArrivalSource>> Episode::Arrivals() const {
  std::vector<std::unique_ptr<simulate::ArrivalSource>> sources;
  sources.push_back(simulate::SourceOf(given_));
  if (file_ != nullptr) {
    auto rows = file_->Arrivals();
    if (!rows.ok()) return rows.status();
    sources.push_back(*std::move(rows));
  }
  for (size_t i = 0; i < generated_.size(); ++i) sources.push_back(generated_[i].Arrivals(seed_ + (uint64_t{i} << 32)));
  return simulate::Merged(std::move(sources));
}

Episode::~Episode() {
  if (!thread_.joinable()) return;
  // Whatever is asked until the simulation sees that it is cut is answered by itself.
  {
    const std::lock_guard lock(mutex_);
    cut_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Episode::Run() {
  std::string failure, outcome;
  const int32_t code = Guarded([&] {
    auto arrivals = Arrivals();
    if (!arrivals.ok()) return Fail(arrivals.status());
    options_.guest = this;
    options_.began = [this](scheduler::Cache& cache) { cache_ = &cache; };
    options_.cut = &cut_;
    options_.now = &now_;
    const simulate::Case what{copy_->scenario.get(), workload_.get(), &steps_, &inputs_.workload_pods, horizon_};
    auto got = simulate::Simulate(what, *std::move(arrivals), options_);
    if (!got.ok()) return Fail(got.status());
    const auto seconds = [](Micros t) { return absl::StrFormat("%.6f", static_cast<double>(t) / simulate::kSecond); };
    api::JsonWriter w;
    w.Object().Member("pods", got->pods).Member("placed", got->placed).Member("neverPlaced", got->never_placed);
    w.Key("waitSeconds").Object();
    for (const auto& [name, share] : {std::pair("p50", 0.5), {"p90", 0.9}, {"p99", 0.99}, {"max", 1.0}}) {
      w.Key(name).Literal(seconds(got->waits.Percentile(share)));
    }
    w.End().Member("attempts", got->attempts).Member("preemptions", got->preemptions);
    w.Member("evictions", got->evictions).Key("makespanSeconds").Literal(seconds(got->makespan()));
    outcome = w.Key("endSeconds").Literal(seconds(got->end)).Member("cut", got->cut).End().Finish("json");
    return int32_t{BERTH_OK};
  });
  if (code != BERTH_OK) failure = LastError();
  const std::lock_guard lock(mutex_);
  failure_ = std::move(failure);
  outcome_ = std::move(outcome);
  over_ = true;
  cache_ = nullptr;
  pod_ = nullptr;
  turn_ = Turn::kCaller;
  changed_.notify_all();
}

int32_t Episode::Ask(const api::PodPtr& pod, const RowSet& rows) {
  std::unique_lock lock(mutex_);
  if (cut_) return -1;
  pod_ = pod;
  rows_ = rows;
  turn_ = Turn::kCaller;
  changed_.notify_all();
  changed_.wait(lock, [&] { return turn_ == Turn::kSimulation || cut_; });
  return cut_ ? -1 : answer_;
}

// Where a pod fits nowhere there is nothing to choose. A decision that is made a second time for its reasons has the
// same answer.
bool Episode::Filter(const api::PodPtr& pod, RowSet* rows, std::vector<Rejected>* rejected) {
  if (rows->empty()) return true;
  if (!chosen_) chosen_ = Ask(pod, *rows);
  static const util::Symbol kRule(kAgent);
  std::vector<Row> others;
  rows->ForEach([&](Row row) {
    if (static_cast<int64_t>(row) != *chosen_) others.push_back(row);
  });
  for (const Row row : others) {
    rows->Erase(row);
    if (rejected != nullptr) rejected->push_back({row, kRule});
  }
  return true;
}

absl::Status Episode::Next(int32_t node) {
  std::unique_lock lock(mutex_);
  if (!failure_.empty()) return util::InvalidArgument(failure_);
  if (over_) return absl::OkStatus();
  if (pod_ != nullptr) {
    if (node != -1 && (node < 0 || !rows_.Has(static_cast<Row>(node)))) {
      return util::InvalidArgument(absl::StrCat("node ", node, ": the pod ", pod_->meta.Key(), " does not fit there"));
    }
    answer_ = node;
  }
  turn_ = Turn::kSimulation;
  if (thread_.joinable()) {
    changed_.notify_all();
  } else {
    thread_ = std::thread([this] { Run(); });
  }
  changed_.wait(lock, [&] { return turn_ == Turn::kCaller; });
  if (!failure_.empty()) return util::InvalidArgument(failure_);
  if (pod_ == nullptr) return absl::OkStatus();
  name_ = pod_->meta.Key();
  return columns.Refresh(*cache_);
}

}  // namespace berth::capi

using namespace berth::capi;  // NOLINT: the rest of this file defines functions of C

namespace {

template <typename F>
int32_t WithEpisode(berth_episode* handle, F f) {
  return Guarded([&] {
    Use<Episode> episode(handle, "episodes");
    return episode ? f(*episode) : episode.code();
  });
}

}  // namespace

extern "C" {

int32_t berth_begin(berth_cluster* cluster, berth_pods* pods, const double* arrivals, const double* durations,
                    const char* options, size_t options_size, const char* const* resources, size_t count, size_t nodes,
                    double* allocatable, double* free, berth_episode** out) {
  return WithCluster(cluster, [&](Cluster& c) {
    if (out == nullptr) return Null("out");
    if (options == nullptr && options_size > 0) return Null("options");
    if (resources == nullptr || allocatable == nullptr || free == nullptr) {
      return Null("resources, allocatable or free");
    }
    if (const int32_t code = CheckNodes(c, nodes); code != BERTH_OK) return code;
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i) {
      if (const int32_t code = CheckName(resources[i], "the name of a resource"); code != BERTH_OK) return code;
      names.emplace_back(resources[i]);
    }
    Use<Pods> list(pods, "pods");
    if (!list) return list.code();
    if (list->release != c.algorithm.release) {
      return Fail(BERTH_INVALID, "the pods were read for another release than the cluster's");
    }
    Episode::Pace pace{list->pods, arrivals, durations, {}};
    if (options != nullptr) pace.options = std::string_view(options, options_size);
    auto made = Episode::Begin(c, pace);
    if (!made.ok()) return Fail(made.status());
    (*made)->columns.Use(std::move(names), nodes, allocatable, free);
    *out = static_cast<berth_episode*>(Enter(std::move(*made)));
    return int32_t{BERTH_OK};
  });
}

int32_t berth_next(berth_episode* episode, int32_t node, size_t nodes, const char** pod, uint8_t* feasible,
                   double* requests, double* seconds) {
  return WithEpisode(episode, [&](Episode& e) {
    if (pod == nullptr) return Null("pod");
    if (nodes != e.nodes())
      return Fail(BERTH_INVALID, absl::StrCat("arrays of ", nodes, " nodes: the cluster has ", e.nodes()));
    *pod = nullptr;
    if (absl::Status s = e.Next(node); !s.ok()) return Fail(s);
    if (seconds != nullptr) *seconds = e.seconds();
    if (feasible != nullptr) std::fill_n(feasible, nodes, uint8_t{0});
    if (e.pod() == nullptr) return int32_t{BERTH_OK};
    if (feasible != nullptr) e.rows().ForEach([&](berth::scheduler::Row r) { feasible[r] = 1; });
    if (requests != nullptr) std::copy_n(e.Requests(), e.columns.resources().size(), requests);
    *pod = e.name().c_str();
    return int32_t{BERTH_OK};
  });
}

int32_t berth_outcome(berth_episode* episode, const char** json, size_t* size) {
  return WithEpisode(episode, [&](Episode& e) {
    if (json == nullptr || size == nullptr) return Null("json or size");
    if (e.outcome().empty()) return Fail(BERTH_INVALID, "the episode is not over");
    *json = e.outcome().c_str();
    *size = e.outcome().size();
    return int32_t{BERTH_OK};
  });
}

int32_t berth_end(berth_episode* episode) {
  return WithEpisode(episode, [&](Episode&) {
    Remove(episode);
    return int32_t{BERTH_OK};
  });
}

}  // extern "C"
