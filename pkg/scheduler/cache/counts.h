// Live counts: numbers of pods that rules read. The Cache keeps them up to date as pods come and go, so that pods are
// not counted again for each decision. The Cache shares the ownership of a count with the rules that requested it.
//
// Thread-safety: that of the Cache.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pkg/api/labels.h"
#include "pkg/api/types.h"
#include "pkg/scheduler/cache/domain_numbers.h"
#include "pkg/scheduler/cache/label_column.h"
#include "pkg/scheduler/cache/label_pair_index.h"
#include "pkg/scheduler/cache/row_set.h"
#include "pkg/scheduler/cache/template_info.h"
#include "pkg/util/contract.h"

namespace berth::scheduler {

// A number for each topology domain. A topology domain is the set of nodes with one value of a label, such as a zone;
// without a label, each row is a domain of its own.
class DomainTotals {
 public:
  // Returns the column of the label whose values are the domains, or null when each row is a domain of its own.
  const LabelColumn* column() const { return column_; }
  // Returns the domain of the row: LabelColumn::Domain, or the row itself without a column.
  uint32_t DomainOf(Row row) const { return column_ == nullptr ? row : column_->Domain(row); }
  int64_t In(uint32_t domain) const { return numbers_.In(domain); }
  // Returns false only if In(domain) is 0. Follows fewer pointers than In.
  bool MayCount(uint32_t domain) const { return numbers_.MayHave(domain); }
  // Returns the numbers by domain. Their size is the number of domains that matter.
  const DomainNumbers& numbers() const { return numbers_; }

 protected:
  explicit DomainTotals(const LabelColumn* column) : column_(column) {}
  // Makes room for numbers of so many domains more, all below `limit`.
  void Reserve(size_t domains, uint32_t limit) { numbers_.Reserve(domains, limit); }
  void Add(uint32_t domain, int64_t n) { numbers_.Add(domain, n); }

 private:
  const LabelColumn* column_;
  DomainNumbers numbers_;
};

class Cache;

// Selects the nodes whose pods count. `admits` depends on the node's labels, taints and name alone, and filters with
// the same key admit the same nodes.
struct NodeFilter {
  // Returns a key for a text that says what `admits` reads: the text itself, or its hash if it is long, because a pod
  // may have thousands of counts whose filters are compared.
  static std::string KeyOf(std::string text);
  std::string key;
  std::function<bool(const api::Node&)> admits;
  // Erases from listed rows those whose nodes `admits` does not admit, faster than by asking it about each.
  std::function<void(const Cache&, RowSet*)> narrow;
};

// Says which pods a live count counts: those in one of the namespaces whose labels match at least one selector of
// `any_of` and every selector of `all_of`.
struct PodQuery {
  std::vector<Symbol> namespaces;  // sorted
  bool all_namespaces = false;     // if true, `namespaces` is ignored
  std::vector<api::Selector> any_of;
  std::vector<api::Selector> all_of;
  bool skip_terminating = false;  // do not count pods with a deletionTimestamp
  // The node label whose values are the domains. If it is empty, each row is a domain of its own. REQUIRES: it is not
  // empty when `nodes` is set.
  Symbol topology_key;
  // Whether nominated pods that a Simulation adds are counted.
  bool sees_nominated = false;
  // If set, pods count only on nodes that the filter admits, and minimum() and domains() are about the domains of those
  // nodes. If null, pods count on all nodes and no minimum is kept.
  std::shared_ptr<const NodeFilter> nodes;
  // With `nodes`: the admitted nodes decide only which domains there are, and pods on all nodes of these domains count
  // (1.19). Other domains count nothing.
  bool nodes_choose_domains = false;
  // Count every matching pod that a Simulation removes or adds, even one that is terminating, as 1.29 does (bug M-08,
  // kept).
  bool simulation_counts_all = false;
  // Count no pod apart from those of `simulation_counts_all` (1.29: a constraint with an empty selector).
  bool never_base = false;

  // Return whether the pods are in one of the namespaces and match the selectors.
  bool Matches(Symbol ns, const api::Labels& labels) const;
  bool Matches(const api::PodTemplate& t) const { return Matches(t.ns, t.labels); }
  friend bool operator==(const PodQuery& a, const PodQuery& b);
};

// The live count of the pods that match a query, by row and by topology domain. Obtained from Cache::Count, and
// released by destroying the pointer.
class PodCount final : public DomainTotals {
 public:
  const PodQuery& query() const { return query_; }
  // Returns the number of pods on the row. REQUIRES: each row is a domain of its own.
  int32_t OnRow(Row row) const {
    BERTH_REQUIRES(column() == nullptr);
    return static_cast<int32_t>(In(row));
  }
  // Returns the number of pods on listed rows; with a node filter, on admitted nodes.
  int64_t total() const { return total_; }
  // Returns the number of pods on all rows, including those whose node object is gone.
  int64_t total_all() const { return total_all_; }

