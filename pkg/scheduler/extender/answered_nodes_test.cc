#include "pkg/scheduler/extender/answered_nodes.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <catch2/catch.hpp>
#include <optional>
#include <random>

#include "pkg/api/decode.h"
#include "pkg/scheduler/extender/http_extender.h"
#include "pkg/util/status.h"

namespace berth::scheduler {
namespace {

constexpr size_t kNodesSent = 12;

std::string NodeText(size_t i, const std::string& version = "1") {
  return absl::StrCat(R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"n)", i, R"(","resourceVersion":")",
                      version, R"("},"status":{"phase":"a \" ] } {","images":[{"names":[]}]}})");
}

std::vector<api::NodePtr> NodesWithStatus(size_t count) {
  std::vector<api::NodePtr> out;
  for (size_t i = 0; i < count; ++i) {
    api::Document d;
    REQUIRE(d.Parse(NodeText(i)).ok());
    api::DecodeOptions keep;
    keep.keep_node_raw = true;
    out.push_back(api::DecodeNode(d.root(), keep).value());
  }
  return out;
}

SentNodes Sent(size_t count) {
  SentNodes out;
  out.nodes = NodesWithStatus(count);
  for (const api::NodePtr& n : out.nodes) out.names.emplace_back(n->meta.name);
  return out;
}

std::string AnswerWith(const std::vector<std::string>& items, const std::string& separator = ",") {
  return absl::StrCat(R"({"Nodes":{"items":[)", absl::StrJoin(items, separator), R"(]},"FailedNodes":{"n1":"no"}})");
}

// Reads an answer as HttpExtender does, and returns the places of its nodes, or nothing if they must be read from the
// document.
std::optional<std::vector<size_t>> Places(AnsweredNodes* known, const SentNodes& sent, const std::string& answer) {
  known->Expect(sent);
  api::Document d;
  if (!d.Parse(answer, known).ok()) return std::nullopt;
  const auto* nodes = known->Read(d.root().Find("Nodes").Find("items"));
  if (nodes == nullptr) return std::nullopt;
  std::vector<size_t> out;
  for (const AnsweredNodes::Node& n : *nodes) out.push_back(n.place);
  return out;
}

using PlaceList = std::vector<size_t>;

TEST_CASE("nodes of an answer that have the same bytes are not parsed again") {
  const SentNodes sent = Sent(4);
  AnsweredNodes known;
  CHECK(Places(&known, sent, AnswerWith({NodeText(0), NodeText(2)})) == PlaceList{0, 2});
  CHECK(known.recognised() == 0);
  CHECK(Places(&known, sent, AnswerWith({NodeText(0), NodeText(2)}, " ,\n ")) == PlaceList{0, 2});
  CHECK(known.recognised() == 2);
  // One has changed, one is new, and their order is another.
  CHECK(Places(&known, sent, AnswerWith({NodeText(3), NodeText(0, "2"), NodeText(2)})) == PlaceList{3, 0, 2});
  CHECK(known.recognised() == 3);
  CHECK(Places(&known, sent, AnswerWith({NodeText(0), NodeText(3)})) == PlaceList{0, 3});
  CHECK(known.recognised() == 4);
}

TEST_CASE("nodes that were not sent are read with their names") {
  const SentNodes sent = Sent(2);
  AnsweredNodes known;
  known.Expect(sent);
  api::Document d;
  REQUIRE(d.Parse(AnswerWith({NodeText(1), NodeText(7)}), &known).ok());
  const auto* nodes = known.Read(d.root().Find("nodes").Find("items"));
  REQUIRE(nodes != nullptr);
  REQUIRE(nodes->size() == 2);
  CHECK((*nodes)[1].place == SentNames::kNone);
  CHECK((*nodes)[1].name == "n7");
}

