// Pods that are resized in place count for the most that they are asked, promised or given.
#include <absl/strings/str_cat.h>

#include <catch2/catch.hpp>

#include "pkg/api/decode.h"
#include "pkg/api/scheduling_fields.h"

namespace berth::api {
namespace {

std::string Quoted(std::string s) {
  std::replace(s.begin(), s.end(), '\'', '"');
  return s;
}
PodPtr PodWith(const std::string& spec, const std::string& status, PodTemplateMemory* memory = nullptr) {
  Document d;
  const std::string text = Quoted("{'metadata':{'name':'p','namespace':'d','uid':'u'},'spec':{'nodeName':'n'," + spec +
                                  "},'status':{" + status + "}}");
  INFO(text);
  REQUIRE(d.Parse(text).ok());
  DecodeOptions o;
  o.templates = memory;
  auto pod = DecodePod(d.root(), o);
  REQUIRE(pod.ok());
  return *pod;
}
std::string Amounts(const ResourceList& list) {
  std::string out;
  for (const auto& [name, q] : list) absl::StrAppend(&out, name.string(), "=", q.Value(), " ");
  return out;
}
std::string First(const std::string& spec, const std::string& status) {
  return Amounts(PodWith("'containers':[{'name':'c','resources':{'requests':{" + spec + "}}}]", status)
                     ->tmpl->containers[0]
                     .requests);
}
std::string Status(const std::string& actual, const std::string& allocated) {
  return "'containerStatuses':[{'name':'c','resources':{'requests':{" + actual + "}},'allocatedResources':{" +
         allocated + "}}]";
}

TEST_CASE("resize: each resource counts for the largest of spec, allocated and actual") {
  CHECK(First("'cpu':'1'", "") == "cpu=1 ");
  CHECK(First("'cpu':'1'", Status("'cpu':'1'", "'cpu':'1'")) == "cpu=1 ");
  CHECK(First("'cpu':'1'", Status("'cpu':'2'", "'cpu':'5'")) == "cpu=5 ");
  CHECK(First("'cpu':'1'", Status("'cpu':'5'", "'cpu':'1'")) == "cpu=5 ");
  CHECK(First("'cpu':'7'", Status("'cpu':'5'", "'cpu':'5'")) == "cpu=7 ");
  CHECK(First("'cpu':'1','memory':'9'", Status("'cpu':'5','memory':'3'", "")) == "cpu=5 memory=9 ");
  CHECK(First("'memory':'9'", Status("'cpu':'5'", "'z':'2'")) == "memory=9 cpu=5 z=2 ");
}

TEST_CASE("resize: a status without resources says nothing, and neither does one of another container") {
  CHECK(First("'cpu':'1'", "'containerStatuses':[{'name':'c','allocatedResources':{'cpu':'5'}}]") == "cpu=1 ");
  CHECK(First("'cpu':'1'", "'containerStatuses':[{'name':'d','resources':{'requests':{'cpu':'5'}}}]") == "cpu=1 ");
  CHECK(First("'cpu':'1'", "'containerStatuses':null,'resources':{'requests':{'cpu':'5'}}") == "cpu=1 ");
}

TEST_CASE("resize: the spec of a resize that can never be made does not count") {
  const std::string infeasible = ",'conditions':[{'type':'PodResizePending','status':'True','reason':'Infeasible'}]",
                    deferred =
                        ",'conditions':[{'type':'PodResizePending','status':'True','reason':'Deferred'},"
                        "{'type':'PodResizePending','status':'True','reason':'Infeasible'}]";
  CHECK(First("'cpu':'99'", Status("'cpu':'2'", "'cpu':'3'") + infeasible) == "cpu=3 ");
  CHECK(First("'cpu':'99'", Status("'cpu':'2'", "'cpu':'3'") + deferred) == "cpu=99 ");
}

TEST_CASE("resize: sidecars and the pod-level requests are resized, ordinary init containers are not") {
  const std::string status =
      "'initContainerStatuses':[{'name':'i','resources':{'requests':{'cpu':'5'}}},"
      "{'name':'s','resources':{'requests':{'cpu':'6'}}}],"
      "'resources':{'requests':{'cpu':'7'}},'allocatedResources':{'cpu':'8'}";
  const auto pod = PodWith(
      "'resources':{'requests':{'cpu':'1'}},'containers':[{'name':'c'}],'initContainers':[{'name':'i'},"
      "{'name':'s','restartPolicy':'Always','resources':{'requests':{'cpu':'1'}}}]",
      status);
  CHECK(Amounts(pod->tmpl->init_containers[0].requests).empty());
  CHECK(Amounts(pod->tmpl->init_containers[1].requests) == "cpu=6 ");
  CHECK(Amounts(pod->tmpl->pod_requests) == "cpu=8 ");
}

TEST_CASE("resize: pods whose resize is made share their template again, also if templates are remembered") {
  PodTemplateMemory memory;
  const std::string spec = "'containers':[{'name':'c','resources':{'requests':{'cpu':'1'}}}]";
  const auto plain = PodWith(spec, "", &memory), resized = PodWith(spec, Status("'cpu':'5'", ""), &memory),
             made = PodWith(spec, Status("'cpu':'1'", "'cpu':'1000m'"), &memory);
  CHECK(plain->tmpl != resized->tmpl);
  CHECK(plain->tmpl == made->tmpl);
  CHECK(memory.taken() == 2);
}

TEST_CASE("resize: what is kept of a pod that is resized decodes to the same template") {
  const std::string text = Quoted(
      "{'metadata':{'name':'p','namespace':'d','uid':'u'},'spec':{'nodeName':'n','containers':[{'name':'c',"
      "'resources':{'requests':{'cpu':'9'}}}]},'status':{'phase':'Running','conditions':[{'type':'Ready'},"
      "{'type':'PodResizePending','reason':'Infeasible','message':'secret'}],'containerStatuses':[{'name':'c',"
      "'image':'i','resources':{'requests':{'cpu':'5'},'limits':{'cpu':'6'}},'allocatedResources':{'cpu':'4'}}]}}");
  Document d, kept, plain;
  REQUIRE(d.Parse(text).ok());
  const std::string cut = CutToTemplateFields(d.root(), nullptr, true);
  CHECK(cut.find("secret") == std::string::npos);
  REQUIRE(kept.Parse(cut).ok());
  const auto a = DecodePod(d.root()), b = DecodePod(kept.root());
  REQUIRE((a.ok() && b.ok()));
  CHECK((*a)->tmpl == (*b)->tmpl);
  CHECK(Amounts((*b)->tmpl->containers[0].requests) == "cpu=5 ");
  // Other pods of the template do not show their statuses.
  CHECK(CutToTemplateFields(d.root()).find("containerStatuses") == std::string::npos);
}

}  // namespace
}  // namespace berth::api
