#include "pkg/scheduler/core/incremental/signature_table.h"

#include <absl/hash/hash.h>

#include <algorithm>

#include "pkg/util/contract.h"

namespace berth::scheduler {
namespace {

// Signatures with numbers below this one are found without a hash.
constexpr size_t kComparedFirst = 4;

size_t HashOf(std::span<const int64_t> values) {
  size_t hash = values.size();
  for (int64_t v : values) hash = absl::HashOf(hash, v);
  return hash;
}

// Most signatures have one or two values, for which std::equal would call a function.
bool Same(const int64_t* a, const int64_t* b, size_t count) {
  int64_t differences = 0;
  for (size_t i = 0; i < count; ++i) differences |= a[i] ^ b[i];
  return differences == 0;
}

}  // namespace

void SignatureTable::Reset(size_t width) {
  width_ = width;
  values_.assign(width, 0);
  uses_.assign(1, 1);
  next_.assign(1, 0);
  free_.clear();
  first_.clear();
}

// Most rows have one of few signatures, which got the first numbers, so these are compared before anything is hashed.
// Signatures with the same hash are linked through next_ instead of kept in vectors, so that a table whose size does
// not change allocates nothing.
int32_t SignatureTable::Use(std::span<const int64_t> v) {
  BERTH_REQUIRES(v.size() == width_);
  const size_t width = width_;
  if (Same(v.data(), values_.data(), width)) return 0;
  for (size_t number = 1; number < std::min(kComparedFirst, uses_.size()); ++number) {
    if (uses_[number] > 0 && Same(v.data(), &values_[number * width], width)) {
      ++uses_[number];
      return static_cast<int32_t>(number);
    }
  }
  int32_t& first = first_[HashOf(v)];
  for (int32_t number = first; number != 0; number = next_[static_cast<size_t>(number)]) {
    if (Same(v.data(), &values_[static_cast<size_t>(number) * width], width)) {
      ++uses_[static_cast<size_t>(number)];
      return number;
    }
  }
  int32_t number = static_cast<int32_t>(uses_.size());
  if (free_.empty()) {
    uses_.push_back(0);
    next_.push_back(0);
    values_.resize(values_.size() + width_);
  } else {
    number = free_.back();
    free_.pop_back();
  }
  std::copy(v.begin(), v.end(), values_.begin() + static_cast<ptrdiff_t>(static_cast<size_t>(number) * width_));
  uses_[static_cast<size_t>(number)] = 1;
  next_[static_cast<size_t>(number)] = first;
  first = number;
  return number;
}

void SignatureTable::Release(int32_t number) {
  if (number == 0 || --uses_[static_cast<size_t>(number)] > 0) return;
  auto first = first_.find(HashOf(values(number)));
  int32_t* link = &first->second;
  while (*link != number) link = &next_[static_cast<size_t>(*link)];
  *link = next_[static_cast<size_t>(number)];
  if (first->second == 0) first_.erase(first);
  free_.push_back(number);
}

}  // namespace berth::scheduler
