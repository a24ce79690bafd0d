// RapidJSON's SAX reader, which reads in place: texts stay where they are in the source, of which the document keeps a
// copy, and only those with escapes are written anew. White space and the plain parts of strings are skipped in runs
// instead of byte by byte, and UTF-8 is not validated while parsing. Nearly every byte of a list or a watch passes
// here.
//
// The reader calls itself for each level of nesting; the handler ends it at kMaxJsonDepth.
#include <absl/strings/str_cat.h>

#include <charconv>
#include <string>

#include "pkg/api/json.h"
#include "pkg/api/json_go.h"
#include "pkg/api/json_scanner.h"
#include "pkg/api/json_text.h"
#include "pkg/api/rapidjson.h"

namespace berth::api {
namespace {

using internal::SameIgnoringCase;

// A stream over text that need not be terminated by NUL. RapidJSON must not copy it, because the handler reads its
// position. It is also where RapidJSON writes strings: nothing is written while a string means what it says.
class TextStream {
 public:
  using Ch = char;
  explicit TextStream(std::string_view t) : begin_(t.data()), pos_(t.data()), end_(t.data() + t.size()) {}
  Ch Peek() const { return pos_ != end_ ? *pos_ : '\0'; }
  Ch Take() { return pos_ != end_ ? *pos_++ : '\0'; }
  size_t Tell() const { return static_cast<size_t>(pos_ - begin_); }

  // Begins a string at this place, if it is behind a quote; RapidJSON calls this behind numbers, too. Nearly all
  // strings are plain to their end.
  Ch* PutBegin() {
    if (pos_[-1] != '"') return nullptr;
    string_ = pos_;
    plain_end_ = pos_ += internal::PlainRun(Rest());
    escaped_ = false;
    return nullptr;
  }
  // Writes what an escape means, or the NUL behind each string.
  void Put(Ch c) {
    if (c != '\0') Escape();
    if (escaped_) text_ += c;
  }
  size_t PutEnd(Ch*) {
    if (escaped_) text_.pop_back();
    return Text().size() + 1;
  }
  // To be called before what an escape means is written.
  void Escape() {
    if (escaped_) return;
    escaped_ = true;
    text_.assign(string_, plain_end_);
  }
  // Reads the bytes of a string that represent themselves, behind an escape.
  void Plain() {
    const size_t n = internal::PlainRun(Rest());
    text_.append(pos_, n);
    pos_ += n;
  }
  // The string that was read last: whether it has escapes, where it begins behind its opening quote, and its text.
  bool escaped() const { return escaped_; }
  size_t string_begin() const { return static_cast<size_t>(string_ - begin_); }
  std::string_view Text() const {
    return escaped_ ? std::string_view(text_) : std::string_view(string_, static_cast<size_t>(plain_end_ - string_));
  }

  // Nearly all texts are without space, so the first byte tells.
  void SkipSpace() {
    if (pos_ == end_ || static_cast<unsigned char>(*pos_) > ' ') return;
    const char* const from = pos_;
    while (pos_ != end_ && (*pos_ == ' ' || *pos_ == '\n' || *pos_ == '\r' || *pos_ == '\t')) ++pos_;
    spaces_ |= pos_ != from;
  }
  // Whether space was skipped since the last call of ForgetSpaces.
  bool spaces() const { return spaces_; }
  void ForgetSpaces() { spaces_ = false; }
  void Skip(size_t n) { pos_ += n; }
  bool AtEnd() const { return pos_ == end_; }
  std::string_view Rest() const { return {pos_, static_cast<size_t>(end_ - pos_)}; }
  std::string_view From(size_t at) const { return {begin_ + at, static_cast<size_t>(end_ - begin_) - at}; }

