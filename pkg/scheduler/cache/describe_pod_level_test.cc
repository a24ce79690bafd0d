// What a pod counts for in release 1.36.
#include <catch2/catch.hpp>

#include "pkg/scheduler/cache/template_info.h"
#include "pkg/scheduler/testing/objects.h"

namespace berth::scheduler {
namespace {

using testing::Asks;
using testing::PodOf;

constexpr int64_t kMiB = 1024 * 1024;

TemplateInfo Described(const std::string& spec) {
  TemplateInfo info;
  DescribeWithPodLevel(*PodOf("p", spec)->tmpl, &info);
  return info;
}
const std::string kWhole = "'resources':{'requests':{'cpu':'3','memory':'9Gi','example.com/x':'7'}},";

TEST_CASE("1.36: pod-level requests replace those of the containers, for cpu, memory and huge pages") {
  const TemplateInfo info = Described(kWhole + Asks("'cpu':'1','example.com/x':'2'"));
  CHECK(info.request.milli_cpu == 3000);
  CHECK(info.request.memory == int64_t{9} * 1024 * kMiB);
  CHECK(info.request.Scalar(Symbol("example.com/x")) == 2);
  CHECK(info.used.milli_cpu == 3000);
  CHECK(info.nonzero_milli_cpu == 3000);
}

TEST_CASE("1.36: the score of NodeResourcesFit ignores the pod-level requests of the pod to be placed") {
  const TemplateInfo info =
      Described("'resources':{'requests':{'cpu':'3','hugepages-2Mi':'4Mi'}}," + Asks("'cpu':'1'"));
  CHECK(info.incoming_milli_cpu == 1000);
  CHECK(info.incoming_memory == 200 * kMiB);
  REQUIRE(info.incoming_scalars);
  CHECK(info.incoming_scalars->empty());
  CHECK_FALSE(Described(Asks("'cpu':'1'")).incoming_scalars);
}

TEST_CASE("1.36: with pod-level requests, defaults stand for what nothing of the pod names") {
  const std::string two = "'containers':[{'name':'a','image':'i'},{'name':'b','image':'i'}]";
  CHECK(Described(two).nonzero_milli_cpu == 200);
  CHECK(Described(two).nonzero_memory == 400 * kMiB);
  const TemplateInfo cpu = Described("'resources':{'requests':{'cpu':'1'}}," + two);
  CHECK(cpu.nonzero_milli_cpu == 1000);
  CHECK(cpu.nonzero_memory == 400 * kMiB);
}

TEST_CASE("1.36: sidecars are added to the sums with defaults, and their host ports are in use") {
  const TemplateInfo info =
      Described(Asks("'cpu':'1'", "'ports':[{'hostPort':80}]") +
                ",'initContainers':[{'name':'s','image':'i','restartPolicy':'Always','ports':[{'hostPort':81}]},"
                "{'name':'i','image':'i','ports':[{'hostPort':82}]}]");
  CHECK(info.nonzero_milli_cpu == 1100);
  CHECK(info.nonzero_memory == 400 * kMiB);
  REQUIRE(info.host_ports.size() == 2);
  CHECK(info.host_ports[0].port == 81);
  CHECK(info.host_ports[1].port == 80);
}

}  // namespace
}  // namespace berth::scheduler
