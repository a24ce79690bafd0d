// The Kubernetes releases whose API is implemented: their fields, kinds, defaults and rules.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace berth::validation {

enum class Release : uint8_t { k1_10, k1_29 };

// Returns "1.10" or "1.29".
constexpr std::string_view Name(Release release) {
  return release == Release::k1_10 ? "1.10" : "1.29";
}
constexpr std::optional<Release> ReleaseNamed(std::string_view name) {
  if (name == "1.10") return Release::k1_10;
  if (name == "1.29") return Release::k1_29;
  return std::nullopt;
}

}  // namespace berth::validation