 private:
  const char* begin_;
  const char* pos_;
  const char* end_;
  bool spaces_ = false;
  bool escaped_ = false;
  const char* string_ = nullptr;
  const char* plain_end_ = nullptr;  // of the string, as far as no escape has come
  std::string text_;                 // the string, if it has escapes
};

// RapidJSON's own function does not know whether it skips anything. This overload is chosen by its argument.
void SkipWhitespace(TextStream& in) {
  in.SkipSpace();
}

// UTF-8 that is copied unchanged, in runs.
struct PlainUtf8 : rapidjson::UTF8<> {
  // Writes a character that was escaped by its number.
  template <typename Out>
  static void Encode(Out& out, unsigned code) {
    if constexpr (requires { out.Escape(); }) out.Escape();
    rapidjson::UTF8<>::Encode(out, code);
  }
};

}  // namespace
}  // namespace berth::api

template <>
class rapidjson::Transcoder<berth::api::PlainUtf8, berth::api::PlainUtf8> {
 public:
  // Called behind an escape, at a byte that represents itself.
  static bool Transcode(berth::api::TextStream& in, berth::api::TextStream&) {
    in.Plain();
    return true;
  }
  // RapidJSON instantiates these but never calls them: copying, and validating.
  template <typename In, typename Out>
  static bool Transcode(In&, Out&) {
    return false;
  }
  template <typename In, typename Out>
  static bool Validate(In&, Out&) {
    return false;
  }
};

namespace berth::api {
namespace {

constexpr unsigned kFlags =
    rapidjson::kParseInsituFlag | rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseStopWhenDoneFlag;
// Places in a source have 32 bits. Of a longer one, the document has copies of the parts.
constexpr size_t kLargestSource = UINT32_MAX / 2;

// Follows the members of a document to the part that may be known. The path's first name may be missing in the
// document, so that the object of an event is recognised when it is an element of a list.
class KnownPath {
 public:
  explicit KnownPath(KnownParts* known) : known_(known) {}

  // To be called at each member; `depth` is the number of open objects and arrays.
  void Key(size_t depth, std::string_view key) {
    if (known_ == nullptr) return;
    const std::vector<std::string>& path = known_->path();
    const size_t above = depth - 1;
    if (above == 0) missing_ = path.size() > 1 && SameIgnoringCase(key, path[1]) ? 1 : 0;
    if (followed_ > above) followed_ = above;
    if (followed_ == above && above + missing_ < path.size() && SameIgnoringCase(key, path[above + missing_])) {
      ++followed_;
    }
  }
  // To be called behind the opening bracket of each array and object, which is counted in `depth`. Returns whether it
  // may be known.
  bool Reached(char bracket, size_t depth) const {
    return known_ != nullptr && followed_ + 1 == depth && bracket == known_->bracket() &&
           followed_ + missing_ == known_->path().size();
  }
  KnownParts& parts() { return *known_; }

 private:
  KnownParts* known_;    // null: nothing is known
  size_t followed_ = 0;  // how many members of the path enclose this place
  size_t missing_ = 0;   // how many of its first names are missing
};

// Recognises metadata.managedFields of the outermost object, or of its member "object".
class ManagedFieldsPath {
 public:
  // To be called at each member; `depth` is the number of open objects and arrays. Returns whether the value is
  // managedFields.
  bool Key(size_t depth, std::string_view key) {
    if (depth == 1) {
      in_object_ = key == "object";
      metadata_ = key == "metadata" ? 1 : 0;
    } else if (depth == 2 && in_object_) {
      metadata_ = key == "metadata" ? 2 : 0;
    }
    return metadata_ != 0 && depth == metadata_ + 1 && key == "managedFields";
  }

