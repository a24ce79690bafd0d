// What decoding has in common for all kinds, and the choice of a kind by kind and apiVersion. The members of each kind
// are in the decode_*.cc files.
#include "pkg/api/decode.h"

#include <absl/strings/str_cat.h>

#include "pkg/api/decode_internal.h"
#include "pkg/util/status.h"

namespace berth::api {
namespace {

using internal::Member;
using internal::Reader;

template <typename T, typename... U>
constexpr bool kIsOneOf = (std::is_same_v<T, U> || ...);
// Kinds whose objects are in the namespace "default" unless they name another.
template <typename T>
constexpr bool kIsNamespaced =
    kIsOneOf<T, Service, ReplicationController, ReplicaSet, StatefulSet, PodDisruptionBudget, Deployment, ConfigMap,
             PersistentVolumeClaim, CsiStorageCapacity, ResourceClaim>;
// Kinds whose uids scheduling needs, and the word for each in uids that are made up.
template <typename T>
constexpr std::string_view kInUid = kIsOneOf<T, Node>                    ? "node"
                                    : kIsOneOf<T, PersistentVolume>      ? "volume"
                                    : kIsOneOf<T, PersistentVolumeClaim> ? "claim"
                                                                         : "";

// Decodes an object of any kind but Pod: Read reads its members, and fills in the defaults of its kind.
template <typename T>
absl::StatusOr<Ptr<T>> DecodeAs(std::string_view kind, Json j, const DecodeOptions& o) {
  Reader r(o);
  T object;
  Read(r, {}, j, &object);
  if (o.server_defaults) {
    if constexpr (kIsNamespaced<T>) internal::DefaultNamespace(&object.meta);
    if (!kInUid<T>.empty() && object.meta.uid.empty()) object.meta.uid = internal::MadeUpUid(kInUid<T>, object.meta);
  }
  if (!r.ok()) return r.Status(kind, j);
  object.meta.texts = r.keeper()->Take();
  if (KeepsSchedulingFields() && IsSchedulingKind(kind)) {
    object.meta.fields = SharedText(internal::FieldsToKeep(kind, j, object.meta, r.fill_in));
  }
  return std::make_shared<const T>(std::move(object));
}

struct Kind {
  std::string_view name;
  std::string_view groups;  // the apiVersions that serve it, each between blanks
  absl::StatusOr<Object> (*decode)(Json, const DecodeOptions&);
};

#define BERTH_ROW(type, kind, versions, ...) \
  {kind, " " versions " ", [](Json j, const auto& o) { return absl::StatusOr<Object>(Decode<type>(j, o)); }},
// Invariant: the order is that of the alternatives of Object.
constexpr Kind kKinds[] = {BERTH_WATCHED_KINDS(BERTH_ROW) BERTH_FILED_KINDS(BERTH_ROW)};
#undef BERTH_ROW
static_assert(std::size(kKinds) == std::variant_size_v<Object>);

}  // namespace

#define BERTH_DECODED(type, kind, ...)                                     \
  absl::StatusOr<Ptr<type>> Decode##type(Json j, const DecodeOptions& o) { \
    return DecodeAs<type>(kind, j, o);                                     \
  }
BERTH_KINDS_BUT_PODS(BERTH_DECODED)
#undef BERTH_DECODED

std::string_view KindName(const Object& object) {
  return kKinds[object.index()].name;
}

absl::StatusOr<Object> DecodeObject(Json j, std::string_view default_kind, const DecodeOptions& o) {
  Reader r;
  std::string kind(default_kind), version;
  if (j.IsNull()) r.Fail({}, j, "must be an object");
  r.Members({}, j, Member("kind", &kind), Member("apiVersion", &version));
  if (!r.ok()) return r.Status("object", j);
  if (kind.empty()) {
    r.Fail({}, j, "has no kind: an object needs apiVersion and kind");
    return r.Status("object", j);
  }
  for (const Kind& k : kKinds) {
    if (k.name != kind) continue;
    bool served = version.empty() || k.groups.find(" " + version + " ") != std::string_view::npos;
    if (served) return k.decode(j, o);
  }
  return absl::NotFoundError(absl::StrCat("no kind ", GoQuoted(kind), " is known for version ", GoQuoted(version)));
}

}  // namespace berth::api
