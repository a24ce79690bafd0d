#include "pkg/recording/cluster_state.h"

#include <catch2/catch.hpp>
#include <utility>
#include <vector>

namespace berth::recording {
namespace {

using Kind = scheduler::Answer::Kind;

scheduler::Reply ReplyTo(scheduler::RequestId id, Kind kind) {
  scheduler::Reply r;
  r.id = id;
  r.answer.kind = kind;
  return r;
}

TEST_CASE("a nomination in memory lasts as long as its victims are evicted") {
  const std::vector<std::pair<Kind, bool>> answers = {{Kind::kOk, true},
                                                      {Kind::kNotFound, true},
                                                      {Kind::kConflict, true},
                                                      {Kind::kRefused, false},
                                                      {Kind::kLost, false}};
  for (const auto& [kind, goes_on] : answers) {
    INFO(static_cast<int>(kind));
    InFlight f;
    f.Prepares("high", "n0");
    f.Marks(1, "high");
    CHECK(f.Answered(ReplyTo(1, Kind::kOk)).evicting == "high");
    f.Deletes(2, "high");
    const InFlight::Meaning m = f.Answered(ReplyTo(2, kind));
    CHECK(m.evicting == (goes_on ? "high" : ""));
    CHECK(m.unnominated == (goes_on ? "" : "high"));
    CHECK(f.nominated.contains("high") == goes_on);
    CHECK((f.open_marks.empty() && f.open_deletions.empty()));
  }
}

TEST_CASE("a nomination in memory ends when its victim is not marked") {
  InFlight f;
  f.Prepares("high", "n0");
  f.Marks(1, "high");
  CHECK(f.Answered(ReplyTo(1, Kind::kConflict)).unnominated == "high");
  CHECK(f.nominated.empty());
}

}  // namespace
}  // namespace berth::recording
