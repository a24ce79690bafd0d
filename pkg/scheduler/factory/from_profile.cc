#include "pkg/scheduler/factory/from_profile.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <string>
#include <utility>

#include "pkg/http/url.h"
#include "pkg/scheduler/algorithmprovider/v1_29.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"

namespace berth::scheduler {
namespace {
constexpr int64_t kMaxExtenderScore = 10;
}

absl::StatusOr<std::unique_ptr<GenericScheduler>> CreateFromProfile(const configuration::ResolvedProfile& profile,
                                                                    const std::vector<ExtenderConfig>& extenders,
                                                                    FactoryArgs args, EffectiveAlgorithm* effective) {
  PluginFactoryArgs rules;
  rules.cache = args.cache;
  rules.claim_binder = args.claim_binder;
  for (const ExtenderConfig& e : extenders) {
    for (const ExtenderManagedResource& m : e.managed_resources) {
      if (m.ignored_by_scheduler) rules.ignored_extended_resources.insert(Symbol(m.name));
    }
  }
  auto config = algorithmprovider::AlgorithmOf(profile, std::move(rules), FrozenRegistry());
  if (!config.ok()) {
    return util::InvalidArgument(
        absl::StrCat("profile ", util::GoQuoted(profile.scheduler_name), ": ", config.status().message()));
  }
  std::vector<std::string> errors;
  // As in 1.29, extenders that are ignorable are called last, and the scores of extenders, which go from 0 to 10, are
  // scaled to those of plugins.
  std::vector<ExtenderConfig> asked = extenders;
  std::stable_partition(asked.begin(), asked.end(), [](const ExtenderConfig& e) { return !e.ignorable; });
  for (ExtenderConfig& e : asked) {
    e.weight *= config->release->max_score / kMaxExtenderScore;
    e.as_v1_29 = true;
    if (args.make_extender == nullptr) {
      errors.push_back(
          absl::StrCat("extender ", http::RedactUrl(e.url_prefix), ": extenders cannot be called from here"));
    } else if (auto extender = args.make_extender(e); extender.ok()) {
      config->extenders.push_back(std::move(*extender));
    } else {
      errors.push_back(util::Message(extender.status()));
    }
  }
  if (!errors.empty()) return util::InvalidArgument(absl::StrJoin(errors, "; "));
  if (effective != nullptr) {
    *effective = {};
    for (const auto& p : config->predicates) effective->predicates.push_back(p.name);
    for (const auto& p : config->priorities) effective->priorities.emplace_back(p.name, p.weight);
    effective->not_incremental = config->NotIncremental();
  }
  return std::make_unique<GenericScheduler>(args.cache, std::move(*config), args.nominated, args.clock);
}

}  // namespace berth::scheduler
