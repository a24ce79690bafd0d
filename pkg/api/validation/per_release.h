// Tables that are made once for each release that is asked for, and then stay.
#pragma once
#include <map>
#include <memory>
#include <mutex>

#include "pkg/release/release.h"

namespace berth::validation {

// Each table is made of its release. Thread-safe. The references stay valid.
template <typename T>
class PerRelease {
 public:
  const T& Of(release::Version version) const {
    std::lock_guard lock(mutex_);
    std::unique_ptr<const T>& table = tables_[version];
    if (table == nullptr) table = Make(version);
    return *table;
  }

 private:
  static std::unique_ptr<const T> Make(release::Version version) { return std::unique_ptr<const T>(new T(version)); }
  mutable std::mutex mutex_;
  mutable std::map<release::Version, std::unique_ptr<const T>> tables_;
};

}  // namespace berth::validation
