// Invariant: a text in texts_ was parsed as one JSON object whose metadata.name is its key.
#include "pkg/scheduler/extender/answered_nodes.h"

#include <algorithm>

#include "pkg/api/json_scanner.h"

namespace berth::scheduler {
namespace {

size_t SkipWhiteSpace(std::string_view text, size_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t')) ++at;
  return at;
}

// Returns where the object that begins at `at` ends if the text is JSON, or npos if there is no object or no end.
size_t EndOfObject(std::string_view text, size_t at) {
  if (at >= text.size() || text[at] != '{') return std::string_view::npos;
  api::JsonScanner scanner;
  const size_t size = scanner.Scan(text.substr(at));
  return scanner.done() ? at + size : std::string_view::npos;
}

}  // namespace

void AnsweredNodes::Begin(std::string_view text) {
  text_ = text;
  array_ = kNowhere;
  nodes_.clear();
}

// Returns 0 for everything unexpected, so that the parser reads the array and reports what is wrong with it.
size_t AnsweredNodes::SizeIfKnown(size_t at, api::Json /*around*/) {
  array_ = kNowhere;
  nodes_.clear();
  if (sent_ == nullptr) return 0;
  nodes_.reserve(sent_->nodes.size());
  SentNames names(*sent_);
  for (size_t i = at + 1;; ++i) {
    i = SkipWhiteSpace(text_, i);
    size_t end = Recognise(i, &names);
    if (end == kNowhere) end = Parse(i, &names);
    if (end == kNowhere) return 0;
    i = SkipWhiteSpace(text_, end);
    if (i >= text_.size()) return 0;
    if (text_[i] == ']') {
      array_ = at;
      return i + 1 - at;
    }
    if (text_[i] != ',') return 0;
  }
}

// Notes the node whose known text begins at `at`. Returns its end, or kNowhere if no text of the nodes that are
// expected next begins there.
size_t AnsweredNodes::Recognise(size_t at, SentNames* names) {
  constexpr size_t kLookedAt = 16;
  const size_t end = std::min(names->next() + kLookedAt, sent_->names.size());
  for (size_t place = names->next(); place < end; ++place) {
    auto known = texts_.find(sent_->names[place]);
    if (known == texts_.end() || text_.compare(at, known->second.size(), known->second) != 0) continue;
    names->Found(place);
    nodes_.push_back({place, {}});
    ++recognised_;
    return at + known->second.size();
  }
  return kNowhere;
}

// Parses and notes the node that begins at `at`, and keeps its text. Returns its end, or kNowhere if there is no node.
size_t AnsweredNodes::Parse(size_t at, SentNames* names) {
  const size_t end = EndOfObject(text_, at);
  if (end == std::string_view::npos) return kNowhere;
  const std::string_view text = text_.substr(at, end - at);
  if (!element_.Parse(text).ok()) return kNowhere;
  const api::Json name = element_.root().Find("metadata").Find("name");
  if (!name.IsString()) return kNowhere;
  const size_t place = names->Find(name.Text());
  if (place == SentNames::kNone) {
    nodes_.push_back({place, std::string(name.Text())});
    return end;
  }
  nodes_.push_back({place, {}});
  if (texts_.size() > 2 * sent_->nodes.size() + 1024) texts_.clear();  // most of the nodes are gone
  texts_[sent_->names[place]] = text;
  return end;
}

// An answer may have several members of that name, of which the last one counts.
const std::vector<AnsweredNodes::Node>* AnsweredNodes::Read(api::Json items) const {
  return array_ != kNowhere && items.IsArray() && items.begin_offset() == array_ ? &nodes_ : nullptr;
}

}  // namespace berth::scheduler
