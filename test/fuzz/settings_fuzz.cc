// What operators write: Policies, both kinds of configuration, kubeconfigs.
#include "cmd/kube-scheduler/component_config.h"
#include "pkg/api/stream.h"
#include "pkg/client/kubeconfig.h"
#include "pkg/release/release.h"
#include "pkg/releases/releases.h"
#include "pkg/scheduler/configuration/load.h"
#include "pkg/scheduler/factory/profile_plugins.h"
#include "pkg/scheduler/policy/decode.h"
#include "test/fuzz/fuzz.h"

namespace berth::fuzz {
namespace {

void Policy(std::string_view input) {
  (void)scheduler::DecodePolicy(input);
}

void Configuration(std::string_view input) {
  std::vector<std::string> warnings;
  auto c = kube_scheduler::ParseConfiguration(input, "fuzz", &warnings);
  if (!c.ok()) return;
  (void)kube_scheduler::CheckConfiguration(*c, kube_scheduler::Spelling::kFile);
  // What is written is read back.
  warnings.clear();
  if (kube_scheduler::CheckConfiguration(*c, kube_scheduler::Spelling::kFile).empty()) {
    const std::string text = kube_scheduler::ConfigurationToYaml(*c);
    auto again = kube_scheduler::ParseConfiguration(text, "fuzz", &warnings);
    Require(again.ok(), "a configuration that was written cannot be read");
  }
}

void ConfigurationV1(std::string_view input) {
  namespace configuration = scheduler::configuration;
  static const configuration::PluginCatalogue catalogue =
      scheduler::PluginsToConfigure(releases::Of(release::All().back()).decides);
  auto d = api::ReadDocument(input);
  if (d.ok()) (void)configuration::Load(d->root(), catalogue, configuration::Gates{});
}

void Kubeconfig(std::string_view input) {
  (void)client::ParseKubeconfig(input, "/nonexistent");
}

[[maybe_unused]] const bool kSettingsRegistered =
    Register({"policy", Policy}) && Register({"configuration", Configuration}) &&
    Register({"configuration-v1", ConfigurationV1}) && Register({"kubeconfig", Kubeconfig});

}  // namespace
}  // namespace berth::fuzz
