#include "pkg/store/events_v1.h"

#include <string_view>
#include <utility>

namespace berth::apiserver {
namespace {

// The name of each member in v1 and in events.k8s.io/v1.
constexpr std::pair<std::string_view, std::string_view> kNames[] = {{"kind", "kind"},
                                                                    {"apiVersion", "apiVersion"},
                                                                    {"metadata", "metadata"},
                                                                    {"eventTime", "eventTime"},
                                                                    {"series", "series"},
                                                                    {"reportingComponent", "reportingController"},
                                                                    {"reportingInstance", "reportingInstance"},
                                                                    {"action", "action"},
                                                                    {"reason", "reason"},
                                                                    {"involvedObject", "regarding"},
                                                                    {"related", "related"},
                                                                    {"message", "note"},
                                                                    {"type", "type"},
                                                                    {"source", "deprecatedSource"},
                                                                    {"firstTimestamp", "deprecatedFirstTimestamp"},
                                                                    {"lastTimestamp", "deprecatedLastTimestamp"},
                                                                    {"count", "deprecatedCount"}};

}  // namespace

Value ToEventsV1(const Value& event) {
  Value out = Value::Object();
  for (const auto& [core, other] : kNames) {
    if (const Value* v = event.Find(core)) out.Set(other, *v);
  }
  return out;
}

Value FromEventsV1(const Value& event) {
  Value out = Value::Object();
  for (const auto& [core, other] : kNames) {
    if (const Value* v = event.Find(other)) out.Set(core, *v);
  }
  return out;
}

}  // namespace berth::apiserver
