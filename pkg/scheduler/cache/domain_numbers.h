// Numbers by topology domain: a map from domains, which are small integers, to numbers other than 0.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pkg/scheduler/cache/key_filter.h"

namespace berth::scheduler {

// Numbers of few of the domains are in a hash table, and those of many in an array by domain, which takes less memory
// then and is read without a search.
//
// Invariant: size() is the number of domains whose number is not 0. In the array form they are all below the size of
// `dense_`; in the other form `dense_` is empty, and `sparse_` has no entry with the value 0.
class DomainNumbers {
 public:
  int64_t In(uint32_t domain) const {
    if (domain < dense_.size()) return dense_[domain];
    if (sparse_.empty()) return 0;
    const auto it = sparse_.find(domain);
    return it == sparse_.end() ? 0 : it->second;
  }
  // Returns false only if In(domain) is 0. Follows fewer pointers than In.
  bool MayHave(uint32_t domain) const {
    return dense_.empty() ? filter_.MayHave(domain) : domain < dense_.size() && dense_[domain] != 0;
  }
  // Returns how many domains have a number other than 0.
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // Calls f(domain, number) for each number other than 0, in no particular order.
  template <typename F>
  void ForEach(F f) const {
    for (uint32_t domain = 0; domain < dense_.size(); ++domain) {
      if (dense_[domain] != 0) f(domain, dense_[domain]);
    }
    for (const auto& [domain, number] : sparse_) f(domain, number);
  }
  // Returns a number that is larger than each domain with a number other than 0.
  uint32_t limit() const { return limit_; }

  // Makes room for numbers of so many domains more, all below `limit`.
  void Reserve(size_t domains, uint32_t limit);
  void Add(uint32_t domain, int64_t n) {
    if (domain >= dense_.size()) return AddToSparse(domain, n);
    int64_t& number = dense_[domain];
    const int64_t sum = number + n;
    const bool had = number != 0, has = sum != 0;
    number = sum;
    size_ += (has ? 1 : 0) - (had ? 1 : 0);
    if (had && !has && FewFor(dense_.size())) MakeSparse();
  }

 private:
  // The array is used for at most kSmall domains, and if at least one in kDomainsOfMany of its places has a number. It
  // is given up when fewer than one in kDomainsOfFew have.
  static constexpr size_t kSmall = 64, kDomainsOfMany = 4, kDomainsOfFew = 16;
  static bool AreMany(size_t numbers, size_t limit) { return limit <= kSmall || numbers * kDomainsOfMany >= limit; }
  bool FewFor(size_t limit) const { return limit > kSmall && size_ * kDomainsOfFew < limit; }

  void AddToSparse(uint32_t domain, int64_t n);
  void MakeDense(size_t limit);
  void MakeSparse();

  size_t size_ = 0;
  uint32_t limit_ = 0;
  std::vector<int64_t> dense_;
  absl::flat_hash_map<uint32_t, int64_t> sparse_;
  KeyFilter filter_;  // of sparse_
};

}  // namespace berth::scheduler
