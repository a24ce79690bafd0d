// Numbers of pods that rules ask for, kept up to date as pods come and go instead of counted again for each decision.
// Owned by the Cache and used on its thread only.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pkg/api/labels.h"
#include "pkg/api/types.h"
#include "pkg/scheduler/cache/label_column.h"
#include "pkg/scheduler/cache/label_pair_index.h"
#include "pkg/scheduler/cache/row_set.h"
#include "pkg/scheduler/cache/template_info.h"

namespace berth::scheduler {

// A number for each topology domain.
class DomainTotals {
 public:
  using Numbers = absl::flat_hash_map<uint32_t, int64_t>;

  // Returns the label whose values are the domains, or null when each row is a domain of its own.
  const LabelColumn* column() const { return column_; }
  // Returns the domain of the row: LabelColumn::Domain, or the row itself without a column.
  uint32_t DomainOf(Row row) const { return column_ == nullptr ? row : column_->Domain(row); }
  int64_t In(uint32_t domain) const {
    if (numbers_.empty()) return 0;
    auto it = numbers_.find(domain);
    return it == numbers_.end() ? 0 : it->second;
  }
  // The domains whose number is not 0.
  const Numbers& numbers() const { return numbers_; }

 protected:
  explicit DomainTotals(const LabelColumn* column) : column_(column) {}
  void Add(uint32_t domain, int64_t n) {
    auto it = numbers_.try_emplace(domain, 0).first;
    it->second += n;
    if (it->second == 0) numbers_.erase(it);
  }

 private:
  const LabelColumn* column_;
  Numbers numbers_;
};

// Nodes whose pods count, by their labels, taints and name alone. Two filters with one key admit the same nodes.
struct NodeFilter {
  std::string key;
  std::function<bool(const api::Node&)> admits;
};

// Which pods to count: those in one of the namespaces that match any of the selectors.
struct PodQuery {
  std::vector<Symbol> namespaces;  // sorted
  bool all_namespaces = false;
  std::vector<api::Selector> any_of;
  std::vector<api::Selector> all_of;  // each must match as well; empty: no further condition
  bool skip_terminating = false;      // leave out pods with a deletionTimestamp
  // The node label whose values are the domains; empty: each row is a domain of its own.
  Symbol topology_key;
  // Pods added to a row while a nomination is simulated count only for queries that look at the node itself.
  bool sees_nominated = false;
  // Only pods on nodes that this admits count, and only the domains of such nodes enter minimum() and domains(); null:
  // all nodes, and no minimum is kept.
  std::shared_ptr<const NodeFilter> nodes;
  // While evictions and nominations are simulated, pods that are terminating or match an empty selector count as well
  // (bug M-08 of 1.29, kept); otherwise a query with `never_base` counts nothing.
  bool simulation_counts_all = false;
  bool never_base = false;

  // `t` is in one of the namespaces and matches the selectors.
  bool Matches(const api::PodTemplate& t) const;
  friend bool operator==(const PodQuery& a, const PodQuery& b);
};

// A live count. Obtained from Cache::Count and dropped by letting go of the pointer.
class PodCount final : public DomainTotals {
 public:
  const PodQuery& query() const { return query_; }
  int32_t OnRow(Row row) const {
    auto it = rows().find(row);
    return it == rows().end() ? 0 : static_cast<int32_t>(it->second);
  }
  // Rows with at least one such pod.
  const Numbers& rows() const { return column() == nullptr ? numbers() : by_row_; }
  // Pods on nodes that carry the topology label with this value.
  int64_t InValue(Symbol value) const { return In(column()->DomainOf(value)); }
  int64_t total() const { return total_; }          // on nodes that exist
  int64_t total_all() const { return total_all_; }  // also on nodes that are gone

  // With a node filter: the smallest number over the domains of admitted nodes, INT32_MAX when there is none, and how
  // many such domains there are.
  int64_t minimum() const { return histogram_.empty() ? INT32_MAX : histogram_.begin()->first; }
  size_t domains() const { return eligible_.size(); }
  // Calls f(domain) for the domains of admitted nodes, in no particular order.
  template <typename F>
  void ForEachAdmittedDomain(F f) const {
    for (const auto& [domain, nodes] : eligible_) f(domain);
  }

