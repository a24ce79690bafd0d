#include "test/churn/day.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <glog/logging.h>
#include <unistd.h>

#include <deque>
#include <fstream>
#include <memory>
#include <random>

#include "pkg/api/decode.h"
#include "pkg/lab/simulation.h"

namespace berth::churn {
namespace {

template <typename T>
T Decoded(absl::StatusOr<T> (*decode)(api::Json, const api::DecodeOptions&), const std::string& json) {
  api::Document document;
  CHECK(document.Parse(json).ok()) << json;
  return decode(document.root(), {}).value();
}

int64_t ResidentBytes() {
  std::ifstream in("/proc/self/statm");
  int64_t size = 0, resident = 0;
  in >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

std::string NodeText(uint64_t i, uint64_t version) {
  return absl::StrFormat(
      R"({"metadata":{"name":"node-%d","uid":"node-%d","labels":{"kubernetes.io/hostname":"node-%d",)"
      R"("topology.kubernetes.io/zone":"zone-%d","pool":"pool-%d","revision":"r-%d"}},)"
      R"("spec":{"taints":[{"key":"team","value":"t%d","effect":"PreferNoSchedule"}]},)"
      R"("status":{"allocatable":{"cpu":"64","memory":"512Gi","pods":"500"}}})",
      i, i, i, i % 3, (i + version) % 20, version, version % 1000);
}

// Pods of one template differ in names alone; templates have labels, requests and terms of their own.
std::string PodText(uint64_t number, uint64_t tmpl) {
  std::string affinity;
  if (tmpl % 3 == 0) {
    absl::StrAppend(
        &affinity, R"("nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":5,"preference":)",
        R"({"matchExpressions":[{"key":"pool","operator":"In","values":["pool-)", tmpl % 20, R"("]}]}}]},)");
  }
  absl::StrAppend(
      &affinity, R"("podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":)", 1 + tmpl % 100,
      R"(,"podAffinityTerm":{"topologyKey":"kubernetes.io/hostname","labelSelector":{"matchLabels":{"job":"job-)", tmpl,
      R"("}}}}]})");
  return absl::StrCat(R"({"metadata":{"name":"job-)", tmpl, "-", number, R"(","namespace":"ns-)", tmpl % 50,
                      R"(","uid":"pod-)", number, R"(","labels":{"job":"job-)", tmpl, R"("}},"spec":{"affinity":{)",
                      affinity, R"(},"containers":[{"name":"c","image":"registry/job-)", tmpl,
                      R"(:1","resources":{"requests":{"cpu":")", 10 + tmpl % 990, R"(m","memory":"64Mi"}}}]}})");
}

}  // namespace

int RunDay(const DayOptions& options, std::ostream& out) {
  lab::Scenario scenario;
  if (!options.release.empty()) {
    const auto release = release::Named(options.release);
    if (!release.ok()) {
      out << "churn: " << release.status().message() << "\n";
      return 2;
    }
    scenario.algorithm.release = *release;
  }
  for (uint64_t i = 0; i < options.nodes; ++i) scenario.cluster.emplace_back(Decoded(api::DecodeNode, NodeText(i, 0)));
  auto made = lab::Simulation::Make(scenario);
  CHECK(made.ok()) << made.status();
  lab::Simulation& simulation = **made;
  scheduler::Cache& cache = simulation.cache();
  scenario.cluster.clear();
  std::mt19937_64 random(options.seed);
  std::deque<api::PodPtr> live;
  int64_t first = 0, last = 0;
  uint64_t placed = 0;
  const uint64_t tenth = std::max<uint64_t>(1, options.pods / 10);
  for (uint64_t n = 0; n < options.pods; ++n) {
    if (n % 10 == 0) cache.UpdateNode(Decoded(api::DecodeNode, NodeText(random() % options.nodes, n / 10)));
    if (simulation.Place(Decoded(api::DecodePod, PodText(n, random() % options.templates))).outcome ==
        scheduler::Decision::Outcome::kPlaced) {
      ++placed;
      live.push_back(simulation.last_placed());
      CHECK(cache.AddPod(live.back()).ok());
    }
    if (live.size() > options.live) {
      CHECK(cache.RemovePod(*live.front()).ok());
      live.pop_front();
    }
    if ((n + 1) % tenth != 0) continue;
    last = ResidentBytes();
    if ((n + 1) / tenth == 2) first = last;
    out << absl::StrFormat("%9d pods came: %d MiB", n + 1, last >> 20) << std::endl;
  }
  const double grown = first == 0 ? 0 : static_cast<double>(last) / static_cast<double>(first) - 1;
  out << absl::StrFormat("{\"pods\":%d,\"placed\":%d,\"firstBytes\":%d,\"lastBytes\":%d,\"grown\":%.4f}\n",
                         options.pods, placed, first, last, grown);
  return grown > 0.05 ? 1 : 0;
}

}  // namespace berth::churn