TEST_CASE("of several lists of nodes the last one counts") {
  const SentNodes sent = Sent(3);
  AnsweredNodes known;
  const std::string one = absl::StrCat("{\"items\":[", NodeText(0), "]}"),
                    two = absl::StrCat("{\"items\":[", NodeText(1), "]}");
  CHECK(Places(&known, sent, absl::StrCat(R"({"Nodes":)", one, R"(,"nodes":)", two, "}")) == PlaceList{1});
  // The last one must be read from the document, because it has something else than nodes.
  CHECK(Places(&known, sent, absl::StrCat(R"({"Nodes":)", one, R"(,"nodes":{"items":[3]}})")) == std::nullopt);
  CHECK(Places(&known, sent, absl::StrCat(R"({"Nodes":)", one, R"(,"nodes":null})")) == std::nullopt);
}

// A transport with one prepared answer.
struct OneAnswer final : ExtenderTransport {
  std::string* text;
  explicit OneAnswer(std::string* t) : text(t) {}
  absl::StatusOr<Answer> Post(const std::string&, std::string_view, bool) override { return Answer{200, *text}; }
};

// Returns everything that Filter says.
std::string Outcome(Extender* extender, const api::Pod& pod, const std::vector<api::NodePtr>& nodes) {
  auto got = extender->Filter(pod, nodes);
  if (!got.ok()) return std::string(got.status().message());
  std::string out;
  for (util::Symbol s : got->nodes) absl::StrAppend(&out, s.string(), " ");
  for (const auto& [node, reason] : got->failed) absl::StrAppend(&out, node.string(), ": ", reason, ";");
  return out;
}

std::string RandomAnswer(std::mt19937* random) {
  auto below = [&](size_t n) { return static_cast<size_t>((*random)() % n); };
  std::vector<std::string> items;
  for (size_t i = 0; i < kNodesSent + 2; ++i) {
    if (below(4) != 0) items.push_back(NodeText(i, below(5) == 0 ? std::to_string(below(3)) : "1"));
  }
  if (below(3) == 0 && items.size() > 1) std::swap(items[below(items.size())], items[below(items.size())]);
  if (below(3) == 0 && !items.empty()) items.push_back(items[below(items.size())]);
  if (below(9) == 0)
    items.insert(items.begin() + static_cast<ptrdiff_t>(below(items.size() + 1)), below(2) == 0 ? "null" : "{}");
  std::string out = AnswerWith(items, below(3) == 0 ? ", " : ",");
  constexpr std::string_view kBytes = "\"[]{},:\\ n1";
  switch (below(4)) {  // Half of the answers are damaged.
    case 0:
      out[below(out.size())] = kBytes[below(kBytes.size())];
      break;
    case 1:
      out.erase(below(out.size()), 1 + below(3));
      break;
    default:
      break;
  }
  return out;
}

TEST_CASE("an extender whose earlier answers are remembered says the same as a new one") {
  ExtenderConfig config;
  config.url_prefix = "http://x.example";
  config.filter_verb = "filter";
  std::string answer;
  auto make = [&] { return NewHttpExtender(config, std::make_unique<OneAnswer>(&answer)); };
  const auto kept = make();
  api::Document d;
  REQUIRE(d.Parse(R"({"metadata":{"name":"p","namespace":"ns","uid":"u"},"spec":{"containers":[{"name":"c"}]}})").ok());
  api::DecodeOptions keep;
  keep.keep_raw = true;
  const api::PodPtr pod = api::DecodePod(d.root(), keep).value();
  const std::vector<api::NodePtr> nodes = NodesWithStatus(kNodesSent);
  std::mt19937 random(1);
  size_t passed = 0;
  for (int i = 0; i < 3000; ++i) {
    answer = RandomAnswer(&random);
    INFO(answer);
    const std::string wanted = Outcome(make().get(), *pod, nodes);
    REQUIRE(Outcome(kept.get(), *pod, nodes) == wanted);
    passed += absl::StrContains(wanted, "n1: no;") ? 1 : 0;
  }
  CHECK(passed > 1000);
  CHECK(passed < 2900);
}

}  // namespace
}  // namespace berth::scheduler
