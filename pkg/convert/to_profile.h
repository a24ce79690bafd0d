// Says a meaning with the plugins of a release.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pkg/convert/meaning.h"
#include "pkg/scheduler/configuration/plugins.h"

namespace berth::convert {

// What a profile is to run in a release: plugins that it has.
struct Wanted {
  std::vector<std::string> filters;
  std::vector<std::pair<std::string, int64_t>> scores;  // with weights
  std::map<std::string, configuration::PluginArgs, std::less<>> args;

  bool Filters(std::string_view name) const;
  bool Scores(std::string_view name) const;
};

// Returns the plugins of the release that do what the profile means. Rules that it does not have are replaced by what
// comes nearest, or left out; `notes` says so for each. `path` is how notes name the profile; it may be empty.
Wanted WantedIn(const ProfileMeaning& profile, const configuration::PluginCatalogue& catalogue, const std::string& path,
                Notes* notes);

}  // namespace berth::convert
