#include "pkg/ui/answers.h"

#include <absl/strings/str_cat.h>
#include <rapidcheck.h>

#include <catch2/catch.hpp>

#include <map>

#include "pkg/api/json.h"
#include "pkg/scheduler/failure_reasons.h"
#include "pkg/scheduler/testing/new_objects.h"
#include "pkg/ui/assets.h"
#include "pkg/ui/help.h"

namespace berth::ui {
namespace {

using scheduler::testing::NewNode;
using scheduler::testing::NewPod;

// What a page that follows the nodes knows: the name and the amounts of each node, as texts, by row.
using Known = std::map<int64_t, std::pair<std::string, std::string>>;

Known KnownFrom(const std::string& nodes_json) {
  api::Document d;
  REQUIRE(d.Parse(nodes_json).ok());
  Known out;
  for (auto n : d.root().FindExact("nodes").Children()) {
    std::vector<std::string> parts;
    for (auto m : n.value.Children()) parts.push_back(m.value.Serialize());
    out[std::stoll(parts[0])] = {parts[1], absl::StrCat(parts[3], parts[5])};
  }
  return out;
}

void Apply(const std::string& delta, Known* known) {
  if (delta.empty()) return;
  api::Document d;
  REQUIRE(d.Parse(delta).ok());
  for (auto u : d.root().FindExact("used").Children()) {
    std::vector<std::string> parts;
    for (auto m : u.value.Children()) parts.push_back(m.value.Serialize());
    (*known)[std::stoll(parts[0])].second = absl::StrCat(parts[1], parts[2]);
  }
  for (auto row : d.root().FindExact("gone").Children()) known->erase(std::stoll(row.value.Serialize()));
  for (auto& [row, node] : KnownFrom(delta)) (*known)[row] = node;
}

Snapshot RandomSnapshot() {
  Snapshot s;
  s.pending = *rc::gen::inRange<size_t>(0, 3);
  static std::map<int, api::NodePtr> nodes;
  for (int row = *rc::gen::inRange(0, 8); row > 0; --row) {
    auto& [node, use] = s.nodes.emplace_back();
    const int which = *rc::gen::inRange(0, 6);
    if (which == 0) continue;
    auto& known = nodes[which];
    if (known == nullptr) known = NewNode(absl::StrCat("n", which), which);
    node = known;
    use.cpu = which * 1000;
    use.cpu_used = *rc::gen::inRange(0, 3);
    use.flags = static_cast<uint8_t>(*rc::gen::inRange(0, 3));
    if (*rc::gen::inRange(0, 12) == 0) use.extended.push_back({util::Symbol("gpu"), 4, 1});
  }
  return s;
}

}  // namespace

TEST_CASE("answers: all nodes and then the differences say the same as all nodes again") {
  rc::check([] {
    Snapshot before = RandomSnapshot();
    Known known = KnownFrom(NodesJson(before, ""));
    for (int i = 0; i < 5; ++i) {
      Snapshot now = RandomSnapshot();
      bool whole = false;
      const std::string delta = NodesDeltaJson(before, now, "", &whole);
      if (whole) {
        known = KnownFrom(NodesJson(now, ""));
      } else {
        Apply(delta, &known);
      }
      RC_ASSERT(known == KnownFrom(NodesJson(now, "")));
      before = std::move(now);
    }
  });
}

TEST_CASE("answers: nothing is said when nothing differs") {
  Snapshot s;
  s.nodes.emplace_back(NewNode("n", 4), NodeUse{});
  bool whole = true;
  CHECK(NodesDeltaJson(s, s, "", &whole) == "");
  CHECK(!whole);
}

TEST_CASE("answers: nodes with labels that no node had before are sent as a whole") {
  Snapshot none, one;
  one.nodes.emplace_back(NewNode("n", 4, "zone-1"), NodeUse{});
  bool whole = false;
  CHECK(NodesDeltaJson(none, one, "", &whole) == "");
  CHECK(whole);
  Snapshot two = one;
  two.nodes.emplace_back(NewNode("m", 4, "zone-2"), NodeUse{});
  CHECK(NodesDeltaJson(one, two, "", &whole) != "");
  CHECK(!whole);
}

TEST_CASE("answers: whatever names hold, they come back as the same JSON strings") {
  const std::string evil = "</script><script>alert('\"')</script>\n\x01\xE2\x80\xA8\\u0000";
  auto pod = NewPod(evil, {.ns = evil});
  PendingPods pods = {{pod, scheduler::Scheduler::Place::kQueued, 1, {scheduler::ReasonOfError({})}}};
  api::Document d;
  REQUIRE(d.Parse(PendingJson(pods, {}, absl::UnixEpoch())).ok());
  for (auto p : d.root().FindExact("pods").Children()) {
    CHECK(p.value.FindExact("name").Text() == evil);
    CHECK(p.value.FindExact("namespace").Text() == evil);
  }
  Snapshot s;
  s.nodes.emplace_back(NewNode(evil, 1, evil), NodeUse{});
  REQUIRE(d.Parse(NodesJson(s, "label")).ok());
  for (auto n : d.root().FindExact("nodes").Children()) {
    std::vector<std::string> parts;
    for (auto m : n.value.Children()) parts.push_back(m.value.IsString() ? std::string(m.value.Text()) : "");
    CHECK(parts[1] == evil);
    CHECK(parts[2] == evil);
  }
}

TEST_CASE("answers: pending pods are counted in groups, and listed as the filter says") {
  PendingPods pods;
  const scheduler::FailureReasonId cpu = scheduler::FailureReasonNamed("Insufficient cpu"),
                                   none = scheduler::NoNodesReason();
  for (int i = 0; i < 10; ++i) {
    auto pod = NewPod(absl::StrCat("p", i), {.ns = i % 2 == 0 ? "even" : "odd"});
    pod->meta.creation_seconds = 1000 - i;
    pods.push_back({pod, scheduler::Scheduler::Place::kQueued, static_cast<uint32_t>(i), {i < 3 ? none : cpu}});
  }
  api::Document d;
  REQUIRE(
      d.Parse(PendingJson(pods, {.reason = "Insufficient cpu", .ns = "odd", .limit = 2}, absl::FromUnixSeconds(2000)))
          .ok());
  const api::Json root = d.root();
  CHECK(root.FindExact("pending").Serialize() == "10");
  CHECK(root.FindExact("selected").Serialize() == "4");
  std::string names, reasons;
  for (auto p : root.FindExact("pods").Children())
    absl::StrAppend(&names, std::string(p.value.FindExact("name").Text()), " ");
  CHECK(names == "p9 p7 ");  // the oldest
  for (auto r : root.FindExact("byReason").Children()) {
    absl::StrAppend(&reasons, std::string(r.value.FindExact("reason").Text()), " ",
                    r.value.FindExact("pods").Serialize(), "; ");
    CHECK(!r.value.FindExact("help").Text().empty());
  }
  CHECK(reasons == "Insufficient cpu 7; no nodes available 3; ");
}

TEST_CASE("answers: a search finds names in order, and each once") {
  const auto moved = NewPod("web-2"), waits = NewPod("web-1");
  Cluster c;
  c.rows = {nullptr, std::make_shared<Cluster::Row>(Cluster::Row{NewNode("web-node", 1), {moved, NewPod("db")}})};
  c.pending = {moved, waits, waits};
  CHECK(SearchJson(c, "web", 10) == R"({"limit":10,"nodes":["web-node"],"pods":["default/web-1","default/web-2"]})"
                                    "\n");
}

TEST_CASE("help: there are words for every reason, every place and every rule") {
  for (size_t id = 0; id < scheduler::FailureReasonCount(); ++id) {
    const auto reason = static_cast<scheduler::FailureReasonId>(id);
    INFO(scheduler::FailureReasonText(reason));
    CHECK(!HelpFor(reason).empty());
  }
  for (size_t place = 0; place < scheduler::kPendingPlaces; ++place) {
    const std::string_view name = scheduler::PlaceName(static_cast<scheduler::Scheduler::Place>(place));
    INFO(name);
    CHECK(!PlaceInWords(name).empty());
  }
  for (const char* rule : {"PodFitsResources", "LeastRequestedPriority", "NodeResourcesFit", "PodTopologySpread"}) {
    CHECK(!RuleInWords(rule).empty());
  }
  CHECK(RuleInWords("Mine").empty());
}

TEST_CASE("assets: every file that the page asks for is there") {
  const Asset* page = FindAsset("");
  REQUIRE(page != nullptr);
  CHECK(page->content.find("app.js") != std::string_view::npos);
  for (const char* file :
       {"app.js", "dom.js", "feed.js", "map.js", "nodes.js", "pods.js", "more.js", "style.css", "icon.svg"}) {
    INFO(file);
    const Asset* a = FindAsset(file);
    REQUIRE(a != nullptr);
    CHECK(a->content.size() > 100);
    // The files contain nothing that the browser's content security policy would block.
    CHECK(a->content.find("innerHTML") == std::string_view::npos);
    CHECK(a->content.find("https://") == std::string_view::npos);
  }
  CHECK(FindAsset("../server.cc") == nullptr);
}

}  // namespace berth::ui
