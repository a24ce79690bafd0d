// Fields of pods that are newer than release 1.10: pods with them are placed correctly or wait, and say why.
#include "pkg/scheduler/pod_fields.h"

#include <catch2/catch.hpp>

#include "pkg/api/json.h"
#include "pkg/scheduler/testing/scheduler_case.h"
#include "pkg/scheduler/testing/world.h"

namespace berth::scheduler {
namespace {

using testing::Case;
using testing::Evaluated;
using testing::NewNode;
using testing::NewPod;
using testing::NodeOf;
using testing::PodOf;
using Kind = Answer::Kind;
using Place = Scheduler::Place;

std::shared_ptr<api::Pod> With(const api::PodPtr& pod, const std::function<void(api::PodTemplate&)>& change) {
  api::PodTemplate t = *pod->tmpl;
  change(t);
  auto copy = std::make_shared<api::Pod>(*pod);
  copy->tmpl = api::PodTemplate::Intern(std::move(t));
  return copy;
}

size_t In(Case& c, Place place) {
  return c.s().pods_by_place()[static_cast<size_t>(place)];
}

TEST_CASE("later fields: a gated pod is never tried, and is tried at once when its gates go") {
  const bool pod_priority = GENERATE(false, true);
  Case c(pod_priority);
  c.Add(NewNode("n1", 4));
  auto p = NewPod("p", {.cpu = 4, .priority = 100});
  auto gated = With(p, [](api::PodTemplate& t) { t.scheduling_gates = {Symbol("example.com/hold")}; });
  c.Add(gated);
  CHECK(c.Run() == "");
  CHECK(In(c, Place::kGated) == 1);
  c.Add(NewNode("n2", 4));
  c.Pass(400);
  CHECK(c.Run() == "");
  c.Update(gated, p);
  CHECK(c.Run() == "bind p n2");
}

TEST_CASE("later fields: a pod whose preemptionPolicy is Never evicts nobody") {
  Case c(true);
  c.Add(NewNode("n1", 4));
  auto low = testing::Bound(NewPod("low", {.cpu = 4}), "n1");
  c.Add(low);
  c.Add(With(NewPod("p", {.cpu = 4, .priority = 100}), [](api::PodTemplate& t) { t.never_preempts = true; }));
  CHECK(c.Run().find("condition p False Unschedulable") != std::string::npos);
  c.Reply(Kind::kOk);
  CHECK(c.Requests() == "get p");  // the pod is read before it goes back into the queue
  c.Reply(Kind::kOk, "", NewPod("p", {.cpu = 4, .priority = 100}));
  CHECK(c.Run().find("delete") == std::string::npos);
}

TEST_CASE("later fields: overhead and sidecars count on the node and are requested") {
  const auto spec =
      GENERATE("'overhead':{'cpu':'1'},'containers':[{'name':'c','resources':{'requests':{'cpu':'4'}}}]",
               "'initContainers':[{'name':'s','restartPolicy':'Always','resources':{'requests':{'cpu':'1'}}}],"
               "'containers':[{'name':'c','resources':{'requests':{'cpu':'4'}}}]");
  testing::World w;
  w.Nodes({NodeOf("a", "", "", "'cpu':'9','memory':'1000','pods':'10'")});
  CHECK(Evaluated(w, "PodFitsResources", PodOf("p", spec), "a") == "fits");
  w.Place(PodOf("q", spec), "a");
  CHECK(Evaluated(w, "PodFitsResources", PodOf("p", spec), "a") == "Insufficient cpu");
  CHECK(Evaluated(w, "PodFitsResources", PodOf("p", testing::Asks("'cpu':'4'")), "a") == "fits");
  CHECK(Evaluated(w, "PodFitsResources", PodOf("p", testing::Asks("'cpu':'4001m'")), "a") == "Insufficient cpu");
}

TEST_CASE("later fields: an init container runs beside the sidecars before it, and not those behind it") {
  testing::World w;
  w.Nodes({NodeOf("a", "", "", "'cpu':'5','memory':'1000','pods':'10'")});
  const std::string sidecar = "{'name':'s','restartPolicy':'Always','resources':{'requests':{'cpu':'2'}}}",
                    init = "{'name':'i','resources':{'requests':{'cpu':'4'}}}",
                    rest = "],'containers':[{'name':'c','resources':{'requests':{'cpu':'1'}}}]";
  CHECK(Evaluated(w, "PodFitsResources", PodOf("p", "'initContainers':[" + sidecar + "," + init + rest), "a") ==
        "Insufficient cpu");
  CHECK(Evaluated(w, "PodFitsResources", PodOf("p", "'initContainers':[" + init + "," + sidecar + rest), "a") ==
        "fits");
}

TEST_CASE("later fields: matchFields select a node by its name, alone and together with expressions") {
  testing::World w;
  w.Nodes({NodeOf("a", "'disk':'ssd'"), NodeOf("b", "'disk':'ssd'")});
  const auto terms = [&](const std::string& t, const char* node) {
    const auto pod = PodOf("p",
                           "'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':"
                           "{'nodeSelectorTerms':[" +
                               t + "]}}}");
    return Evaluated(w, "MatchNodeSelector", pod, node) == "fits";
  };
  const std::string only_b = "'matchFields':[{'key':'metadata.name','operator':'In','values':['b']}]",
                    not_b = "'matchFields':[{'key':'metadata.name','operator':'NotIn','values':['b']}]",
                    ssd = "'matchExpressions':[{'key':'disk','operator':'In','values':['ssd']}]",
                    hdd = "'matchExpressions':[{'key':'disk','operator':'In','values':['hdd']}]";
  CHECK_FALSE(terms("{" + only_b + "}", "a"));
  CHECK(terms("{" + only_b + "}", "b"));
  CHECK(terms("{" + not_b + "}", "a"));
  CHECK_FALSE(terms("{" + not_b + "}", "b"));
  CHECK_FALSE(terms("{" + only_b + "," + ssd + "}", "a"));
  CHECK(terms("{" + only_b + "," + ssd + "}", "b"));
  CHECK_FALSE(terms("{" + only_b + "," + hdd + "}", "b"));
  CHECK_FALSE(terms("{'matchFields':[{'key':'metadata.uid','operator':'In','values':['b']}]}", "b"));
}

TEST_CASE("later fields: a pod that demands what the release does not understand waits with a condition that says so") {
  const bool pod_priority = GENERATE(false, true);
  Case c(pod_priority);
  c.Add(NewNode("n1", 4));
  auto plain = NewPod("p");
  // The first release of the list that understands the field is named.
  const auto [field, release, pod] = GENERATE_COPY(table<std::string, std::string, api::PodPtr>(
      {{"spec.topologySpreadConstraints[]", "1.19",
        With(plain,
             [](api::PodTemplate& t) {
               t.spread_constraints.emplace_back().action = api::TopologySpreadConstraint::Action::kDoNotSchedule;
             })},
       {"namespaceSelector", "1.29",
        With(plain,
             [](api::PodTemplate& t) {
               t.affinity.pod_anti.emplace().required.emplace_back().namespace_selector.emplace();
             })},
       {"spec.volumes[].ephemeral", "1.29",
        With(plain, [](api::PodTemplate& t) { t.volumes.emplace_back().kind = api::Volume::Kind::kEphemeral; })},
       {"spec.resources", "1.36",
        With(plain, [](api::PodTemplate& t) { t.pod_requests.emplace_back(Symbol("cpu"), api::Quantity()); })}}));
  c.Add(pod);
  const std::string asked = c.Run();
  CHECK(asked.find("condition p False Unschedulable [") != std::string::npos);
  CHECK(asked.find(field) != std::string::npos);
  CHECK(asked.find("--emulated-version=" + release + " supports them") != std::string::npos);
  c.Reply(Kind::kOk);
  // Only a change of the pod itself lets it be tried again.
  c.Add(NewNode("n2", 4));
  c.Pass(400);
  CHECK(c.Run() == "");
  CHECK(In(c, Place::kUnsupported) == 1);
  c.Update(pod, plain);
  CHECK(c.Run() == "bind p n2");
}

template <typename T>
void Apply(Case& c, const std::shared_ptr<T>& before, const std::shared_ptr<T>& after) {
  c.s().Apply(Change<T>{before, after});
}

TEST_CASE("later fields: a pod whose CSI volumes a CSINode limits waits until no limit is left") {
  SchedulerOptions options;
  options.ignore_unknown_fields = GENERATE(false, true);
  Case c(GENERATE(false, true), options);
  c.Add(NewNode("n1", 4));
  auto volume = std::make_shared<api::PersistentVolume>();
  volume->meta.name = "v";
  volume->source = api::PersistentVolume::Source::kCsi;
  volume->csi_driver = Symbol("disk.example.com");
  volume->source_id = "handle";
  auto claim = std::make_shared<api::PersistentVolumeClaim>();
  claim->meta.ns = Symbol("default");
  claim->meta.name = "claim";
  claim->volume_name = "v";
  claim->bind_completed = true;
  Apply<api::PersistentVolume>(c, nullptr, volume);
  Apply<api::PersistentVolumeClaim>(c, nullptr, claim);
  const auto csi_node = [](std::string driver, std::optional<int32_t> limit) {
    auto made = std::make_shared<api::CsiNode>();
    made->meta.name = "n1";
    made->drivers = {{Symbol(driver), limit}};
    return made;
  };
  const auto limited = csi_node("disk.example.com", 1);
  Apply<api::CsiNode>(c, nullptr, limited);
  auto pod = With(NewPod("p"), [](api::PodTemplate& t) {
    t.ns = Symbol("default");
    t.volumes.emplace_back().kind = api::Volume::Kind::kClaim;
    t.volumes.back().id = "claim";
  });
  c.Add(pod);
  const std::string asked = c.Run();
  if (options.ignore_unknown_fields) {
    CHECK(asked == "bind p n1");
    return;
  }
  CHECK(asked.find("condition p False Unschedulable [") != std::string::npos);
  CHECK(asked.find("spec.drivers[].allocatable.count of CSINodes") != std::string::npos);
  SECTION("it is set aside, and other changes of the cluster leave it there") {
    c.Reply(Kind::kOk);
    c.Add(NewNode("n2", 4));
    Apply<api::CsiNode>(c, limited, csi_node("disk.example.com", 2));
    c.Pass(400);
    CHECK(c.Run() == "");
    CHECK(In(c, Place::kUnsupported) == 1);
    Apply<api::CsiNode>(c, limited, GENERATE(true, false) ? csi_node("disk.example.com", {}) : csi_node("other", 1));
    CHECK(c.Run().starts_with("bind p "));
  }
  SECTION("the limit goes while the condition is being written") {
    Apply<api::CsiNode>(c, limited, nullptr);
    c.Reply(Kind::kOk);
    CHECK(In(c, Place::kUnsupported) == 0);
  }
}

TEST_CASE("later fields: a condition that could not be written is written again, as no attempt would do it") {
  const Answer::Kind why = GENERATE(Kind::kConflict, Kind::kServerError, Kind::kLost);
  Case c(GENERATE(false, true));
  const auto plain = NewPod("p");
  const auto pod =
      With(plain, [](api::PodTemplate& t) { t.volumes.emplace_back().kind = api::Volume::Kind::kEphemeral; });
  c.Add(NewNode("n1", 4));
  c.Add(pod);
  CHECK(c.Run().find("condition p False Unschedulable [") != std::string::npos);
  c.Reply(why);
  CHECK(In(c, Place::kUnsupported) == 1);
  c.Pass(29);
  CHECK(c.Run() == "");
  SECTION("after half a minute") {
    c.Pass(2);
    CHECK(c.Run().find("condition p False Unschedulable [") != std::string::npos);
    c.Reply(Kind::kOk);
    c.Pass(400);
    CHECK(c.Run() == "");
    CHECK(In(c, Place::kUnsupported) == 1);
  }
  SECTION("but not once the pod was changed") {
    c.Update(pod, plain);
    CHECK(c.Run() == "bind p n1");
    c.Pass(60);
  }
}

TEST_CASE("later fields: what is only preferred is counted and ignored; a release that understands it is not asked") {
  auto pod = With(NewPod("p"), [](api::PodTemplate& t) {
    t.spread_constraints.emplace_back().action = api::TopologySpreadConstraint::Action::kScheduleAnyway;
  });
  const bool understood = GENERATE(false, true);
  SchedulerOptions options;
  if (understood) options.understood_fields = PodFieldsUnderstoodBy(release::Version{29});
  Case c(false, options);
  c.Add(NewNode("n1", 4));
  c.Add(pod);
  CHECK(c.Run() == "bind p n1");
  CHECK(c.s().metrics().ignored_fields[static_cast<size_t>(PodField::kPreferredSpread)] == (understood ? 0 : 1));
}

TEST_CASE("later fields: pod-level requests of a pod that has a node count, for all that it asks") {
  testing::World w;
  w.Nodes({NodeOf("a", "", "", "'cpu':'9','memory':'1000','pods':'10'")});
  const auto [spec, cpu, fits] = GENERATE(table<std::string, int, bool>(
      {{"'resources':{'requests':{'cpu':'3'}},'containers':[{'name':'c'}]", 6, true},
       {"'resources':{'requests':{'cpu':'3'}},'containers':[{'name':'c'}]", 7, false},
       {"'resources':{'requests':{'cpu':'3'}},'containers':[{'name':'c','resources':{'requests':{'cpu':'1'}}}]", 7,
        false},
       {"'resources':{'requests':{'cpu':'3'}},'overhead':{'cpu':'2'},'containers':[{'name':'c'}]", 5, false},
       {"'resources':{'requests':{'memory':'3'}},'containers':[{'name':'c','resources':{'requests':{'cpu':'3'}}}]", 7,
        false},
       // A server makes requests of limits; what it stored counts.
       {"'resources':{'limits':{'cpu':'3'}},'containers':[{'name':'c'}]", 9, true}}));
  w.Place(PodOf("q", spec), "a");
  const auto asks = testing::Asks(absl::StrCat("'cpu':'", cpu, "'"));
  CHECK((Evaluated(w, "PodFitsResources", PodOf("p", asks), "a") == "fits") == fits);
}

// A table of what no emulated release understands, as a server of 1.36 stores it.
const std::vector<std::pair<std::string, std::string>> kNotUnderstood = {
    {"spec.resources", "'resources':{'requests':{'cpu':'3'}}"},
    {"spec.resources", "'resources':{'limits':{'memory':'3'}}"},
    {"spec.resourceClaims", "'resourceClaims':[{'name':'gpu','resourceClaimName':'one'}]"},
    {"spec.schedulingGroup", "'schedulingGroup':{'podGroupName':'g'}"},
    {"restartPolicyRules",
     "'initContainers':[{'name':'i','restartPolicyRules':[{'action':'Restart'},{'action':'RestartAllContainers'}]}]"},
    {"hostUsers false", "'hostNetwork':true,'hostUsers':false"}};

TEST_CASE("later fields: what an emulated release does not understand is waited for in each, and named") {
  const auto& [field, spec] = kNotUnderstood[GENERATE(range(size_t{0}, kNotUnderstood.size()))];
  SchedulerOptions options;
  options.understood_fields = PodFieldsUnderstoodBy(release::Version{GENERATE(as<uint8_t>(), 10, 29)});
  options.ignore_unknown_fields = GENERATE(false, true);
  Case c(false, options);
  c.Add(NewNode("n1", 4));
  const std::string containers = "'containers':[{'name':'c','resources':{'requests':{'cpu':'1'}}}],";
  for (const char* name : {"p", "q"}) c.Add(PodOf(name, containers + spec));
  const std::string asked = c.Run();
  if (!options.ignore_unknown_fields) {
    CHECK(asked.find("bind") == std::string::npos);
    CHECK(asked.find(field) != std::string::npos);
    CHECK(asked.find("--ignore-unknown-fields ignores them") != std::string::npos);
    return;
  }
  // Never taken for less than it asks: of two pods of 3 cpu one fits.
  CHECK(asked.find("bind p n1") != std::string::npos);
  CHECK((asked.find("bind q n1") != std::string::npos) == (spec.find("'cpu':'3'") == std::string::npos));
}

TEST_CASE("later fields: a field that is newer than the program is counted once for each template, and ignored") {
  Case c(false);
  c.Add(NewNode("n1", 4));
  c.Add(testing::Bound(PodOf("a", "'fromTheFuture':1,'containers':[{'name':'c','newer':2}]"), "n1"));
  c.Add(testing::Bound(PodOf("b", "'fromTheFuture':1,'containers':[{'name':'c','newer':2}]"), "n1"));
  c.Add(PodOf("p", "'fromTheFuture':3,'containers':[{'name':'c'}]"));
  CHECK(c.Run() == "bind p n1");
  const auto& seen = c.s().metrics().unknown_fields;
  CHECK(seen ==
        std::map<std::string, uint64_t, std::less<>>{{"spec.containers[].newer", 1}, {"spec.fromTheFuture", 2}});
  for (int i = 0; i < 300; ++i) c.Add(PodOf(absl::StrCat("m", i), absl::StrCat("'f", i, "':1,'containers':[]")));
  CHECK(seen.size() == kMostUnknownFields + 1);
  CHECK(seen.at("others") == 202);
}

TEST_CASE("later fields: a pod that waits is tried again when a pod on a node was resized to less") {
  Case c(true);
  c.Add(NewNode("n1", 4));
  const auto pod_of = [](const char* cpu) {
    return testing::Bound(
        PodOf("big", absl::StrCat("'containers':[{'name':'c','resources':{'requests':{'cpu':'", cpu, "'}}}]")), "n1");
  };
  const auto big = pod_of("3"), small = pod_of("1");
  c.Add(big);
  c.Add(NewPod("p", {.cpu = 2}));
  CHECK(c.Run().find("condition p False Unschedulable") != std::string::npos);
  c.Reply(Kind::kOk);
  c.Run();
  c.Reply(Kind::kOk, "", NewPod("p", {.cpu = 2}));
  c.Update(big, small);
  c.Pass(2);
  CHECK(c.Run() == "bind p n1");
}

TEST_CASE("later fields: --ignore-unknown-fields takes pods as release 1.10 saw them, but for what they need") {
  SchedulerOptions options;
  options.ignore_unknown_fields = true;
  Case c(true, options);
  c.Add(NewNode("n1", 4));
  auto plain = NewPod("p");
  auto pod = With(plain, [](api::PodTemplate& t) {
    t.scheduling_gates = {Symbol("example.com/hold")};
    t.never_preempts = true;
    t.overhead = {{Symbol("cpu"), api::Quantity::FromInt(3)}};
    t.spread_constraints.emplace_back().action = api::TopologySpreadConstraint::Action::kDoNotSchedule;
    t.volumes.emplace_back().kind = api::Volume::Kind::kEphemeral;
    t.init_containers.emplace_back().restart_always = true;
  });
  CHECK(WithoutUnknownFields(plain, {}) == plain);
  CHECK(WithoutUnknownFields(pod, {})->tmpl->overhead == pod->tmpl->overhead);
  CHECK(WithoutUnknownFields(pod, PodFieldsUnderstoodBy(release::Version{29})) == pod);
  c.Add(pod);
  CHECK(c.Run() == "bind p n1");
  // Its overhead counts on the node.
  c.Reply(Kind::kOk);
  c.Add(NewPod("q", {.cpu = 2}));
  CHECK(c.Run().find("bind") == std::string::npos);
}

}  // namespace
}  // namespace berth::scheduler
