#include "pkg/scheduler/factory/from_profile.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <optional>
#include <string>
#include <utility>

#include "pkg/http/url.h"
#include "pkg/scheduler/algorithmprovider/v1_29.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"

namespace berth::scheduler {

absl::StatusOr<std::unique_ptr<GenericScheduler>> CreateFromProfile(const configuration::ResolvedProfile& profile,
                                                                    const std::vector<ExtenderConfig>& extenders,
                                                                    FactoryArgs args) {
  std::optional<AlgorithmConfig> config = algorithmprovider::AlgorithmOf(profile, args.cache);
  if (!config) {
    return util::InvalidArgument(absl::StrCat("profile ", util::GoQuoted(profile.scheduler_name),
                                              ": its combination of plugins and extension points is not supported: a "
                                              "plugin that filters or scores must be enabled at preFilter or preScore "
                                              "as well, and only the in-tree plugins are known"));
  }
  std::vector<std::string> errors;
  for (const ExtenderConfig& e : extenders) {
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
  return std::make_unique<GenericScheduler>(args.cache, std::move(*config), args.nominated);
}

}  // namespace berth::scheduler
