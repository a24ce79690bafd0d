// Each change parses the text, finds the byte offsets of the place, and replaces those bytes. Parsing anew for every
// change keeps offsets valid; an object has few changes, so the cost does not matter.
#include "pkg/client/json_edit.h"

#include <absl/strings/str_cat.h>

#include "pkg/api/json.h"
#include "pkg/util/status.h"

namespace berth::client {
namespace {

using Path = std::vector<std::string_view>;

// The result of following a path: `depth` of its steps exist, and `at` is the value that the last of them leads to.
struct Found {
  api::Json at;
  size_t depth = 0;
};

Found Follow(api::Json root, const Path& path) {
  Found f{root, 0};
  while (f.depth < path.size() && f.at.IsObject()) {
    bool there = false;
    // If a name occurs several times, the last one counts, as in Go.
    api::Json next;
    for (auto m : f.at.Children()) {
      if (m.key == path[f.depth]) {
        next = m.value;
        there = true;
      }
    }
    if (!there) break;
    f.at = next;
    ++f.depth;
  }
  return f;
}

// Returns `value` wrapped in the objects of the path's remaining steps: {"b":{"c":value}} for path a, b, c from step 1.
std::string Wrap(const Path& path, size_t from, std::string_view value) {
  JsonWriter out;
  for (size_t i = from; i < path.size(); ++i) out.Object().Key(path[i]);
  out.Literal(value);
  for (size_t i = from; i < path.size(); ++i) out.End();
  return out.Take();
}

}  // namespace

std::string TimeOrNull(std::string_view time) {
  return time.empty() ? "null" : JsonString(time);
}

absl::StatusOr<JsonEdit> JsonEdit::New(std::string_view object) {
  api::Document doc;
  absl::Status s = doc.Parse(object);
  if (!s.ok()) return s;
  if (!doc.root().IsObject()) return absl::InvalidArgumentError("not a JSON object");
  return JsonEdit(std::string(object));
}

// Replaces the value at the path if all of it exists; otherwise adds a member to the last object that does.
void JsonEdit::Set(const Path& path, std::string_view value) {
  api::Document doc;
  if (!doc.Parse(text_).ok()) return;
  Found f = Follow(doc.root(), path);
  if (f.depth == path.size() || !f.at.IsObject()) {
    text_.replace(f.at.begin_offset(), f.at.end_offset() - f.at.begin_offset(), Wrap(path, f.depth, value));
    return;
  }
  std::string member =
      absl::StrCat(f.at.size() > 0 ? "," : "", JsonString(path[f.depth]), ":", Wrap(path, f.depth + 1, value));
  text_.insert(f.at.end_offset() - 1, member);
}

void JsonEdit::SetDefault(const Path& path, std::string_view value) {
  if (!Has(path)) Set(path, value);
}

bool JsonEdit::Has(const Path& path) const {
  api::Document doc;
  return doc.Parse(text_).ok() && Follow(doc.root(), path).depth == path.size();
}

void JsonEdit::Remove(const Path& path) {
  api::Document doc;
  if (!doc.Parse(text_).ok()) return;
  Path parent(path.begin(), path.end() - 1);
  Found f = Follow(doc.root(), parent);
  if (f.depth != parent.size() || !f.at.IsObject() || f.at.size() == 0) return;
  JsonWriter out;
  out.Object();
  for (auto m : f.at.Children()) {
    if (m.key == path.back()) continue;
    out.Key(m.key).Literal(text_.substr(m.value.begin_offset(), m.value.end_offset() - m.value.begin_offset()));
  }
  text_.replace(f.at.begin_offset(), f.at.end_offset() - f.at.begin_offset(), out.End().Take());
}

void JsonEdit::SetInArray(const Path& path, std::string_view key, std::string_view id, std::string_view value) {
  api::Document doc;
  if (!doc.Parse(text_).ok()) return;
  Found f = Follow(doc.root(), path);
  if (f.depth != path.size() || !f.at.IsArray()) {
    Set(path, absl::StrCat("[", util::ToAbsl(value), "]"));
    return;
  }
  for (auto m : f.at.Children()) {
    if (m.value.FindExact(key).Text() != id) continue;
    text_.replace(m.value.begin_offset(), m.value.end_offset() - m.value.begin_offset(), value);
    return;
  }
  text_.insert(f.at.end_offset() - 1, absl::StrCat(f.at.size() > 0 ? "," : "", util::ToAbsl(value)));
}

void JsonEdit::SetFirst(std::string_view key, std::string_view value) {
  api::Document doc;
  if (!doc.Parse(text_).ok() || Follow(doc.root(), {key}).depth == 1) return;
  text_.insert(doc.root().begin_offset() + 1,
               absl::StrCat(JsonString(key), ":", util::ToAbsl(value), doc.root().size() > 0 ? "," : ""));
}

}  // namespace berth::client
