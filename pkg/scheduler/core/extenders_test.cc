// How extenders change decisions. The schedulers are built from a Policy; the extenders answer as the test sets them.
#include <catch2/catch.hpp>
#include <functional>

#include "pkg/releases/v1_29/decides.h"
#include "pkg/scheduler/factory/from_profile.h"
#include "pkg/scheduler/factory/profile_plugins.h"
#include "pkg/scheduler/testing/world.h"
#include "pkg/scheduler/volumebinder/claim_binder.h"
#include "pkg/util/status.h"

namespace berth::scheduler {
namespace {

using testing::Asks;
using testing::Cat;
using testing::NodeOf;
using testing::Outcome;
using testing::PodOf;
using testing::Quoted;
using testing::World;
using Strings = std::vector<std::string>;

// How the extender with one urlPrefix behaves.
struct Behaviour {
  bool interested = true;
  std::function<absl::StatusOr<Extender::FilterResult>(const Strings&)> filter;  // null: all nodes pass
  absl::StatusOr<std::vector<std::pair<std::string, int64_t>>> scores = std::vector<std::pair<std::string, int64_t>>();
  std::vector<Strings> asked;  // the nodes of each Filter call
  // If null, the extender does not support preemption.
  std::function<absl::StatusOr<std::vector<Extender::AgreedEviction>>(const std::vector<Extender::Eviction>&)> preempt;
};
using Behaviours = std::map<std::string, Behaviour>;

class FakeExtender final : public Extender {
 public:
  FakeExtender(const ExtenderConfig& config, Behaviour* behaviour) : config_(config), behaviour_(behaviour) {}
  const std::string& name() const override { return config_.url_prefix; }
  bool IsInterested(const api::Pod&) const override { return behaviour_->interested; }
  absl::StatusOr<FilterResult> Filter(const api::Pod&, const std::vector<api::NodePtr>& nodes) override {
    Strings names;
    for (const api::NodePtr& n : nodes) names.push_back(n->meta.name);
    std::sort(names.begin(), names.end());
    behaviour_->asked.push_back(names);
    if (behaviour_->filter != nullptr) return behaviour_->filter(names);
    FilterResult all;
    for (const std::string& n : names) all.nodes.emplace_back(n);
    return all;
  }
  absl::StatusOr<absl::flat_hash_map<Symbol, int64_t>> Prioritize(const api::Pod&,
                                                                  const std::vector<api::NodePtr>&) override {
    if (!behaviour_->scores.ok()) return behaviour_->scores.status();
    absl::flat_hash_map<Symbol, int64_t> out;
    for (const auto& [node, score] : *behaviour_->scores) out[Symbol(node)] = score * config_.weight;
    return out;
  }
  bool IsIgnorable() const override { return config_.ignorable; }
  bool SupportsPreemption() const override { return behaviour_->preempt != nullptr; }
  absl::StatusOr<std::vector<AgreedEviction>> ProcessPreemption(const api::Pod&,
                                                                const std::vector<Eviction>& evictions) override {
    return behaviour_->preempt(evictions);
  }
  bool IsBinder() const override { return false; }
  absl::Status Bind(const api::Pod&, const std::string&) override { return util::Internal("not asked for"); }

 private:
  ExtenderConfig config_;
  Behaviour* behaviour_;
};

Extender::FilterResult Passing(const Strings& nodes) {
  Extender::FilterResult out;
  for (const std::string& n : nodes) out.nodes.emplace_back(n);
  return out;
}

std::unique_ptr<GenericScheduler> Build(World& w, Behaviours& behaviours, std::string_view policy,
                                        bool pod_priority = false) {
  FactoryArgs args = w.Args(pod_priority);
  args.make_extender = [&](const ExtenderConfig& c) -> absl::StatusOr<std::unique_ptr<Extender>> {
    return std::make_unique<FakeExtender>(c, &behaviours[c.url_prefix]);
  };
  std::string json = Quoted(policy);
  auto decoded = DecodePolicy(std::string_view(json));
  REQUIRE(decoded.ok());
  auto made = CreateFromConfig(*decoded, args);
  INFO(made.status().message());
  REQUIRE(made.ok());
  return std::move(*made);
}

// A cluster of release 1.29 and schedulers of its default profile over it.
struct LaterWorld {
  Cache cache{releases::v1_29::Decides().describe_template};
  ClaimBinder binder{&cache};
  NominatedPods nominated;
  Behaviours behaviours;
  Strings built;  // the urlPrefix of each extender, in the order in which they were created