 private:
  bool in_object_ = false;  // whether the member of the outermost object is "object"
  size_t metadata_ = 0;     // the depth of the object whose member is "metadata"; 0: it is not there, or elsewhere
};

// Returns the size of the object or array at the front, or 0 if it does not end. It may be no JSON.
size_t SizeOfBracketed(std::string_view text) {
  JsonScanner scanner;
  const size_t size = scanner.Scan(text);
  return scanner.done() ? size : 0;
}

// Passes the parser's events to a builder. With a sink, the members that the sink wants split are delivered element by
// element. The parser has taken a bracket when it announces it.
//
// kWhole: there is one value, which is the whole text, and the document has a copy of it. Nearly all objects of an API
// server are read so, and what only lists need is compiled away.
template <bool kWhole>
class Handler {
 public:
  Handler(TextStream& in, Document* doc, JsonSink* sink, KnownParts* known, Unread unread)
      : in_(in),
        main_(doc),
        sink_(sink),
        known_(known),
        unread_(unread),
        looks_at_keys_(known != nullptr || unread != Unread::kNothing || sink != nullptr) {
    if constexpr (kWhole) main_.KeepSource(in.Rest());
  }

  bool Null() {
    out().Null(At() - 4, At());
    return AfterValue();
  }
  bool Bool(bool v) {
    out().Bool(v, At() - (v ? 4 : 5), At());
    return AfterValue();
  }
  bool RawNumber(const char*, rapidjson::SizeType n, bool) {
    const std::string_view text = in_.From(in_.Tell() - n).substr(0, n);
    const size_t to = At(), from = to - n;
    int64_t v = 0;
    const auto whole = std::from_chars(text.data(), text.data() + n, v);
    if (whole.ec == std::errc() && whole.ptr == text.data() + n) {
      keeps_source() ? out().IntInSource(v, from, to) : out().Int(v, text, from, to);
    } else {
      double d = 0;
      std::from_chars(text.data(), text.data() + n, d);
      keeps_source() ? out().DoubleInSource(d, from, to) : out().Double(d, text, from, to);
    }
    return AfterValue();
  }
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(int64_t) { return false; }
  bool Uint64(uint64_t) { return false; }
  bool Double(double) { return false; }
  bool String(const char*, rapidjson::SizeType, bool) {
    const size_t begin = in_.string_begin() - (kWhole ? 0 : base_);
    if (keeps_source() && !in_.escaped()) {
      out().StringInSource(begin, At() - 1 - begin, begin - 1, At());
    } else {
      out().String(in_.Text(), begin - 1, At());
    }
    return AfterValue();
  }
  bool Key(const char*, rapidjson::SizeType, bool) {
    const std::string_view key = in_.Text();
    if (keeps_source() && !in_.escaped()) {
      out().KeyInSource(in_.string_begin() - (kWhole ? 0 : base_), key.size());
    } else {
      out().Key(key);
    }
    if (looks_at_keys_) LookAtKey(key);
    return true;
  }
  bool StartObject() {
    if (!kWhole && depth_ == element_depth_) BeginElement();
    if (!Enter()) return false;
    out().StartObject(At() - 1);
    SkipIfKnown('{');
    if constexpr (!kWhole) {
      if (depth_ == 1) top_is_object_ = true;
      pending_split_ = false;
    }
    return true;
  }
  bool EndObject(rapidjson::SizeType) { return Leave(); }
  bool StartArray() {
    if (!Enter()) return false;
    out().StartArray(At() - 1);
    if (!SkipIfKnown('[') && is_managed_fields_) {
      is_managed_fields_ = false;
      LeaveUnread(SizeOfBracketed(in_.From(in_.Tell() - 1)));
    }
    if (!kWhole && pending_split_) BeginSplit();
    return true;
  }
  bool EndArray(rapidjson::SizeType) {
    if (!kWhole && depth_ == element_depth_) {
      element_depth_ = kNowhere;
      out_ = &main_;
    }
    return Leave();
  }

  // To be called at the end of a whole text: notes how it is written.
  void End() {
    if (kWhole && !skips_ && !in_.spaces()) main_.SourceIsCompact();
  }
  absl::Status& status() { return status_; }

 private:
  static constexpr size_t kNowhere = ~size_t{0};

