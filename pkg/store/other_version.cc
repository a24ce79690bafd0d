#include "pkg/store/other_version.h"

#include <glog/logging.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "pkg/store/autoscaling_v1.h"
#include "pkg/store/events_v1.h"
#include "pkg/util/contract.h"

namespace berth::apiserver {
namespace {

struct Conversion {
  std::string_view kind;
  Value (*to_other)(const Value&);
  Value (*from_other)(const Value&);
};
constexpr Conversion kConversions[] = {
    {"Event", ToEventsV1, FromEventsV1},
    {"HorizontalPodAutoscaler", ToAutoscalingV1, FromAutoscalingV1},
};

const Conversion& ConversionOf(const ResourceInfo& r) {
  BERTH_REQUIRES(r.other_type != nullptr);
  const Conversion* conversion = std::find_if(std::begin(kConversions), std::end(kConversions),
                                              [&](const Conversion& x) { return x.kind == r.kind; });
  CHECK(conversion != std::end(kConversions)) << r.kind << " has two types and no conversion";
  return *conversion;
}

}  // namespace

Value ToOtherVersion(const ResourceInfo& r, const Value& stored) {
  BERTH_REQUIRES(r.other_type != nullptr);
  return ConversionOf(r).to_other(stored);
}
Value FromOtherVersion(const ResourceInfo& r, const Value& object) {
  BERTH_REQUIRES(r.other_type != nullptr);
  return ConversionOf(r).from_other(object);
}

}  // namespace berth::apiserver
