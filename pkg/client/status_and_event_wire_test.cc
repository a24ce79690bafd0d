// Compares the patches of statuses and the events that Berth writes with those that kube-scheduler 1.29 sent to an API
// server 1.29. Recorded patches that overwrote the condition of a bound pod are left out, as Berth does not send them.
#include <absl/strings/str_cat.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "pkg/api/json.h"
#include "pkg/client/event_series.h"
#include "pkg/client/json_edit.h"
#include "pkg/client/status_patch.h"

namespace berth::client {
namespace {

std::vector<std::unique_ptr<api::Document>> Lines(const std::string& name) {
  std::ifstream in("test/testdata/wire-client/" + name + ".jsonl");
  REQUIRE(in.good());
  std::vector<std::unique_ptr<api::Document>> out;
  for (std::string line; std::getline(in, line);) {
    out.push_back(std::make_unique<api::Document>());
    REQUIRE(out.back()->Parse(line).ok());
  }
  return out;
}

std::string Text(api::Json object, std::string_view key) {
  return std::string(object.FindExact(key).Text());
}

api::PodCondition ConditionOf(api::Json c) {
  return {Text(c, "status"), Text(c, "reason"), Text(c, "message"), Text(c, "lastProbeTime"),
          Text(c, "lastTransitionTime")};
}

// Both texts have no blanks after colons and commas, and both have their members in Go's order.
TEST_CASE("1.29's patches of statuses are reproduced from the object before and what changed") {
  const auto lines = Lines("status-patches");
  REQUIRE(lines.size() > 20);
  for (const auto& line : lines) {
    const api::Json before = line->root().FindExact("before"), body = line->root().FindExact("body");
    const api::Json status = body.FindExact("status");
    CAPTURE(line->root().Serialize());
    PodStatusPatch patch;
    patch.types = ConditionTypes(before.Serialize());
    for (const auto& [key, changes] : status.FindExact("conditions").Children()) {
      PodStatusPatch::Condition c;
      c.type = Text(changes, "type");
      for (const auto& [k, old] : before.FindExact("status").FindExact("conditions").Children()) {
        if (Text(old, "type") == c.type) c.old = ConditionOf(old);
      }
      c.now = c.old.value_or(api::PodCondition());
      for (const auto& [field, value] : changes.Children()) {
        const std::string text(value.Text());
        if (field == "status") c.now.status = text;
        if (field == "reason") c.now.reason = text;
        if (field == "message") c.now.message = text;
        if (field == "lastProbeTime") c.now.last_probe_time = text;
        if (field == "lastTransitionTime") c.now.last_transition_time = text;
      }
      patch.condition = std::move(c);
    }
    for (const auto& [key, value] : status.Children()) {
      if (key == "nominatedNodeName") patch.nominated_node_name = std::string(value.Text());
    }
    CHECK(ToJson(patch) == body.Serialize());
  }
}

ObjectReference ReferenceOf(api::Json o) {
  return {Text(o, "kind"), Text(o, "apiVersion"), Text(o, "namespace"),
          Text(o, "name"), Text(o, "uid"),        Text(o, "resourceVersion")};
}

absl::Time TimeOf(api::Json t) {
  absl::Time out;
  std::string error;
  REQUIRE(absl::ParseTime(absl::RFC3339_full, std::string(t.Text()), &out, &error));
  return out;
}

TEST_CASE("1.29's events and series are reproduced from what happened") {
  const auto lines = Lines("event-series");
  REQUIRE(lines.size() > 50);
  size_t posts = 0, patches = 0;
  for (const auto& line : lines) {
    const api::Json body = line->root().FindExact("body");
    CAPTURE(line->root().Serialize());
    SeriesEvent e;
    if (Text(line->root(), "method") == "PATCH") {
      const api::Json series = body.FindExact("series");
      e.base.count = static_cast<int>(series.FindExact("count").Int());
      e.base.last = TimeOf(series.FindExact("lastObservedTime"));
      CHECK(SeriesPatch(e.base) == body.Serialize());
      ++patches;
      continue;
    }
    e.base.name = Text(body.FindExact("metadata"), "name");
    e.base.ns = Text(body.FindExact("metadata"), "namespace");
    e.base.first = TimeOf(body.FindExact("eventTime"));
    e.base.component = Text(body, "reportingController");
    e.base.reason = Text(body, "reason");
    e.base.message = Text(body, "note");
    e.base.type = Text(body, "type") == "Normal" ? EventType::kNormal : EventType::kWarning;
    e.base.action = Text(body, "action");
    e.base.object = ReferenceOf(body.FindExact("regarding"));
    if (body.FindExact("related").IsObject()) e.base.related = ReferenceOf(body.FindExact("related"));
    e.reporting_instance = Text(body, "reportingInstance");
    CHECK(SeriesEventJson(e.base, e.reporting_instance) == body.Serialize());
    ++posts;
  }
  CHECK(posts > 50);
  CHECK(patches > 0);
}

}  // namespace
}  // namespace berth::client
