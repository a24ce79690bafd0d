// JSON, one object at a time.
//
// A Document is one parsed value, stored flat: nodes in document order in one vector, texts in one buffer, which
// usually is a copy of the source. Reusing a Document reuses its memory. Nesting has a maximum depth, so no input
// overflows the stack.
//
// ReadJson splits the output of kubectl, watch streams and files into single objects without ever holding a whole list
// as a document (stream.h builds on it).
#pragma once
#include <absl/container/inlined_vector.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/util/contract.h"

namespace berth::api {

// Nesting beyond this is an error. Kubernetes objects are far from it.
inline constexpr int kMaxJsonDepth = 512;

class Document;

// A value inside a Document. It is valid as long as the document is neither destroyed nor parsed into again. Cheap to
// copy.
class Json {
 public:
  enum class Type : uint8_t { kNull, kFalse, kTrue, kInt, kDouble, kString, kArray, kObject };

  Json() = default;  // a null
  Type type() const;
  bool IsNull() const { return type() == Type::kNull; }
  bool IsBool() const { return type() == Type::kFalse || type() == Type::kTrue; }
  bool IsInt() const { return type() == Type::kInt; }
  bool IsNumber() const { return IsInt() || type() == Type::kDouble; }
  bool IsString() const { return type() == Type::kString; }
  bool IsArray() const { return type() == Type::kArray; }
  bool IsObject() const { return type() == Type::kObject; }

  bool Bool() const { return type() == Type::kTrue; }
  int64_t Int() const;            // 0 unless IsInt
  double Double() const;          // 0 unless IsNumber
  std::string_view Text() const;  // the text of a string, or of a number as written; otherwise empty
  // Returns the whole value as compact JSON, with keys in document order. Costs one copy if that is how the source text
  // has it, as servers write it.
  std::string Serialize() const;
  // Returns the value's text as the source has it, valid as long as the document. Empty if the document does not have
  // it, or if there is space between the tokens of the source.
  std::string_view CompactSource() const;
  // Returns the value for an error message: its JSON, cut to about 60 bytes.
  std::string Brief() const;

  // Returns the members of an object or the elements of an array, in document order; nothing for other values.
  class Iterator;
  struct Member;
  struct Range;
  Range Children() const;
  size_t size() const;

  // Returns the member with this name, ignoring case as Go's decoder does; if there are several, the last one. Returns
  // a null value if there is none.
  Json Find(std::string_view key) const;
  // Like Find, but the case must match.
  Json FindExact(std::string_view key) const;

  // Return where the value begins and ends in its source text, in bytes. A value from YAML has only a beginning.
  size_t begin_offset() const;
  size_t end_offset() const;

 private:
  friend class Document;
  friend class DocumentBuilder;
  Json(const Document* d, uint32_t i) : doc_(d), index_(i) {}
  const Document* doc_ = nullptr;
  uint32_t index_ = 0;
};

// Returns the position of a byte in a text as "line 3, column 17"; both count from 1.
std::string LineAndColumn(std::string_view text, size_t offset);

// Returns the error, marked with the position of the value that it is about. If a sink returns a marked error, ReadJson
// and ReadYaml put line and column before the message.
absl::Status AtValue(absl::Status error, Json value);
// Returns the offset that AtValue noted, or nothing for an unmarked error.
std::optional<size_t> OffsetOf(const absl::Status& error);

// Lets a parser skip one array or object whose bytes have been read in an earlier document. In the parsed document it
// is empty, and its offsets are those of the whole in the text.
class KnownParts {
 public:
  // How the document has what was skipped: as missing, or as left unread, so that Serialize writes it as it stands in
  // the text. What is left unread must be written as Serialize writes it.
  enum class Skipped : uint8_t { kMissing, kUnread };
  // `path` has the names of the members that lead to the array or object; their case does not matter. The outermost
  // value is an object. The first name may be missing in a document, so that the object of an event is recognised when
  // it is read by itself. If several values have this path and begin with this bracket, each of them is reached.
  explicit KnownParts(std::vector<std::string> path, char bracket = '[', Skipped skipped = Skipped::kMissing)
      : path_(std::move(path)), bracket_(bracket), skipped_(skipped) {}
  virtual ~KnownParts() = default;
  // Called before a document is parsed. `text` is valid until what the document has is decoded.
  virtual void Begin(std::string_view text) = 0;
  // Called when the parser reaches the value, which begins at the offset `at` of that text. `around` is the object that
  // has it, as far as it has been read; valid during the call. Returns the value's size in bytes, brackets included, if
  // the parser is to skip it, and 0 if the parser is to read it.
  virtual size_t SizeIfKnown(size_t at, Json around) = 0;
  const std::vector<std::string>& path() const { return path_; }
  char bracket() const { return bracket_; }
  Skipped skipped() const { return skipped_; }

