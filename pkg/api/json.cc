// The complete parser is RapidJSON's SAX reader. White space and the plain parts of strings are skipped in runs instead
// of byte by byte, and UTF-8 is not validated while parsing. Nearly all documents are read by json_quick.h in a third
// of the time; the complete parser reads what that leaves, and says what is wrong with it.
//
// Invariant of a Document: nodes_ is in document order, and `next` of a node is the index after it and everything
// inside it, so children are visited by following `next`.
#include "pkg/api/json.h"

#include <absl/strings/cord.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "pkg/api/json_go.h"
#include "pkg/api/json_quick.h"
#include "pkg/api/json_writer.h"
#include "pkg/api/line_column.h"

namespace berth::api {
namespace {

// A stream over text that need not be terminated by NUL. RapidJSON must not copy it, because the handler reads its
// position.
class TextStream {
 public:
  using Ch = char;
  explicit TextStream(std::string_view t) : begin_(t.data()), pos_(t.data()), end_(t.data() + t.size()) {}
  Ch Peek() const { return pos_ != end_ ? *pos_ : '\0'; }
  Ch Take() { return pos_ != end_ ? *pos_++ : '\0'; }
  size_t Tell() const { return static_cast<size_t>(pos_ - begin_); }
  Ch* PutBegin() { return nullptr; }
  void Put(Ch) {}
  void Flush() {}
  size_t PutEnd(Ch*) { return 0; }

  // The remaining text, and a way to skip a part of it.
  std::string_view Rest() const { return {pos_, static_cast<size_t>(end_ - pos_)}; }
  void Skip(size_t n) { pos_ += n; }
  bool AtEnd() const { return pos_ == end_; }
  // Returns the text between two positions.
  std::string_view Between(size_t from, size_t to) const { return {begin_ + from, to - from}; }

 private:
  const char* begin_;
  const char* pos_;
  const char* end_;
};

// RapidJSON's own function would skip the white space of indented text byte by byte. This overload is chosen by its
// argument.
void SkipWhitespace(TextStream& in) {
  std::string_view rest = in.Rest();
  size_t i = 0;
  while (i < rest.size() && (rest[i] == ' ' || rest[i] == '\n' || rest[i] == '\r' || rest[i] == '\t')) ++i;
  in.Skip(i);
}

// UTF-8 that is copied unchanged, in runs.
struct PlainUtf8 : rapidjson::UTF8<> {};

}  // namespace
}  // namespace berth::api

template <>
class rapidjson::Transcoder<berth::api::PlainUtf8, berth::api::PlainUtf8> {
 public:
  // Called at a byte that begins a run of plain characters.
  template <typename Out>
  static bool Transcode(berth::api::TextStream& in, Out& out) {
    size_t n = berth::api::internal::PlainRun(in.Rest());
    std::memcpy(out.Push(static_cast<SizeType>(n)), in.Rest().data(), n);
    in.Skip(n);
    return true;
  }
  // Copies the text of a RawNumber.
  template <typename In, typename Out>
  static bool Transcode(In& in, Out& out) {
    out.Put(in.Take());
    return true;
  }
  // RapidJSON instantiates these two but never calls them: parsing in place, and validating.
  static bool Transcode(berth::api::TextStream&, berth::api::TextStream&) { return false; }
  template <typename In, typename Out>
  static bool Validate(In&, Out&) {
    return false;
  }
};

namespace berth::api {
namespace {

constexpr unsigned kFlags =
    rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseStopWhenDoneFlag;

// Passes the parser's events to a builder. With a sink, the members that the sink wants split are delivered element by
// element.
class Handler {
 public:
  Handler(TextStream& in, Document* doc, JsonSink* sink, KnownArrays* known = nullptr)
      : in_(in), main_(doc), element_(&element_doc_), sink_(sink), known_(known) {}

