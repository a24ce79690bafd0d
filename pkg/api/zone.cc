#include "pkg/api/zone.h"

namespace berth::api {
namespace {

struct LabelPair {
  const util::Symbol todays, former;
};
const LabelPair kZone{util::Symbol("topology.kubernetes.io/zone"),
                      util::Symbol("failure-domain.beta.kubernetes.io/zone")};
const LabelPair kRegion{util::Symbol("topology.kubernetes.io/region"),
                        util::Symbol("failure-domain.beta.kubernetes.io/region")};

util::Symbol ValueOf(const Labels& labels, const LabelPair& keys) {
  const auto value = labels.Get(keys.todays);
  return value ? *value : labels.Get(keys.former).value_or(util::Symbol());
}

}  // namespace

util::Symbol ZoneOf(const Labels& labels) {
  return ValueOf(labels, kZone);
}

util::Symbol RegionOf(const Labels& labels) {
  return ValueOf(labels, kRegion);
}

std::string ZoneKeyOf(absl::FunctionRef<std::optional<std::string_view>(util::Symbol key)> label, ZoneLabels which) {
  auto value = [&](const LabelPair& keys) {
    std::optional<std::string_view> text = label(keys.former);
    if (!text && which == ZoneLabels::kFormerOrTodays) text = label(keys.todays);
    return text.value_or("");
  };
  const std::string_view region = value(kRegion), zone = value(kZone);
  std::string key;
  if (region.empty() && zone.empty()) return key;
  key.append(region).append(":\0:", 3).append(zone);
  return key;
}

std::string ZoneKeyOf(const Labels& labels, ZoneLabels which) {
  return ZoneKeyOf(
      [&](util::Symbol key) -> std::optional<std::string_view> {
        const auto value = labels.Get(key);
        return value ? std::optional(value->str()) : std::nullopt;
      },
      which);
}

}  // namespace berth::api
