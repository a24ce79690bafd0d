#include "pkg/scheduler/algorithm/volumes/rbd_monitors.h"

#include <catch2/catch.hpp>

namespace berth::scheduler::volumes {
namespace {

api::Volume WithMonitors(int first, int count) {
  api::Volume v;
  for (int i = first; i < first + count; ++i) v.monitors.push_back(std::to_string(i));
  return v;
}

TEST_CASE("short and long lists of monitors are compared alike") {
  for (const int count : {0, 1, 2, 16, 17, 40}) {
    for (const int first : {-41, -40, -17, -1, 0, 1, 16, 17, 39, 40, 41}) {
      for (const int others : {0, 1, 17, 40}) {
        INFO("0.." << count << " and " << first << ".." << first + others);
        const bool overlap = count > 0 && others > 0 && first < count && first + others > 0;
        CHECK(ShareMonitor(WithMonitors(0, count), WithMonitors(first, others)) == overlap);
      }
    }
  }
}

}  // namespace
}  // namespace berth::scheduler::volumes