 private:
  friend class Cache;
  PodCount(PodQuery q, const LabelColumn* column) : DomainTotals(column), query_(std::move(q)) {}
  void AddOnRow(Row row, int32_t n);
  void AddInDomain(uint32_t domain, int64_t n);
  void AdmitNode(Row row, uint32_t domain);
  void DismissNode(Row row, uint32_t domain);

  PodQuery query_;
  Numbers by_row_;  // when the domains are not the rows themselves
  int64_t total_ = 0, total_all_ = 0;
  RowSet admitted_;                                  // rows whose nodes the filter admits
  absl::flat_hash_map<uint32_t, int32_t> eligible_;  // admitted nodes by domain
  std::map<int64_t, int64_t> histogram_;             // eligible domains by their number
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
    const LabelColumn* column = nullptr;              // of the topology key; null when the key is empty
    absl::flat_hash_map<uint32_t, InDomain> domains;  // by domain of the column
    int64_t anti_required = 0, scoring = 0;           // declaring pods in all: required anti-affinity, the rest
    // Whether templates known to the cache declare it as required anti-affinity, and as anything that is scored.
    bool declares_anti = false, declares_scoring = false;
    // Returns whether a pod of this template matches the term (namespace and selector); false for a selector that
    // cannot be used.
    bool Matches(const api::PodTemplate& t) const;
    // The same with the term's namespaceSelector (1.29): `labels` are those of the pod's namespace.
    bool MatchesWith(const api::PodTemplate& t, const api::Labels& labels) const;

   private:
    friend class DeclaredTerms;
    friend class Cache;
    size_t hash = 0;
    int64_t uses = 0;  // by templates known to the cache; 0: a free place
    std::vector<class TermTotals*> added_by;
  };
  const std::vector<Term>& terms() const { return terms_; }
  // Changes when a term is added or given up, not when its counts do.
  uint64_t version() const { return version_; }
  // Sum of declaring pods over all terms, to skip the whole matter when there is none.
  int64_t anti_required() const { return anti_required_; }
  int64_t scoring() const { return scoring_; }
  // The terms whose selector may match these labels, in ascending order: all that do, and few that do not.
  void Candidates(const api::Labels& labels, std::vector<uint32_t>* out) const;

 private:
  friend class Cache;
  uint32_t Use(const api::PodAffinityTerm& t, bool anti_required);
  void Declare(Term* term, bool anti_required);
  void Release(uint32_t term);
  std::vector<Term> terms_;
  std::vector<uint32_t> free_;
  uint64_t version_ = 0;
  absl::flat_hash_map<size_t, std::vector<uint32_t>> by_hash_;
  LabelPairIndex index_;
  int64_t anti_required_ = 0, scoring_ = 0;
};

// The sum over some declared terms of one topology key: of pods that declare them as required anti-affinity, or of the
// weights with which they are declared otherwise. Obtained from Cache::SumOf.
struct TermSum {
  std::vector<uint32_t> terms;  // sorted; of one topology key
  bool anti = false;            // required anti-affinity; otherwise weights
  int64_t required_weight = 0;  // of a pod that declares a term as required affinity, when weights are summed
  friend bool operator==(const TermSum&, const TermSum&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const TermSum& s) {
    return H::combine(std::move(h), s.terms, s.anti, s.required_weight);
  }
};
class TermTotals final : public DomainTotals {
 public:
  const TermSum& sum() const { return sum_; }

 private:
  friend class Cache;
  TermTotals(TermSum sum, const LabelColumn* column) : DomainTotals(column), sum_(std::move(sum)) {}
  int64_t WeightOf(const DeclaredTerms::InDomain& in) const {
    return sum_.anti ? in.anti_required : in.preferred_weight + sum_.required_weight * in.affinity_required;
  }
  TermSum sum_;
};

}  // namespace berth::scheduler