  void Place(const api::PodPtr& pod, std::string_view node) { REQUIRE(cache.AddPod(testing::Bound(pod, node)).ok()); }
  std::unique_ptr<GenericScheduler> Build(const std::vector<ExtenderConfig>& extenders) {
    FactoryArgs args;
    args.cache = &cache;
    args.release = &releases::v1_29::Decides();
    args.claim_binder = &binder;
    args.nominated = &nominated;
    args.make_extender = [&](const ExtenderConfig& c) -> absl::StatusOr<std::unique_ptr<Extender>> {
      built.push_back(c.url_prefix);
      return std::make_unique<FakeExtender>(c, &behaviours[c.url_prefix]);
    };
    auto made = CreateFromProfile(configuration::DefaultProfile(PluginsToConfigure(releases::v1_29::Decides())),
                                  extenders, args);
    INFO(made.status().message());
    REQUIRE(made.ok());
    return std::move(*made);
  }
};

const char kTwoFilters[] =
    "{'predicates':[{'name':'GeneralPredicates'}],'priorities':[],'extenders':["
    "{'urlPrefix':'http://one','filterVerb':'f'},{'urlPrefix':'http://two','filterVerb':'f'}]}";

}  // namespace

TEST_CASE("extenders are asked in their order, each about what is left") {
  World w;
  w.Nodes({NodeOf("a"), NodeOf("b"), NodeOf("c"), NodeOf("full", "", "", "'cpu':'0','pods':'0'")});
  Behaviours b;
  b["http://one"].filter = [](const Strings&) { return Passing({"b", "c"}); };
  b["http://two"].filter = [](const Strings&) { return Passing({"c"}); };
  auto s = Build(w, b, kTwoFilters);
  CHECK(Outcome(s->Schedule(PodOf("p"))) == "c");
  CHECK(b["http://one"].asked == std::vector<Strings>{{"a", "b", "c"}});
  CHECK(b["http://two"].asked == std::vector<Strings>{{"b", "c"}});

  b["http://one"].interested = false;
  CHECK(Outcome(s->Schedule(PodOf("q"))) == "c");
  CHECK(b["http://one"].asked.size() == 1);
  CHECK(b["http://two"].asked.back() == Strings{"a", "b", "c"});
}

TEST_CASE("when no node is left the rest is not asked, and reasons are counted beside the predicates'") {
  World w;
  w.Nodes({NodeOf("a"), NodeOf("b"), NodeOf("c"), NodeOf("full", "", "", "'cpu':'0','pods':'0'")});
  Behaviours b;
  b["http://one"].filter = [](const Strings&) {
    Extender::FilterResult none;
    none.failed = {{Symbol("a"), "100% taken"}, {Symbol("b"), "100% taken"}};  // c is left out without a reason
    return none;
  };
  Decision d = Build(w, b, kTwoFilters)->Schedule(PodOf("p"));
  CHECK(d.outcome == Decision::Outcome::kUnfit);
  CHECK(d.error == "0/4 nodes are available: 1 Insufficient pods, 2 100% taken.");
  CHECK(d.rejected_by == std::vector<Symbol>{Symbol("GeneralPredicates"), Symbol(kExtenderRule)});
  CHECK(b["http://two"].asked.empty());
  // An extender that gives no reason at all has rejected the pod, too.
  b["http://one"].filter = [](const Strings&) { return Extender::FilterResult(); };
  d = Build(w, b, kTwoFilters)->Schedule(PodOf("p"));
  CHECK(d.error == "0/4 nodes are available: 1 Insufficient pods.");
  CHECK(d.rejected_by == std::vector<Symbol>{Symbol("GeneralPredicates"), Symbol(kExtenderRule)});
}

TEST_CASE("an extender that fails to filter fails the attempt with its words") {
  World w;
  w.Nodes({NodeOf("a")});
  Behaviours b;
  b["http://one"].filter = [](const Strings&) -> absl::StatusOr<Extender::FilterResult> {
    return util::Internal("%s is 100%d broken");
  };
  Decision d = Build(w, b, kTwoFilters)->Schedule(PodOf("p"));
  CHECK(d.outcome == Decision::Outcome::kError);
  CHECK(d.error == "%s is 100%d broken");
}

TEST_CASE("extenders' scores are added by weight, and one that fails to score is passed over") {
  World w;
  w.Nodes({NodeOf("a"), NodeOf("b")});
  Behaviours b;
  const char* policy =
      "{'predicates':[],'priorities':[{'name':'EqualPriority','weight':5}],'extenders':["
      "{'urlPrefix':'http://one','prioritizeVerb':'p','weight':3},{'urlPrefix':'http://two','prioritizeVerb':'p',"
      "'weight':1}]}";
  b["http://one"].scores = std::vector<std::pair<std::string, int64_t>>{{"a", 4}, {"b", 1}};
  b["http://two"].scores = util::Internal("no idea");
  DecisionTrace trace;
  CHECK(Outcome(Build(w, b, policy)->Schedule(PodOf("p"), DecisionMode::kReference, &trace)) == "a");
  CHECK(trace.totals == std::vector<int64_t>{17, 8});
  b["http://two"].scores = std::vector<std::pair<std::string, int64_t>>{{"b", 10}, {"unknown", 1000}};
  DecisionTrace other;
  CHECK(Outcome(Build(w, b, policy)->Schedule(PodOf("p"), DecisionMode::kReference, &other)) == "b");
  CHECK(other.totals == std::vector<int64_t>{17, 18});
}

TEST_CASE("without priorities an extender's scores stand alone") {
  World w;
  w.Nodes({NodeOf("a"), NodeOf("b")});
  Behaviours b;
  b["http://one"].scores = std::vector<std::pair<std::string, int64_t>>{{"a", 1}};
  DecisionTrace trace;
  CHECK(Outcome(Build(w, b,
                      "{'predicates':[],'priorities':[],'extenders':[{'urlPrefix':'http://one','prioritizeVerb':'p',"
                      "'weight':2}]}")
                    ->Schedule(PodOf("p"), DecisionMode::kReference, &trace)) == "a");
  CHECK(trace.totals == std::vector<int64_t>{2, 0});
}

TEST_CASE("resources that an extender manages are not asked of nodes, for every pod") {
  World w;
  w.Nodes({NodeOf("a")});
  Behaviours b;
  b["http://one"].interested = false;
  auto policy = [](const char* ignored) {
    return Cat(
        "{'predicates':[{'name':'PodFitsResources'}],'priorities':[],'extenders':[{'urlPrefix':'http://one',"
        "'filterVerb':'f','managedResources':[{'name':'example.com/fpga','ignoredByScheduler':",
        ignored, "}]}]}");
  };
  auto pod = PodOf("p", Asks("'cpu':'1','example.com/fpga':'2'"));
  CHECK(Outcome(Build(w, b, policy("true"))->Schedule(pod)) == "a");
  CHECK(Outcome(Build(w, b, policy("false"))->Schedule(pod)) ==
        "0/1 nodes are available: 1 Insufficient example.com/fpga.");
}

TEST_CASE("B-26 kept: preemption asks extenders whether they are interested or not, and they may refuse") {
  World w;
  w.Nodes({NodeOf("a", "", "", "'cpu':'1','pods':'9'"), NodeOf("b", "", "", "'cpu':'1','pods':'9'")});
  w.Place(PodOf("x", Cat(Asks("'cpu':'1'"), ",'priority':1")), "a");
  w.Place(PodOf("y", Cat(Asks("'cpu':'1'"), ",'priority':2")), "b");
  Behaviours b;
  b["http://one"].interested = false;
  auto s = Build(w, b, kTwoFilters, true);
  auto pod = PodOf("p", Cat(Asks("'cpu':'1'"), ",'priority':9"));
  Decision d = s->Schedule(pod);
  REQUIRE(d.outcome == Decision::Outcome::kUnfit);
  CHECK(s->Preempt(pod, *d.failures).node.str() == "a");
  CHECK(b["http://one"].asked == std::vector<Strings>{{"a"}});

  b["http://one"].filter = [](const Strings& nodes) { return Passing(nodes[0] == "a" ? Strings{} : nodes); };
  CHECK(s->Preempt(pod, *d.failures).node.str() == "b");
  b["http://one"].filter = [](const Strings&) -> absl::StatusOr<Extender::FilterResult> {
    return util::Internal("away");
  };
  CHECK(s->Preempt(pod, *d.failures).node.empty());
}

TEST_CASE("a node that an extender refused may still be preempted on") {
  World w;
  w.Nodes({NodeOf("a")});
  w.Place(PodOf("x", Cat(Asks("'cpu':'1'"), ",'priority':1")), "a");
  Behaviours b;
  b["http://one"].filter = [](const Strings&) {
    Extender::FilterResult none;
    none.failed = {{Symbol("a"), "busy"}};
    return none;
  };
  auto s = Build(w, b, kTwoFilters, true);
  auto pod = PodOf("p", Cat(Asks("'cpu':'1'"), ",'priority':9"));
  Decision d = s->Schedule(pod);
  REQUIRE(d.outcome == Decision::Outcome::kUnfit);
  b["http://one"].filter = nullptr;
  Preemption p = s->Preempt(pod, *d.failures);
  CHECK(p.node.str() == "a");
  // No victims are needed: the pod fits as soon as the extender lets it pass.
  CHECK(p.victims.empty());
}

TEST_CASE("a profile of release 1.29: scores of extenders count ten times, and ignorable ones come last and may fail") {
  LaterWorld w;
  for (const char* n : {"a", "b"}) w.cache.AddNode(NodeOf(n));
  Behaviours& b = w.behaviours;
  b["http://may-fail"].filter = [](const Strings&) { return util::Unavailable("no answer"); };
  b["http://must"].scores = std::vector<std::pair<std::string, int64_t>>{{"a", 1}, {"b", 3}};
  ExtenderConfig may_fail, must;
  may_fail.url_prefix = "http://may-fail";
  may_fail.ignorable = true;
  must.url_prefix = "http://must";
  must.weight = 2;
  auto scheduler = w.Build({may_fail, must});
  CHECK(w.built == Strings{"http://must", "http://may-fail"});
  DecisionTrace trace;
  CHECK(Outcome(scheduler->Schedule(PodOf("p"), DecisionMode::kReference, &trace)) == "b");
  REQUIRE(trace.totals.size() == 2);
  CHECK(std::abs(trace.totals[0] - trace.totals[1]) == 2 * (3 - 1) * 10);

  // An error of an extender that is not ignorable fails the attempt.
  b["http://must"].filter = [](const Strings&) { return util::Unavailable("gone"); };
  CHECK(Outcome(scheduler->Schedule(PodOf("q"))) == "gone");
}

TEST_CASE("a profile of release 1.29: extenders choose among evictions and change them") {
  LaterWorld w;
  for (const char* n : {"a", "b"}) {
    w.cache.AddNode(NodeOf(n, "", "", "'cpu':'1','memory':'1Gi','pods':'9'"));
    for (const char* p : {"x-", "y-"}) {
      w.Place(PodOf(Cat(p, n), Cat(Asks("'cpu':'500m'"), ",'priority':", *n == 'a' ? "1" : "2")), n);
    }
  }
  Behaviours& b = w.behaviours;
  ExtenderConfig one, may_fail;
  one.url_prefix = "http://one";
  may_fail.url_prefix = "http://may-fail";
  may_fail.ignorable = true;
  auto scheduler = w.Build({one, may_fail});
  auto pod = PodOf("p", Cat(Asks("'cpu':'500m'"), ",'priority':9"));
  const Decision d = scheduler->Schedule(pod);
  REQUIRE(d.outcome == Decision::Outcome::kUnfit);
  auto preempt = [&] {
    const Preemption p = scheduler->Preempt(pod, *d.failures);
    std::string out = p.error.empty() ? p.node.string() : p.error;
    for (const api::PodPtr& v : p.victims) out += " " + v->meta.name;
    return out;
  };
  CHECK(preempt() == "a y-a");

  using Agreed = std::vector<Extender::AgreedEviction>;
  std::vector<std::string> offered;
  b["http://one"].preempt = [&](const std::vector<Extender::Eviction>& evictions) {
    for (const auto& e : evictions) offered.push_back(Cat(e.node.string(), " ", e.victims.at(0)->meta.name));
    return Agreed{{Symbol("b"), {"uid-x-b", "uid-x-b"}, 0}};
  };
  CHECK(preempt() == "b x-b");
  CHECK(offered == std::vector<std::string>{"a y-a", "b y-b"});

  b["http://one"].preempt = [](const auto&) { return Agreed{}; };
  CHECK(preempt() == "preemption: no candidate node for preemption");
  b["http://one"].preempt = [](const auto&) { return Agreed{{Symbol("a"), {}, 0}}; };
  CHECK(preempt() == "preemption: expected at least one victim pod on node \"a\"");
  b["http://one"].preempt = [](const auto&) { return Agreed{{Symbol("a"), {"uid-x-b"}, 0}}; };
  CHECK(preempt() ==
        "preemption: extender: http://one claims to preempt pod (UID: uid-x-b) on node: a, but the pod is not found on "
        "that node");
  b["http://one"].preempt = [](const auto&) { return util::Unavailable("away"); };
  CHECK(preempt() == "preemption: away");

  // An error of an ignorable extender is ignored. A node without victims in its answer is not a candidate.
  b["http://one"].preempt = nullptr;
  b["http://may-fail"].preempt = [](const auto&) { return util::Unavailable("away"); };
  CHECK(preempt() == "a y-a");
  b["http://may-fail"].preempt = [](const auto&) {
    return Agreed{{Symbol("a"), {}, 0}, {Symbol("b"), {"uid-y-b"}, 0}};
  };
  CHECK(preempt() == "b y-b");
}

TEST_CASE("a profile of release 1.29: a node that an extender refuses for good is no candidate for preemption") {
  LaterWorld w;
  w.cache.AddNode(NodeOf("a"));
  w.Place(PodOf("x", "'priority':1"), "a");
  Behaviours& b = w.behaviours;
  ExtenderConfig one;
  one.url_prefix = "http://one";
  auto scheduler = w.Build({one});
  auto pod = PodOf("p", "'priority':9");
  b["http://one"].filter = [](const Strings&) {
    Extender::FilterResult none;
    none.unresolvable = {{Symbol("a"), "licence missing"}};
    return none;
  };
  const Decision d = scheduler->Schedule(pod);
  CHECK(d.error == "0/1 nodes are available: 1 licence missing.");
  CHECK(scheduler->Preempt(pod, *d.failures).error ==
        "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.");
}

}  // namespace berth::scheduler
