#include "pkg/simulate/csv.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <sys/stat.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>

#include "pkg/api/labels.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"

namespace berth::simulate {
namespace {

constexpr unsigned kBuffer = 1 << 18;

// The longest line. A longer one is no line of a CSV file that a person wants to read here.
constexpr size_t kLongestLine = size_t{1} << 20;

class FileLines final : public Lines {
 public:
  FileLines(gzFile file, std::string path) : file_(file), path_(std::move(path)) { buffer_.resize(kBuffer); }
  ~FileLines() override { gzclose(file_); }

  bool Next(std::string_view* line) override {
    long_.clear();
    for (;;) {
      const char* const begin = buffer_.data() + at_;
      const auto* end = static_cast<const char*>(std::memchr(begin, '\n', have_ - at_));
      if (end != nullptr) {
        const std::string_view piece(begin, static_cast<size_t>(end - begin));
        at_ += piece.size() + 1;
        *line = long_.empty() ? piece : std::string_view(long_.append(piece));
        if (line->ends_with('\r')) line->remove_suffix(1);
        return true;
      }
      long_.append(begin, have_ - at_);
      at_ = have_ = 0;
      if (long_.size() > kLongestLine) {
        status_ = util::InvalidArgument(absl::StrCat(path_, ": a line is longer than a megabyte: is this a CSV file?"));
        return false;
      }
      if (!Fill()) break;
    }
    *line = long_;
    return status_.ok() && !long_.empty();
  }
  absl::Status status() const override { return status_; }

 private:
  bool Fill() {
    const int got = gzread(file_, buffer_.data(), kBuffer);
    if (got < 0) {
      int code = 0;
      const char* const why = gzerror(file_, &code);
      status_ = util::InvalidArgument(absl::StrCat(path_, ": cannot read: ", code == Z_ERRNO ? strerror(errno) : why));
      return false;
    }
    have_ = static_cast<size_t>(got);
    return got > 0;
  }

  gzFile file_;
  const std::string path_;
  std::string buffer_, long_;  // long_: the beginning of a line that is not whole in buffer_
  size_t at_ = 0, have_ = 0;
  absl::Status status_;
};

class TextLines final : public Lines {
 public:
  explicit TextLines(std::string_view text) : text_(text) {}
  bool Next(std::string_view* line) override {
    if (text_.empty()) return false;
    const size_t end = text_.find('\n');
    *line = text_.substr(0, end);
    text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
    if (line->ends_with('\r')) line->remove_suffix(1);
    return true;
  }

 private:
  std::string_view text_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Lines>> OpenLines(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
    return util::InvalidArgument(absl::StrCat(path, ": is a folder"));
  }
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return util::InvalidArgument(absl::StrCat(path, ": cannot open: ", strerror(errno)));
  gzbuffer(file, kBuffer);
  return std::unique_ptr<Lines>(std::make_unique<FileLines>(file, path));
}

std::unique_ptr<Lines> LinesOf(std::string_view text) {
  return std::make_unique<TextLines>(text);
}

namespace {

absl::Status NotA(const Cell& cell, std::string_view value, std::string_view what,
                  const std::vector<std::string>& problems) {
  if (problems.empty()) return absl::OkStatus();
  return ErrorAt(cell, absl::StrCat(util::GoQuoted(value), " is not a ", util::ToAbsl(what), ": ", problems[0]));
}

}  // namespace

absl::Status CheckName(const Cell& cell, std::string_view value) {
  return NotA(cell, value, "name", api::Dns1123SubdomainProblems(value));
}

absl::Status CheckNamespace(const Cell& cell, std::string_view value) {
  std::vector<std::string> problems = api::Dns1123SubdomainProblems(value);
  constexpr size_t kLongest = 63;
  if (problems.empty() && (value.size() > kLongest || value.find('.') != std::string_view::npos)) {
    problems.push_back(absl::StrCat("must be no more than ", kLongest, " characters, without dots"));
  }
  return NotA(cell, value, "namespace", problems);
}

absl::Status CheckLabelValue(const Cell& cell, std::string_view value) {
  return NotA(cell, value, "label value", api::LabelValueProblems(value));
}

absl::Status ReadCount(const Cell& cell, std::string_view value, int64_t least, int64_t* out) {
  if (absl::SimpleAtoi(util::ToAbsl(value), out) && *out >= least && *out <= kMostPodsAtOnce) return absl::OkStatus();
  return ErrorAt(cell, absl::StrCat(util::GoQuoted(value), " is not a number from ", least, " to ", kMostPodsAtOnce));
}

absl::Status ErrorAt(const Cell& cell, std::string_view what) {
  std::string place;
  if (cell.line > 0) absl::StrAppend(&place, util::ToAbsl(cell.file), ":", cell.line, ": ");
  if (!cell.column.empty()) absl::StrAppend(&place, "column ", util::ToAbsl(cell.column), ": ");
  return util::InvalidArgument(absl::StrCat(place, util::ToAbsl(what)));
}

}  // namespace berth::simulate
