// Pods whose template is known are those that are read in full.
#include <absl/strings/str_cat.h>

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "pkg/api/decode.h"
#include "pkg/api/known_template.h"

namespace berth::api {
namespace {

absl::StatusOr<PodPtr> DecodedWith(const std::string& text, PodTemplateMemory* memory) {
  Document doc;
  if (auto s = doc.Parse(text); !s.ok()) return s;
  DecodeOptions o;
  o.keep_raw = true;
  o.templates = memory;
  return DecodePod(doc.root(), o);
}

std::string ConditionOf(const Pod& p) {
  if (!p.scheduled) return "none";
  return absl::StrCat(p.scheduled->status, " ", p.scheduled->reason, " ", p.scheduled->message, " ",
                      p.scheduled->last_probe_time, " ", p.scheduled->last_transition_time);
}

void CheckSame(const Pod& a, const Pod& b) {
  CHECK(a.tmpl == b.tmpl);
  CHECK(a.meta.name == b.meta.name);
  CHECK(a.meta.ns.str() == b.meta.ns.str());
  CHECK(a.meta.uid == b.meta.uid);
  CHECK(a.meta.resource_version == b.meta.resource_version);
  CHECK(a.meta.creation_seconds == b.meta.creation_seconds);
  CHECK(a.meta.deletion_seconds == b.meta.deletion_seconds);
  CHECK(a.node_name.str() == b.node_name.str());
  CHECK(a.nominated_node_name.str() == b.nominated_node_name.str());
  CHECK(a.phase == b.phase);
  CHECK(a.start_seconds == b.start_seconds);
  CHECK(a.preempted_by_scheduler == b.preempted_by_scheduler);
  CHECK(ConditionOf(a) == ConditionOf(b));
}

// Checks that a text is read with a memory as without. Returns whether it is a pod.
bool SameWith(PodTemplateMemory* memory, const std::string& text) {
  INFO(text);
  const auto plain = DecodedWith(text, nullptr), quick = DecodedWith(text, memory);
  REQUIRE(plain.ok() == quick.ok());
  if (!plain.ok()) {
    CHECK(plain.status().message() == quick.status().message());
    return false;
  }
  const Pod &a = **plain, &b = **quick;
  CheckSame(a, b);
  CHECK((a.raw == nullptr) == (b.raw == nullptr));
  if (a.raw != nullptr && b.raw != nullptr) CHECK(*a.raw == *b.raw);
  return true;
}

std::string OneOf(std::minstd_rand& random, const std::vector<std::string>& texts) {
  return texts[random() % texts.size()];
}

std::string RandomPod(std::minstd_rand& random) {
  const std::string name = absl::StrCat("p", random() % 50);
  return absl::StrCat(
      R"({"kind":"Pod","metadata":{"name":")", name, R"(","uid":"u)", name, "\",",
      OneOf(random, {"", R"("namespace":"a",)", R"("NameSpace":"b",)", R"("namespace":"a","namespace":"c",)"}),
      OneOf(random, {"", R"("labels":{"app":"w"},)", R"("labels":{"app":"x","tier":"<"},)", R"("labels":null,)"}),
      OneOf(random, {"", R"("ownerReferences":[{"kind":"ReplicaSet","name":"r","uid":"7","controller":true}],)"}),
      R"("resourceVersion":")", random() % 1000, "\"",
      OneOf(random, {"", R"(,"deletionTimestamp":"2018-03-26T08:00:00Z")"}), R"(},"spec":{)",
      OneOf(random, {"", R"("nodeName":"n1",)", R"("nodename":"n2",)"}),
      OneOf(random, {"", R"("priority":7,)", R"("nodeSelector":{"zone":"z"},)", R"("hostNetwork":true,)"}),
      R"("containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":")", random() % 3, R"("}}}])",
      OneOf(random, {"", R"(,"schedulerName":"s")", R"(,"nodeName":"n3")"}), R"(},"status":{"phase":")",
      OneOf(random, {"Pending", "Running", "Failed"}), "\"",
      OneOf(random, {"", R"(,"conditions":[{"type":"PodScheduled","status":"True"}])", R"(,"nominatedNodeName":"n9")"}),
      "}}");
}

TEST_CASE("a pod of a known template is read as any other") {
  PodTemplateMemory memory;
  std::minstd_rand random(3);
  std::vector<PodPtr> kept;  // a template is known as long as it is in use
  int pods = 0, damaged = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string text = RandomPod(random);
    REQUIRE(SameWith(&memory, text));
    ++pods;
    if (kept.size() < 500) kept.push_back(*DecodedWith(text, nullptr));
    constexpr std::string_view kBytes = "{}[]\",:\\ u0a-1tn\x01\xff";
    const size_t at = random() % text.size();
    if (random() % 2 == 0) {
      text.erase(at, 1 + random() % 3);
    } else {
      text[at] = kBytes[random() % kBytes.size()];
    }
    if (SameWith(&memory, text)) ++damaged;
  }
  CHECK(damaged > 500);
  CHECK(memory.taken() > 2000);
}

TEST_CASE("a template is known by all of its parts") {
  PodTemplateMemory memory;
  const std::string first = R"({"metadata":{"name":"p","namespace":"a"},"spec":{"schedulerName":"s"}})";
  const auto kept = DecodedWith(first, &memory);
  const auto taken = [&](const std::string& text) {
    const uint64_t before = memory.taken();
    CHECK(SameWith(&memory, text));
    return memory.taken() > before;
  };
  CHECK(taken(first));
  CHECK(taken(R"({"metadata":{"name":"q","namespace":"a"},"spec":{"nodeName":"n","schedulerName":"s"},"status":{}})"));
  CHECK_FALSE(taken(R"({"metadata":{"name":"p","namespace":"b"},"spec":{"schedulerName":"s"}})"));
  CHECK_FALSE(taken(R"({"metadata":{"name":"p","namespace":"a","labels":{"x":"y"}},"spec":{"schedulerName":"s"}})"));
  CHECK_FALSE(taken(R"({"metadata":{"name":"p","namespace":"a"},"spec":{"schedulerName":"s","priority":1}})"));
  CHECK_FALSE(taken(R"({"metadata":{"name":"p","namespace":"a"},"spec":{"schedulerName": "s"}})"));
}

TEST_CASE("a pod whose template is given is read without its spec") {
  const std::string meta = R"({"metadata":{"name":"p","namespace":"a","uid":"u","resourceVersion":"7","generation":3,)"
                           R"("creationTimestamp":"2018-03-26T08:00:00Z"},"spec":{"nodeName":"n1")";
  const std::string status =
      R"(},"status":{"phase":"Running","startTime":"2018-03-26T08:00:01Z",)"
      R"("conditions":[{"type":"PodScheduled","status":"True"}],"containerStatuses":[{"name":"c","ready":true}]}})";
  const auto whole = DecodedWith(
      absl::StrCat(meta, R"(,"priority":7,"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}])", status),
      nullptr);
  REQUIRE(whole.ok());
  Document rest;
  REQUIRE(rest.Parse(absl::StrCat(meta, status)).ok());
  const auto read = DecodePodOfTemplate(rest.root(), (*whole)->tmpl);
  REQUIRE(read.ok());
  CheckSame(**whole, **read);
  CHECK((*read)->meta.generation == 3);
  CHECK((*read)->tmpl->priority == 7);
  REQUIRE(rest.Parse(R"({"metadata":{"name":7}})").ok());
  CHECK_FALSE(DecodePodOfTemplate(rest.root(), (*whole)->tmpl).ok());
}

}  // namespace
}  // namespace berth::api
