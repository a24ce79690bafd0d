// yaml-cpp delivers events; values are built from them, because anchors may be referred to later, and then emitted as
// JSON documents. Expansion of aliases is counted and limited, since a short text could otherwise expand to gigabytes.
#include "pkg/api/yaml.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <sstream>
#include <vector>

namespace berth::api {
namespace {

// The limit for what the aliases of a text expand to over all its documents, in values and 16-byte pieces of text: a
// fixed amount, and more for each byte of the text.
constexpr size_t kMostUnfolded = 200'000;
constexpr size_t kMostUnfoldedPerByte = 2;

struct Value;
using ValuePtr = std::shared_ptr<const Value>;

struct Value {
  enum class Kind { kScalar, kSequence, kMap };
  Kind kind = Kind::kScalar;
  bool plain = false;  // a scalar without quotes and without a tag that makes it a string
  bool alias = false;  // an alias for its only child
  int depth = 1;       // depth of this value and everything inside, with aliases expanded
  std::string text;
  std::vector<std::string> keys;  // for a map, one for each child
  std::vector<ValuePtr> children;
  YAML::Mark mark;
};

// Thrown inside a callback to end the parsing; never leaves this file.
struct Stop {
  absl::Status status;
};

[[noreturn]] void StopAt(const YAML::Mark& mark, std::string_view what) {
  throw Stop{absl::InvalidArgumentError(
      absl::StrCat("line ", mark.line + 1, ", column ", mark.column + 1, ": ", std::string(what)))};
}

[[noreturn]] void StopAtDepth(const YAML::Mark& mark) {
  StopAt(mark, absl::StrCat("nested deeper than ", kMaxJsonDepth, " levels"));
}

bool AnyOf(std::string_view s, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), s) != words.end();
}

// Parses as strconv.ParseInt(s, 0, 64), and accepts "0b".
bool ParseYamlInt(std::string_view s, int64_t* out) {
  bool negative = !s.empty() && s[0] == '-';
  if (!s.empty() && (s[0] == '-' || s[0] == '+')) s.remove_prefix(1);
  int base = 10;
  if (s.size() > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
    base = 16;
    s.remove_prefix(2);
  } else if (s.size() > 2 && s[0] == '0' && s[1] == 'b') {
    base = 2;
    s.remove_prefix(2);
  } else if (s.size() > 1 && s[0] == '0') {
    base = 8;
    s.remove_prefix(1);
  }
  std::string digits = absl::StrCat(negative ? "-" : "", std::string(s));
  if (s.empty() || s[0] == '-') return false;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), *out, base);
  return error == std::errc() && end == digits.data() + digits.size();
}

// Returns whether the text is a number in JSON.
bool IsJsonNumber(std::string_view s) {
  size_t i = 0;
  auto digits = [&] {
    size_t begin = i;
    while (i < s.size() && s[i] >= '0' && s[i] <= '9') ++i;
    return i - begin;
  };
  if (i < s.size() && s[i] == '-') ++i;
  bool zero = i < s.size() && s[i] == '0';
  size_t whole = digits();
  if (whole == 0 || (zero && whole > 1)) return false;
  if (i < s.size() && s[i] == '.') {
    ++i;
    if (digits() == 0) return false;
  }
  if (i < s.size() && (s[i] == 'e' || s[i] == 'E')) {
    ++i;
    if (i < s.size() && (s[i] == '+' || s[i] == '-')) ++i;
    if (digits() == 0) return false;
  }
  return i == s.size();
}

