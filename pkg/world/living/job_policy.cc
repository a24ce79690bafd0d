#include "pkg/world/living/job_policy.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <utility>

#include "pkg/util/status.h"
#include "pkg/world/living/fields.h"

namespace berth::world::living {
namespace {

// A container that has ended with another exit code than 0.
struct Ended {
  std::string_view name;
  int64_t code = 0;
};

std::optional<Ended> MatchesCodes(const Value& on, const Value& pod) {
  const std::string_view wanted = on.Str("containerName");
  const bool in = on.Str("operator") == "In";
  const Value& values = validation::OrEmpty(on.Find("values"));
  for (std::string_view list : {"containerStatuses", "initContainerStatuses"}) {
    const Value* statuses = pod.At({"status", list});
    if (statuses == nullptr) continue;
    for (const Value& s : statuses->items) {
      const Value* code = s.At({"state", "terminated", "exitCode"});
      if (code == nullptr || code->AsInt() == 0 || (!wanted.empty() && s.Str("name") != wanted)) continue;
      const bool listed = std::any_of(values.items.begin(), values.items.end(),
                                      [&](const Value& v) { return v.AsInt() == code->AsInt(); });
      if (listed == in) return Ended{s.Str("name"), code->AsInt()};
    }
  }
  return std::nullopt;
}

// Returns the type of the first of the conditions that the pod has.
std::string_view MatchesConditions(const Value& on, const Value& pod) {
  for (const Value& wanted : on.items) {
    const Value* have = ConditionOf(pod, wanted.Str("type"));
    const std::string_view status = wanted.Str("status").empty() ? "True" : wanted.Str("status");
    if (have != nullptr && have->Str("status") == status) return wanted.Str("type");
  }
  return "";
}

FailureVerdict::Action ActionOf(std::string_view text) {
  if (text == "FailJob") return FailureVerdict::Action::kFailJob;
  if (text == "FailIndex") return FailureVerdict::Action::kFailIndex;
  if (text == "Ignore") return FailureVerdict::Action::kIgnore;
  return FailureVerdict::Action::kCount;
}

}  // namespace

std::set<int64_t> IndexesOf(std::string_view text) {
  constexpr int64_t kMostPods = 1'000'000;
  std::set<int64_t> out;
  for (absl::string_view part : absl::StrSplit(util::ToAbsl(text), ',', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> ends = absl::StrSplit(part, absl::MaxSplits('-', 1));
    int64_t first = 0, last = 0;
    if (!absl::SimpleAtoi(ends.first, &first)) continue;
    last = first;
    if (!ends.second.empty() && !absl::SimpleAtoi(ends.second, &last)) continue;
    for (int64_t i = first; i <= std::min(last, kMostPods); ++i) out.insert(i);
  }
  return out;
}

std::string TextOfIndexes(const std::set<int64_t>& indexes) {
  std::string out;
  for (auto it = indexes.begin(); it != indexes.end();) {
    const int64_t first = *it;
    int64_t last = first;
    while (++it != indexes.end() && *it == last + 1) ++last;
    absl::StrAppend(&out, out.empty() ? "" : ",", first);
    if (last > first) absl::StrAppend(&out, last == first + 1 ? "," : "-", last);
  }
  return out;
}

FailureVerdict JudgeFailure(const Value& job, const Value& pod) {
  const Value* rules = job.At({"spec", "podFailurePolicy", "rules"});
  if (rules == nullptr) return {};
  for (size_t i = 0; i < rules->items.size(); ++i) {
    const Value& rule = rules->items[i];
    const std::string about = absl::StrCat(util::ToAbsl(NamespaceOf(pod)), "/", util::ToAbsl(NameOf(pod)));
    const std::string by = absl::StrCat(" matching ", util::ToAbsl(rule.Str("action")), " rule at index ", i);
    if (const Value* codes = rule.Find("onExitCodes"); codes != nullptr && codes->IsObject()) {
      if (const auto ended = MatchesCodes(*codes, pod)) {
        return {ActionOf(rule.Str("action")), absl::StrCat("Container ", util::ToAbsl(ended->name), " for pod ", about,
                                                           " failed with exit code ", ended->code, by)};
      }
    } else if (const Value* conditions = rule.Find("onPodConditions"); conditions != nullptr) {
      if (const std::string_view type = MatchesConditions(*conditions, pod); !type.empty()) {
        return {ActionOf(rule.Str("action")), absl::StrCat("Pod ", about, " has condition ", util::ToAbsl(type), by)};
      }
    }
  }
  return {};
}

std::optional<std::string> MetSuccessRule(const Value& job, const std::set<int64_t>& succeeded) {
  const Value* rules = job.At({"spec", "successPolicy", "rules"});
  if (rules == nullptr) return std::nullopt;
  for (size_t i = 0; i < rules->items.size(); ++i) {
    const Value& rule = rules->items[i];
    const std::string_view listed = rule.Str("succeededIndexes");
    std::set<int64_t> among = succeeded;
    const std::set<int64_t> wanted = IndexesOf(listed);
    if (!listed.empty()) std::erase_if(among, [&](int64_t index) { return !wanted.contains(index); });
    const int64_t enough = NumberAt(rule, {"succeededCount"}, static_cast<int64_t>(wanted.size()));
    if (static_cast<int64_t>(among.size()) >= enough) return absl::StrCat("Matched rules at index ", i);
  }
  return std::nullopt;
}

}  // namespace berth::world::living
