// Shared by the decode_*.cc files: a reader that keeps the first error with its JSON path, and the notation in which
// they say what is read. For use within this package.
#pragma once
#include <absl/status/statusor.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "pkg/api/decode.h"
#include "pkg/api/json.h"
#include "pkg/api/scheduling_fields.h"
#include "pkg/api/types.h"

namespace berth::validation {
class Value;
}

namespace berth::api::internal {

using TextDigest = std::pair<uint64_t, uint64_t>;
// Returns 128 bits of hash of a text, different from process to process.
TextDigest DigestOf(std::string_view text);

// The path of a value: a chain of frames on the stack, which is turned into "spec.containers[0].image" only for an
// error.
struct Path {
  const Path* up = nullptr;
  std::string_view key;
  int64_t index = -1;  // index in an array, otherwise -1
  std::string String() const;
};

// Returns whether two names of members are equal, ignoring case.
bool AreSameInAnyCase(std::string_view a, std::string_view b);

// Returns whether a member's name is `name`, ignoring case.
template <size_t N>
inline bool Is(std::string_view key, const char (&name)[N]) {
  if (key.size() != N - 1) return false;
  if (std::memcmp(key.data(), name, N - 1) == 0) return true;
  return (key[0] | 0x20) == (name[0] | 0x20) && AreSameInAnyCase(key, {name, N - 1});
}

// Sets in the JSON of an object what server defaults have filled in when it was decoded; empty if they filled in
// nothing besides namespace and uid.
using FillIn = std::function<void(validation::Value*)>;

class Reader {
 public:
  Reader() = default;
  explicit Reader(const DecodeOptions& options) : options_(options) {}
  // `keeper` keeps the texts of symbols; with null they stay for good.
  explicit Reader(util::SymbolKeeper* keeper) : keeper_(keeper) {}
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  const DecodeOptions& options() const { return options_; }
  // What server defaults have filled in. To be set while an object is read.
  FillIn fill_in;

  Symbol Intern(std::string_view text) { return keeper_ == nullptr ? Symbol(text) : keeper_->Intern(text); }
  // The reader's own unless it was given another.
  util::SymbolKeeper* keeper() { return keeper_; }
  // Has another keeper from now on; returns the one before.
  util::SymbolKeeper* SetKeeper(util::SymbolKeeper* keeper) { return std::exchange(keeper_, keeper); }

  bool ok() const { return error_.empty(); }
  // Keeps the first error: "spec.replicas: \"x\": must be an integer".
  void Fail(const Path& at, Json value, std::string_view what);
  // Returns `Pod "default/web": ` followed by the error, marked with the position of the value (AtValue).
  absl::Status Status(std::string_view kind, Json object) const;
  const std::string& error() const { return error_; }

  // Returns whether a value has the type, and reports an error if not. Null is no error, but has no type.
  bool Expect(const Path& at, Json j, Json::Type type, std::string_view what) {
    if (j.type() == type) return true;
    if (!j.IsNull()) Fail(at, j, what);
    return false;
  }
  // Calls f(key, path, value) for each member that is not null. Null counts as an object without members.
  template <typename F>
  void Fields(const Path& at, Json j, F f) {
    if (!Expect(at, j, Json::Type::kObject, "must be an object")) return;
    for (auto [key, value] : j.Children()) {
      if (!value.IsNull()) f(key, Path{&at, key, -1}, value);
    }
  }
  // Calls f(path, value) for each element, including nulls. Null counts as an empty list.
  template <typename F>
  void Elements(const Path& at, Json j, F f) {
    if (!Expect(at, j, Json::Type::kArray, "must be a list")) return;
    int64_t i = 0;
    for (auto member : j.Children()) f(Path{&at, {}, i++}, member.value);
  }
  // Reads the members of an object that are not null: of the listed ones (Member, Key, Rest) the first that has the
  // name, or none.
  template <typename... M>
  void Members(const Path& at, Json j, const M&... members);

