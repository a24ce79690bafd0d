// How new the objects are that have been seen. Versions are compared as numbers, which the API does not promise but
// every server does; a version that is no number is never newer or older than another.
#pragma once
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace berth::client {

class NewestVersion {
 public:
  static std::optional<uint64_t> Number(std::string_view version) {
    uint64_t n = 0;
    const auto r = std::from_chars(version.data(), version.data() + version.size(), n);
    if (version.empty() || r.ec != std::errc() || r.ptr != version.data() + version.size()) return std::nullopt;
    return n;
  }

  void Note(std::string_view version) {
    if (const auto n = Number(version); n && *n > newest_) newest_ = *n;
  }
  // Begins anew with a version that may be older.
  void Reset(std::string_view version) { newest_ = Number(version).value_or(0); }
  bool IsNewerThan(std::string_view version) const {
    const auto n = Number(version);
    return n && *n < newest_;
  }
  uint64_t number() const { return newest_; }

 private:
  uint64_t newest_ = 0;
};

}  // namespace berth::client
