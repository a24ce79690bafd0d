// The steps of one attempt: filtering, texts, scoring, ties, extenders, nominated pods and preemption.
#include <absl/status/status.h>

#include <catch2/catch.hpp>

#include "pkg/releases/v1_10/decides.h"
#include "pkg/scheduler/testing/world.h"
#include "pkg/util/status.h"

namespace berth::scheduler {
namespace {

using testing::Asks;
using testing::Cat;
using testing::NodeOf;
using testing::Outcome;
using testing::PodOf;
using testing::World;
using Strings = std::vector<std::string>;

// An extender in this process. Its calls are logged in `seen`.
struct TestExtender final : Extender {
  std::string name_ = "http://fake";
  bool interested = true;
  std::set<std::string> refuses;  // nodes that are answered as failed
  std::set<std::string> hides;    // nodes that are left out of the answer
  std::string error;
  std::string prioritize_error;
  std::map<std::string, int64_t> scores;
  Strings* seen = nullptr;

  const std::string& name() const override { return name_; }
  bool IsInterested(const api::Pod&) const override { return interested; }
  absl::StatusOr<FilterResult> Filter(const api::Pod&, const std::vector<api::NodePtr>& nodes) override {
    std::string asked = "filter";
    FilterResult result;
    for (const api::NodePtr& n : nodes) {
      asked += Cat(" ", n->meta.name);
      if (refuses.contains(n->meta.name)) {
        result.failed.emplace_back(util::Symbol(n->meta.name), "extender says no");
      } else if (!hides.contains(n->meta.name)) {
        result.nodes.emplace_back(n->meta.name);
      }
    }
    if (seen != nullptr) seen->push_back(asked);
    if (!error.empty()) return util::InvalidArgument(error);
    return result;
  }
  absl::StatusOr<absl::flat_hash_map<util::Symbol, int64_t>> Prioritize(
      const api::Pod&, const std::vector<api::NodePtr>& nodes) override {
    if (seen != nullptr) seen->push_back(Cat("prioritize ", std::to_string(nodes.size())));
    if (!prioritize_error.empty()) return util::InvalidArgument(prioritize_error);
    absl::flat_hash_map<util::Symbol, int64_t> out;
    for (const auto& [node, score] : scores) out[util::Symbol(node)] = score;
    return out;
  }
  bool IsBinder() const override { return false; }
  absl::Status Bind(const api::Pod&, const std::string&) override { return absl::OkStatus(); }
};

std::unique_ptr<GenericScheduler> WithExtenders(World& w, std::vector<TestExtender> extenders, const char* policy = "",
                                                bool pod_priority = false) {
  std::string list;
  for (size_t i = 0; i < extenders.size(); ++i) list += Cat(i == 0 ? "" : ",", "{'urlPrefix':'http://fake'}");
  auto decoded = DecodePolicy(std::string_view(testing::Quoted(Cat("{'extenders':[", list, "]", policy, "}")))).value();
  FactoryArgs args = w.Args(pod_priority);
  size_t next = 0;
  args.make_extender = [&](const ExtenderConfig&) -> absl::StatusOr<std::unique_ptr<Extender>> {
    return std::make_unique<TestExtender>(extenders[next++]);
  };
  return CreateFromConfig(decoded, args).value();
}

}  // namespace

TEST_CASE("ties are resolved round robin, in descending order of names: c, b, a") {
  World w;
  for (const char* n : {"b", "a", "c"}) w.Nodes({NodeOf(n)});
  auto s = w.Provider();
  auto pod = PodOf("p");
  std::string hosts;
  for (int i = 0; i < 7; ++i) hosts += Outcome(s->Schedule(pod));
  CHECK(hosts == "cbacbac");
  CHECK(s->last_node_index() == 7);
  // Names are compared byte by byte.
  World numbers;
  for (const char* n : {"node-9", "node-10", "node-2"}) numbers.Nodes({NodeOf(n)});
  auto t = numbers.Provider();
  CHECK(Outcome(t->Schedule(pod)) == "node-9");
  CHECK(Outcome(t->Schedule(pod)) == "node-2");
  CHECK(Outcome(t->Schedule(pod)) == "node-10");
}

TEST_CASE("one feasible node: no scoring, and the round robin stands still") {
  World w;
  w.Nodes({NodeOf("a"), NodeOf("b", "", "'unschedulable':true")});
  auto s = w.Provider();
  DecisionTrace trace;
  CHECK(Outcome(s->Schedule(PodOf("p"), DecisionMode::kReference, &trace)) == "a");
  CHECK(trace.totals.empty());
  CHECK(trace.priorities.empty());
  CHECK(s->last_node_index() == 0);
  w.cache.AddNode(NodeOf("c"));
  CHECK(Outcome(s->Schedule(PodOf("p"), DecisionMode::kReference, &trace)) == "c");
  CHECK(s->last_node_index() == 1);
}

TEST_CASE("the round robin counts decisions, also those with a single best node") {
  World w;
  w.Nodes({NodeOf("a"), NodeOf("b"), NodeOf("big", "", "", "'cpu':'64','memory':'64Gi','pods':'10'")});
  auto s = w.Provider();
  CHECK(Outcome(s->Schedule(PodOf("p", Asks("'cpu':'2','memory':'2Gi'")))) == "big");
  CHECK(s->last_node_index() == 1);
  w.cache.RemoveNode("big");
  CHECK(Outcome(s->Schedule(PodOf("q"))) == "a");  // the second of b, a
}

TEST_CASE("weights multiply, and totals are sums") {
  World w;
  w.Nodes({NodeOf("a", "'x':'1'"), NodeOf("b", "'y':'1'")});
  auto s = w.FromPolicy(
      "{'predicates':[],'priorities':[{'name':'LikesX','weight':3,'argument':{'labelPreference':{'label':'x','presence'"
      ":true}}},"
      "{'name':'LikesY','weight':4,'argument':{'labelPreference':{'label':'y','presence':true}}},"
      "{'name':'EqualPriority','weight':2}]}");
  DecisionTrace trace;
  CHECK(Outcome(s->Schedule(PodOf("p"), DecisionMode::kReference, &trace)) == "b");
  CHECK(trace.totals == std::vector<int64_t>{32, 42});
  CHECK(trace.ties == 1);
  // Without priorities the total of every node is 1.
  auto plain = w.FromPolicy("{'priorities':[]}");
  plain->Schedule(PodOf("p"), DecisionMode::kReference, &trace);
  CHECK(trace.totals == std::vector<int64_t>{1, 1});
}

TEST_CASE("FitError: a histogram of reasons, sorted as texts") {
  World w;
  for (int i = 0; i < 12; ++i) w.Nodes({NodeOf(Cat("cordoned-", std::to_string(i)), "", "'unschedulable':true")});
  for (int i = 0; i < 2; ++i)
    w.Nodes({NodeOf(Cat("small-", std::to_string(i)), "", "", "'cpu':'1','memory':'1','pods':'1'")});
  w.Nodes({NodeOf("tainted", "", "'taints':[{'key':'k','effect':'NoSchedule'}]")});
  auto s = w.Provider();
  Decision d = s->Schedule(PodOf("p", Asks("'cpu':'2','memory':'2'")));
  CHECK(d.error ==
        "0/15 nodes are available: 1 node(s) had taints that the pod didn't tolerate, 12 node(s) were unschedulable, "
        "2 Insufficient cpu, 2 Insufficient memory.");
  CHECK(d.outcome == Decision::Outcome::kUnfit);
  REQUIRE(d.failures != nullptr);
  CHECK(d.failures->size() == 15);
  CHECK(d.failures->Find(util::Symbol("small-1"))->size() == 2);
  CHECK(d.failures->Find(util::Symbol("nowhere")) == nullptr);
}

TEST_CASE("NodeFailures: reasons of one node add up, and an empty list makes an empty text") {
  NodeFailures f;
  auto text = [&] { return releases::v1_10::Decides().fit_error_text(f, 3, nullptr); };
  CHECK(text() == "0/3 nodes are available: .");
  FailureReason x{util::Symbol("x"), false}, y{util::Symbol("y"), true};
  f.Add(util::Symbol("a"), {x});
  f.Add(util::Symbol("b"), {x, x});
  f.Add(util::Symbol("a"), {y});
  CHECK(text() == "0/3 nodes are available: 1 y, 3 x.");
  CHECK(f.size() == 2);
  CHECK(*f.Find(util::Symbol("a")) == std::vector<FailureReason>{x, y});
}

TEST_CASE("a decision names the rules that rejected the pod, and each reason its rule") {
  World w;
  w.Nodes({NodeOf("full", "", "", "'pods':'0'"), NodeOf("off", "", "'unschedulable':true"), NodeOf("small")});
  auto rules = [](const Decision& d) {
    std::set<std::string> names;
    for (Symbol rule : d.rejected_by) names.insert(rule.string());
    return names;
  };
  const Decision d = w.FromPolicy("{}")->Schedule(PodOf("p", Asks("'cpu':'9'")));
  CHECK(rules(d) == std::set<std::string>{"CheckNodeCondition", "GeneralPredicates"});
  CHECK(d.failures->Find(util::Symbol("off"))->at(0).rule.str() == "CheckNodeCondition");
  CHECK(d.failures->Find(util::Symbol("small"))->at(0).rule.str() == "GeneralPredicates");
  // Of several predicates that reject one node, each gives its own reasons.
  w.Nodes({NodeOf("small", "", "'taints':[{'key':'k','effect':'NoSchedule'}]")});
  const Decision all = w.FromPolicy("{'alwaysCheckAllPredicates':true}")->Schedule(PodOf("p", Asks("'cpu':'9'")));
  CHECK(rules(all) == std::set<std::string>{"CheckNodeCondition", "GeneralPredicates", "PodToleratesNodeTaints"});
  World empty;
  CHECK(empty.Provider()->Schedule(PodOf("p")).outcome == Decision::Outcome::kNoNodes);
}

TEST_CASE("short circuit tells the first failing predicate, alwaysCheckAllPredicates all") {
  World w;
  w.Nodes({NodeOf("a", "", "'unschedulable':true,'taints':[{'key':'k','effect':'NoSchedule'}]", "'pods':'0'")});
  CHECK(Outcome(w.FromPolicy("{}")->Schedule(PodOf("p"))) == "0/1 nodes are available: 1 node(s) were unschedulable.");
  CHECK(Outcome(w.FromPolicy("{'alwaysCheckAllPredicates':true}")->Schedule(PodOf("p"))) ==
        "0/1 nodes are available: 1 Insufficient pods, 1 node(s) had taints that the pod didn't tolerate, "
        "1 node(s) were unschedulable.");
}

TEST_CASE("what is checked before anything else") {
  World w;
  auto s = w.Provider();
  auto uses = [](const char* c) {
    return PodOf("p", Cat("'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'", c, "'}}]"));
  };
  CHECK(Outcome(s->Schedule(PodOf("p"))) == "no nodes available to schedule pods");
  CHECK(Outcome(s->Schedule(uses("c"))) == "persistentvolumeclaim \"c\" not found");
  w.Claim("c", "", "'deletionTimestamp':'2018-01-01T00:00:00Z'");
  w.Nodes({NodeOf("a")});
  CHECK(Outcome(s->Schedule(uses("c"))) == "persistentvolumeclaim \"c\" is being deleted");
  CHECK(s->Schedule(uses("c")).outcome == Decision::Outcome::kError);
  // A row with pods and no node object is not a node.
  w.cache.RemoveNode("a");
  w.Place(PodOf("x"), "a");
  CHECK(Outcome(s->Schedule(PodOf("p"))) == "no nodes available to schedule pods");
}

TEST_CASE("errors while filtering: equal ones are counted, and hide all else") {
  World w;
  w.Nodes({NodeOf("a"), NodeOf("b"), NodeOf("c", "", "'unschedulable':true")});
  w.Claim("c", "");
  auto pod = PodOf("p", "'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c'}}]");
  Decision d = w.Provider()->Schedule(pod);
  CHECK(d.error ==
        "pod has unbound PersistentVolumeClaims (repeated 2 times)");  // c fails before the extender is called
  CHECK(d.outcome == Decision::Outcome::kError);
  w.cache.RemoveNode("b");
  CHECK(Outcome(w.Provider()->Schedule(pod)) == "pod has unbound PersistentVolumeClaims");
}

TEST_CASE("extenders: called in order, each with what the last one left; failures are reported") {
  World w;
  w.Nodes({NodeOf("a"), NodeOf("b"), NodeOf("c"), NodeOf("d", "", "'unschedulable':true")});
  Strings seen;
  TestExtender first, second, bored;
  first.refuses = {"a"};
  first.seen = second.seen = bored.seen = &seen;
  second.hides = {"b"};
  bored.interested = false;
  auto s = WithExtenders(w, {first, bored, second});
  DecisionTrace trace;
  CHECK(Outcome(s->Schedule(PodOf("p"), DecisionMode::kReference, &trace)) == "c");
  CHECK(seen == Strings{"filter a b c", "filter b c"});  // one node is left, so no extender is asked to prioritize
  CHECK(trace.failures->size() == 2);
  second.refuses = {"c"};
  auto none = WithExtenders(w, {first, second});
  Decision d = none->Schedule(PodOf("p"));
  CHECK(d.error == "0/4 nodes are available: 1 node(s) were unschedulable, 2 extender says no.");
  CHECK(d.outcome == Decision::Outcome::kUnfit);
}

TEST_CASE("extenders: scores are added, errors fail filtering but not prioritizing") {
  World w;
  w.Nodes({NodeOf("a"), NodeOf("b")});
  TestExtender likes_a;
  likes_a.scores = {{"a", 5}, {"unknown", 100}};
  CHECK(Outcome(WithExtenders(w, {likes_a})->Schedule(PodOf("p"))) == "a");
  TestExtender bored = likes_a;
  bored.interested = false;
  CHECK(Outcome(WithExtenders(w, {bored})->Schedule(PodOf("p"))) == "b");
  likes_a.prioritize_error = "tired";
  CHECK(Outcome(WithExtenders(w, {likes_a})->Schedule(PodOf("p"))) == "b");
  likes_a.error = "100%d broken";
  Decision d = WithExtenders(w, {likes_a})->Schedule(PodOf("p"));
  CHECK(d.error == "100%d broken");  // B-30 fixed: the text is not a format string
  CHECK(d.outcome == Decision::Outcome::kError);
  // With extenders and without priorities, totals start from 0 and not from 1.
  TestExtender zero;
  DecisionTrace trace;
  WithExtenders(w, {zero}, ",'priorities':[]")->Schedule(PodOf("p"), DecisionMode::kReference, &trace);
  CHECK(trace.totals == std::vector<int64_t>{0, 0});
}

TEST_CASE("extenders: one that is not interested changes nothing, whether answers are kept or not") {
  World w;
  for (int i = 0; i < 5; ++i) w.Nodes({NodeOf(Cat("n", std::to_string(i)))});
  TestExtender bored;
  bored.interested = false;
  bored.refuses = {"n0", "n1", "n2", "n3", "n4"};
  auto s = WithExtenders(w, {bored}), traced = WithExtenders(w, {bored}), alone = WithExtenders(w, {});
  for (int i = 0; i < 20; ++i) {
    auto pod = PodOf(Cat("p", std::to_string(i)), Asks("'cpu':'1'"));
    DecisionTrace trace;
    const std::string host = Outcome(alone->Schedule(pod));
    CHECK(Outcome(s->Schedule(pod)) == host);
    CHECK(Outcome(traced->Schedule(pod, DecisionMode::kReference, &trace)) == host);
    if (i < 16) w.Place(pod, host);
  }
}

TEST_CASE("B-26 kept: every extender has a say in preemption, interested or not") {
  World w;
  for (const char* n : {"a", "b"}) {
    w.Nodes({NodeOf(n, "", "", "'cpu':'1','pods':'9'")});
    w.Place(PodOf(Cat("on-", n), Cat(Asks("'cpu':'1'"), ",'priority':1")), n);
  }
  auto pod = PodOf("p", Cat(Asks("'cpu':'1'"), ",'priority':2"));
  TestExtender e;
  e.interested = false;
  e.refuses = {"a"};
  auto s = WithExtenders(w, {e}, "", true);
  Decision d = s->Schedule(pod);
  CHECK(s->Preempt(pod, *d.failures).node.str() == "b");
  e.refuses = {};
  e.error = "broken";
  auto broken = WithExtenders(w, {e}, "", true);
  Preemption p = broken->Preempt(pod, *broken->Schedule(pod).failures);
  CHECK(p.node.empty());
  CHECK(p.victims.empty());
  CHECK(p.error == "");
}

TEST_CASE("nominated pods hold their place against equals and lesser ones") {
  World w;
  w.Nodes({NodeOf("a", "", "", "'cpu':'2','pods':'9'")});
  w.nominated.Add(PodOf("nominee", Cat(Asks("'cpu':'2'"), ",'priority':5"), "", "", "'nominatedNodeName':'a'"));
  auto s = w.Provider(true);
  auto pod = [](int priority) { return PodOf("p", Cat(Asks("'cpu':'1'"), ",'priority':", std::to_string(priority))); };
  CHECK(Outcome(s->Schedule(pod(4))) == "0/1 nodes are available: 1 Insufficient cpu.");
  CHECK(Outcome(s->Schedule(pod(5))) == "0/1 nodes are available: 1 Insufficient cpu.");
  CHECK(Outcome(s->Schedule(pod(6))) == "a");
  CHECK(Outcome(w.Provider(false)->Schedule(pod(4))) == "a");  // gate PodPriority off
  w.nominated.Remove(*PodOf("nominee"));
  CHECK(Outcome(s->Schedule(pod(4))) == "a");
}

TEST_CASE("nominated pods satisfy no affinity: the pod must fit without them too") {
  World w;
  w.Nodes({NodeOf("a", "'zone':'z'"), NodeOf("b")});
  const char* term =
      "'affinity':{'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':"
      "[{'labelSelector':{'matchLabels':{'app':'web'}},'topologyKey':'zone'}]}}";
  w.nominated.Add(PodOf("nominee", "", "'app':'web'", "", "'nominatedNodeName':'a'"));
  CHECK(w.Provider(true)->Schedule(PodOf("p", term)).outcome == Decision::Outcome::kUnfit);
}

TEST_CASE("preemption: lesser pods only, the fewest and least important, dearest kept") {
  World w;
  w.Nodes({NodeOf("a", "", "", "'cpu':'4','pods':'9'")});
  auto pod = [](const char* name, const char* cpu, int priority) {
    return PodOf(name, Cat(Asks(Cat("'cpu':'", cpu, "'")), ",'priority':", std::to_string(priority)));
  };
  auto names = [](const Preemption& p) {
    std::string out;
    for (const auto& v : p.victims) out += v->meta.name;
    return out;
  };
  for (auto [n, p] : {std::pair("q", 1), {"r", 3}, {"s", 2}, {"t", 10}}) w.Place(pod(n, "1", p), "a");
  auto s = w.Provider(true);
  auto preempt = [&](const char* cpu, int priority) {
    auto preemptor = pod("p", cpu, priority);
    Decision d = s->Schedule(preemptor);
    REQUIRE(d.outcome == Decision::Outcome::kUnfit);
    return s->Preempt(preemptor, *d.failures);
  };
  CHECK(names(preempt("1", 10)) == "q");
  CHECK(names(preempt("2", 10)) == "sq");
  CHECK(names(preempt("3", 10)) == "rsq");
  CHECK(preempt("4", 10).node.empty());  // t has the same priority
  CHECK(names(preempt("4", 11)) == "trsq");
  CHECK(names(preempt("1", 2)) == "q");
  CHECK(preempt("1", 1).node.empty());
}

TEST_CASE("preemption: no room is made for more than any node has, also where sums end") {
  World w;
  w.Nodes({NodeOf("a")});
  const char* all = "9223372036854775807m";
  auto pod = [&](const char* name, int priority) {
    return PodOf(name, Cat(Asks(Cat("'cpu':'", all, "'")), ",'priority':", std::to_string(priority)));
  };
  w.Place(pod("there", 0), "a");
  auto s = w.Provider(true);
  auto preemptor = pod("p", 10);
  Decision d = s->Schedule(preemptor);
  REQUIRE(d.outcome == Decision::Outcome::kUnfit);
  CHECK(s->Preempt(preemptor, *d.failures).node.empty());
}

TEST_CASE("preemption: which node, criterion by criterion") {
  struct Case {
    const char* name;
    // The priorities of the pods on two nodes with 2 CPUs; each pod requests 1 CPU. A negative number stands for a pod
    // with this priority, without the sign, that is protected by a budget.
    std::vector<int> a, b;
    const char* want;
  };
  const Case cases[] = {
      {"fewest violations", {-1, -2}, {50, 51}, "b"},
      {"lowest first victim", {5, 9}, {8, 8}, "b"},
      {"lowest sum", {9, 8}, {9, 7}, "b"},
      {"by name", {9, 8}, {9, 8}, "a"},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    World w;
    w.Budget("guard", "'app':'web'", 0);
    int number = 0;
    for (const char* node : {"a", "b"}) {
      w.Nodes({NodeOf(node, "", "", "'cpu':'2','pods':'9'")});
      for (int p : *node == 'a' ? c.a : c.b) {
        w.Place(PodOf(std::to_string(number++), Cat(Asks("'cpu':'1'"), ",'priority':", std::to_string(std::abs(p))),
                      p < 0 ? "'app':'web'" : "'app':'db'"),
                node);
      }
    }
    auto pod = PodOf("p", Cat(Asks("'cpu':'2'"), ",'priority':100"));
    auto s = w.Provider(true);
    CHECK(s->Preempt(pod, *s->Schedule(pod).failures).node.str() == c.want);
  }
  // The fewest victims win where the sums are equal. A priority of -2^31 adds 0 to the sum.
  World w;
  w.Nodes({NodeOf("a", "", "", "'cpu':'2','pods':'9'"), NodeOf("b", "", "", "'cpu':'2','pods':'9'")});
  w.Place(PodOf("1", Cat(Asks("'cpu':'1'"), ",'priority':-2147483648")), "a");
  w.Place(PodOf("2", Cat(Asks("'cpu':'1'"), ",'priority':-2147483648")), "a");
  w.Place(PodOf("3", Cat(Asks("'cpu':'2'"), ",'priority':-2147483648")), "b");
  auto pod = PodOf("p", Asks("'cpu':'2'"));
  auto s = w.Provider(true);
  CHECK(s->Preempt(pod, *s->Schedule(pod).failures).node.str() == "b");
}

TEST_CASE("preemption: budgets keep pods as long as something else will do") {
  World w;
  w.Nodes({NodeOf("a", "", "", "'cpu':'2','pods':'9'")});
  w.Budget("guard", "'app':'web'", 0);
  w.Place(PodOf("guarded", Cat(Asks("'cpu':'1'"), ",'priority':1"), "'app':'web'"), "a");
  w.Place(PodOf("plain", Cat(Asks("'cpu':'1'"), ",'priority':50")), "a");
  auto pod = PodOf("p", Cat(Asks("'cpu':'1'"), ",'priority':100"));
  auto s = w.Provider(true);
  auto victim = [&] { return s->Preempt(pod, *s->Schedule(pod).failures).victims.at(0)->meta.name; };
  CHECK(victim() == "plain");
  w.Budget("guard", "'app':'web'", 1);
  CHECK(victim() == "guarded");
  w.Budget("guard", "", 0);  // selects no pods
  CHECK(victim() == "guarded");
}

TEST_CASE("preemption: nodes where it cannot help, and earlier nominations") {
  World w;
  w.Nodes({NodeOf("a", "", "'unschedulable':true", "'cpu':'1','pods':'9'")});
  w.Place(PodOf("x", Cat(Asks("'cpu':'1'"), ",'priority':1")), "a");
  auto pod = PodOf("p", Cat(Asks("'cpu':'1'"), ",'priority':9"));
  auto s = w.Provider(true);
  Preemption p = s->Preempt(pod, *s->Schedule(pod).failures);
  CHECK(p.node.empty());
  REQUIRE(p.nominated_to_clear.size() == 1);  // the nomination of the pod itself
  CHECK(p.nominated_to_clear[0]->meta.name == "p");

  w.Nodes({NodeOf("a", "", "", "'cpu':'1','pods':'9'")});
  w.nominated.Add(PodOf("lesser", Cat(Asks("'cpu':'1'"), ",'priority':5"), "", "", "'nominatedNodeName':'a'"));
  w.nominated.Add(PodOf("equal", Cat(Asks("'cpu':'0'"), ",'priority':9"), "", "", "'nominatedNodeName':'a'"));
  p = s->Preempt(pod, *s->Schedule(pod).failures);
  CHECK(p.node.str() == "a");
  REQUIRE(p.nominated_to_clear.size() == 1);
  CHECK(p.nominated_to_clear[0]->meta.name == "lesser");

  // The pod waits while a victim of an earlier preemption is terminating.
  w.Place(PodOf("going", Cat(Asks("'cpu':'0'"), ",'priority':1"), "", "'deletionTimestamp':'2018-01-01T00:00:00Z'"),
          "a");
  auto again = PodOf("p", Cat(Asks("'cpu':'1'"), ",'priority':9"), "", "", "'nominatedNodeName':'a'");
  p = s->Preempt(again, *s->Schedule(again).failures);
  CHECK(p.node.empty());
  CHECK(p.nominated_to_clear.empty());
}

TEST_CASE("two schedulers over one cache see each other's placements and keep their own round robin") {
  World w;
  for (const char* n : {"a", "b", "c"}) w.Nodes({NodeOf(n, "", "", "'cpu':'1','memory':'1Gi','pods':'9'")});
  auto s = w.Provider(), t = w.Provider();
  CHECK(Outcome(s->Schedule(PodOf("p"))) == "c");
  CHECK(Outcome(s->Schedule(PodOf("p"))) == "b");
  CHECK(Outcome(t->Schedule(PodOf("p"))) == "c");
  w.Place(PodOf("full", Asks("'cpu':'1'")), "c");
  CHECK(Outcome(t->Schedule(PodOf("p", Asks("'cpu':'1'")))) == "a");
  w.Place(PodOf("full2", Asks("'cpu':'1'")), "a");
  CHECK(Outcome(s->Schedule(PodOf("p", Asks("'cpu':'1'")))) == "b");
}

}  // namespace berth::scheduler