  // What is built: the value, or an element of it.
  DocumentBuilder& out() { return kWhole ? main_ : *out_; }
  // Whether it has a copy of its source.
  bool keeps_source() const { return kWhole || keeps_source_; }
  // Returns where the stream is in that source, or in the text.
  size_t At() const { return kWhole ? in_.Tell() : in_.Tell() - base_; }

  bool Enter() {
    if (++depth_ <= static_cast<size_t>(kMaxJsonDepth)) return true;
    status_ = absl::InvalidArgumentError(absl::StrCat("nested deeper than ", kMaxJsonDepth, " levels"));
    return false;
  }
  bool Leave() {
    --depth_;
    out().End(At());
    return AfterValue();
  }
  bool AfterValue() {
    if constexpr (kWhole) return true;
    pending_split_ = false;
    return depth_ != element_depth_ || Deliver();
  }

  void LookAtKey(std::string_view key) {
    known_.Key(depth_, key);
    if (unread_ == Unread::kManagedFields) is_managed_fields_ = managed_fields_.Key(depth_, key);
    if (sink_ != nullptr) OfferSplit(key);
  }

  // To be called when an array or object has been started. Returns whether its content was skipped.
  bool SkipIfKnown(char bracket) {
    if (!known_.Reached(bracket, depth_)) return false;
    const bool unread = known_.parts().skipped() == KnownParts::Skipped::kUnread;
    if (unread && !keeps_source()) return false;
    const size_t size = known_.parts().SizeIfKnown(in_.Tell() - 1, out().Around());
    if (size <= 2) return false;
    if (unread) {
      out().LeaveUnread();
    } else {
      skips_ = true;
    }
    in_.Skip(size - 2);
    return true;
  }

  void LeaveUnread(size_t size) {
    if (!keeps_source() || size <= 2 || in_.Rest()[size - 2] != ']') return;
    out().LeaveUnread();
    in_.Skip(size - 2);
  }

  // ---- elements ----

  void OfferSplit(std::string_view key) {
    if (out_ == &element_ || !top_is_object_ || depth_ > 2) return;
    if (depth_ == 1) top_key_ = key;
    key_ = key;
    pending_split_ = sink_->Split(depth_ == 1 ? std::string_view() : std::string_view(top_key_), key_);
  }
  void BeginSplit() {
    pending_split_ = false;
    element_depth_ = depth_;
    element_.Reset();
    out_ = &element_;
  }
  // Called behind the opening bracket of an object that is an element. Its end is looked for, so that the element is
  // built as a whole text is.
  void BeginElement() {
    const size_t begin = in_.Tell() - 1;
    const std::string_view rest = in_.From(begin);
    const size_t size = SizeOfBracketed(rest);
    if (size == 0 || size > kLargestSource) return;
    element_.KeepSource(rest.substr(0, size));
    element_.SourceBeginsAt(begin);
    keeps_source_ = true;
    skips_ = false;
    base_ = begin;
    in_.ForgetSpaces();
  }
  bool Deliver() {
    if (keeps_source() && !skips_ && !in_.spaces()) element_.SourceIsCompact();
    keeps_source_ = false;
    base_ = 0;
    const bool inside = element_depth_ != 2;
    status_ = sink_->Element(inside ? std::string_view(top_key_) : std::string_view(), key_, element_doc_);
    element_.Reset();
    return status_.ok();
  }

