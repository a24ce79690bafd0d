// What the policies of a Job say: which failures of pods count, and which successes are enough (Kubernetes 1.36).
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "pkg/world/objects.h"

namespace berth::world::living {

// Reads and writes completion indexes as statuses have them: "0-2,5".
std::set<int64_t> IndexesOf(std::string_view text);
std::string TextOfIndexes(const std::set<int64_t>& indexes);

struct FailureVerdict {
  enum class Action : uint8_t { kCount, kIgnore, kFailIndex, kFailJob };
  Action action = Action::kCount;
  std::string message{};  // of kFailJob
};
// Returns what the first rule of podFailurePolicy that the failed pod matches says; kCount if none does.
FailureVerdict JudgeFailure(const Value& job, const Value& pod);

// Returns the message of the first rule of successPolicy that the succeeded indexes meet; none if none is met.
std::optional<std::string> MetSuccessRule(const Value& job, const std::set<int64_t>& succeeded);

}  // namespace berth::world::living
