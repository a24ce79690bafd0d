// Keeps what was found for pods that fit nowhere. When many pods wait for room, each is tried again whenever something
// changes, and almost always in vain. Pods of one template fail alike, and between two attempts only a few rows have
// changed: these are checked again, and everything else is as it was. Where nothing at all has changed since another
// pod of the template was tried, not even the rules are prepared. What preemption found for such a pod is kept with it.
//
// A failure is kept only if every rule that could let the pod fit looks at nothing but the node and the pods on it. The
// result is the same as that of an attempt which goes through all nodes, also in the order of reasons.
//
// Thread-safety: none; used on the thread of its Cache.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pkg/scheduler/core/filtering.h"
#include "pkg/util/symbol.h"

namespace berth::scheduler {

class KeptFailures {
 public:
  // `nominated` may be null: no nominated pods count. All pointers must outlive this object.
  KeptFailures(Cache* cache, const AlgorithmConfig* config, const NominatedPods* nominated, Filtering* filtering);

  // Returns the decision if the pod's template has failed before and fails again, and nothing if that is not known.
  std::optional<Decision> Again(const api::PodPtr& pod);
  // The same for a comparison: the order in which later decisions look at nodes stays as it is.
  std::optional<Decision> AgainUnnoted(const api::PodPtr& pod);
  // Keeps a decision that found no node, before extenders were asked, if that can be said again from changed rows.
  void Keep(const api::PodPtr& pod, const Checks& checks, const Filtered& filtered, const Decision& d);
  // Returns what preemption comes to if it has found nothing for a pod of this template before, and nothing that it
  // looks at has changed since; null if that is not known. `failures` are those of the pod's last decision.
  const Preemption* InVain(const api::Pod& pod, const NodeFailures& failures) const;
  // Keeps what preemption came to for the pod, if it found nothing and that can be said again.
  void KeepInVain(const api::Pod& pod, const NodeFailures& failures, const Preemption& found);
  // Returns how often Again returned a decision from what was kept.
  uint64_t again() const { return again_; }

 private:
  // All that decisions read of a cluster, as numbers that change with it.
  struct Version {
    uint64_t generation = 0;  // of the cache
    uint64_t objects = 0;     // the sum of the versions of all listers
    uint64_t nominated = 0;   // of the nominated pods
    friend bool operator==(const Version&, const Version&) = default;
  };
  // The rows that failed, by check and then by row, in a quarter of the memory of their list. Where all checks are
  // evaluated, they are in the order of rows alone, and nothing is known about their checks.
  class FailedRows {
   public:
    FailedRows() = default;
    FailedRows(const std::vector<Filtered::Failed>& failed, bool by_all_checks);
    // Returns the list, without the numbers of those checks that give several.
    std::vector<Filtered::Failed> List(const Checks& checks) const;
    Row operator[](size_t i) const { return rows_[i]; }
    // Returns the place of the row, or nothing if it did not fail by this check, which is any if all are evaluated.
    std::optional<size_t> Find(uint32_t check, Row row) const;

   private:
    struct OfCheck {
      uint32_t check;
      size_t end;  // of its rows in rows_
    };
    std::vector<Row> rows_;
    std::vector<OfCheck> checks_;
  };
  // What was found for the pods of one template, none of which fitted anywhere.
  struct Failure {
    std::shared_ptr<const api::PodTemplate> tmpl;
    std::vector<const ConfiguredPredicate*> rules;  // Checks::rules
    Version version;                                // when the rest was true
    FailedRows failed;
    std::shared_ptr<const NodeFailures> failures;
    util::KeptTexts texts;            // of the reasons in `failures`
    std::string error;                // Decision::error, which is a text alone where no node fits
    std::vector<Symbol> rejected_by;  // Decision::rejected_by
    uint64_t used = 0;                // the value of used_ at the last use
    // What preemption came to, if it found nothing, and when. `by_failures`: because no pod anywhere had a lower
    // priority, so that it depends on `failures` alone.
    std::optional<Preemption> in_vain;
    Version in_vain_at;
    bool in_vain_by_failures = false;
  };
  Version VersionNow() const;
  bool RowsDecide(const Checks& checks) const;
  bool AreAsKept(const api::Pod& pod, const Failure& kept) const;
  bool SaysTheSame(const ConfiguredPredicate& rule, const PodContext& ctx, const Failure& kept) const;
  bool PreemptsInVain(const api::Pod& pod) const;
  bool FailAsBefore(Checks& checks, const std::vector<Row>& rows, const Failure& kept) const;
  std::optional<bool> BringUpToDate(const api::PodPtr& pod, Failure* kept, Decision* rejected);
  bool Renew(const api::Pod& pod, Checks& checks, const std::vector<Row>& rows, Failure* kept) const;
  bool RenewByAllChecks(Checks& checks, const std::vector<Row>& rows, Failure* kept) const;
  void Replace(std::shared_ptr<const NodeFailures> failures, Failure* kept) const;

  Cache* const cache_;
  const AlgorithmConfig* const config_;
  const NominatedPods* const nominated_;
  Filtering* const filtering_;
  // The predicates that may say something else about another pod of the same template although nothing has changed, and
  // those that may if the template has volumes.
  std::vector<const ConfiguredPredicate*> of_pods_, of_volumes_;
  absl::flat_hash_map<const api::PodTemplate*, Failure> failures_;  // by their own templates
  uint64_t used_ = 0;                                               // the number of uses of `failures_`
  uint64_t again_ = 0;                                              // how many of them decided
};

}  // namespace berth::scheduler
