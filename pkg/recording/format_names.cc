// The words of a recording for kinds of objects, answers and calls of extenders.
#include <array>

#include "pkg/recording/format.h"

namespace berth::recording {
namespace {

// The words for the kinds of AnyChange: {"in":"Node",...}.
#define BERTH_NAME(type, kind, ...) kind,
constexpr std::array<std::string_view, api::WatchedKinds::kSize> kKindNames = {BERTH_WATCHED_KINDS(BERTH_NAME)};
#undef BERTH_NAME

}  // namespace

std::string_view KindName(size_t index) {
  return kKindNames[index];
}

std::string_view CallName(ExtenderAnswer::Call call) {
  static constexpr std::array<std::string_view, 3> kNames = {"filter", "prioritize", "preempt"};
  return kNames[static_cast<size_t>(call)];
}

std::string_view AnswerName(scheduler::Answer::Kind k) {
  static constexpr std::array<std::string_view, 6> kNames = {"ok",      "notFound",    "conflict",
                                                             "refused", "serverError", "lost"};
  return kNames[static_cast<size_t>(k)];
}

}  // namespace berth::recording
