// Dialects for tests of the client: one without and one with bookmarks and stable versions.
#pragma once
#include "pkg/api/dialect.h"

namespace berth::client::testing {

inline constexpr api::Dialect k1_10 = {.version = {10}, .lock = "endpoints"};
inline constexpr api::Dialect kCurrent = {.version = {29}, .bookmarks = true, .lock = "leases"};

}  // namespace berth::client::testing
