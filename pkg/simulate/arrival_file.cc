#include "pkg/simulate/arrival_file.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "pkg/api/stream.h"
#include "pkg/simulate/csv.h"
#include "pkg/simulate/row_pods.h"
#include "pkg/simulate/times.h"
#include "pkg/util/csv.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"

namespace berth::simulate {

// Reads rows, one after another.
class ArrivalFile::Rows {
 public:
  Rows(const ArrivalFile& file, const std::vector<Column>* columns)
      : file_(file), columns_(columns), pods_(columns, file.known_) {
    for (size_t i = 0; i < columns->size(); ++i) {
      if ((*columns)[i].role == Role::kTemplate) template_ = i;
      if ((*columns)[i].role == Role::kNamespace) namespace_ = i;
    }
  }

  // Reads a line; blank ones are no rows.
  absl::Status Read(std::string_view line, size_t number) {
    cell_ = {file_.path_, number, {}};
    if (!util::SplitCsv(line, &fields_, &unquoted_)) return ErrorAt(cell_, "a quote is not closed");
    if (fields_.size() != columns_->size()) {
      return ErrorAt(cell_, absl::StrCat("the row has ", fields_.size(), " fields, and the header ", columns_->size()));
    }
    row_ = {};
    count_ = 1;
    scheduled_ = kNever;
    std::string_view ends;
    for (size_t i = 0; i < fields_.size(); ++i) {
      cell_.column = (*columns_)[i].name;
      BERTH_RETURN_IF_ERROR(ReadOwn((*columns_)[i].role, fields_[i], &ends));
    }
    if (!ends.empty()) BERTH_RETURN_IF_ERROR(ReadEnd(ends));
    cell_.column = {};
    // A row with the name of a pending pod of the input is about that pod.
    if (const api::PodPtr given = Given(); given != nullptr && count_ == 1) {
      row_.pod = given;
      row_.as_is = true;
      return absl::OkStatus();
    }
    auto pod = pods_.Of(fields_, cell_);
    if (!pod.ok()) return pod.status();
    row_.pod = *std::move(pod);
    row_.as_is = false;
    return absl::OkStatus();
  }

  // The row that was read, and how many pods it stands for.
  const Arrival& row() const { return row_; }
  int64_t count() const { return count_; }
  // Returns the pod that the row names as its template; null if it names none.
  api::PodPtr Template() const {
    if (template_ == kNone || fields_[template_].empty()) return nullptr;
    auto found = file_.known_->templates.find(std::string(fields_[template_]));
    return found == file_.known_->templates.end() ? nullptr : found->second;
  }
  // Writes the i-th pod of the row.
  void Get(int64_t i, Arrival* out) const {
    out->at = row_.at;
    out->duration = row_.duration;
    out->pod = row_.pod;
    out->as_is = row_.as_is;
    out->name.assign(name_);
    if (count_ > 1) absl::StrAppend(&out->name, "-", i);
  }

 private:
  absl::Status ReadOwn(Role role, std::string_view field, std::string_view* ends) {
    switch (role) {
      case Role::kTime:
        return ReadTime(field, &row_.at);
      case Role::kDuration:
        return field.empty() ? absl::OkStatus() : ReadTime(field, &row_.duration);
      case Role::kDeletionTime:
        *ends = field;
        break;
      case Role::kScheduledTime:
        return field.empty() ? absl::OkStatus() : ReadTime(field, &scheduled_);
      case Role::kName:
        if (field.empty()) return ErrorAt(cell_, "must not be empty");
        name_.assign(field);
        return CheckName(cell_, field);
      case Role::kCount:
        return field.empty() ? absl::OkStatus() : ReadCount(cell_, field, 1, &count_);
      default:
        break;
    }
    return absl::OkStatus();
  }
  absl::Status ReadTime(std::string_view field, Micros* out) const {
    auto time = ParseTime(field);
    if (!time.ok()) return ErrorAt(cell_, util::Message(time.status()));
    *out = *time;
    return absl::OkStatus();
  }
  absl::Status ReadEnd(std::string_view ends) {
    cell_.column = "deletion_time";
    Micros end = 0;
    BERTH_RETURN_IF_ERROR(ReadTime(ends, &end));
    if (end < row_.at) {
      return ErrorAt(cell_,
                     absl::StrCat(util::GoQuoted(ends), ": the pod ends before it arrives, at ", SecondsText(row_.at)));
    }
    // It ran from when it was scheduled. A time beyond its life, as is left when others were moved, says nothing.
    row_.duration = end - (scheduled_ >= row_.at && scheduled_ <= end ? scheduled_ : row_.at);
    return absl::OkStatus();
  }
  api::PodPtr Given() const {
    if (file_.known_->pending.empty() || (template_ != kNone && !fields_[template_].empty())) return nullptr;
    const auto& pending = file_.known_->pending;
    auto found = namespace_ == kNone || fields_[namespace_].empty()
                     ? pending.find(name_)
                     : pending.find(absl::StrCat(util::ToAbsl(fields_[namespace_]), "/", name_));
    return found == pending.end() ? nullptr : found->second;
  }