  bool Null() {
    return Leaf([&](DocumentBuilder& b) { b.Null(in_.Tell() - 4, in_.Tell()); });
  }
  bool Bool(bool v) {
    return Leaf([&](DocumentBuilder& b) { b.Bool(v, in_.Tell() - (v ? 4 : 5), in_.Tell()); });
  }
  bool RawNumber(const char* s, rapidjson::SizeType n, bool) {
    std::string_view text(s, n);
    return Leaf([&](DocumentBuilder& b) {
      size_t to = in_.Tell(), from = to - text.size();
      int64_t v = 0;
      auto whole = std::from_chars(text.data(), text.data() + text.size(), v);
      if (whole.ec == std::errc() && whole.ptr == text.data() + text.size()) {
        b.Int(v, text, from, to);
      } else {
        double d = 0;
        std::from_chars(text.data(), text.data() + text.size(), d);
        b.Double(d, text, from, to);
      }
    });
  }
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(int64_t) { return false; }
  bool Uint64(uint64_t) { return false; }
  bool Double(double) { return false; }
  bool String(const char* s, rapidjson::SizeType n, bool) {
    return Leaf([&](DocumentBuilder& b) { b.String({s, n}, StringBegin(n), in_.Tell()); });
  }
  bool Key(const char* s, rapidjson::SizeType n, bool) {
    Current().Key({s, n});
    known_.Key(static_cast<size_t>(depth_), {s, n});
    if (sink_ != nullptr && !splitting_ && top_is_object_ && depth_ <= 2) {
      if (depth_ == 1) top_key_.assign(s, n);
      key_.assign(s, n);
      pending_split_ = sink_->Split(depth_ == 1 ? std::string_view() : std::string_view(top_key_), key_);
    }
    return true;
  }
  bool StartObject() {
    if (!Enter()) return false;
    if (depth_ == 1) top_is_object_ = true;
    Current().StartObject(in_.Tell());
    pending_split_ = false;
    return true;
  }
  bool EndObject(rapidjson::SizeType) { return Leave(); }
  bool StartArray() {
    if (!Enter()) return false;
    Current().StartArray(in_.Tell());
    // The parser takes the byte under the stream as the opening bracket, whichever it is.
    const size_t size = known_.SizeIfKnown(static_cast<size_t>(depth_), in_.Tell());
    if (size > 2) in_.Skip(size - 2);
    if (pending_split_) {
      splitting_ = true;
      split_depth_ = depth_;
      pending_split_ = false;
      element_.Reset();
    }
    return true;
  }
  bool EndArray(rapidjson::SizeType) {
    if (splitting_ && depth_ == split_depth_) splitting_ = false;
    return Leave();
  }

  bool done() const { return main_.done(); }
  absl::Status& status() { return status_; }

 private:
  // Returns where the string that was just read begins, which had n bytes after unescaping. Its opening quote is found
  // backwards: it is the first quote without a backslash before it, because quotes inside the string are escaped.
  size_t StringBegin(size_t n) const {
    size_t to = in_.Tell();
    auto opens = [&](size_t at) {
      std::string_view two = in_.Between(at == 0 ? 0 : at - 1, at + 1);
      return two.back() == '"' && (two.size() == 1 || two.front() != '\\');
    };
    size_t from = to - n - 2;
    while (!opens(from)) --from;
    return from;
  }

  DocumentBuilder& Current() { return splitting_ ? element_ : main_; }

  bool Enter() {
    if (++depth_ > kMaxJsonDepth) {
      status_ = absl::InvalidArgumentError(absl::StrCat("nested deeper than ", kMaxJsonDepth, " levels"));
      return false;
    }
    return true;
  }
  bool Leave() {
    --depth_;
    Current().End(in_.Tell() + 1);
    return AfterValue() && ReadElementsQuickly();
  }
  template <typename F>
  bool Leaf(F add) {
    pending_split_ = false;
    add(Current());
    return AfterValue();
  }
  bool AfterValue() {
    if (!splitting_ || depth_ != split_depth_) return true;
    if (!element_.done()) return true;
    return Deliver();
  }
  bool Deliver() {
    status_ = sink_->Element(split_depth_ == 2 ? std::string_view() : std::string_view(top_key_), key_, element_doc_);
    element_.Reset();
    return status_.ok();
  }

