// Counts of pods that rules ask for, kept up to date as pods come and go instead of recounted for each decision.
// Owned by the Cache and used on its thread only.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "pkg/api/labels.h"
#include "pkg/api/types.h"
#include "pkg/scheduler/cache/template_info.h"

namespace berth::scheduler {

// Which pods to count: those in one of the namespaces that match any of the selectors.
struct PodQuery {
  std::vector<Symbol> namespaces;  // sorted
  std::vector<api::Selector> any_of;
  bool skip_terminating = false;  // leave out pods with a deletionTimestamp
  // Also sum by the value that the pod's node has for this label; empty: by row only.
  Symbol topology_key;
  // Pods added to a row while a nomination is simulated count only for queries that look at the node itself.
  bool sees_nominated = false;

  bool Matches(const api::PodTemplate& t) const;
  friend bool operator==(const PodQuery&, const PodQuery&) = default;
};

// A live count. Obtained from Cache::Count and dropped by letting go of the pointer.
class PodCount {
 public:
  const PodQuery& query() const { return query_; }
  int32_t OnRow(Row row) const {
    auto it = by_row_.find(row);
    return it == by_row_.end() ? 0 : it->second;
  }
  // Rows with at least one such pod.
  const absl::flat_hash_map<Row, int32_t>& rows() const { return by_row_; }
  // Pods on nodes that carry the topology label with this value.
  int64_t InValue(Symbol value) const {
    auto it = by_value_.find(value);
    return it == by_value_.end() ? 0 : it->second;
  }
  const absl::flat_hash_map<Symbol, int64_t>& values() const { return by_value_; }
  int64_t total() const { return total_; }          // on nodes that exist
  int64_t total_all() const { return total_all_; }  // also on nodes that are gone

 private:
  friend class Cache;
  explicit PodCount(PodQuery q) : query_(std::move(q)) {}
  PodQuery query_;
  void AddOnRow(Row row, int32_t n);
  void AddInValue(Symbol value, int64_t n);
  absl::flat_hash_map<Row, int32_t> by_row_;
  absl::flat_hash_map<Symbol, int64_t> by_value_;
  int64_t total_ = 0, total_all_ = 0;
};

// The inter-pod affinity terms that placed pods declare, each distinct term once, with how many pods declare it in each
// topology domain.
class DeclaredTerms {
 public:
  struct InDomain {
    int32_t anti_required = 0;
    int32_t affinity_required = 0;
    int32_t preferred = 0;
    int64_t preferred_weight = 0;  // affinity weights minus anti-affinity weights
    bool Zero() const { return anti_required == 0 && affinity_required == 0 && preferred == 0; }
  };
  struct Term {
    api::PodAffinityTerm term;
    absl::flat_hash_map<Symbol, InDomain> domains;  // by value of the topology label
    int64_t anti_required = 0, scoring = 0;         // declaring pods in all: required anti-affinity, everything else
    // Whether templates known to the cache declare it as required anti-affinity, and as anything that is scored.
    bool declares_anti = false, declares_scoring = false;
    // Does a pod of this template match the term (namespace and selector)? False for a selector that cannot be used.
    bool Matches(const api::PodTemplate& t) const;

   private:
    friend class DeclaredTerms;
    size_t hash = 0;
    int64_t uses = 0;  // by templates known to the cache; 0: a free place
  };
  const std::vector<Term>& terms() const { return terms_; }
  // Changes when a term is added or given up, not when its counts do.
  uint64_t version() const { return version_; }
  // Sum of declaring pods over all terms, to skip the whole matter when there is none.
  int64_t anti_required() const { return anti_required_; }
  int64_t scoring() const { return scoring_; }

 private:
  friend class Cache;
  uint32_t Use(const api::PodAffinityTerm& t, bool anti_required);
  void Declare(Term* term, bool anti_required);
  void Release(uint32_t term);
  std::vector<Term> terms_;
  std::vector<uint32_t> free_;
  uint64_t version_ = 0;
  absl::flat_hash_map<size_t, std::vector<uint32_t>> by_hash_;
  int64_t anti_required_ = 0, scoring_ = 0;
};

}  // namespace berth::scheduler
