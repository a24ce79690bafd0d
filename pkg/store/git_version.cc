#include "pkg/store/git_version.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "pkg/util/version.h"

namespace berth::apiserver {

std::string GitVersion(Version release) {
  const std::string version(util::Version());  // v1.10.0-berth.1
  const std::string ours = version.substr(std::min(version.find('-'), version.size()));
  return absl::StrCat("v", release::NameOf(release), ".0", ours);
}

}  // namespace berth::apiserver
