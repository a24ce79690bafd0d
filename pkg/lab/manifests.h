// The objects of an input that no server has stored yet: what an API server and controllers make of them, before they
// are scheduled (pkg/world).
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/status/statusor.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/api/decode.h"
#include "pkg/world/admission.h"
#include "pkg/world/objects.h"

namespace berth::lab {

// What a pod got on its way into the cluster, one clause each; by template.
using Origins = absl::flat_hash_map<const api::PodTemplate*, std::shared_ptr<const std::vector<std::string>>>;

class Manifests {
 public:
  Manifests(release::Version release, const world::Rules& rules);

  // Records an object that admission or controllers look up. Returns whether it is of such a kind. Its kind and version
  // may be those of a list.
  bool Note(api::Json object, std::string_view kind, std::string_view version);
  // Record an object that was never stored. It is completed in place by Admit.
  void AddPod(std::shared_ptr<api::Pod> pod, api::Json object);
  void AddClaim(std::shared_ptr<api::PersistentVolumeClaim> claim, api::Json object);
  void AddVolume(std::shared_ptr<api::PersistentVolume> volume) { volumes_.push_back(std::move(volume)); }

  // Admits what was added, in that order. `cluster` has all objects of the input, among them those that were added.
  absl::Status Admit(const std::vector<api::Object>& cluster);
  // Returns whether the object was refused, so that it does not exist.
  bool Refused(const void* object) const { return refused_.contains(object); }

  // A template of pods as admission leaves it.
  struct Completed {
    std::shared_ptr<const api::PodTemplate> tmpl;  // null if such pods are refused
    std::optional<world::Refusal> refusal;
    world::ValuePtr pod;      // the whole pod, without a name of its own
    bool counted = false;     // whether quotas count it
    bool has_claims = false;  // whether it has generic ephemeral volumes
  };
  // Completes a pod that a controller or a user would create. `name` is that of the first such pod; if it is
  // empty, nothing is noted of it.
  absl::StatusOr<Completed> Complete(world::Value pod, const std::string& name);
  // Creates one pod of a completed template: returns whether quotas admit it, and makes the claims of its volumes.
  absl::StatusOr<bool> Create(const Completed& completed, const api::Pod& pod);
  // Creates a claim unless there is one of its name. Returns whether there is one now.
  absl::StatusOr<bool> CreateClaim(world::Value claim);
  // Returns whether quotas admit another object, such as a workload, and counts it.
  bool CreateOther(std::string_view kind, const world::Value& object);
  // Counts an object that is not created.
  void Refuse(std::string_view kind, const std::string& name, const world::Refusal& refusal);
  // Binds the claims that were never stored and whose class does not wait for a pod, as the volume controller does.
  absl::Status BindClaims(std::vector<api::Object>* cluster);

  const world::Rules& rules() const { return options_.rules; }
  const world::ObjectTable& table() const { return table_; }
  std::vector<api::Object> TakeMade() { return std::exchange(made_, {}); }  // claims and volumes
  // Say once a kind what was changed, and what was refused.
  std::vector<std::string> Changes() const;
  std::vector<std::string> Refusals() const;
  Origins TakeOrigins() { return std::exchange(origins_, {}); }

 private:
  // Pods whose objects differ only in their names.
  struct Alike {
    std::string text;      // one of them, as JSON
    bool special = false;  // whether it names something that admission looks up
    bool done = false;
    std::optional<Completed> completed;  // if it was completed as a value
  };
  struct LoosePod {
    std::shared_ptr<api::Pod> pod;
    uint32_t alike;
  };
  struct LooseClaim {
    std::shared_ptr<api::PersistentVolumeClaim> claim;
    std::string text;
  };
  struct Tally {
    int64_t count = 0;
    std::string first;
  };

  void CountStored(const std::vector<api::Object>& cluster);
  absl::Status AdmitPod(const LoosePod& loose);
  absl::Status AdmitClaim(const LooseClaim& loose);
  void AddTolerations(api::Pod* pod);
  // Returns why a server refuses what a LimitRange has made of a pod: a default limit is below what it requests.
  std::optional<world::Refusal> ExceededDefaults(const world::Value& pod,
                                                 const std::vector<world::AdmissionNote>& notes) const;
  void NoteChanges(const std::vector<world::AdmissionNote>& notes, const std::string& name);

  const release::Version release_;
  const world::AdmissionOptions options_;
  world::ObjectTable table_;
  world::Admission admission_;
  absl::flat_hash_map<std::string, uint32_t> alike_by_text_;
  std::vector<Alike> alike_;
  std::vector<LoosePod> pods_;
  std::vector<LooseClaim> claims_;
  std::vector<std::shared_ptr<api::PersistentVolume>> volumes_;
  std::vector<std::shared_ptr<api::PersistentVolumeClaim>> new_claims_;  // that BindClaims may bind
  absl::flat_hash_set<std::string> claim_keys_;                          // "namespace/name" of all claims
  absl::flat_hash_map<const api::PodTemplate*, std::shared_ptr<const api::PodTemplate>> tolerating_;
  std::vector<std::shared_ptr<const api::PodTemplate>> before_;  // keeps the keys of the maps by template alive
  absl::flat_hash_set<const void*> refused_;
  std::vector<api::Object> made_;
  std::map<world::AdmissionNote::Kind, Tally> changes_;
  std::map<std::string, Tally> missing_;  // by what is missing
  std::map<std::string, Tally> refusals_;
  Origins origins_;
};

}  // namespace berth::lab
