// Plugins by name: the extension points there are, which plugin implements which, and the default plugins
// (Kubernetes 1.29 framework/plugins and apis/config/v1).
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace berth::scheduler::configuration {

// In the order in which 1.29 builds them, so that mistakes are reported in its order.
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
// Returns all extension points in that order.
std::span<const ExtensionPoint> ExtensionPoints();
// Returns the name in a file ("preFilter") or in 1.29's errors ("PreFilterPlugin").
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

// The feature gates that change what a configuration means, with 1.29's defaults.
struct Gates {
  bool pod_scheduling_readiness = true;
  bool volume_capacity_priority = false;
  bool dynamic_resource_allocation = false;
};

// What a profile may name. A value: whoever has plugins of its own adds them to a copy of the in-tree ones.
class PluginCatalogue {
 public:
  // Returns the plugins of release 1.29.
  static PluginCatalogue InTree();

  // Adds the extension points of a plugin to those that it has. A predicate gives PreFilter and Filter, a priority
  // PreScore and Score, and both under one name make one plugin.
  void Add(std::string_view name, ExtensionPointSet points);
  bool Has(std::string_view name) const { return plugins_.contains(name); }
  // Returns false for unknown plugins.
  bool Implements(std::string_view name, ExtensionPoint p) const;
  // Returns the names, sorted: all of them, or those that implement an extension point.
  std::vector<std::string> Names() const;
  std::vector<std::string> Names(ExtensionPoint p) const;

 private:
  std::map<std::string, ExtensionPointSet, std::less<>> plugins_;
};

// A plugin that runs unless a profile says otherwise.
struct DefaultPlugin {
  std::string_view name;
  int32_t weight;  // 0: none is given, which counts as 1
};
// Returns the default multiPoint list, in its order.
std::vector<DefaultPlugin> DefaultPlugins(const Gates& gates);

}  // namespace berth::scheduler::configuration