  TextStream& in_;
  DocumentBuilder main_;
  Document element_doc_;
  DocumentBuilder element_{&element_doc_};
  DocumentBuilder* out_ = &main_;
  bool keeps_source_ = false;
  size_t base_ = 0;     // where the source of what is built begins in the text
  bool skips_ = false;  // whether a known part is missing in what is built
  JsonSink* const sink_;
  KnownPath known_;
  const Unread unread_;
  const bool looks_at_keys_;
  ManagedFieldsPath managed_fields_;
  bool is_managed_fields_ = false;  // the value of the key that was read last
  absl::Status status_;
  size_t depth_ = 0;
  size_t element_depth_ = kNowhere;  // how deep the elements are that are delivered
  bool pending_split_ = false;       // the sink wants the array that comes next
  bool top_is_object_ = false;
  std::string top_key_, key_;
};

template <bool kWhole>
rapidjson::ParseResult Run(TextStream& in, Handler<kWhole>& handler) {
  rapidjson::GenericReader<PlainUtf8, PlainUtf8> reader;
  return reader.Parse<kFlags>(in, handler);
}

template <bool kWhole>
absl::Status ParseOne(std::string_view text, TextStream& in, Handler<kWhole>& handler) {
  const rapidjson::ParseResult result = Run(in, handler);
  if (!handler.status().ok()) {
    // What the handler refuses is the bracket, or the element, whose last byte the parser has taken.
    const size_t at = OffsetOf(handler.status()).value_or(in.Tell() - 1);
    return absl::Status(handler.status().code(),
                        absl::StrCat(LineAndColumn(text, at), ": ", handler.status().message()));
  }
  if (result.IsError()) {
    return absl::InvalidArgumentError(
        absl::StrCat(LineAndColumn(text, result.Offset()), ": ", rapidjson::GetParseError_En(result.Code())));
  }
  return absl::OkStatus();
}

template <bool kWhole>
absl::Status ParseText(std::string_view text, KnownParts* known, Unread unread, Document* out) {
  if (known != nullptr) known->Begin(text);
  TextStream in(text);
  Handler<kWhole> handler(in, out, nullptr, known, unread);
  absl::Status s = ParseOne(text, in, handler);
  if (!s.ok()) return s;
  in.SkipSpace();
  if (!in.AtEnd()) {
    return absl::InvalidArgumentError(
        absl::StrCat(LineAndColumn(text, in.Tell()), ": unexpected text after the value"));
  }
  handler.End();
  return absl::OkStatus();
}

template <bool kWhole>
absl::Status ParseTextAsGo(std::string_view text, Document* out) {
  TextStream in(text);
  Handler<kWhole> handler(in, out, nullptr, nullptr, Unread::kNothing);
  const rapidjson::ParseResult result = Run(in, handler);
  if (!handler.status().ok()) return absl::InvalidArgumentError(absl::StrCat("exceeded max depth of ", kMaxJsonDepth));
  if (result.IsError()) return internal::AsGoSays(result.Code(), result.Offset(), text);
  in.SkipSpace();
  if (!in.AtEnd()) return internal::UnexpectedInGo(text, in.Tell(), "after top-level value");
  handler.End();
  return absl::OkStatus();
}

}  // namespace

absl::Status Document::Parse(std::string_view text, KnownParts* known, Unread unread) {
  return text.size() > kLargestSource ? ParseText<false>(text, known, unread, this)
                                      : ParseText<true>(text, known, unread, this);
}

absl::Status Document::ParseAsGo(std::string_view text) {
  std::string whole;
  if (internal::MayHaveHalfPairs(text)) text = whole = internal::WithoutHalfPairs(text);
  return text.size() > kLargestSource ? ParseTextAsGo<false>(text, this) : ParseTextAsGo<true>(text, this);
}

absl::Status ReadJson(std::string_view text, JsonSink& sink, KnownParts* known) {
  if (known != nullptr) known->Begin(text);
  TextStream in(text);
  for (in.SkipSpace(); !in.AtEnd(); in.SkipSpace()) {
    Document doc;
    Handler<false> handler(in, &doc, &sink, known, Unread::kNothing);
    absl::Status s = ParseOne(text, in, handler);
    if (!s.ok()) return s;
    s = sink.Value(doc);
    if (auto at = OffsetOf(s)) return absl::Status(s.code(), absl::StrCat(LineAndColumn(text, *at), ": ", s.message()));
    if (!s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace berth::api
