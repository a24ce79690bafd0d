// JSON, one object at a time.
//
// A Document is one parsed value, kept as a flat tape: nodes in document order in one vector, texts in one buffer.
// Reusing a Document reuses its memory. Parsing is iterative with a depth cap, so no input overflows the stack.
//
// JsonStream cuts what kubectl prints, watch streams and files into single objects without ever holding a whole list
// as a document (stream.h builds on it).
#pragma once
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace berth::api {

// Deeper nesting than this is an error; no Kubernetes object comes near.
inline constexpr int kMaxJsonDepth = 512;

class Document;

// A value inside a Document; valid as long as the document is neither destroyed nor parsed into again. Copy freely.
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
  std::string_view Text() const;  // a string's text, or a number's as it was written; else empty
  // The whole value as JSON, compact, keys in document order.
  std::string Serialize() const;
  // What to show of a value in an error message: the JSON, cut to some 60 bytes.
  std::string Brief() const;

  // Members of an object, elements of an array, in document order; empty for anything else.
  class Iterator;
  struct Member;
  struct Range;
  Range Children() const;
  size_t size() const;

  // The member of this name in any letter case, as Go's decoder matches; of several the last one wins. A null value
  // when there is none.
  Json Find(std::string_view key) const;
  // Only the exact case.
  Json FindExact(std::string_view key) const;

  // Where the value begins and ends in the text it was read from, in bytes. A value read from YAML has only a begin.
  size_t begin_offset() const;
  size_t end_offset() const;

 private:
  friend class Document;
  friend class DocumentBuilder;
  Json(const Document* d, uint32_t i) : doc_(d), index_(i) {}
  const Document* doc_ = nullptr;
  uint32_t index_ = 0;
};

// "line 3, column 17": where a byte of a text stands; both count from 1.
std::string LineAndColumn(std::string_view text, size_t offset);

// The same error, marked with the place of the value that it is about. A sink that returns a marked error gets its line
// and column put in front of the message by ReadJson and ReadYaml.
absl::Status AtValue(absl::Status error, Json value);
// The offset that AtValue noted; none for an error without a mark.
std::optional<size_t> OffsetOf(const absl::Status& error);

class Document {
 public:
  Document() = default;
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;
  Document(Document&&) = default;
  Document& operator=(Document&&) = default;

  // Parses exactly one value; anything but white space behind it is an error. Errors give line and column:
  // "line 3, column 17: Missing a comma or ']' after an array element."
  absl::Status Parse(std::string_view text);
  Json root() const { return {this, 0}; }

 private:
  friend class Json;
  friend class DocumentBuilder;
  struct Node {
    Json::Type type = Json::Type::kNull;
    uint32_t key_begin = 0, key_size = 0;  // in text_
    uint32_t begin = 0, size = 0;          // text of a string or number in text_; children count of a container
    uint32_t next = 0;                     // index just behind this value and all inside it
    uint64_t number = 0;                   // int64 or double bits
    uint64_t from = 0, to = 0;             // offsets in the source
  };
  std::vector<Node> nodes_;
  std::string text_;
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

// Builds a Document from parse events: SAX handlers and the YAML reader use it.
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
  // True when one whole value is in the document.
  bool done() const { return open_.empty() && !doc_->nodes_.empty(); }
  size_t depth() const { return open_.size(); }

 private:
  void Start(Json::Type type, size_t from);
  Document::Node& Add(Json::Type type, size_t from, size_t to);
  Document* doc_;
  std::vector<uint32_t> open_;
  uint32_t key_begin_ = 0, key_size_ = 0;
};

// Receives what ReadJson finds. `path` says where in the text: "" for a value that stands alone, "items" for a list's
// elements. The document may be moved from or reused after the call returns. An error stops the reading.
class JsonSink {
 public:
  virtual ~JsonSink() = default;
  // A top-level object is announced key by key as it is read: return true to have each element of this member, an
  // array, delivered on its own through Element (so "items" of a List, "pods" of a Scenario). `inside` is the name of
  // the member that holds this key ("cluster" for cluster.items), or empty at the top.
  virtual bool Split(std::string_view inside, std::string_view key) = 0;
  virtual absl::Status Element(std::string_view inside, std::string_view key, Document& element) = 0;
  // The top-level value, with the split members left out (they appear as empty arrays).
  virtual absl::Status Value(Document& rest) = 0;
};

// Reads one or many JSON values standing one after another (JSON Lines, concatenated documents). Parses iteratively;
// only one element is held at a time. Errors give line and column.
absl::Status ReadJson(std::string_view text, JsonSink& sink);

// Appends `s` to `out` as a JSON string with quotes, escaped as Go's encoding/json does (<, >, & as \u003c..., what is
// not UTF-8 as \ufffd).
void AppendJsonString(std::string_view s, std::string* out);

}  // namespace berth::api
