// The values of one node label by row, and the topology domains that they make.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <vector>

#include "pkg/scheduler/cache/template_info.h"
#include "pkg/util/symbol.h"

namespace berth::scheduler {

using util::Symbol;

// Each distinct value is a topology domain with a small number. Numbers of values that no node has any more are used
// again. Owned by the Cache and kept up to date by it.
class LabelColumn {
 public:
  static constexpr uint32_t kNoDomain = ~uint32_t{0};

  // Returns the domain of the row, or kNoDomain when the node lacks the label.
  uint32_t Domain(Row r) const { return domains_[r]; }
  // Returns the value of the row, or no_value() when the node lacks the label.
  Symbol operator[](Row r) const { return domains_[r] == kNoDomain ? no_value() : values_[domains_[r]]; }
  // Returns kNoDomain when no node has the value.
  uint32_t DomainOf(Symbol value) const {
    auto it = by_value_.find(value);
    return it == by_value_.end() ? kNoDomain : it->second;
  }
  // REQUIRES: `domain` is below domain_limit().
  Symbol Value(uint32_t domain) const { return values_[domain]; }
  const std::vector<Row>& Rows(uint32_t domain) const { return rows_[domain]; }  // in no particular order
  const std::vector<Row>& RowsWith(Symbol value) const;
  size_t distinct() const { return by_value_.size(); }
  // Changes when a domain is given to a value.
  uint64_t version() const { return version_; }
  uint32_t domain_limit() const { return static_cast<uint32_t>(values_.size()); }

  // A symbol that is no label value.
  static Symbol no_value();

 private:
  friend class Cache;
  void Set(Row r, Symbol value);
  std::vector<uint32_t> domains_;  // by row
  std::vector<Symbol> values_;     // by domain
  std::vector<std::vector<Row>> rows_;
  std::vector<uint32_t> free_;
  absl::flat_hash_map<Symbol, uint32_t> by_value_;
  uint64_t version_ = 0;
};

}  // namespace berth::scheduler
