#include "pkg/scheduler/cache/domain_numbers.h"

#include <algorithm>

#include "pkg/util/release_memory.h"

namespace berth::scheduler {

void DomainNumbers::Reserve(size_t domains, uint32_t limit) {
  limit_ = std::max(limit_, limit);
  if (AreMany(size_ + domains, limit_)) {
    MakeDense(limit_);
  } else if (dense_.empty()) {
    sparse_.reserve(size_ + domains);
  }
}

// Adds to the number of a domain that has no place in the array.
void DomainNumbers::AddToSparse(uint32_t domain, int64_t n) {
  if (n == 0) return;
  if (!dense_.empty() && FewFor(std::max(limit_, domain + 1))) MakeSparse();
  limit_ = std::max(limit_, domain + 1);
  if (!dense_.empty() || AreMany(size_ + 1, limit_)) {
    MakeDense(limit_);
    return Add(domain, n);
  }
  const auto [it, fresh] = sparse_.try_emplace(domain, 0);
  if (fresh) filter_.Insert(domain, sparse_);
  it->second += n;
  if (it->second == 0) sparse_.erase(it);
  size_ = sparse_.size();
}

// Lets the array have a place for each domain below `limit`.
void DomainNumbers::MakeDense(size_t limit) {
  if (limit <= dense_.size()) return;
  dense_.resize(limit, 0);
  for (const auto& [domain, number] : sparse_) dense_[domain] = number;
  util::ReleaseMemory(&sparse_);
  filter_.Clear();
}

void DomainNumbers::MakeSparse() {
  sparse_.reserve(size_);
  limit_ = 0;
  for (uint32_t domain = 0; domain < dense_.size(); ++domain) {
    if (dense_[domain] == 0) continue;
    sparse_.emplace(domain, dense_[domain]);
    filter_.Insert(domain, sparse_);
    limit_ = domain + 1;
  }
  util::ReleaseMemory(&dense_);
}

}  // namespace berth::scheduler
