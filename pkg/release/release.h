// The releases of Kubernetes that can be emulated, by name, and the means to write tables of what comes and goes with
// releases. What a release is stands in its folder of pkg/releases; this package only knows names and their order.
#pragma once
#include <absl/status/statusor.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "pkg/util/contract.h"

namespace berth::release {

// Kubernetes 1.<minor>. Tables with since and until are asked with a version. The number cannot be read outside this
// package, so that nothing else decides by it.
class Version {
 public:
  // No version; tables that begin with {0} have a value for it.
  constexpr Version() = default;
  constexpr Version(uint8_t minor) : minor_(minor) {}  // NOLINT: implicit, so that tables can be written as {19}
  // Returns whether this is a version of Kubernetes.
  constexpr bool IsSet() const { return minor_ > 0; }
  // Returns the version before and the one after this one. REQUIRES: IsSet().
  constexpr Version Previous() const {
    BERTH_REQUIRES(IsSet());
    return Version(static_cast<uint8_t>(minor_ - 1));
  }
  constexpr Version Next() const {
    BERTH_REQUIRES(IsSet());
    return Version(static_cast<uint8_t>(minor_ + 1));
  }
  friend constexpr auto operator<=>(const Version&, const Version&) = default;
  // Returns "1.11" for a version of which there need be no release.
  friend std::string NameOf(Version version);

 private:
  uint8_t minor_ = 0;
};
std::string NameOf(Version version);

// since <= v < until. A default span has every version.
struct Span {
  static constexpr Version kNever{255};  // later than every version
  Version since{0}, until{kNever};
  constexpr bool Has(Version v) const { return since <= v && v < until; }
  // Returns whether there are versions before the span, and whether it ends.
  constexpr bool HasBeginning() const { return since.IsSet(); }
  constexpr bool HasEnd() const { return until < kNever; }
};
constexpr Span Since(uint8_t minor) {
  return {.since = {minor}, .until = Span::kNever};
}
constexpr Span Until(uint8_t minor) {
  return {.since = {0}, .until = {minor}};
}
// Returns the span with only this version.
constexpr Span Only(Version version) {
  return {.since = version, .until = version.Next()};
}

// A value that holds from a version on, until another row of the table replaces it.
template <typename T>
struct From {
  Version since;
  T value;
};
// Returns the value that holds in a version. REQUIRES: the rows are in ascending order, and the first is not newer than
// the version.
template <typename T, size_t N>
constexpr const T& At(const From<T> (&rows)[N], Version version) {
  BERTH_REQUIRES(rows[0].since <= version);
  const From<T>* found = &rows[0];
  for (const From<T>& row : rows) {
    if (row.since <= version) found = &row;
  }
  return found->value;
}

// A release that can be emulated. Two entries of the list may have the same version: then they differ only in name.
struct Id {
  std::string_view name;   // "1.29"; the value of --emulated-version
  Version version;         // what tables and pkg/releases are asked with
  std::string_view patch;  // "v1.29.14": the release whose behaviour was recorded or, without recordings, the last one
};

// Returns all releases in ascending order (list.cc).
std::span<const Id> All();
// Returns the release with this name, such as "1.29", or the one error that says which names there are:
// invalid value "1.20": must be 1.10 or 1.29. The caller adds the name of the flag or field.
absl::StatusOr<const Id*> Named(std::string_view name);
// Returns the release that programs emulate unless they are told otherwise: 1.10. Only programs and what reads their
// input may call this.
const Id& Default();
// Returns the names for messages: "1.10, 1.13 or 1.29", or with another separator: "1.10|1.13|1.29".
std::string Names();
std::string NamesWith(std::string_view separator);

}  // namespace berth::release
