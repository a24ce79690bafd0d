#include "cmd/kube-scheduler/resource_metrics.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

namespace berth::kube_scheduler {
namespace {

api::Quantity Q(const char* text) {
  return *api::Quantity::Parse(text);
}

api::PodPtr Make(const std::string& name, api::PodTemplate t) {
  auto pod = std::make_shared<api::Pod>();
  pod->meta.name = name;
  pod->meta.ns = util::Symbol("default");
  pod->node_name = util::Symbol("n1");
  t.ns = util::Symbol("default");
  t.scheduler_name = util::Symbol("default-scheduler");
  pod->tmpl = api::PodTemplate::Intern(std::move(t));
  return pod;
}

// Returns the value of a pod's sample; "" if there is none.
std::string ValueOf(const std::string& page, const std::string& metric, const std::string& pod,
                    const std::string& resource) {
  size_t at = 0;
  while ((at = page.find("\n" + metric + "{", at)) != std::string::npos) {
    const size_t end = page.find('\n', ++at);
    const std::string line = page.substr(at, end - at);
    if (line.find("pod=\"" + pod + "\"") != std::string::npos &&
        line.find("resource=\"" + resource + "\"") != std::string::npos) {
      return line.substr(line.rfind(' ') + 1);
    }
  }
  return "";
}

TEST_CASE("what a pod requests is what it needs at its most demanding moment") {
  const util::Symbol cpu("cpu"), memory("memory");
  api::PodTemplate t;
  t.priority = 7;
  t.overhead = {{cpu, Q("100m")}};
  t.init_containers = {{.requests = {{cpu, Q("500m")}}, .limits = {{cpu, Q("1")}}, .restart_always = true},
                       {.requests = {{cpu, Q("2")}}}};
  t.containers = {{.requests = {{cpu, Q("1")}, {memory, Q("1Gi")}}, .limits = {{memory, Q("2Gi")}}}};
  const std::string page = ResourceMetricsText({Make("p", t)});
  CHECK(ValueOf(page, "kube_pod_resource_request", "p", "cpu") == "2.6");
  CHECK(ValueOf(page, "kube_pod_resource_request", "p", "memory") == "1.073741824e+09");
  CHECK(ValueOf(page, "kube_pod_resource_limit", "p", "cpu") == "1.1");
  CHECK(ValueOf(page, "kube_pod_resource_limit", "p", "memory") == "2.147483648e+09");
  CHECK(
      page.find("kube_pod_resource_request{namespace=\"default\",node=\"n1\",pod=\"p\",priority=\"7\",resource=\"cpu\","
                "scheduler=\"default-scheduler\",unit=\"cores\"} 2.6\n") != std::string::npos);
}

TEST_CASE("pods that are finished and amounts of nothing are left out") {
  api::PodTemplate t;
  t.containers = {{.requests = {{util::Symbol("cpu"), Q("0")}, {util::Symbol("example.com/gpu"), Q("2")}}}};
  auto finished = std::make_shared<api::Pod>(*Make("finished", t));
  finished->phase = api::PodPhase::kSucceeded;
  const std::string page = ResourceMetricsText({Make("p", t), finished});
  CHECK(ValueOf(page, "kube_pod_resource_request", "p", "cpu").empty());
  CHECK(ValueOf(page, "kube_pod_resource_request", "p", "example.com/gpu") == "2");
  CHECK(ValueOf(page, "kube_pod_resource_request", "finished", "example.com/gpu").empty());
  CHECK(page.find("kube_pod_resource_limit") == std::string::npos);
  CHECK(ResourceMetricsText({}).empty());
}

}  // namespace
}  // namespace berth::kube_scheduler
