// What an API server makes of an object that is to be created: the admission plugins that are on by default, and the
// parts of a pod's creation that concern scheduling.
//
// Works on values, so that it serves files, a store and controllers alike. Objects must have the defaults of their API
// version already (validation::ApplyDefaults), at least requests from limits; validation comes after it.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/api/validation/field_error.h"
#include "pkg/world/objects.h"
#include "pkg/world/quota.h"
#include "pkg/world/rules.h"

namespace berth::world {

// Why an object is refused: 403 with a text, or 422 with errors of fields.
struct Refusal {
  std::string forbidden;  // what follows "is forbidden: "; empty for 422
  validation::FieldErrors invalid;
  // Returns the server's message: `pods "web-1" is forbidden: ...`, `Pod "web-1" is invalid: ...`.
  std::string Message(std::string_view kind, std::string_view name) const;
};

// What admission changed or noticed, for people. One entry for each plugin that changed the object, in their order.
struct AdmissionNote {
  enum class Kind : uint8_t {
    kLimitRange,
    kPriority,
    kTolerations,
    kRuntimeClass,
    kPodResources,
    kLabelKeys,
    kStorageClass,
    kMissing  // an object that is named and does not exist; only if AdmissionOptions::tolerates_missing
  };
  Kind kind;
  std::string text;  // "priority 1000 of PriorityClass high"
};

// Which admission plugins run.
struct AdmissionPlugins {
  bool limit_ranger = true, priority = true, default_tolerations = true, runtime_class = true, storage_class = true,
       quota = true;
  // Whether new nodes get the taint not-ready, which the controller of nodes takes off. Not in Names.
  bool taints_new_nodes = false;
  // Switches off the plugin of this name ("LimitRanger"). Returns false if there is none.
  bool Disable(std::string_view name);
  // Returns the names that Disable knows.
  static std::vector<std::string> Names();
};

struct AdmissionOptions {
  Rules rules;
  AdmissionPlugins plugins{};
  // Whether spec.priority of a pod without a class is kept, as files have it; a server refuses it.
  bool keeps_given_priority = false;
  // Whether a RuntimeClass that does not exist is noted instead of being refused: the input may be incomplete.
  bool tolerates_missing = false;
  // Whether service accounts are looked up. Where no controller makes them, they are not.
  bool service_accounts = false;
};

class Admission {
 public:
  // `objects` must outlive it. It offers the classes, LimitRanges and quotas, and, for what is used of quotas, the
  // objects that exist.
  Admission(const AdmissionOptions& options, const Objects* objects)
      : options_(options), objects_(objects), ledger_(objects) {}

  // Admits an object in its namespace: completes it, or says why it is refused. What it uses of quotas is not yet
  // counted: see Created. `notes` may be null.
  std::optional<Refusal> Admit(std::string_view kind, Value* object, std::vector<AdmissionNote>* notes = nullptr);
  // The first half: everything but quotas, which are asked by CheckQuota. Of pods that differ in nothing but their
  // names, the first half need be called for one alone.
  std::optional<Refusal> Complete(std::string_view kind, Value* object, std::vector<AdmissionNote>* notes = nullptr);
  std::optional<Refusal> CheckQuota(std::string_view kind, const Value& object);
  // Counts what an admitted object uses of quotas. REQUIRES: `objects` does not offer it yet.
  void Created(std::string_view kind, const Value& object) { ledger_.Add(kind, object); }
  bool HasQuotas(std::string_view ns) const;
  QuotaLedger& ledger() { return ledger_; }

 private:
  std::optional<Refusal> CompletePod(Value* pod, std::vector<AdmissionNote>* notes);
  std::optional<Refusal> LimitRanges(std::string_view kind, Value* object, std::vector<AdmissionNote>* notes);
  std::optional<Refusal> Priority(Value* pod, std::vector<AdmissionNote>* notes);
  std::optional<Refusal> RuntimeClass(Value* pod, std::vector<AdmissionNote>* notes);
  std::optional<Refusal> ServiceAccount(Value* pod);
  std::optional<Refusal> StorageClass(Value* claim, std::vector<AdmissionNote>* notes);
  std::optional<Refusal> CheckPriorityClass(const Value& priority_class);

  const AdmissionOptions options_;
  const Objects* objects_;
  QuotaLedger ledger_;
};

// Adds the tolerations of the plugin DefaultTolerationSeconds. Returns whether it added any.
bool AddDefaultTolerations(Value* pod);

// The same for a decoded pod: returns the template with those that it lacks, or itself if it lacks none.
std::shared_ptr<const api::PodTemplate> WithDefaultTolerations(const std::shared_ptr<const api::PodTemplate>& pod);

// Fills in what a server's defaults do to containers before admission: requests that are not given are the limits, and
// with hostNetwork a port is one of the host.
void CompleteContainers(Value* pod);

// Merges the pod's own labels that matchLabelKeys and mismatchLabelKeys name into the selectors beside them, and
// appends errors of keys that are in the selector already. Returns whether anything changed.
bool MergeLabelKeys(const Rules& rules, Value* pod, validation::FieldErrors* errors);

// Completes spec.resources of a pod that has them, and appends what is wrong with them. Returns whether it changed
// anything (Kubernetes 1.34).
bool CompletePodResources(Value* pod, validation::FieldErrors* errors);

// Returns the default StorageClass, or null. Of several, the newest counts; before Kubernetes 1.26 they are an error,
// whose text is written to `error`.
ValuePtr DefaultStorageClass(const Rules& rules, const Objects& objects, std::string* error);

// The priorities of the built-in classes, which always exist.
inline constexpr int64_t kSystemClusterCritical = 2'000'000'000;
inline constexpr int64_t kSystemNodeCritical = 2'000'001'000;

}  // namespace berth::world
