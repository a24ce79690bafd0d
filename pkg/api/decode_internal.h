// Shared by the decode_*.cc files: a reader that keeps the first error with its JSON path. For use within this package.
#pragma once
#include <absl/status/statusor.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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

// Returns whether a member's name is `name`, ignoring case.
template <size_t N>
inline bool Is(std::string_view key, const char (&name)[N]) {
  if (key.size() != N - 1) return false;
  if (std::memcmp(key.data(), name, N - 1) == 0) return true;
  for (size_t i = 0; i < N - 1; ++i) {
    // Names consist of letters and digits: setting bit 5 makes letters lower case and keeps all other characters
    // distinct enough.
    if ((key[i] | 0x20) != (name[i] | 0x20)) return false;
  }
  return true;
}

class Reader {
 public:
  Reader() = default;
  // `keeper` keeps the texts of symbols; with null they stay for good.
  explicit Reader(util::SymbolKeeper* keeper) : keeper_(keeper) {}
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

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

  // Calls f(key, path, value) for each member that is not null. Null counts as an object without members.
  template <typename F>
  void Fields(const Path& at, Json j, F f) {
    if (j.IsNull() || !Expect(at, j, Json::Type::kObject, "must be an object")) return;
    for (auto [key, value] : j.Children()) {
      if (!value.IsNull()) f(key, Path{&at, key, -1}, value);
    }
  }
  // Calls f(path, value) for each element, including nulls. Null counts as an empty list.
  template <typename F>
  void Elements(const Path& at, Json j, F f) {
    if (j.IsNull() || !Expect(at, j, Json::Type::kArray, "must be a list")) return;
    int64_t i = 0;
    for (auto member : j.Children()) f(Path{&at, {}, i++}, member.value);
  }

  // Read a value. Null leaves the target as it is.
  void Read(const Path& at, Json j, std::string* out);
  void Read(const Path& at, Json j, Symbol* out);
  void Read(const Path& at, Json j, util::SharedSymbol* out);
  void Read(const Path& at, Json j, bool* out);
  void Read(const Path& at, Json j, int32_t* out);
  void Read(const Path& at, Json j, int64_t* out);
  void Read(const Path& at, Json j, Quantity* out);
  void Read(const Path& at, Json j, Labels* out);        // a map of texts
  void Read(const Path& at, Json j, ResourceList* out);  // a map of quantities
  void Read(const Path& at, Json j, std::vector<Symbol>* out);
  void Read(const Path& at, Json j, std::vector<std::string>* out);
  template <typename T>
  void Read(const Path& at, Json j, std::optional<T>* out) {
    if (!j.IsNull()) Read(at, j, &out->emplace());
  }
  // Reads an RFC 3339 time as Unix seconds.
  void ReadTime(const Path& at, Json j, int64_t* out);

  void ReadMeta(const Path& at, Json j, ObjectMeta* out);
  void ReadOwner(const Path& at, Json j, OwnerReference* out);
  void ReadLabelSelector(const Path& at, Json j, DecidedSelector* out);
  void ReadNodeSelectorTerm(const Path& at, Json j, NodeSelectorTerm* out);
  // Reads the nodeSelectorTerms of a node selector object.
  void ReadNodeSelectorTerms(const Path& at, Json j, std::vector<NodeSelectorTerm>* out);

 private:
  bool Expect(const Path& at, Json j, Json::Type type, std::string_view what) {
    if (j.type() == type) return true;
    Fail(at, j, what);
    return false;
  }
  util::SymbolKeeper own_;
  util::SymbolKeeper* keeper_ = &own_;
  std::string error_;
  Json culprit_;  // the value that error_ is about
};

// Sets in the JSON of an object what server defaults have filled in when it was decoded; empty if they filled in
// nothing besides namespace and uid.
using FillIn = std::function<void(validation::Value*)>;
// Returns what is kept of an object for recordings: its scheduling fields, with the namespace and the uid that it was
// given if it names none, and what `fill_in` sets. So it is decoded to the same object without server defaults.
std::string FieldsToKeep(std::string_view kind, Json object, const ObjectMeta& meta, const FillIn& fill_in);

// Ends a decoding. Returns the object, or the error preceded by the object's name.
template <typename T>
absl::StatusOr<std::shared_ptr<const T>> Finish(Reader& r, std::string_view kind, Json j, T object,
                                                const FillIn& fill_in = nullptr) {
  if (!r.ok()) return r.Status(kind, j);
  object.meta.texts = r.keeper()->Take();
  if (KeepsSchedulingFields() && IsSchedulingKind(kind)) {
    object.meta.fields = std::make_shared<const std::string>(FieldsToKeep(kind, j, object.meta, fill_in));
  }
  return std::make_shared<const T>(std::move(object));
}

// Returns a uid for an object without one, as a server would assign one; the same for the same object.
std::string MadeUpUid(std::string_view kind, const ObjectMeta& meta);

// Returns the template of a pod that counts for more or less than its spec says while it is resized in place, which is
// `base` unless it does. `r` keeps no texts afterwards if the result is another one. REQUIRES: `base` was decoded from
// the metadata and the spec of `pod`.
std::shared_ptr<const PodTemplate> WithResize(Reader& r, Json pod, const std::shared_ptr<const PodTemplate>& base);

// Sets the namespace "default" if the object has none.
void DefaultNamespace(ObjectMeta* meta);

}  // namespace berth::api::internal
