// Keeps what was found for pods that fit nowhere. When many pods wait for room, each is tried again whenever something
// changes, and almost always in vain. Pods of one template fail alike, and between two attempts only a few rows have
// changed: these are checked again, and everything else is as it was.
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
  // All pointers must outlive this object.
  KeptFailures(Cache* cache, const AlgorithmConfig* config, Filtering* filtering)
      : cache_(cache), config_(config), filtering_(filtering) {}

  // Returns the decision if the pod's template has failed before and fails again, and nothing if that is not known.
  std::optional<Decision> Again(const api::PodPtr& pod);
  // Keeps a decision that found no node, before extenders were asked, if that can be said again from changed rows.
  void Keep(const api::PodPtr& pod, const Checks& checks, const Filtered& filtered, const Decision& d);
  // Returns how often Again returned a decision from what was kept.
  uint64_t again() const { return again_; }

 private:
  // The rows that failed, by check and then by row, in a quarter of the memory of their list.
  class FailedRows {
   public:
    FailedRows() = default;
    explicit FailedRows(const std::vector<Filtered::Failed>& failed);
    // Returns the list, without the numbers of those checks that give several.
    std::vector<Filtered::Failed> List(const Checks& checks) const;

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
    uint64_t generation = 0;                        // of the cache
    FailedRows failed;
    std::shared_ptr<const NodeFailures> failures;
    util::KeptTexts texts;            // of the reasons in `failures`
    std::string error;                // Decision::error, which is a text alone where no node fits
    std::vector<Symbol> rejected_by;  // Decision::rejected_by
    uint64_t used = 0;                // the value of used_ at the last use
  };
  bool RowsDecide(const Checks& checks) const;
  bool Renew(const api::Pod& pod, Checks& checks, const std::vector<Row>& rows, Failure* kept) const;

  Cache* const cache_;
  const AlgorithmConfig* const config_;
  Filtering* const filtering_;
  absl::flat_hash_map<const api::PodTemplate*, Failure> failures_;  // by their own templates
  uint64_t used_ = 0;                                               // the number of uses of `failures_`
  uint64_t again_ = 0;                                              // how many of them decided
};

}  // namespace berth::scheduler
