// Plugins in profiles that enable only some of their extension points: Filter without PreFilter, Score without
// PreScore, PreFilter without Filter, or PreScore without Score. Upstream accepts such profiles and then fails, or does
// half of the work, for each pod.
#pragma once
#include <span>
#include <string_view>

#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler {

// What the plugins of one release do then.
struct UnpreparedPlugins {
  struct Text {
    std::string_view plugin, error;
    // Whether there is no error where the rule does not concern the pod: a Filter that fits always, a Score that skips.
    bool spares_others = false;
  };
  std::span<const Text> filters;  // whose Filter fails without its PreFilter, and with which error
  std::span<const std::string_view> other_pre_filters;   // other plugins that have a PreFilter
  std::span<const Text> scores;                          // whose Score fails without its PreScore
  std::span<const std::string_view> failing_pre_scores;  // whose PreScore can fail for a pod

  // Returns whether the plugin has a PreFilter.
  bool PreparesFilter(std::string_view plugin) const;
  // Returns whether the Filter of the plugin fails without its PreFilter.
  bool FilterFails(std::string_view plugin) const;
  // Returns the Filter of a plugin without its PreFilter. A plugin whose Filter needs the state of PreFilter reports an
  // error for every node; others never reject the pod as a whole.
  FitPredicate WithoutPreFilter(std::string_view plugin, FitPredicate predicate) const;
  // Returns the Score of a plugin without its PreScore. A plugin whose Score needs the state of PreScore fails; others
  // work as usual.
  PriorityFunction WithoutPreScore(std::string_view plugin, PriorityFunction function) const;
  // Returns whether the PreScore of the plugin can fail for a pod.
  bool PreScoreMayFail(std::string_view plugin) const;
};

// Returns the PreFilter of a plugin without its Filter: it may reject the pod as a whole or restrict the nodes, and
// otherwise every node fits.
FitPredicate PreFilterAlone(FitPredicate predicate);
// Returns the PreScore of a plugin without its Score: it fails for an invalid pod and otherwise adds nothing to the
// totals.
PriorityFunction PreScoreAlone(PriorityFunction function);

}  // namespace berth::scheduler
