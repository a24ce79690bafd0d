#include "pkg/release/release.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "pkg/util/go_text.h"
#include "pkg/util/status.h"

namespace berth::release {
namespace {

constexpr std::string_view kDefaultName = "1.10";

}  // namespace

std::string NameOf(Version version) {
  return absl::StrCat("1.", static_cast<int>(version.minor_));
}

std::string NamesWith(std::string_view separator) {
  std::string out;
  for (const Id& id : All()) {
    if (!out.empty()) out += separator;
    out += id.name;
  }
  return out;
}

std::string Names() {
  const auto all = All();
  std::string out;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i > 0) out += i + 1 == all.size() ? " or " : ", ";
    out += all[i].name;
  }
  return out;
}

absl::StatusOr<const Id*> Named(std::string_view name) {
  const auto all = All();
  auto it = std::find_if(all.begin(), all.end(), [&](const Id& id) { return id.name == name; });
  if (it != all.end()) return &*it;
  return util::InvalidArgument(absl::StrCat("invalid value ", util::GoQuoted(name), ": must be ", Names()));
}

const Id& Default() {
  return **Named(kDefaultName);
}

}  // namespace berth::release