  static constexpr size_t kNone = std::numeric_limits<size_t>::max();
  const ArrivalFile& file_;
  const std::vector<Column>* columns_;
  RowPods pods_;
  size_t template_ = kNone, namespace_ = kNone;
  std::vector<std::string_view> fields_;
  std::vector<std::string> unquoted_;
  Cell cell_;
  Arrival row_;
  Micros scheduled_ = kNever;
  std::string name_;
  int64_t count_ = 1;
};

namespace {

absl::StatusOr<std::vector<Column>> ReadHeader(const std::string& path, Lines* lines) {
  std::string_view line;
  std::vector<std::string_view> fields;
  std::vector<std::string> unquoted;
  if (!lines->Next(&line)) {
    if (!lines->status().ok()) return lines->status();
    return util::InvalidArgument(
        absl::StrCat(path, ": the file is empty: it must begin with a line that names the columns"));
  }
  if (line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  if (!util::SplitCsv(line, &fields, &unquoted)) return ErrorAt({path, 1, {}}, "a quote is not closed");
  auto columns = RolesOf(fields);
  if (!columns.ok()) return ErrorAt({path, 1, {}}, util::Message(columns.status()));
  return columns;
}

}  // namespace

// The arrivals of a file whose rows are in the order of time, or of one whose rows are kept, in that order.
class ArrivalFile::Sorted final : public ArrivalSource {
 public:
  Sorted(const ArrivalFile& file, std::vector<Column> columns, std::unique_ptr<Lines> lines)
      : file_(file), columns_(std::move(columns)), lines_(std::move(lines)), rows_(file, &columns_) {}

  bool Next(Arrival* out) override {
    while (next_ == rows_count_) {
      if (!status_.ok() || !NextRow()) return false;
    }
    rows_.Get(next_++, out);
    return true;
  }
  absl::Status status() const override { return status_.ok() ? lines_->status() : status_; }

 private:
  bool NextRow() {
    next_ = rows_count_ = 0;
    std::string_view line;
    size_t number = 0;
    if (!file_.order_.empty()) {
      if (place_ == file_.order_.size()) return false;
      const Place& p = file_.order_[place_++];
      line = std::string_view(file_.text_).substr(p.begin, p.size);
      number = p.line;
    } else {
      if (!lines_->Next(&line)) return false;
      number = ++line_;
      if (line.empty()) return true;
    }
    status_ = rows_.Read(line, number);
    if (!status_.ok()) return false;
    rows_count_ = rows_.count();
    // The file may have changed since it was checked.
    if (rows_.row().at < last_) status_ = ErrorAt({file_.path_, number, {}}, "the file has changed while it was read");
    last_ = std::max(last_, rows_.row().at);
    return status_.ok();
  }

