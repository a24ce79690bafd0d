// Clusters and pods built from the input, decided by the incremental scheduler and by the reference: the same node, the
// same error.
#include <absl/strings/str_cat.h>

#include <memory>
#include <string>

#include "pkg/api/decode.h"
#include "pkg/release/release.h"
#include "pkg/releases/releases.h"
#include "pkg/scheduler/cache/cache.h"
#include "pkg/scheduler/configuration/load.h"
#include "pkg/scheduler/factory/factory.h"
#include "pkg/scheduler/factory/from_profile.h"
#include "pkg/scheduler/factory/profile_plugins.h"
#include "pkg/scheduler/volumebinder/claim_binder.h"
#include "pkg/scheduler/volumebinder/volume_binder.h"
#include "test/fuzz/fuzz.h"

namespace berth::fuzz {
namespace {

constexpr int kNodes = 6, kPods = 24;

std::string Labels(Choices* c) {
  return absl::StrCat("{\"app\":\"a", c->Below(3), "\",\"tier\":\"t", c->Below(2), "\"}");
}

std::string Term(Choices* c) {
  static const char* const kKeys[] = {"kubernetes.io/hostname", "zone", "rack"};
  return absl::StrCat("{\"topologyKey\":\"", kKeys[c->Below(3)], "\",\"labelSelector\":{\"matchLabels\":{\"app\":\"a",
                      c->Below(3), "\"}}}");
}

std::string NodeJson(int i, Choices* c) {
  std::string taints;
  if (c->Below(4) == 0) {
    static const char* const kEffects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};
    taints = absl::StrCat("\"taints\":[{\"key\":\"k\",\"value\":\"v\",\"effect\":\"", kEffects[c->Below(3)], "\"}]");
  }
  return absl::StrCat(
      "{\"metadata\":{\"name\":\"n", i, "\",\"labels\":{\"kubernetes.io/hostname\":\"n", i, "\",\"zone\":\"z",
      c->Below(3), "\",\"failure-domain.beta.kubernetes.io/zone\":\"z", c->Below(3), "\",\"rack\":\"r", c->Below(3),
      "\"}},\"spec\":{", taints, "},\"status\":{\"allocatable\":{\"cpu\":\"", 1 + c->Below(8), "\",\"memory\":\"",
      1 + c->Below(16), "Gi\",\"pods\":\"", 1 + c->Below(12), "\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"",
      c->Below(10) == 9 ? "False" : "True", "\"}]}}");
}

// Fields that came after release 1.10.
std::string LaterFields(Choices* c) {
  std::string out;
  if (c->Below(2) == 0) {
    static const char* const kKeys[] = {"kubernetes.io/hostname", "zone", "rack"};
    out =
        absl::StrCat(",\"topologySpreadConstraints\":[{\"maxSkew\":", 1 + c->Below(3), ",\"topologyKey\":\"",
                     kKeys[c->Below(3)], "\",\"whenUnsatisfiable\":\"", c->Flip() ? "DoNotSchedule" : "ScheduleAnyway",
                     "\",\"nodeTaintsPolicy\":\"", c->Flip() ? "Honor" : "Ignore",
                     "\",\"minDomains\":1,\"labelSelector\":{\"matchLabels\":{\"app\":\"a", c->Below(3), "\"}}}]");
  }
  if (c->Below(4) == 0) absl::StrAppend(&out, ",\"overhead\":{\"cpu\":\"", 50 * c->Below(10), "m\"}");
  return out;
}

std::string PodJson(int i, bool later, Choices* c) {
  std::string spec = absl::StrCat("\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"",
                                  100 * c->Below(20), "m\",\"memory\":\"", c->Below(2000), "Mi\"}}");
  if (c->Below(6) == 0) absl::StrAppend(&spec, ",\"ports\":[{\"hostPort\":", 80 + c->Below(2), "}]");
  spec += "}]";
  if (c->Below(5) == 0) absl::StrAppend(&spec, ",\"nodeSelector\":{\"zone\":\"z", c->Below(3), "\"}");
  if (c->Below(3) == 0) spec += ",\"tolerations\":[{\"operator\":\"Exists\"}]";
  if (c->Below(2) == 0) {
    std::string affinity;
    for (const char* kind : {"podAffinity", "podAntiAffinity"}) {
      std::string terms;
      if (c->Below(3) == 0) {
        terms = absl::StrCat("\"requiredDuringSchedulingIgnoredDuringExecution\":[", Term(c), "]");
      }
      if (c->Below(3) == 0) {
        absl::StrAppend(&terms, terms.empty() ? "" : ",",
                        "\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":", 1 + c->Below(100),
                        ",\"podAffinityTerm\":", Term(c), "}]");
      }
      if (!terms.empty()) absl::StrAppend(&affinity, affinity.empty() ? "" : ",", "\"", kind, "\":{", terms, "}");
    }
    absl::StrAppend(&spec, ",\"affinity\":{", affinity, "}");
  }
  if (later) spec += LaterFields(c);
  return absl::StrCat("{\"metadata\":{\"name\":\"p", i, "\",\"namespace\":\"d\",\"uid\":\"u", i,
                      "\",\"labels\":", Labels(c), "},\"spec\":{", spec, "}}");
}

// One scheduler with its cache. Without a provider it is release 1.29's default profile.
struct Side {
  explicit Side(const char* provider)
      : cache(ReleaseOf(provider).describe_template),
        binder(&cache, scheduler::AlgorithmGates{}),
        claim_binder(&cache) {
    scheduler::FactoryArgs args;
    args.cache = &cache;
    args.release = &ReleaseOf(provider);
    if (provider != nullptr) {
      args.volume_binder = &binder;
      algorithm = scheduler::CreateFromProvider(provider, std::move(args)).value();
      return;
    }
    args.claim_binder = &claim_binder;
    scheduler::AlgorithmGates& gates = args.gates.algorithm;
    gates.pod_priority = gates.volume_scheduling = gates.block_volume = gates.storage_object_in_use_protection = true;
    static const auto profile =
        scheduler::configuration::DefaultProfile(scheduler::PluginsToConfigure(ReleaseOf(nullptr)));
    algorithm = scheduler::CreateFromProfile(profile, {}, std::move(args)).value();
  }
  // Returns the newest release for profiles, and the default one for providers.
  static const scheduler::Release& ReleaseOf(const char* provider) {
    return releases::Of(provider == nullptr ? release::All().back() : release::Default()).decides;
  }
  scheduler::Cache cache;
  scheduler::VolumeBinder binder;
  scheduler::ClaimBinder claim_binder;
  std::unique_ptr<scheduler::GenericScheduler> algorithm;
};

void Schedule(std::string_view input) {
  Choices c(input);
  static const char* const kProviders[] = {"ClusterAutoscalerProvider", "DefaultProvider", nullptr};
  const char* const provider = kProviders[c.Below(3)];
  Side fast(provider), plain(provider);
  for (int i = 0, n = 1 + c.Below(kNodes); i < n; ++i) {
    api::Document d;
    Require(d.Parse(NodeJson(i, &c)).ok(), "a node that is no JSON");
    auto node = api::DecodeNode(d.root());
    Require(node.ok(), "a node that cannot be decoded");
    fast.cache.AddNode(*node);
    plain.cache.AddNode(*node);
  }
  for (int i = 0; i < kPods && !c.done(); ++i) {
    api::Document d;
    Require(d.Parse(PodJson(i, provider == nullptr, &c)).ok(), "a pod that is no JSON");
    auto pod = api::DecodePod(d.root());
    Require(pod.ok(), "a pod that cannot be decoded");
    const scheduler::Decision a = fast.algorithm->Schedule(*pod);
    scheduler::DecisionTrace trace;
    const scheduler::Decision b = plain.algorithm->Schedule(*pod, scheduler::DecisionMode::kReference);
    Require(a.host == b.host && a.error == b.error, "the incremental and the reference scheduler disagree");
    if (a.host.empty()) continue;
    auto placed = std::make_shared<api::Pod>(**pod);
    placed->node_name = a.host;
    Require(fast.cache.AddPod(placed).ok() && plain.cache.AddPod(placed).ok(), "a pod cannot be added");
    if (c.Below(5) == 0) {
      Require(fast.cache.RemovePod(*placed).ok() && plain.cache.RemovePod(*placed).ok(), "a pod cannot be removed");
    }
  }
}

[[maybe_unused]] const bool kScheduleRegistered = Register({"schedule", Schedule});

}  // namespace
}  // namespace berth::fuzz
