#include "pkg/lab/algorithm.h"

#include <absl/strings/str_cat.h>

#include <string_view>
#include <utility>

#include "pkg/releases/gates.h"
#include "pkg/scheduler/configuration/gates.h"
#include "pkg/scheduler/configuration/load.h"
#include "pkg/scheduler/configuration/policy_profile.h"
#include "pkg/scheduler/configuration/versions.h"
#include "pkg/scheduler/factory/profile_plugins.h"
#include "pkg/scheduler/factory/read_policy.h"
#include "pkg/util/contract.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"

namespace berth::lab {
namespace {

using api::Json;

absl::Status WrongMember(std::string_view field, Json v, std::string_view right) {
  return util::InvalidArgument(absl::StrCat(util::ToAbsl(field), ": ", v.Brief(), ": ", util::ToAbsl(right)));
}

}  // namespace

absl::Status Algorithm::CheckSource() const {
  if (Decides().has_policies) return absl::OkStatus();
  const std::string name = absl::StrCat("release ", std::string(release->name));
  if (policy) return util::InvalidArgument(absl::StrCat(name, " has no Policies: give it a configuration"));
  if (!provider || *provider == scheduler::kDefaultProvider) return absl::OkStatus();
  return util::InvalidArgument(absl::StrCat(name, " has no algorithm provider ", util::GoQuoted(*provider),
                                            " but only DefaultProvider: give it a configuration"));
}

absl::StatusOr<std::vector<scheduler::configuration::ResolvedProfile>> Algorithm::Profiles() const {
  BERTH_REQUIRES(ByProfiles());
  namespace configuration = scheduler::configuration;
  if (profiles) return *profiles;
  const scheduler::Release& decides = Decides();
  const configuration::PluginCatalogue catalogue = scheduler::PluginsToConfigure(decides);
  std::vector<configuration::ResolvedProfile> out;
  if (decides.policy_names == nullptr) {
    out.push_back(configuration::DefaultProfile(catalogue, ConfigurationGates()));
    return out;
  }
  auto made = policy ? configuration::ProfileOfPolicy(*policy, decides.policy_names(), catalogue, decides.plugins())
                     : configuration::ProfileOfProvider(provider.value_or(std::string(scheduler::kDefaultProvider)),
                                                        hard_pod_affinity_symmetric_weight, catalogue);
  if (!made.ok()) return made.status();
  out.push_back(std::move(*made));
  return out;
}

absl::Status Algorithm::CheckPercentage() const {
  if (!percentage_of_nodes_to_score || Decides().sampling != nullptr) return absl::OkStatus();
  return util::InvalidArgument(absl::StrCat("percentageOfNodesToScore: release ", std::string(release->name),
                                            " looks at all nodes; leave it out"));
}

std::optional<int64_t> Algorithm::SamplePercentage() const {
  if (percentage_of_nodes_to_score) return percentage_of_nodes_to_score;
  if (!samples_as_release || Decides().sampling == nullptr) return std::nullopt;
  return configured_percentage != 0 ? configured_percentage : Decides().sampling->default_percentage;
}

scheduler::SchedulerGates Algorithm::Gates() const {
  return scheduler::MakeGates([&](std::string_view name) {
    if (auto it = gates.find(std::string(name)); it != gates.end()) return it->second;
    const util::FeatureGate* gate = util::FindGate(Decides().gates, name);
    return gate != nullptr && gate->on;
  });
}

scheduler::configuration::Gates Algorithm::ConfigurationGates() const {
  return scheduler::configuration::GatesBy([&](std::string_view name, bool otherwise) {
    auto it = gates.find(std::string(name));
    return it != gates.end() ? it->second : otherwise;
  });
}

absl::Status Algorithm::CheckGatesNeeded() const {
  return releases::CheckGatesNeeded(*release, [&](std::string_view name) {
    if (auto it = gates.find(std::string(name)); it != gates.end()) return it->second;
    const util::FeatureGate* gate = util::FindGate(Decides().gates, name);
    return gate != nullptr && gate->on;
  });
}

bool Algorithm::Replaces(const std::string& what) {
  if (of_scenario || (!chosen() && !profiles)) return false;
  absl::StrAppend(&replaced, replaced.empty() ? "" : " and ", what);
  return true;
}

absl::Status Algorithm::ReadRelease(Json j) {
  if (Json v = j.FindExact("emulatedVersion"); !v.IsNull()) {
    auto named = release::Named(v.IsString() ? std::string_view(v.Text()) : std::string_view(v.Brief()));
    if (!named.ok()) return util::InvalidArgument(absl::StrCat("emulatedVersion: ", named.status().message()));
    // The profiles of a flag are those of its release.
    const bool keeps = profiles && !of_scenario && (*named)->name != release->name;
    if (!keeps || !Replaces(absl::StrCat("emulatedVersion ", std::string((*named)->name)))) release = *named;
  }
  if (Json v = j.FindExact("featureGates"); !v.IsNull()) BERTH_RETURN_IF_ERROR(ReadGates(v));
  Json c = j.FindExact("configuration");
  if (c.IsNull() || Replaces("configuration")) return absl::OkStatus();
  namespace configuration = scheduler::configuration;
  if (Decides().plugins == nullptr) {
    std::string having;
    for (const release::Id& id : release::All()) {
      if (releases::Of(id).decides.plugins == nullptr) continue;
      absl::StrAppend(&having, having.empty() ? "" : ", ", util::GoQuoted(id.name));
    }
    const std::string readers = configuration::WhoReads(c.FindExact("apiVersion").Text());
    return util::InvalidArgument(absl::StrCat("configuration: release ", std::string(release->name),
                                              " has none; set emulatedVersion to one of ", having,
                                              readers.empty() ? "" : "; ", readers));
  }
  auto loaded = configuration::LoadOrError(c, scheduler::PluginsToConfigure(Decides()), ConfigurationGates());
  if (!loaded.ok()) return util::InvalidArgument(absl::StrCat("configuration: ", loaded.status().message()));
  if (!loaded->configuration.extenders.empty()) {
    return util::InvalidArgument("configuration.extenders: a Scenario cannot call extenders, --config can");
  }
  profiles = std::move(loaded->profiles);
  extenders.clear();
  of_scenario = true;
  return absl::OkStatus();
}

absl::Status Algorithm::ReadGates(Json j) {
  if (!j.IsObject()) return WrongMember("featureGates", j, "must be an object of gates");
  for (auto [name, on] : j.Children()) {
    if (!on.IsBool())
      return WrongMember(absl::StrCat("featureGates.", util::ToAbsl(name)), on, "must be true or false");
    const std::string_view gate = releases::WithoutComponent(*release, name);
    if (absl::Status s = releases::CheckGate(*release, gate, on.Bool()); !s.ok()) {
      return WrongMember("featureGates", on, util::Message(s));
    }
    gates[std::string(gate)] = on.Bool();
  }
  return CheckGatesNeeded();
}

absl::Status Algorithm::ReadMembers(Json j) {
  BERTH_RETURN_IF_ERROR(ReadRelease(j));
  if (Json v = j.FindExact("algorithmProvider");
      !v.IsNull() && !Replaces(absl::StrCat("algorithmProvider ", v.Brief()))) {
    if (!v.IsString()) return WrongMember("algorithmProvider", v, "must be the name of a provider");
    provider = std::string(v.Text());
    of_scenario = true;
  }
  if (Json v = j.FindExact("policy"); !v.IsNull() && !Replaces("policy")) {
    if (of_scenario) return WrongMember("policy", v, "give either algorithmProvider or policy");
    auto read = scheduler::ReadPolicy(v, Decides(), Gates());
    if (!read.ok()) return util::InvalidArgument(absl::StrCat("policy: ", read.status().message()));
    policy = std::move(*read);
    policy_from_flag = false;
    of_scenario = true;
  }
  if (Json v = j.FindExact("hardPodAffinitySymmetricWeight"); !v.IsNull()) {
    const int64_t least = Decides().least_hard_weight;
    if (!v.IsInt() || v.Int() < least || v.Int() > 100) {
      return WrongMember("hardPodAffinitySymmetricWeight", v, absl::StrCat("must be in the range ", least, "-100"));
    }
    hard_pod_affinity_symmetric_weight = static_cast<int>(v.Int());
  }
  if (Json v = j.FindExact("preempt"); !v.IsNull()) {
    if (!v.IsBool()) return WrongMember("preempt", v, "must be true or false");
    preempt = v.Bool();
  }
  if (Json v = j.FindExact("percentageOfNodesToScore"); !v.IsNull()) {
    if (!v.IsInt()) return WrongMember("percentageOfNodesToScore", v, "must be a whole number");
    percentage_of_nodes_to_score = v.Int();
  }
  return CheckPercentage();
}

}  // namespace berth::lab
