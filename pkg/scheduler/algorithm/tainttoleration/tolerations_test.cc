#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "pkg/scheduler/algorithm/tainttoleration/tainttoleration.h"

namespace berth::scheduler::tainttoleration {
namespace {

TEST_CASE("many tolerations tolerate what one of them tolerates") {
  std::mt19937 random(3);
  const auto one_of = [&](std::initializer_list<const char*> texts) {
    const char* text = *(texts.begin() + random() % texts.size());
    return *text == 0 ? Symbol() : Symbol(text);
  };
  int tolerated = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<api::Toleration> all(random() % 40);
    for (api::Toleration& t : all) {
      t.key = one_of({"", "a", "b", "c", "d", "e", "f", "g"});
      t.op = one_of({"", "Equal", "Equal", "Exists", "Gt", "Lt", "Never"});
      t.value = one_of({"", "1", "5", "07", "x"});
      t.effect = one_of({"", "NoSchedule", "NoExecute", "PreferNoSchedule"});
    }
    // One that tolerates everything would decide most rounds.
    std::erase_if(all, [&](const api::Toleration& t) { return t.key.empty() && random() % 20 != 0; });
    const TolerationRules rules{.compares = random() % 2 == 0};
    const Tolerations tolerations(all, rules);
    for (int i = 0; i < 5; ++i) {
      const api::Taint taint{one_of({"a", "b", "c", "d", "e", "h"}), one_of({"", "1", "3", "9", "x"}),
                             one_of({"NoSchedule", "NoExecute", "PreferNoSchedule"})};
      const bool expected =
          std::any_of(all.begin(), all.end(), [&](const api::Toleration& t) { return Tolerates(t, taint, rules); });
      CHECK(tolerations.Tolerate(taint) == expected);
      tolerated += expected;
    }
  }
  CHECK(tolerated > 1000);
  CHECK(tolerated < 14000);
}

}  // namespace
}  // namespace berth::scheduler::tainttoleration