  // Called at the bracket that ends a value. If the value was an element, delivers the objects that follow it, as far
  // as the quick parser reads them, and moves the stream to the bracket that ends the last one, where the complete
  // parser goes on as if it had read that element itself. What it finds there, and what is wrong with it, is its own
  // affair.
  bool ReadElementsQuickly() {
    if (!splitting_ || depth_ != split_depth_ || known_.follows()) return true;
    for (;;) {
      const std::string_view rest = in_.Rest();
      const size_t begin = internal::NextElement(rest);
      const size_t size = internal::ObjectSize(rest.substr(begin));
      if (size == 0) return true;
      const bool read = internal::ParseQuickly(rest.substr(begin, size), nullptr, Unread::kNothing, &element_);
      if (!read) {
        element_.Reset();
        return true;
      }
      element_.SourceBeginsAt(in_.Tell() + begin);
      in_.Skip(begin + size - 1);
      if (!Deliver()) return false;
    }
  }

  TextStream& in_;
  DocumentBuilder main_;
  Document element_doc_;
  DocumentBuilder element_;
  JsonSink* sink_;
  internal::KnownPath known_;
  absl::Status status_;
  int depth_ = 0;
  bool pending_split_ = false;
  bool splitting_ = false;
  bool top_is_object_ = false;
  int split_depth_ = 0;
  std::string top_key_, key_;
};

absl::Status ParseOne(std::string_view text, TextStream& in, Handler& handler) {
  rapidjson::GenericReader<PlainUtf8, PlainUtf8> reader;
  auto result = reader.Parse<kFlags>(in, handler);
  if (!handler.status().ok()) {
    const size_t at = OffsetOf(handler.status()).value_or(in.Tell());
    return absl::Status(handler.status().code(),
                        absl::StrCat(LineAndColumn(text, at), ": ", handler.status().message()));
  }
  if (result.IsError()) {
    return absl::InvalidArgumentError(
        absl::StrCat(LineAndColumn(text, result.Offset()), ": ", rapidjson::GetParseError_En(result.Code())));
  }
  return absl::OkStatus();
}

}  // namespace

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
  struct Open {
    uint32_t end;
    char close;
  };
  std::vector<Open> open;
  uint32_t last = doc_->nodes_[index_].next;
  bool first = true;
  for (uint32_t i = index_; i < last;) {
    while (!open.empty() && open.back().end == i) {
      out.push_back(open.back().close);
      open.pop_back();
      first = false;
    }
    if (i != index_ && !first) out.push_back(',');
    const auto& n = doc_->nodes_[i];
    if (!open.empty() && open.back().close == '}') {
      AppendJsonString(std::string_view(doc_->text_).substr(n.key_begin, n.key_size), &out);
      out.push_back(':');
    }
    first = false;
    Json v(doc_, i);
    switch (n.type) {
      case Type::kNull:
        out += "null";
        break;
      case Type::kTrue:
        out += "true";
        break;
      case Type::kFalse:
        out += "false";
        break;
      case Type::kInt:
      case Type::kDouble:
        out += v.Text();
        break;
      case Type::kString:
        AppendJsonString(v.Text(), &out);
        break;
      case Type::kArray:
        if (n.number != 0) {
          out.append(doc_->text_, n.from, n.to - n.from);
          break;
        }
        [[fallthrough]];
      case Type::kObject:
        out.push_back(n.type == Type::kArray ? '[' : '{');
        open.push_back({n.next, n.type == Type::kArray ? ']' : '}'});
        first = true;
        break;
    }
    ++i;
  }
  for (; !open.empty(); open.pop_back()) out.push_back(open.back().close);
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

// ---- Document -----------------------------------------------------------------------------------

absl::Status Document::Parse(std::string_view text, KnownArrays* known, Unread unread) {
  if (known != nullptr) known->Begin(text);
  DocumentBuilder quick(this);
  if (internal::ParseQuickly(text, known, unread, &quick)) return absl::OkStatus();
  if (known != nullptr) known->Begin(text);
  TextStream in(text);
  Handler handler(in, this, nullptr, known);
  absl::Status s = ParseOne(text, in, handler);
  if (!s.ok()) return s;
  SkipWhitespace(in);
  if (!in.AtEnd()) {
    return absl::InvalidArgumentError(absl::StrCat(LineAndColumn(text, in.Tell()), ": more text behind the value"));
  }
  return absl::OkStatus();
}

absl::Status Document::ParseAsGo(std::string_view text) {
  DocumentBuilder quick(this);
  if (internal::ParseQuickly(text, nullptr, Unread::kNothing, &quick)) return absl::OkStatus();
  const std::string whole = internal::WithoutHalfPairs(text);
  TextStream in(whole);
  Handler handler(in, this, nullptr);
  rapidjson::GenericReader<PlainUtf8, PlainUtf8> reader;
  const auto result = reader.Parse<kFlags>(in, handler);
  if (!handler.status().ok()) return absl::InvalidArgumentError(absl::StrCat("exceeded max depth of ", kMaxJsonDepth));
  if (result.IsError()) return internal::AsGoSays(result.Code(), result.Offset(), whole);
  SkipWhitespace(in);
  return in.AtEnd() ? absl::OkStatus() : internal::UnexpectedInGo(whole, in.Tell(), "after top-level value");
}

absl::Status ReadJson(std::string_view text, JsonSink& sink, KnownArrays* known) {
  if (known != nullptr) known->Begin(text);
  TextStream in(text);
  for (SkipWhitespace(in); !in.AtEnd(); SkipWhitespace(in)) {
    Document doc;
    Handler handler(in, &doc, &sink, known);
    absl::Status s = ParseOne(text, in, handler);
    if (!s.ok()) return s;
    s = sink.Value(doc);
    if (auto at = OffsetOf(s)) return absl::Status(s.code(), absl::StrCat(LineAndColumn(text, *at), ": ", s.message()));
    if (!s.ok()) return s;
  }
  return absl::OkStatus();
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

Document::Node& DocumentBuilder::Add(Json::Type type, size_t from, size_t to) {
  if (!open_.empty()) ++doc_->nodes_[open_.back()].size;
  Document::Node& n = doc_->nodes_.emplace_back();
  n.type = type;
  n.key_begin = key_begin_;
  n.key_size = key_size_;
  key_begin_ = key_size_ = 0;
  n.next = static_cast<uint32_t>(doc_->nodes_.size());
  n.from = from;
  n.to = to;
  return n;
}

// Adds a value whose text is at a place of text_.
Document::Node& DocumentBuilder::AddText(Json::Type type, size_t at, size_t size, size_t from, size_t to) {
  Document::Node& n = Add(type, from, to);
  n.begin = static_cast<uint32_t>(at);
  n.size = static_cast<uint32_t>(size);
  return n;
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
void DocumentBuilder::KeyInSource(size_t at, size_t size) {
  key_begin_ = static_cast<uint32_t>(at);
  key_size_ = static_cast<uint32_t>(size);
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
void DocumentBuilder::UnreadArray(size_t from, size_t to) {
  Add(Json::Type::kArray, from, to).number = 1;
}
void DocumentBuilder::Double(double v, std::string_view text, size_t from, size_t to) {
  auto& n = AddText(Json::Type::kDouble, Append(text), text.size(), from, to);
  std::memcpy(&n.number, &v, sizeof v);
}
void DocumentBuilder::String(std::string_view s, size_t from, size_t to) {
  AddText(Json::Type::kString, Append(s), s.size(), from, to);
}
void DocumentBuilder::Start(Json::Type type, size_t from) {
  Add(type, from, from);
  open_.push_back(static_cast<uint32_t>(doc_->nodes_.size() - 1));
}
void DocumentBuilder::End(size_t to) {
  auto& n = doc_->nodes_[open_.back()];
  n.next = static_cast<uint32_t>(doc_->nodes_.size());
  n.to = to;
  open_.pop_back();
}

}  // namespace berth::api
