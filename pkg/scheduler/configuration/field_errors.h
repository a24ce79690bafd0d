// Errors about fields, worded as in Kubernetes (k8s.io/apimachinery/pkg/util/validation/field).
#pragma once
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/time/time.h>

#include <string>
#include <string_view>
#include <vector>

#include "pkg/scheduler/configuration/problem.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"
#include "pkg/util/suggest.h"

namespace berth::scheduler::configuration {

// Collects errors about fields. Paths are relative to `root`, which is prepended in Problem::path only. If `prefix` is
// not empty, texts begin with it and the errors are of kind kProfile.
class FieldErrors {
 public:
  // `as_json` says that values which are neither numbers nor texts are shown as JSON (since 1.30) and not as Go does.
  FieldErrors(std::vector<Problem>* out, bool as_json, std::string root = {}, std::string prefix = {})
      : out_(out), as_json_(as_json), root_(std::move(root)), prefix_(std::move(prefix)) {}
  bool as_json() const { return as_json_; }

  // These show the value as Go does: numbers plain, texts in quotes.
  void Invalid(const std::string& path, int64_t value, std::string_view detail) {
    InvalidRaw(path, absl::StrCat(value), detail);
  }
  void Invalid(const std::string& path, const std::string& value, std::string_view detail) {
    InvalidRaw(path, util::GoQuoted(value), detail);
  }
  void Invalid(const std::string& path, absl::Duration value, std::string_view detail) {
    InvalidRaw(path,
               as_json_ ? util::GoQuoted(util::FormatGoDuration(value))
                        : absl::StrCat("v1.Duration{Duration:", absl::ToInt64Nanoseconds(value), "}"),
               detail);
  }
  void InvalidRaw(const std::string& path, const std::string& value, std::string_view detail) {
    Add(path, absl::StrCat("Invalid value: ", value, ": ", util::ToAbsl(detail)), {});
  }
  void NotSupported(const std::string& path, const std::string& value, const std::vector<std::string>& supported) {
    std::vector<std::string> quoted;
    for (const std::string& s : supported) quoted.push_back(util::GoQuoted(s));
    Add(path,
        absl::StrCat("Unsupported value: ", util::GoQuoted(value), ": supported values: ", absl::StrJoin(quoted, ", ")),
        util::DidYouMean(value, supported));
  }
  void Required(const std::string& path, std::string_view detail) {
    Add(path, absl::StrCat("Required value", detail.empty() ? "" : ": ", util::ToAbsl(detail)), {});
  }
  void Duplicate(const std::string& path, const std::string& value) {
    Add(path, absl::StrCat("Duplicate value: ", util::GoQuoted(value)), {});
  }
  // Adds an error whose text has the form "PATH: TEXT".
  void Whole(const std::string& text) {
    size_t colon = text.find(": ");
    Add(text.substr(0, colon), text.substr(std::min(text.size(), colon + 2)), {});
  }
  void Forbidden(const std::string& path, std::string_view detail) {
    Add(path, absl::StrCat("Forbidden: ", util::ToAbsl(detail)), {});
  }

 private:
  void Add(const std::string& path, const std::string& what, std::string hint) {
    out_->push_back({prefix_.empty() ? Problem::Kind::kValidation : Problem::Kind::kProfile,
                     root_.empty() ? path : absl::StrCat(root_, ".", path), absl::StrCat(prefix_, path, ": ", what),
                     std::move(hint)});
  }
  std::vector<Problem>* out_;
  bool as_json_;
  std::string root_, prefix_;
};

}  // namespace berth::scheduler::configuration
