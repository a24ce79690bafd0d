// Connects the page (pkg/ui) with the daemon: copying steps go through the inbox, answers through the pages' loop.
#include "cmd/kube-scheduler/live_page.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "pkg/api/json_writer.h"
#include "pkg/release/release.h"
#include "pkg/scheduler/policy/decode.h"
#include "pkg/util/version.h"

namespace berth::kube_scheduler {
namespace {

// Returns algorithms for the copy of the cluster that decide as the daemon does.
ui::Algorithms AlgorithmsOf(const Configuration& config, const recording::CoreConfiguration& core) {
  ui::Algorithms out;
  bool extenders = false;
  for (const recording::ProfileSource& p : core.profiles) {
    lab::Algorithm a;
    a.release = config.release;
    for (const auto& [gate, on] : core.gates) a.gates[gate] = on;
    a.hard_pod_affinity_symmetric_weight = core.hard_pod_affinity_symmetric_weight;
    if (!p.provider.empty()) a.provider = p.provider;
    if (auto policy = scheduler::DecodePolicy(p.policy, config.release->version); !p.policy.empty() && policy.ok()) {
      extenders = extenders || !policy->extenders.empty();
      policy->extenders.clear();
      a.policy = *std::move(policy);
    }
    out.by_scheduler[p.scheduler_name] = std::move(a);
  }
  if (config.ByProfiles()) {
    out.by_scheduler.clear();
    for (const auto& p : config.plugin_profiles) {
      lab::Algorithm a;
      a.release = config.release;
      a.profiles = config.plugin_profiles;
      out.by_scheduler[p.scheduler_name] = std::move(a);
    }
    extenders = !config.extenders.empty();
  }
  if (extenders) {
    out.notes.emplace_back(
        "Extenders are not asked for explanations; what they would refuse or prefer is not taken into account.");
  }
  return out;
}

// Returns the configuration as the page shows it. It lists rules instead of Policies, which may contain keys of
// extenders.
std::string ConfigurationJson(const Configuration& config, const recording::CoreConfiguration& core,
                              const AlgorithmsByName& algorithms) {
  api::JsonWriter j;
  j.Object().Member("version", util::Version()).Member("gitCommit", util::Commit());
  j.Member("emulatedVersion", config.release->name).Key("featureGates").Object();
  for (const auto& [gate, on] : core.gates) j.Member(gate, on);
  j.End().Key("profiles").Array();
  for (const auto& [name, algorithm] : algorithms) {
    const scheduler::AlgorithmConfig& c = algorithm->config();
    j.Object().Member("schedulerName", name.str()).Key("predicates").Array();
    for (const auto& p : c.predicates) j.Text(p.name);
    j.End().Key("priorities").Array();
    for (const auto& p : c.priorities) j.Object().Member("name", p.name).Member("weight", p.weight).End();
    j.End().Member("extenders", static_cast<int64_t>(c.extenders.size())).End();
  }
  j.End().Key("configuration").Literal(ConfigurationToConfigz(config));
  return j.End().Finish("json");
}

}  // namespace

LivePage::LivePage(http::EventLoop* loop, Inbox* inbox, const util::Clock* clock)
    : source_([inbox](std::function<void()> f) { inbox->Put(std::move(f)); },
              [loop](std::function<void()> f) { loop->executor()->Post(std::move(f)); },
              [loop](absl::Duration d, std::function<void()> f) { loop->executor()->After(d, std::move(f)); }, clock),
      server_(&source_,
              [loop](absl::Duration d, std::function<void()> f) { loop->executor()->After(d, std::move(f)); }) {}

void LivePage::Begin(ui::LiveScheduler live, const Configuration& config, const recording::CoreConfiguration& core,
                     const AlgorithmsByName& algorithms) {
  live.algorithms = AlgorithmsOf(config, core);
  live.configuration_json = ConfigurationJson(config, core, algorithms);
  source_.Begin(std::move(live));
}

void LivePage::Handle(const http::ServerRequest& request, const http::Responder& answer, bool authorized) {
  if (source_.begun()) return server_.Handle(request, answer, authorized);
  http::ServerResponse starting;
  starting.status = 503;
  starting.headers = {{"Retry-After", "1"}, {"Refresh", "1"}};  // a browser asks again in a second
  starting.body = "The scheduler is starting.\n";
  answer.Send(std::move(starting));
}

}  // namespace berth::kube_scheduler
