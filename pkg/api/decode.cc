// Chooses the decoder of an object by its kind and apiVersion. The decoders themselves are in the decode_*.cc files.
#include "pkg/api/decode.h"

#include <absl/strings/str_cat.h>

#include <array>

#include "pkg/api/decode_internal.h"
#include "pkg/util/status.h"

namespace berth::api {
namespace {

using DecodeFn = absl::StatusOr<Object> (*)(Json, const DecodeOptions&);

template <auto kDecode>
absl::StatusOr<Object> As(Json j, const DecodeOptions& o) {
  auto decoded = kDecode(j, o);
  if (!decoded.ok()) return decoded.status();
  return Object(*std::move(decoded));
}

struct Kind {
  std::string_view name;
  std::string_view groups;  // the apiVersions that serve it, each between blanks
  DecodeFn decode;
};

#define BERTH_ROW(type, kind, versions, ...) {kind, " " versions " ", As<Decode##type>},
constexpr Kind kKinds[] = {
    // Invariant: the order is that of the alternatives of Object.
    BERTH_WATCHED_KINDS(BERTH_ROW)  //
    {"Deployment", " apps/v1 apps/v1beta2 apps/v1beta1 extensions/v1beta1 ", As<DecodeDeployment>},
    {"PriorityClass", " scheduling.k8s.io/v1alpha1 scheduling.k8s.io/v1beta1 scheduling.k8s.io/v1 ",
     As<DecodePriorityClass>},
    {"ConfigMap", " v1 ", As<DecodeConfigMap>},
};
#undef BERTH_ROW
static_assert(std::size(kKinds) == std::variant_size_v<Object>);

}  // namespace

std::string_view KindName(const Object& object) {
  return kKinds[object.index()].name;
}

absl::StatusOr<Object> DecodeObject(Json j, std::string_view default_kind, const DecodeOptions& o) {
  internal::Reader r;
  std::string kind(default_kind), version;
  if (j.IsNull()) r.Fail({}, j, "must be an object");
  r.Fields({}, j, [&](std::string_view key, const internal::Path& p, Json v) {
    if (internal::Is(key, "kind")) {
      r.Read(p, v, &kind);
    } else if (internal::Is(key, "apiVersion")) {
      r.Read(p, v, &version);
    }
  });
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