  // With a node filter, returns the smallest number over the domains of admitted nodes, or INT32_MAX when there are no
  // such domains; and the number of those domains.
  int64_t minimum() const { return histogram_.empty() ? INT32_MAX : histogram_.begin()->first; }
  size_t domains() const { return eligible_.size(); }
  // Calls f(domain) for the domains of admitted nodes, in no particular order.
  template <typename F>
  void ForEachAdmittedDomain(F f) const {
    eligible_.ForEach([&](uint32_t domain, int64_t) { f(domain); });
  }

 private:
  friend class Cache;
  PodCount(PodQuery q, const LabelColumn* column) : DomainTotals(column), query_(std::move(q)) {}
  void AddInDomain(uint32_t domain, int64_t n);
  // Returns whether pods on a row with a node object count in its domain.
  bool CountsOn(Row row) const { return query_.nodes == nullptr || query_.nodes_choose_domains || admitted_.Has(row); }
  // Add an admitted node to its domain, and remove it. The caller updates admitted_.
  void AdmitNode(uint32_t domain);
  void DismissNode(uint32_t domain);
  // Admits the nodes of a new count at once: the number of them in each of some domains. REQUIRES: it counts no pod.
  void AdmitNodes(std::span<const std::pair<uint32_t, int32_t>> nodes_by_domain);
  // Adds the pods of a new count, each domain once. REQUIRES: it has a column and counts no pod in a domain yet.
  void AddToNew(std::span<const std::pair<uint32_t, int64_t>> pods_by_domain);

  PodQuery query_;
  bool dropped_ = false;  // whether the cache is about to drop the count
  int64_t total_ = 0, total_all_ = 0;
  // With a node filter. Invariant: the domains with an admitted node are those of eligible_, and histogram_ says for
  // each number how many of these domains have it, without entries with the value 0. So the minimum is the first key of
  // histogram_ and is found without going through all domains.
  RowSet admitted_;                       // rows whose nodes the filter admits
  DomainNumbers eligible_;                // number of admitted nodes by domain
  std::map<int64_t, int64_t> histogram_;  // number of eligible domains by number of pods
  // With nodes_choose_domains: number of pods in every domain, also those that are not eligible.
  DomainNumbers everywhere_;
};

// The inter-pod affinity terms of all templates in the cache. Each distinct term is kept once, with the number of
// placed pods that declare it in each topology domain. A term is identified by its index, which is given to another
// term after the last template that declares it is dropped.
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
    absl::flat_hash_map<uint32_t, InDomain> domains;  // by domain of the column, without those that are Zero()
    // How many pods on listed rows declare the term: as required anti-affinity, and in any other way.
    int64_t anti_required = 0, scoring = 0;
    // Whether a template has declared the term as required anti-affinity, and in any other way, since it was added.
    bool declares_anti = false, declares_scoring = false;
    // Returns whether a pod of the template matches the term's namespaces and selector. No pod matches a selector that
    // cannot be used.
    bool Matches(const api::PodTemplate& t) const;
    // The same with the term's namespaceSelector (1.29). `labels` are the labels of the pod's namespace.
    bool MatchesWith(const api::PodTemplate& t, const api::Labels& labels) const;

   private:
    friend class DeclaredTerms;
    friend class Cache;
    size_t hash = 0;
    int64_t uses = 0;                         // how often templates in the cache declare it; 0: the index is free
    std::vector<class TermTotals*> added_by;  // the sums that include this term
  };
  const std::vector<Term>& terms() const { return terms_; }
  // Changes when a term is added, is given up, or gets one of its `declares` flags; not when its counts change.
  uint64_t version() const { return version_; }
  // Returns the sum of Term::anti_required, or of Term::scoring, over all terms. If it is 0, a rule need not look at
  // the terms at all.
  int64_t anti_required() const { return anti_required_; }
  int64_t scoring() const { return scoring_; }
  // Appends the indexes of all terms whose selector matches the labels, and of a few others, and sorts `*out`.
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

// Says what TermTotals adds up over some declared terms of one topology key: the number of pods that declare them as
// required anti-affinity, or the weights with which pods declare them otherwise.
struct TermSum {
  std::vector<uint32_t> terms;  // indexes in DeclaredTerms::terms(), sorted
  bool anti = false;            // true: count required anti-affinity; false: add up weights
  int64_t required_weight = 0;  // if not `anti`: the weight of each pod that declares a term as required affinity
  friend bool operator==(const TermSum&, const TermSum&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const TermSum& s) {
    return H::combine(std::move(h), s.terms, s.anti, s.required_weight);
  }
};
// A TermSum by topology domain, kept up to date. Obtained from Cache::SumOf. It is no longer kept up to date once one
// of its terms is given up, which DeclaredTerms::version() tells.
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