 private:
  DecodeOptions options_;
  util::SymbolKeeper own_;
  util::SymbolKeeper* keeper_ = &own_;
  std::string error_;
  Json culprit_;  // the value that error_ is about
};

// ---- What is read, and into what ------------------------------------------------------------------
//
// An object is read by a list of its members, each with its targets:
//   static void Read(Reader& r, const Path& at, Json j, VolumeAttachment* out) {
//     r.Members(at, j, Member("metadata", &out->meta),
//               Member("spec", Member("attacher", &out->attacher), Member("nodeName", &out->node_name),
//                      Member("source", Member("persistentVolumeName", &out->volume_name))));
//   }
// A target is something that a function Read takes, such as a pointer; a function that is called with the path and the
// value, or with nothing; or the members of the value, which then is an object. Several targets are served one after
// another. Members that are in no list are ignored. To read another field, add it to a list, or a Read for its type.
template <size_t N, typename... T>
struct Member {
  explicit Member(const char (&n)[N], T... t) : name(n), targets(std::move(t)...) {}
  bool Has(std::string_view key) const { return Is(key, name); }
  const char (&name)[N];  // in any case
  std::tuple<T...> targets;
};
// An entry of a map: the case of its key matters.
template <typename... T>
struct Key {
  explicit Key(std::string_view n, T... t) : name(n), targets(std::move(t)...) {}
  bool Has(std::string_view key) const { return key == name; }
  std::string_view name;
  std::tuple<T...> targets;
};
// Any member whose name is none of those before it in the list.
template <typename... T>
struct Rest {
  explicit Rest(T... t) : targets(std::move(t)...) {}
  bool Has(std::string_view /*key*/) const { return true; }
  std::tuple<T...> targets;
};

// Read a value. Null leaves the target as it is.
void Read(Reader& r, const Path& at, Json j, std::string* out);
void Read(Reader& r, const Path& at, Json j, Text* out);
void Read(Reader& r, const Path& at, Json j, Symbol* out);
void Read(Reader& r, const Path& at, Json j, util::SharedSymbol* out);
void Read(Reader& r, const Path& at, Json j, bool* out);
void Read(Reader& r, const Path& at, Json j, int32_t* out);
void Read(Reader& r, const Path& at, Json j, int64_t* out);
void Read(Reader& r, const Path& at, Json j, Quantity* out);
void Read(Reader& r, const Path& at, Json j, Labels* out);        // a map of texts
void Read(Reader& r, const Path& at, Json j, ResourceList* out);  // a map of quantities, added to what is there
void Read(Reader& r, const Path& at, Json j, ObjectMeta* out);
void Read(Reader& r, const Path& at, Json j, OwnerReference* out);
void Read(Reader& r, const Path& at, Json j, DecidedSelector* out);  // a label selector; null: matches nothing
void Read(Reader& r, const Path& at, Json j, NodeSelectorTerm* out);
template <typename T>
void Read(Reader& r, const Path& at, Json j, std::optional<T>* out) {
  if (!j.IsNull()) Read(r, at, j, &out->emplace());
}
template <typename T>
void Append(Reader& r, const Path& at, Json j, std::vector<T>* out) {
  out->reserve(out->size() + j.size());
  r.Elements(at, j, [&](const Path& p, Json e) { Read(r, p, e, &out->emplace_back()); });
}
template <typename T>
void Read(Reader& r, const Path& at, Json j, std::vector<T>* out) {
  out->clear();
  Append(r, at, j, out);
}
// An RFC 3339 time, as Unix seconds.
template <typename T>
struct Time {
  explicit Time(T* s) : seconds(s) {}
  T* seconds;
};
void Read(Reader& r, const Path& at, Json j, Time<int64_t> out);
void Read(Reader& r, const Path& at, Json j, Time<OptionalTime> out);
// Whether the member is there, and not null.
struct Given {
  bool* out;
};
inline void Read(Reader&, const Path&, Json, Given out) {
  *out.out = true;
}
// Whether a text is this word.
struct IsWord {
  std::string_view word;
  bool* out;
};
void Read(Reader& r, const Path& at, Json j, IsWord out);
// Adds the first owner with controller=true of a list, unless there is one.
struct ControllerOf {
  std::optional<OwnerReference>* out;
};
void Read(Reader& r, const Path& at, Json j, ControllerOf out);

template <typename M>
concept IsMember = requires(const M& m, std::string_view key) {
  m.Has(key);
};

// Reads a value into each of its targets.
template <typename First, typename... More>
inline void ReadInto(Reader& r, const Path& at, Json j, const First& first, const More&... more) {
  if constexpr (IsMember<First>) {
    r.Members(at, j, first, more...);
  } else {
    if constexpr (std::is_invocable_v<const First&, const Path&, Json>) {
      first(at, j);
    } else if constexpr (std::is_invocable_v<const First&>) {
      first();
    } else {
      Read(r, at, j, first);
    }
    if constexpr (sizeof...(more) > 0) ReadInto(r, at, j, more...);
  }
}

template <typename... M>
void Reader::Members(const Path& at, Json j, const M&... members) {
  const auto read = [&](const Path& p, Json v, const auto& member) {
    std::apply([&](const auto&... targets) { ReadInto(*this, p, v, targets...); }, member.targets);
    return true;
  };
  Fields(at, j, [&](std::string_view key, const Path& p, Json v) {
    (void)((members.Has(key) && read(p, v, members)) || ...);
  });
}

// ---- Whole objects --------------------------------------------------------------------------------

// Read an object of a kind (decode.cc), and with server defaults fill in what they give objects of the kind, besides
// the namespace and the uid.
#define BERTH_KINDS_BUT_PODS(X) X(Node, "Node") BERTH_STORED_KINDS(X) BERTH_FILED_KINDS(X)
#define BERTH_READ(type, ...) void Read(Reader& r, const Path& at, Json j, type* out);
BERTH_KINDS_BUT_PODS(BERTH_READ)
#undef BERTH_READ

// Returns what is kept of an object for recordings: its scheduling fields, with the namespace and the uid that it was
// given if it names none, and what `fill_in` sets. So it is decoded to the same object without server defaults.
std::string FieldsToKeep(std::string_view kind, Json object, const ObjectMeta& meta, const FillIn& fill_in);

// Returns a uid for an object without one, as a server would assign one; the same for the same object.
std::string MadeUpUid(std::string_view kind, const ObjectMeta& meta);

// Returns the template of a pod that counts for more or less than its spec says while it is resized in place, which is
// `base` unless it does. `r` keeps no texts afterwards if the result is another one. REQUIRES: `base` was decoded from
// the metadata and the spec of `pod`.
std::shared_ptr<const PodTemplate> WithResize(Reader& r, Json pod, const std::shared_ptr<const PodTemplate>& base);
// Returns whether the status has `resources` of containers or of the pod, which WithResize compares with the spec. It
// also does if an entry is not an object.
bool SaysWhatContainersHave(Json pod);

// Sets the namespace "default" if the object has none.
void DefaultNamespace(ObjectMeta* meta);

}  // namespace berth::api::internal
