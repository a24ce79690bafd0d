// Reads and writes the record of leader election in a lock object: the spec of a Lease, or the annotation
// control-plane.alpha.kubernetes.io/leader of Endpoints and ConfigMaps.
#include <absl/strings/str_cat.h>
#include <absl/time/time.h>

#include "pkg/api/json.h"
#include "pkg/client/json_edit.h"
#include "pkg/client/leaderelection.h"
#include "pkg/client/requests.h"
#include "pkg/util/status.h"

namespace berth::client {
namespace {

constexpr std::string_view kAnnotation = "control-plane.alpha.kubernetes.io/leader";

std::string TimeJson(const std::optional<absl::Time>& t, bool micro) {
  if (!t) return "null";
  return JsonString(micro ? absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", *t, absl::UTCTimeZone()) : FormatApiTime(*t));
}

absl::Status ReadTime(api::Json j, std::string_view name, std::optional<absl::Time>* out) {
  if (j.IsNull()) return absl::OkStatus();
  absl::Time t;
  std::string text(j.Text()), error;
  if (!absl::ParseTime(absl::RFC3339_full, text, &t, &error)) {
    return absl::InvalidArgumentError(absl::StrCat(util::ToAbsl(name), ": ", j.Brief(), " is not a time"));
  }
  *out = t;
  return absl::OkStatus();
}

absl::Status ReadRecord(api::Json j, std::string_view transitions, LeaderRecord* r) {
  if (!j.IsObject()) return absl::InvalidArgumentError(absl::StrCat("not a record: ", j.Brief()));
  r->holder = std::string(j.Find("holderIdentity").Text());
  r->lease_seconds = j.Find("leaseDurationSeconds").Int();
  r->transitions = j.Find(transitions).Int();
  BERTH_RETURN_IF_ERROR(ReadTime(j.Find("acquireTime"), "acquireTime", &r->acquired));
  return ReadTime(j.Find("renewTime"), "renewTime", &r->renewed);
}

}  // namespace

absl::StatusOr<LockObject> ReadLock(std::string_view lock_type, std::string_view json) {
  api::Document doc;
  BERTH_RETURN_IF_ERROR(doc.Parse(json));
  LockObject lock;
  api::Json meta = doc.root().Find("metadata");
  lock.uid = std::string(meta.Find("uid").Text());
  lock.resource_version = std::string(meta.Find("resourceVersion").Text());
  if (lock_type == "leases") {
    api::Json spec = doc.root().Find("spec");
    if (spec.IsNull()) return lock;
    BERTH_RETURN_IF_ERROR(ReadRecord(spec, "leaseTransitions", &lock.record));
    return lock;
  }
  api::Json annotation = meta.Find("annotations").FindExact(kAnnotation);
  if (annotation.IsNull()) return lock;
  api::Document record;
  absl::Status s = record.Parse(annotation.Text());
  if (s.ok()) s = ReadRecord(record.root(), "leaderTransitions", &lock.record);
  if (!s.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("annotation ", util::ToAbsl(kAnnotation), " is malformed: ", util::Message(s)));
  }
  return lock;
}

absl::StatusOr<std::string> WriteLock(const LeaderElectionOptions& o, std::string_view json, const LeaderRecord& r) {
  bool lease = o.lock_type == "leases";
  std::string text(json);
  if (text.empty()) {
    const char* kind = lease ? "Lease" : o.lock_type == "configmaps" ? "ConfigMap" : "Endpoints";
    JsonWriter fresh(&text);
    fresh.Object().Member("kind", kind).Member("apiVersion", lease ? "coordination.k8s.io/v1" : "v1");
    fresh.Key("metadata").Object().Member("name", o.name).Member("namespace", o.ns);
    fresh.Key("creationTimestamp").Literal("null").End().End();
  }
  auto edit = JsonEdit::New(text);
  if (!edit.ok()) return edit.status();
  std::string acquired = TimeJson(r.acquired, lease), renewed = TimeJson(r.renewed, lease);
  if (lease) {
    edit->Set({"spec", "holderIdentity"}, JsonString(r.holder));
    edit->Set({"spec", "leaseDurationSeconds"}, absl::StrCat(r.lease_seconds));
    edit->Set({"spec", "acquireTime"}, acquired);
    edit->Set({"spec", "renewTime"}, renewed);
    edit->Set({"spec", "leaseTransitions"}, absl::StrCat(r.transitions));
    return edit->Take();
  }
  JsonWriter record;
  record.Object().Member("holderIdentity", r.holder).Member("leaseDurationSeconds", r.lease_seconds);
  record.Key("acquireTime").Literal(acquired).Key("renewTime").Literal(renewed);
  record.Member("leaderTransitions", r.transitions).End();
  edit->Set({"metadata", "annotations", kAnnotation}, JsonString(record.Take()));
  return edit->Take();
}

}  // namespace berth::client