 private:
  const std::vector<std::string> path_;
  const char bracket_;
  const Skipped skipped_;
};

// What a parser may leave unread: nothing, or metadata.managedFields of the value or of its member "object", which only
// API servers read, and which are a third of many objects.
enum class Unread : uint8_t { kNothing, kManagedFields };

class Document {
 public:
  Document() = default;
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;
  Document(Document&&) = default;
  Document& operator=(Document&&) = default;

  // Parses exactly one value; anything but white space after it is an error. Errors give line and column: "line 3,
  // column 17: Missing a comma or ']' after an array element." If `known` is not null, skips the value for which its
  // SizeIfKnown returns a size. What is left `unread` is an empty array, which Serialize writes as it stands in the
  // text; only its brackets and quotes are checked.
  absl::Status Parse(std::string_view text, KnownParts* known = nullptr, Unread unread = Unread::kNothing);
  // The same as Go's encoding/json does it for API servers: errors are Go's ("invalid character 'b' looking for
  // beginning of value", "unexpected end of JSON input"), and an escape of half a surrogate pair means U+FFFD.
  absl::Status ParseAsGo(std::string_view text);
  Json root() const { return {this, 0}; }

 private:
  friend class Json;
  friend class DocumentBuilder;
  struct Node {
    Json::Type type = Json::Type::kNull;
    uint32_t key_begin = 0, key_size = 0;  // in text_
    // the text of a string or number, in text_; for a container, the number of its children
    uint32_t begin = 0, size = 0;
    uint32_t next = 0;          // index after this value and everything inside it
    uint64_t number = 0;        // int64 or double bits; of a container, 1 if it is left unread
    uint64_t from = 0, to = 0;  // offsets in the source, which begins at source_begin_
  };
  std::vector<Node> nodes_;
  std::string text_;
  size_t source_begin_ = 0;  // where the source begins in the text of which it is a part
  // Whether text_ begins with the source, and the source has all of the document, without space between tokens.
  bool compact_source_ = false;
};

inline Json::Type Json::type() const {
  return doc_ == nullptr ? Type::kNull : doc_->nodes_[index_].type;
}

struct Json::Member {
  std::string_view key;  // empty inside arrays
  Json value;
};

class Json::Iterator {
 public:
  Iterator(const Document* d, uint32_t i) : doc_(d), index_(i) {}
  Member operator*() const;
  Iterator& operator++();
  bool operator!=(const Iterator& o) const { return index_ != o.index_; }

 private:
  const Document* doc_;
  uint32_t index_;
};

struct Json::Range {
  Iterator first, last;
  Iterator begin() const { return first; }
  Iterator end() const { return last; }
};

inline Json::Range Json::Children() const {
  if (!IsArray() && !IsObject()) return {{doc_, 0}, {doc_, 0}};
  return {{doc_, index_ + 1}, {doc_, doc_->nodes_[index_].next}};
}
inline Json::Member Json::Iterator::operator*() const {
  const auto& n = doc_->nodes_[index_];
  return {std::string_view(doc_->text_).substr(n.key_begin, n.key_size), Json(doc_, index_)};
}
inline Json::Iterator& Json::Iterator::operator++() {
  index_ = doc_->nodes_[index_].next;
  return *this;
}

// Builds a Document from parse events, for SAX handlers and the YAML reader.
class DocumentBuilder {
 public:
  explicit DocumentBuilder(Document* d) : doc_(d) { Reset(); }
  void Reset();
  void Key(std::string_view key);
  void Null(size_t from = 0, size_t to = 0);
  void Bool(bool b, size_t from = 0, size_t to = 0);
  void Int(int64_t v, std::string_view text, size_t from = 0, size_t to = 0);
  void Double(double v, std::string_view text, size_t from = 0, size_t to = 0);
  void String(std::string_view s, size_t from = 0, size_t to = 0);
  void StartObject(size_t from = 0) { Start(Json::Type::kObject, from); }
  void StartArray(size_t from = 0) { Start(Json::Type::kArray, from); }
  void End(size_t to = 0);

