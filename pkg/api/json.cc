// Invariant of a Document: nodes_ is in document order, and `next` of a node is the index after it and everything
// inside it, so children are visited by following `next`.
#include "pkg/api/json.h"

#include <absl/strings/cord.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>

#include "pkg/api/json_text.h"
#include "pkg/api/json_writer.h"
#include "pkg/api/line_column.h"

namespace berth::api {

// ---- Json ---------------------------------------------------------------------------------------

int64_t Json::Int() const {
  return IsInt() ? static_cast<int64_t>(doc_->nodes_[index_].number) : 0;
}
double Json::Double() const {
  if (IsInt()) return static_cast<double>(Int());
  if (type() != Type::kDouble) return 0;
  double d;
  std::memcpy(&d, &doc_->nodes_[index_].number, sizeof d);
  return d;
}
std::string_view Json::Text() const {
  if (!IsString() && !IsNumber()) return {};
  const auto& n = doc_->nodes_[index_];
  return std::string_view(doc_->text_).substr(n.begin, n.size);
}
size_t Json::begin_offset() const {
  return doc_ == nullptr ? 0 : doc_->source_begin_ + doc_->nodes_[index_].from;
}
size_t Json::end_offset() const {
  return doc_ == nullptr ? 0 : doc_->source_begin_ + doc_->nodes_[index_].to;
}
size_t Json::size() const {
  return IsArray() || IsObject() ? doc_->nodes_[index_].size : 0;
}

Json Json::FindExact(std::string_view key) const {
  Json found;
  if (IsObject()) {
    for (auto [k, v] : Children()) {
      if (k == key) found = v;
    }
  }
  return found;
}
Json Json::Find(std::string_view key) const {
  Json found;
  if (IsObject()) {
    for (auto [k, v] : Children()) {
      if (internal::SameIgnoringCase(k, key)) found = v;
    }
  }
  return found;
}

std::string_view Json::CompactSource() const {
  if (doc_ == nullptr || !doc_->compact_source_) return {};
  const auto& whole = doc_->nodes_[index_];
  return std::string_view(doc_->text_).substr(whole.from, whole.to - whole.from);
}

std::string Json::Serialize() const {
  if (doc_ == nullptr) return "null";
  const std::string_view source = CompactSource();
  if (!source.empty() && internal::IsAsSerialized(source)) return std::string(source);
  std::string out;
  // Compact text is as long as its source, or shorter.
  if (const auto& whole = doc_->nodes_[index_]; whole.to > whole.from) out.reserve(whole.to - whole.from);
  JsonWriter writer(&out);
  struct Open {
    uint32_t end;
    bool object;
  };
  std::vector<Open> open;
  const uint32_t last = doc_->nodes_[index_].next;
  for (uint32_t i = index_; i < last; ++i) {
    for (; !open.empty() && open.back().end == i; open.pop_back()) writer.End();
    const auto& n = doc_->nodes_[i];
    if (!open.empty() && open.back().object) {
      writer.Key(std::string_view(doc_->text_).substr(n.key_begin, n.key_size));
    }
    const Json v(doc_, i);
    const bool container = n.type == Type::kObject || n.type == Type::kArray;
    if (container && n.number != 0) {
      writer.Literal(std::string_view(doc_->text_).substr(n.from, n.to - n.from));
    } else if (n.type == Type::kObject) {
      writer.Object();
      open.push_back({n.next, true});
    } else if (n.type == Type::kArray) {
      writer.Array();
      open.push_back({n.next, false});
    } else if (n.type == Type::kString) {
      writer.Text(v.Text());
    } else if (n.type == Type::kTrue || n.type == Type::kFalse) {
      writer.Bool(n.type == Type::kTrue);
    } else {
      writer.Literal(n.type == Type::kNull ? "null" : v.Text());
    }
  }
  for (; !open.empty(); open.pop_back()) writer.End();
  return out;
}

std::string Json::Brief() const {
  std::string s = Serialize();
  constexpr size_t kMost = 60;
  if (s.size() > kMost) {
    size_t cut = kMost;
    while (cut > 0 && (static_cast<unsigned char>(s[cut]) & 0xC0) == 0x80) --cut;
    s = s.substr(0, cut) + "...";
  }
  return s;
}

// ---- places in a text ---------------------------------------------------------------------------

namespace {
constexpr char kOffsetPayload[] = "berth/offset";
}  // namespace

std::string LineAndColumn(std::string_view text, size_t offset) {
  return LineColumns(text).At(offset);
}

absl::Status AtValue(absl::Status error, Json value) {
  if (!error.ok()) error.SetPayload(kOffsetPayload, absl::Cord(absl::StrCat(value.begin_offset())));
  return error;
}

std::optional<size_t> OffsetOf(const absl::Status& error) {
  size_t offset = 0;
  auto payload = error.GetPayload(kOffsetPayload);
  if (!payload || !absl::SimpleAtoi(std::string(*payload), &offset)) return std::nullopt;
  return offset;
}

// ---- DocumentBuilder ----------------------------------------------------------------------------

void DocumentBuilder::Reset() {
  doc_->nodes_.clear();
  doc_->text_.clear();
  doc_->compact_source_ = false;
  doc_->source_begin_ = 0;
  open_.clear();
  key_begin_ = key_size_ = 0;
}

// Returns the place of the text.
size_t DocumentBuilder::Append(std::string_view text) {
  const size_t at = doc_->text_.size();
  doc_->text_.append(text);
  return at;
}

void DocumentBuilder::Key(std::string_view key) {
  KeyInSource(Append(key), key.size());
}
void DocumentBuilder::Null(size_t from, size_t to) {
  Add(Json::Type::kNull, from, to);
}
void DocumentBuilder::Bool(bool b, size_t from, size_t to) {
  Add(b ? Json::Type::kTrue : Json::Type::kFalse, from, to);
}
void DocumentBuilder::Int(int64_t v, std::string_view text, size_t from, size_t to) {
  AddText(Json::Type::kInt, Append(text), text.size(), from, to).number = static_cast<uint64_t>(v);
}
void DocumentBuilder::IntInSource(int64_t v, size_t from, size_t to) {
  AddText(Json::Type::kInt, from, to - from, from, to).number = static_cast<uint64_t>(v);
}
void DocumentBuilder::DoubleInSource(double v, size_t from, size_t to) {
  std::memcpy(&AddText(Json::Type::kDouble, from, to - from, from, to).number, &v, sizeof v);
}
void DocumentBuilder::Double(double v, std::string_view text, size_t from, size_t to) {
  auto& n = AddText(Json::Type::kDouble, Append(text), text.size(), from, to);
  std::memcpy(&n.number, &v, sizeof v);
}
void DocumentBuilder::String(std::string_view s, size_t from, size_t to) {
  AddText(Json::Type::kString, Append(s), s.size(), from, to);
}
}  // namespace berth::api