  const ArrivalFile& file_;
  const std::vector<Column> columns_;
  std::unique_ptr<Lines> lines_;
  Rows rows_;
  int64_t next_ = 0, rows_count_ = 0;
  size_t line_ = 1, place_ = 0;
  Micros last_ = 0;
  absl::Status status_;
};

absl::Status ArrivalFile::NoteRow(const Rows& rows, size_t line, Facts* facts) {
  Arrival arrival;
  facts->out_of_order += rows.row().at < facts_.last_time;
  for (int64_t i = 0; i < rows.count(); ++i) {
    rows.Get(i, &arrival);
    facts_.Add(arrival);
  }
  if (const api::PodPtr like = rows.Template(); like != nullptr && !like->tmpl->controller) named_.insert(like.get());
  if (!arrival.as_is) return absl::OkStatus();
  ++facts->given;
  if (named_.insert(arrival.pod.get()).second) return absl::OkStatus();
  return ErrorAt({path_, line, "name"},
                 absl::StrCat("pod ", arrival.pod->meta.Key(), " of the input arrives a second time"));
}

absl::Status ArrivalFile::ReadRows(Facts* facts) {
  auto lines = kept_ ? absl::StatusOr<std::unique_ptr<Lines>>(LinesOf(text_)) : OpenLines(path_);
  if (!lines.ok()) return lines.status();
  auto columns = ReadHeader(path_, lines->get());
  if (!columns.ok()) return columns.status();
  *facts = {.openb = IsOpenb(*columns)};
  facts_ = {};
  named_.clear();
  Rows rows(*this, &*columns);
  std::string_view line;
  for (size_t number = 2; (*lines)->Next(&line); ++number) {
    if (line.empty()) continue;
    BERTH_RETURN_IF_ERROR(rows.Read(line, number));
    BERTH_RETURN_IF_ERROR(NoteRow(rows, number, facts));
    if (!kept_) continue;
    order_.push_back({rows.row().at, static_cast<uint64_t>(line.data() - text_.data()), static_cast<uint32_t>(number),
                      static_cast<uint32_t>(line.size())});
  }
  return (*lines)->status();
}

absl::Status ArrivalFile::Keep(const std::string& path) {
  auto text = api::ReadInput(path);
  if (!text.ok()) return text.status();
  text_ = *std::move(text);
  kept_ = true;
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ArrivalFile>> ArrivalFile::Open(const std::string& path, const KnownPods* known) {
  std::unique_ptr<ArrivalFile> file(new ArrivalFile());
  file->path_ = path == "-" ? "standard input" : path;
  file->known_ = known;
  Facts facts;
  if (path == "-") BERTH_RETURN_IF_ERROR(file->Keep(path));
  BERTH_RETURN_IF_ERROR(file->ReadRows(&facts));
  if (facts.out_of_order > 0 && !file->kept_) {
    BERTH_RETURN_IF_ERROR(file->Keep(path));
    BERTH_RETURN_IF_ERROR(file->ReadRows(&facts));
  }
  std::stable_sort(file->order_.begin(), file->order_.end(),
                   [](const Place& a, const Place& b) { return a.at < b.at; });
  if (facts.openb) file->notes_.push_back(absl::StrCat(file->path_, ": read as a trace of openb"));
  if (facts.given > 0) {
    file->notes_.push_back(absl::StrCat(file->path_, ": ", facts.given,
                                        facts.given == 1 ? " row names a pod" : " rows name pods",
                                        " of the input: such a row says when its pod arrives and for how long it "
                                        "runs, and the rest of the pod is as in the input"));
  }
  if (facts.out_of_order > 0) {
    file->notes_.push_back(absl::StrCat(file->path_, ": ", facts.out_of_order, " of ", file->facts_.pods,
                                        " pods arrive earlier than one before them; they are sorted by time"));
  }
  return file;
}

absl::StatusOr<std::unique_ptr<ArrivalSource>> ArrivalFile::Arrivals() const {
  auto lines = kept_ ? absl::StatusOr<std::unique_ptr<Lines>>(LinesOf(text_)) : OpenLines(path_);
  if (!lines.ok()) return lines.status();
  auto columns = ReadHeader(path_, lines->get());
  if (!columns.ok()) return columns.status();
  return std::unique_ptr<ArrivalSource>(std::make_unique<Sorted>(*this, *std::move(columns), *std::move(lines)));
}

}  // namespace berth::simulate