// `at` is the position of the scalar in the text.
void EmitPlain(std::string_view s, size_t at, DocumentBuilder& b) {
  if (s.empty() || AnyOf(s, {"~", "null", "Null", "NULL"})) return b.Null(at, at);
  if (AnyOf(s, {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "y", "Y"})) return b.Bool(true, at, at);
  if (AnyOf(s, {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", "n", "N"}))
    return b.Bool(false, at, at);
  bool numeric = (s[0] >= '0' && s[0] <= '9') || s[0] == '-' || s[0] == '+' || s[0] == '.';
  if (!numeric) return b.String(s, at, at);
  std::string bare(s);
  bare.erase(std::remove(bare.begin(), bare.end(), '_'), bare.end());
  int64_t whole = 0;
  if (ParseYamlInt(bare, &whole)) return b.Int(whole, absl::StrCat(whole), at, at);
  double number = 0;
  const char* begin = bare.data() + (bare[0] == '+' ? 1 : 0);
  auto [end, error] = std::from_chars(begin, bare.data() + bare.size(), number);
  if (error != std::errc() || end != bare.data() + bare.size() || begin == end) return b.String(s, at, at);
  if (number != number || number - number != 0) return b.String(s, at, at);  // nan, inf: not JSON
  if (IsJsonNumber(bare)) return b.Double(number, bare, at, at);
  std::array<char, 32> shortest;
  auto made = std::to_chars(shortest.data(), shortest.data() + shortest.size(), number);
  b.Double(number, std::string_view(shortest.data(), static_cast<size_t>(made.ptr - shortest.data())), at, at);
}

// Turns values into documents.
class Emitter {
 public:
  explicit Emitter(size_t text_bytes) : most_unfolded_(kMostUnfolded + kMostUnfoldedPerByte * text_bytes) {}

  void Emit(const ValuePtr& value, Document* out) {
    DocumentBuilder builder(out);
    One(value, false, builder);
  }

 private:
  void One(const ValuePtr& given, bool in_alias, DocumentBuilder& b) {
    ValuePtr v = given;
    if (v->alias) {
      v = v->children[0];
      in_alias = true;
    }
    if (in_alias) unfolded_ += 1 + v->text.size() / 16;
    if (unfolded_ > most_unfolded_) StopAt(given->mark, "aliases unfold to too much");
    const auto at = static_cast<size_t>(std::max(v->mark.pos, 0));
    switch (v->kind) {
      case Value::Kind::kScalar:
        v->plain ? EmitPlain(v->text, at, b) : b.String(v->text, at, at);
        break;
      case Value::Kind::kSequence:
        b.StartArray(at);
        for (const ValuePtr& child : v->children) One(child, in_alias, b);
        b.End();
        break;
      case Value::Kind::kMap:
        b.StartObject(at);
        Members(*v, in_alias, {}, b);
        b.End();
        break;
    }
  }

  // Emits the members of a map, those merged in through "<<" first. `hidden` has the keys that are set by maps that
  // merge this one.
  void Members(const Value& map, bool in_alias, const absl::flat_hash_set<std::string>& hidden, DocumentBuilder& b) {
    bool merges = std::find(map.keys.begin(), map.keys.end(), "<<") != map.keys.end();
    if (merges) {
      absl::flat_hash_set<std::string> own = hidden;
      own.insert(map.keys.begin(), map.keys.end());
      for (size_t i = 0; i < map.keys.size(); ++i) {
        if (map.keys[i] == "<<") Merge(map.children[i], &own, b);
      }
    }
    for (size_t i = 0; i < map.keys.size(); ++i) {
      if (map.keys[i] == "<<" || hidden.contains(map.keys[i])) continue;
      b.Key(map.keys[i]);
      One(map.children[i], in_alias, b);
    }
  }

  void Merge(const ValuePtr& given, absl::flat_hash_set<std::string>* own, DocumentBuilder& b) {
    const Value* v = given->alias ? given->children[0].get() : given.get();
    if (++unfolded_ > most_unfolded_) StopAt(given->mark, "aliases unfold to too much");
    if (v->kind == Value::Kind::kMap) {
      Members(*v, true, *own, b);
      own->insert(v->keys.begin(), v->keys.end());
    } else if (v->kind == Value::Kind::kSequence) {
      for (const ValuePtr& child : v->children) Merge(child, own, b);
    } else {
      StopAt(given->mark, "map merge requires map or sequence of maps as the value");
    }
  }

  const size_t most_unfolded_;
  size_t unfolded_ = 0;
};

// Builds values from events and passes them to the sink.
class YamlHandler : public YAML::EventHandler {
 public:
  YamlHandler(JsonSink& sink, std::string_view text) : sink_(sink), text_(text), emitter_(text.size()) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    // At a token that cannot begin a document, such as "}", yaml-cpp would find empty documents for ever.
    if (mark.pos == last_start_) StopAt(mark, "a document cannot begin with this");
    last_start_ = mark.pos;
    open_.clear();
    anchors_.clear();
    root_ = nullptr;
  }
  void OnDocumentEnd() override {
    bool empty = root_ == nullptr || (root_->kind == Value::Kind::kScalar && root_->plain && root_->text.empty());
    if (empty) return;
    Deliver(root_, [&](Document& d) { return sink_.Value(d); });
    root_ = nullptr;
  }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { Scalar(mark, "", true, anchor); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    auto it = anchors_.find(anchor);
    if (it == anchors_.end()) StopAt(mark, "an alias inside of what it stands for");
    auto v = std::make_shared<Value>();
    v->alias = true;
    v->mark = mark;
    v->children.push_back(it->second);
    v->depth = it->second->depth;
    Add(std::move(v), 0);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    bool plain = tag != "!" && tag != "tag:yaml.org,2002:str" && tag != "tag:yaml.org,2002:binary";
    Scalar(mark, text, plain, anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    bool split = WantsSplit();
    Start(mark, Value::Kind::kSequence, anchor);
    open_.back().split = split && anchor == 0;
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Start(mark, Value::Kind::kMap, anchor);
  }
  void OnMapEnd() override { Close(); }

 private:
  struct Open {
    std::shared_ptr<Value> value;
    YAML::anchor_t anchor = 0;
    bool has_key = false;
    bool split = false;  // a sequence whose elements are delivered one by one
  };

  // Returns whether the next value is in the document's object, or in one directly inside it, and the sink wants it
  // split.
  bool WantsSplit() {
    size_t n = open_.size();
    for (const Open& o : open_) {
      if (o.value->kind != Value::Kind::kMap || !o.has_key) return false;
    }
    if (n == 1) return sink_.Split("", open_[0].value->keys.back());
    return n == 2 && sink_.Split(open_[0].value->keys.back(), open_[1].value->keys.back());
  }

  void Scalar(const YAML::Mark& mark, const std::string& text, bool plain, YAML::anchor_t anchor) {
    if (!open_.empty() && open_.back().value->kind == Value::Kind::kMap && !open_.back().has_key) {
      open_.back().value->keys.push_back(text);
      open_.back().has_key = true;
      return;
    }
    auto v = std::make_shared<Value>();
    v->plain = plain;
    v->text = text;
    v->mark = mark;
    Add(std::move(v), anchor);
  }

  void Start(const YAML::Mark& mark, Value::Kind kind, YAML::anchor_t anchor) {
    if (open_.size() >= static_cast<size_t>(kMaxJsonDepth)) StopAtDepth(mark);
    if (!open_.empty() && open_.back().value->kind == Value::Kind::kMap && !open_.back().has_key) {
      StopAt(mark, "a key must be a scalar");
    }
    Open& o = open_.emplace_back();
    o.value = std::make_shared<Value>();
    o.value->kind = kind;
    o.value->mark = mark;
    o.anchor = anchor;
  }
  void Close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    Add(std::move(done.value), done.anchor);
  }

  void Add(ValuePtr v, YAML::anchor_t anchor) {
    if (anchor != 0) anchors_[anchor] = v;
    if (open_.empty()) {
      root_ = std::move(v);
      return;
    }
    Open& parent = open_.back();
    if (parent.value->kind == Value::Kind::kMap && !parent.has_key) StopAt(v->mark, "a key must be a scalar");
    parent.has_key = false;
    if (!parent.split) {
      // An anchored value may be referred to at a deeper level than it was written.
      parent.value->depth = std::max(parent.value->depth, v->depth + 1);
      if (parent.value->depth > kMaxJsonDepth) StopAtDepth(v->mark);
      parent.value->children.push_back(std::move(v));
      return;
    }
    // The keys of the enclosing objects are those of the list itself.
    bool inner = open_.size() == 3;
    const std::string inside = inner ? open_[0].value->keys.back() : std::string();
    const std::string key = open_[inner ? 1 : 0].value->keys.back();
    Deliver(v, [&](Document& d) { return sink_.Element(inside, key, d); });
  }

  template <typename F>
  void Deliver(const ValuePtr& v, F to) {
    Document document;
    emitter_.Emit(v, &document);
    absl::Status s = to(document);
    if (s.ok()) return;
    const size_t at = OffsetOf(s).value_or(static_cast<size_t>(std::max(v->mark.pos, 0)));
    throw Stop{absl::Status(s.code(), absl::StrCat(LineAndColumn(text_, at), ": ", s.message()))};
  }

  JsonSink& sink_;
  std::string_view text_;
  Emitter emitter_;
  std::vector<Open> open_;
  absl::flat_hash_map<YAML::anchor_t, ValuePtr> anchors_;
  ValuePtr root_;
  int last_start_ = -1;  // byte at which the previous document began
};

}  // namespace

absl::Status ReadYaml(std::string_view text, JsonSink& sink) {
  // yaml-cpp treats a quoted text as closed if the input ends after a line break. With the mark that ends a document
  // after it, an unclosed quote is the error that it should be. A text without a line break at its end needs no mark,
  // and with one its last block text would gain a line break.
  std::string marked(text);
  size_t last = text.find_last_not_of(" \t");
  if (last != std::string_view::npos && (text[last] == '\n' || text[last] == '\r')) {
    if (text.back() != '\n') marked += '\n';
    marked += "...\n";
  }
  std::istringstream in{std::move(marked)};
  YamlHandler handler(sink, text);
  try {
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(handler)) {
    }
  } catch (const Stop& stop) {
    return stop.status;
  } catch (const YAML::Exception& e) {
    bool open_quote = e.msg == YAML::ErrorMsg::EOF_IN_SCALAR || e.msg == YAML::ErrorMsg::DOC_IN_SCALAR;
    return absl::InvalidArgumentError(absl::StrCat("line ", e.mark.line + 1, ", column ", e.mark.column + 1, ": ",
                                                   open_quote ? "a quoted text is not closed before this" : e.msg));
  }
  return absl::OkStatus();
}

}  // namespace berth::api