  // For a document whose keys, texts and numbers are mostly parts of its source: keeps a copy of it. The functions
  // after it then take places in that copy instead of texts. REQUIRES: nothing was added yet; the size fits into 32
  // bits.
  void KeepSource(std::string_view source) {
    BERTH_REQUIRES(doc_->nodes_.empty() && source.size() <= UINT32_MAX);
    doc_->text_ = source;
  }
  void KeyInSource(size_t at, size_t size);
  void StringInSource(size_t at, size_t size, size_t from, size_t to) {
    AddText(Json::Type::kString, at, size, from, to);
  }
  void IntInSource(int64_t v, size_t from, size_t to);
  void DoubleInSource(double v, size_t from, size_t to);
  // Notes that the container that was started last is left unread. REQUIRES: nothing was added to it, nor is.
  void LeaveUnread() { doc_->nodes_.back().number = 1; }
  // Returns the container that has the one that was started last, as far as it has been read: without the latter, and
  // without an end; null if there is none. Valid until something is added. REQUIRES: nothing was added since.
  Json Around() {
    if (open_.size() < 2) return {};
    const uint32_t outer = open_[open_.size() - 2];
    doc_->nodes_[outer].next = open_.back();
    return {doc_, outer};
  }
  // Notes that the source is a part of a text, and where it begins there: the values' offsets are those in the text.
  void SourceBeginsAt(size_t offset) { doc_->source_begin_ = offset; }
  // Notes that all of the source's values are in the document, and that there is no space between its tokens.
  void SourceIsCompact() { doc_->compact_source_ = true; }

  // Returns whether the document contains one complete value.
  bool done() const { return open_.empty() && !doc_->nodes_.empty(); }
  size_t depth() const { return open_.size(); }

 private:
  void Start(Json::Type type, size_t from);
  Document::Node& Add(Json::Type type, size_t from, size_t to);
  Document::Node& AddText(Json::Type type, size_t at, size_t size, size_t from, size_t to);
  size_t Append(std::string_view text);
  Document* doc_;
  absl::InlinedVector<uint32_t, 16> open_;
  uint32_t key_begin_ = 0, key_size_ = 0;
};

inline Document::Node& DocumentBuilder::Add(Json::Type type, size_t from, size_t to) {
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
inline Document::Node& DocumentBuilder::AddText(Json::Type type, size_t at, size_t size, size_t from, size_t to) {
  Document::Node& n = Add(type, from, to);
  n.begin = static_cast<uint32_t>(at);
  n.size = static_cast<uint32_t>(size);
  return n;
}

inline void DocumentBuilder::KeyInSource(size_t at, size_t size) {
  key_begin_ = static_cast<uint32_t>(at);
  key_size_ = static_cast<uint32_t>(size);
}
inline void DocumentBuilder::Start(Json::Type type, size_t from) {
  Add(type, from, from);
  open_.push_back(static_cast<uint32_t>(doc_->nodes_.size() - 1));
}
inline void DocumentBuilder::End(size_t to) {
  auto& n = doc_->nodes_[open_.back()];
  n.next = static_cast<uint32_t>(doc_->nodes_.size());
  n.to = to;
  open_.pop_back();
}

// Receives the values that ReadJson finds. A document may be moved from or reused after the call returns. An error ends
// the reading.
class JsonSink {
 public:
  virtual ~JsonSink() = default;
  // Called for each key of a top-level object as it is read. If it returns true, each element of that member, an array,
  // is delivered by itself through Element (so "items" of a List, "pods" of a Scenario). `inside` is the name of the
  // member that contains this key ("cluster" for cluster.items), or empty at the top.
  virtual bool Split(std::string_view inside, std::string_view key) = 0;
  virtual absl::Status Element(std::string_view inside, std::string_view key, Document& element) = 0;
  // Delivers the top-level value without the elements of split members, which are empty arrays in it.
  virtual absl::Status Value(Document& rest) = 0;
};

// Reads one or several JSON values in sequence (JSON Lines, concatenated documents). Holds only one element at a time.
// Errors give line and column. `known` is as for Document::Parse; Begin is called once.
absl::Status ReadJson(std::string_view text, JsonSink& sink, KnownParts* known = nullptr);

}  // namespace berth::api
