#include "pkg/apiserver/other_version.h"

#include <glog/logging.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "pkg/apiserver/autoscaling_v1.h"
#include "pkg/apiserver/events_v1.h"

namespace berth::apiserver {
namespace {

struct Row {
  std::string_view kind;
  Value (*to_other)(const Value&);
  Value (*from_other)(const Value&);
};
constexpr Row kRows[] = {
    {"Event", ToEventsV1, FromEventsV1},
    {"HorizontalPodAutoscaler", ToAutoscalingV1, FromAutoscalingV1},
};

const Row& RowOf(const ResourceInfo& r) {
  const Row* row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& x) { return x.kind == r.kind; });
  CHECK(row != std::end(kRows)) << r.kind << " has two types and no conversion";
  return *row;
}

}  // namespace

Value ToOtherVersion(const ResourceInfo& r, const Value& stored) {
  return RowOf(r).to_other(stored);
}
Value FromOtherVersion(const ResourceInfo& r, const Value& object) {
  return RowOf(r).from_other(object);
}

}  // namespace berth::apiserver
