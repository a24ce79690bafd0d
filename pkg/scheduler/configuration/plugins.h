// The plugins by name: the extension points, which plugin implements which of them, and the default plugins. Source:
// pkg/scheduler/framework/plugins/registry.go and pkg/scheduler/apis/config/v1/default_plugins.go (1.29).
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/release/release.h"
#include "pkg/util/contract.h"

namespace berth::scheduler::configuration {

// In the order in which 1.29 processes them, so that errors are reported in its order.
enum class ExtensionPoint : uint8_t {
  kPreFilter,
  kFilter,
  kPostFilter,
  kReserve,
  kPreScore,
  kScore,
  kPreBind,
  kBind,
  kPostBind,
  kPermit,
  kPreEnqueue,
  kQueueSort,
};
inline constexpr size_t kExtensionPointCount = 12;
// Returns all extension points in the order above.
std::span<const ExtensionPoint> ExtensionPoints();
// Return the name of an extension point in a file ("preFilter") and in the errors of 1.29 ("PreFilterPlugin").
std::string_view FieldName(ExtensionPoint p);
std::string_view InterfaceName(ExtensionPoint p);

// A set of extension points.
class ExtensionPointSet {
 public:
  constexpr ExtensionPointSet() = default;
  constexpr ExtensionPointSet(std::initializer_list<ExtensionPoint> points) {
    for (ExtensionPoint p : points) Add(p);
  }
  constexpr void Add(ExtensionPoint p) { bits_ = static_cast<uint16_t>(bits_ | (1u << static_cast<unsigned>(p))); }
  constexpr bool Has(ExtensionPoint p) const { return (bits_ >> static_cast<unsigned>(p) & 1u) != 0; }

 private:
  uint16_t bits_ = 0;
};

// The feature gates that change the meaning of a configuration or the rules of its profiles, with the defaults of the
// releases that have them.
struct Gates {
  bool pod_scheduling_readiness = true;
  bool volume_capacity_priority = false;
  bool dynamic_resource_allocation = false;
  bool storage_capacity_scoring = false;    // 1.33: VolumeBinding scores
  bool volume_limit_scaling = false;        // 1.36: CSIDrivers may have to be on the node
  bool taint_comparison_operators = false;  // 1.35: tolerations with the operators Gt and Lt
  bool opportunistic_batching = true;       // 1.35: equal pods may be placed by one decision
  bool dra_filter_timeout = true;           // 1.34: DynamicResources may be given a limit for the search on a node
  bool dra_binding_timeout = true;          // 1.34: and for the wait for devices; two gates together
};

// A plugin that runs unless a profile disables it.
struct DefaultPlugin {
  std::string_view name;
  int32_t weight;  // 0 means that none is given, which counts as 1
};

// The plugins that a profile may name, and those that run without one. Each release has its own (Release::plugins). To
// add plugins, copy the release's catalogue and call Add.
//
// A catalogue of either kind: with a default multiPoint list (1.22 and later), or with the lists that algorithm
// providers have for each extension point (up to 1.21).
class PluginCatalogue {
 public:
  using Defaults = std::vector<DefaultPlugin> (*)(const Gates&);
  struct Plugin {
    std::string_view name;
    ExtensionPointSet points;
  };
  // `defaults` returns the default multiPoint list in its order.
  PluginCatalogue(release::Version release, std::span<const Plugin> plugins, Defaults defaults);

  struct Provider {
    std::string_view name;
    std::vector<DefaultPlugin> (*at)(ExtensionPoint);  // in calling order
  };
  // The first provider is the one that is used by default. REQUIRES: `providers` is not empty.
  PluginCatalogue(release::Version release, std::span<const Plugin> plugins, std::span<const Provider> providers);
  // Returns the release whose plugins these are, for tables of what comes and goes.
  release::Version release() const { return release_; }
  bool has_multi_point() const { return defaults_ != nullptr; }
  // Makes DefaultsAt return the lists of another provider. Returns false if there is none of this name.
  bool UseProvider(std::string_view name);
  std::vector<std::string> ProviderNames() const;
  // Returns the default plugins of an extension point. REQUIRES: !has_multi_point().
  std::vector<DefaultPlugin> DefaultsAt(ExtensionPoint p) const {
    BERTH_REQUIRES(!has_multi_point());
    return provider_->at(p);
  }

  // REQUIRES: has_multi_point().
  std::vector<DefaultPlugin> DefaultPlugins(const Gates& gates) const {
    BERTH_REQUIRES(has_multi_point());
    return defaults_(gates);
  }
  // Adds extension points to those that the plugin already has. A predicate has PreFilter and Filter, a priority has
  // PreScore and Score, and both under one name are one plugin with all of them.
  void Add(std::string_view name, ExtensionPointSet points);
  bool Has(std::string_view name) const { return plugins_.contains(name); }
  // Returns false for unknown plugins.
  bool Implements(std::string_view name, ExtensionPoint p) const;
  // Return the names in sorted order: all of them, or those of the plugins that implement an extension point.
  std::vector<std::string> Names() const;
  std::vector<std::string> Names(ExtensionPoint p) const;

 private:
  release::Version release_;
  std::map<std::string, ExtensionPointSet, std::less<>> plugins_;
  Defaults defaults_ = nullptr;
  std::span<const Provider> providers_;
  const Provider* provider_ = nullptr;  // the one of providers_ that is used
};

}  // namespace berth::scheduler::configuration
