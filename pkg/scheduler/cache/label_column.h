// The values of one node label by row, and the topology domains that follow from them.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/functional/function_ref.h>

#include <cstdint>
#include <span>
#include <vector>

#include "pkg/scheduler/cache/row_set.h"
#include "pkg/scheduler/cache/template_info.h"
#include "pkg/util/contract.h"
#include "pkg/util/symbol.h"

namespace berth::scheduler {

using util::Symbol;

// Each distinct value of the label is a topology domain, identified by a number below domain_limit(). A number whose
// value no node has any more is given to another value later. Owned by the Cache, which keeps it up to date.
//
// Invariant: Rows(d) has exactly the rows r with Domain(r) == d, and DomainOf(Value(d)) == d for every domain with
// rows.
class LabelColumn {
 public:
  static constexpr uint32_t kNoDomain = ~uint32_t{0};

  // Returns the domain of the row, or kNoDomain when the node lacks the label.
  uint32_t Domain(Row r) const { return r < domains_.size() ? domains_[r] : kNoDomain; }
  // Returns the domains by row, of the rows below some number; those of all other rows are kNoDomain.
  std::span<const uint32_t> domains() const { return domains_; }
  // Returns the value of the row, or no_value() when the node lacks the label.
  Symbol operator[](Row r) const {
    const uint32_t domain = Domain(r);
    return domain == kNoDomain ? no_value() : values_[domain];
  }
  // Returns the domain of the value, or kNoDomain when no node has it.
  uint32_t DomainOf(Symbol value) const {
    auto it = by_value_.find(value);
    return it == by_value_.end() ? kNoDomain : it->second;
  }
  // REQUIRES: `domain` is below domain_limit().
  Symbol Value(uint32_t domain) const {
    BERTH_REQUIRES(domain < domain_limit());
    return values_[domain];
  }
  const std::vector<Row>& Rows(uint32_t domain) const { return rows_[domain]; }  // in no particular order
  const std::vector<Row>& RowsWith(Symbol value) const;
  size_t distinct() const { return by_value_.size(); }
  size_t rows_with_label() const { return rows_with_label_; }
  // Changes when a value gets a domain, that is when it was the value of no node before.
  uint64_t version() const { return version_; }
  uint32_t domain_limit() const { return static_cast<uint32_t>(values_.size()); }

  // Returns a symbol that cannot be the value of a label.
  static Symbol no_value();

 private:
  friend class Cache;
  void Set(Row r, Symbol value);
  // Does what Set does for each of the rows, faster. REQUIRES: no row has been set; the rows are below `row_count`.
  void SetAll(const RowSet& rows, uint32_t row_count, absl::FunctionRef<Symbol(Row)> value_of);
  // Returns the domain of a value that a row gets.
  uint32_t DomainFor(Symbol value);
  // By row. Ends behind the last row that has had the label, because pods may name any number of labels that no node
  // has.
  std::vector<uint32_t> domains_;
  std::vector<Symbol> values_;  // by domain
  std::vector<std::vector<Row>> rows_;
  std::vector<uint32_t> free_;
  absl::flat_hash_map<Symbol, uint32_t> by_value_;
  uint64_t version_ = 0;
  size_t rows_with_label_ = 0;
};

}  // namespace berth::scheduler
