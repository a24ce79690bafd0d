// Conversions between std::string_view, which we use, and the string_view of Debian's abseil, which is a type of its
// own.
#pragma once
#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <string>
#include <string_view>

namespace berth::util {

inline absl::string_view ToAbsl(std::string_view s) {
  return {s.data(), s.size()};
}
inline std::string_view FromAbsl(absl::string_view s) {
  return {s.data(), s.size()};
}

inline absl::Status InvalidArgument(std::string_view m) {
  return absl::InvalidArgumentError(ToAbsl(m));
}
inline absl::Status NotFound(std::string_view m) {
  return absl::NotFoundError(ToAbsl(m));
}
inline absl::Status FailedPrecondition(std::string_view m) {
  return absl::FailedPreconditionError(ToAbsl(m));
}
inline absl::Status Unavailable(std::string_view m) {
  return absl::UnavailableError(ToAbsl(m));
}
inline absl::Status Internal(std::string_view m) {
  return absl::InternalError(ToAbsl(m));
}

// Returns the message of a status without its code.
inline std::string Message(const absl::Status& s) {
  return std::string(FromAbsl(s.message()));
}

}  // namespace berth::util

// Returns from the enclosing function with the status of `expr` if it is not OK.
#define BERTH_RETURN_IF_ERROR(expr) BERTH_RETURN_IF_ERROR_AS(BERTH_STATUS_NAME(__LINE__), expr)
#define BERTH_STATUS_NAME(line) BERTH_STATUS_NAME_(line)
#define BERTH_STATUS_NAME_(line) berth_status_##line
#define BERTH_RETURN_IF_ERROR_AS(name, expr) \
  do {                                       \
    if (auto name = (expr); !name.ok()) {    \
      return name;                           \
    }                                        \
  } while (false)
