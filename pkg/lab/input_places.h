// Where the objects of an input stand in its files, for messages.
#pragma once
#include <absl/strings/str_cat.h>
#include <algorithm>

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <absl/container/flat_hash_set.h>
#include <absl/hash/hash.h>

#include "pkg/api/decode.h"
#include "pkg/api/line_column.h"
#include "pkg/util/symbol.h"

namespace berth::lab {

// Converts offsets in a text to lines of its file.
class LineCounter {
 public:
  // `lines` is the number of lines that precede the text in its file.
  void Start(std::string file, std::string_view text, size_t lines) {
    file_ = std::move(file);
    places_ = api::LineColumns(text, lines);
  }
  // Returns the line of the offset.
  uint32_t LineAt(size_t offset) { return static_cast<uint32_t>(places_.PlaceOf(offset).line); }
  std::string At(size_t offset) { return absl::StrCat(file_, ":", LineAt(offset)); }
  std::string LineAndColumnAt(size_t offset) {
    const auto [line, column] = places_.PlaceOf(offset);
    return absl::StrCat(file_, ":", line, ":", column);
  }

 private:
  std::string file_;
  api::LineColumns places_{{}};
};

// Where an object begins. There may be millions of objects, so the name of the file is a number.
struct Place {
  uint32_t file, line;
};

// Where each object of an input begins.
class ObjectPlaces {
 public:
  // Must be called before the objects of a file are noted.
  void StartFile(const std::string& name) {
    if (files_.empty() || files_.back() != name) files_.push_back(name);
  }
  void Note(const void* object, uint32_t line) {
    places_.push_back({object, {static_cast<uint32_t>(files_.size() - 1), line}});
  }
  // Returns "FILE:LINE".
  std::string PlaceOf(const api::Object& object) const {
    const void* p = std::visit([](const auto& o) -> const void* { return o.get(); }, object);
    // An object that was not kept may have had the same address before.
    auto it = std::find_if(places_.rbegin(), places_.rend(), [p](const auto& known) { return known.first == p; });
    if (it == places_.rend()) return "made from a workload";
    return absl::StrCat(files_[it->second.file], ":", it->second.line);
  }

 private:
  std::vector<std::string> files_;  // the names of the files read so far
  // In the order of reading. They are looked for only when one of them is an error.
  std::vector<std::pair<const void*, Place>> places_;
};

// Compares objects as CheckUnique does: those of one kind, namespace and name are equal.
struct SameName {
  static std::tuple<size_t, util::Symbol, std::string_view> Of(const api::Object* object) {
    return std::visit(
        [&](const auto& o) { return std::tuple(object->index(), o->meta.ns.get(), std::string_view(o->meta.name)); },
        *object);
  }
  size_t operator()(const api::Object* o) const { return absl::HashOf(Of(o)); }
  bool operator()(const api::Object* a, const api::Object* b) const { return Of(a) == Of(b); }
};

// Compares pods by their uids.
struct SameUid {
  size_t operator()(const api::PodPtr* p) const { return absl::HashOf((*p)->meta.uid); }
  bool operator()(const api::PodPtr* a, const api::PodPtr* b) const { return (*a)->meta.uid == (*b)->meta.uid; }
};

}  // namespace berth::lab
