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

// Whether the parser is given the memory that the decoder has, and whether the text comes in an event.
enum class MemoryUse { kDecoding, kParsing, kParsingEvent };

// With kParsingEvent the text is what an event has; its parser's errors then name other places.
absl::StatusOr<PodPtr> DecodedWith(const std::string& text, PodTemplateMemory* memory,
                                   MemoryUse use = MemoryUse::kDecoding) {
  Document doc;
  const std::string event = R"({"type":"MODIFIED","object":)" + text + "}";
  KnownParts* const known = use == MemoryUse::kDecoding ? nullptr : memory;
  const bool of_event = use == MemoryUse::kParsingEvent;
  if (auto s = doc.Parse(of_event ? event : text, known, Unread::kManagedFields); !s.ok()) return s;
  DecodeOptions o;
  o.keep_raw = true;
  o.templates = memory;
  return DecodePod(of_event ? doc.root().Find("object") : doc.root(), o);
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
  CHECK(a.unread == b.unread);
  CHECK(ConditionOf(a) == ConditionOf(b));
}

// Checks that a text is read with a memory as without. Returns whether it is a pod.
bool SameWith(PodTemplateMemory* memory, const std::string& text, MemoryUse use = MemoryUse::kDecoding) {
  INFO(text);
  const auto plain = DecodedWith(text, nullptr), quick = DecodedWith(text, memory, use);
  REQUIRE(plain.ok() == quick.ok());
  if (!plain.ok()) {
    if (use != MemoryUse::kParsingEvent) CHECK(plain.status().message() == quick.status().message());
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

// One of many pods of few templates.
std::string RandomPod(std::minstd_rand& random) {
  const std::string name = absl::StrCat("p", random() % 50);
  std::minstd_rand same(1 + random() % 100);  // chooses what pods of one template have in common
  const std::string token = absl::StrCat(
      "kube-api-access-", OneOf(random, {"abcde", "x7k2p", "00000", OneOf(same, {"abc", "ABCDE", "fghij"})}));
  const std::string source = OneOf(same, {R"("projected":{"defaultMode":420})", R"("ephemeral":{})",
                                          R"("projected":{},"ephemeral":{})", R"("emptyDir":{})"});
  const std::string disk = OneOf(same, {"d", "d", token});
  const std::string volumes = absl::StrCat(R"("volumes":[{"name":")", token, R"(",)", source,
                                           R"(},{"name":"d","gcePersistentDisk":{"pdName":")", disk, R"("}}],)");
  const std::string mounts =
      absl::StrCat(R"(,"volumeMounts":[{"name":")", token, R"(","readOnly":true,"mountPath":"/var/run"}])");
  std::string spec;
  absl::StrAppend(&spec, R"("spec":{)", OneOf(same, {"", volumes}),
                  OneOf(random, {"", R"("nodeName":"n1",)", OneOf(same, {"", R"("nodename":"n2",)"})}),
                  OneOf(same, {"", R"("priority":7,)", R"("nodeSelector":{"zone":"z"},)", R"("hostNetwork":true,)"}),
                  OneOf(same, {"", "", R"("tolerations":[{"key":"k","effect":"NoExecute","tolerationSeconds":7}],)"}),
                  R"("containers":[{"name":"c",)", OneOf(random, {"", "", "", R"("nodeName":"n4",)"}),
                  R"("image":"i","resources":{"requests":{"cpu":")", same() % 3, R"("}})", OneOf(same, {"", mounts}),
                  "}]", OneOf(same, {"", R"(,"schedulerName":"s")"}),
                  OneOf(random, {"", "", "", R"(,"nodeName":"n3")", R"(,"nodeName":"")", R"(,"nodeName":"a\"b")"}),
                  "},");
  std::string metadata;
  absl::StrAppend(
      &metadata, R"("metadata":{"name":")", name, R"(","uid":"u)", name, "\",",
      OneOf(same, {"", R"("namespace":"a",)", R"("NameSpace":"b",)", R"("namespace":"a","namespace":"c",)"}),
      OneOf(same, {"", R"("labels":{"app":"w"},)", R"("labels":{"app":"x","tier":"<"},)", R"("labels":null,)"}),
      OneOf(same, {"", R"("ownerReferences":[{"kind":"ReplicaSet","name":"r","uid":"7","controller":true}],)"}),
      OneOf(random, {"", R"("managedFields":[{"manager":"m","fieldsV1":{"f:spec":{}}}],)"}), R"("resourceVersion":")",
      random() % 1000, "\"", OneOf(random, {"", R"(,"deletionTimestamp":"2018-03-26T08:00:00Z")"}), "},");
  const bool usual_order = random() % 8 != 0;
  const std::string again =
      random() % 8 != 0 ? "" : OneOf(random, {R"("spec":{"priority":1},)", R"("metadata":{"labels":{"late":"y"}},)"});
  return absl::StrCat(
      R"({"kind":"Pod",)", usual_order ? metadata : spec, usual_order ? spec : metadata, again,
      R"("status":{"phase":")", OneOf(random, {"Pending", "Running", "Failed"}), "\"",
      OneOf(random, {"", R"(,"conditions":[{"type":"PodScheduled","status":"True"}])", R"(,"nominatedNodeName":"n9")"}),
      OneOf(random, {"", "", R"(,"containerStatuses":[{"name":"c"}])",
                     R"(,"containerStatuses":[{"name":"c","resources":{"requests":{"cpu":"9"}}}])",
                     R"(,"containerStatuses":[{"name":"c","r\u0065sources":{"requests":{"cpu":"9"}}}])"}),
      "}}");
}

// Reads random pods and damaged ones with a memory and without. Returns the memory.
PodTemplateMemory Compared(MemoryUse use) {
  PodTemplateMemory memory;
  std::minstd_rand random(3);
  std::vector<PodPtr> kept;  // a template is known as long as it is in use
  int damaged = 0;
  for (int i = 0; i < 6000; ++i) {
    std::string text = RandomPod(random);
    REQUIRE(SameWith(&memory, text, use));
    if (kept.size() < 1000) kept.push_back(*DecodedWith(text, nullptr));
    constexpr std::string_view kBytes = "{}[]\",:\\ u0a-1tn\x01\xff";
    const size_t at = random() % text.size();
    if (random() % 2 == 0) {
      text.erase(at, 1 + random() % 3);
    } else {
      text[at] = kBytes[random() % kBytes.size()];
    }
    if (SameWith(&memory, text, use)) ++damaged;
  }
  CHECK(damaged > 500);
  CHECK(memory.taken() > 1500);
  return memory;
}

TEST_CASE("a pod of a known template is read as any other") {
  CHECK(Compared(MemoryUse::kDecoding).left_unread() == 0);
  CHECK(Compared(MemoryUse::kParsing).left_unread() > 1000);
  CHECK(Compared(MemoryUse::kParsingEvent).left_unread() > 1000);
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
