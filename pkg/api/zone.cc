#include "pkg/api/zone.h"

namespace berth::api {
namespace {

util::Symbol EitherLabel(const Labels& labels, util::Symbol key, util::Symbol former_key) {
  const auto value = labels.Get(key);
  return value ? *value : labels.Get(former_key).value_or(util::Symbol());
}

}  // namespace

util::Symbol ZoneOf(const Labels& labels) {
  static const util::Symbol kKey("topology.kubernetes.io/zone"), kFormer("failure-domain.beta.kubernetes.io/zone");
  return EitherLabel(labels, kKey, kFormer);
}

util::Symbol RegionOf(const Labels& labels) {
  static const util::Symbol kKey("topology.kubernetes.io/region"), kFormer("failure-domain.beta.kubernetes.io/region");
  return EitherLabel(labels, kKey, kFormer);
}

}  // namespace berth::api
