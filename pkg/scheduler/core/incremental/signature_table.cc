#include "pkg/scheduler/core/incremental/signature_table.h"

#include <algorithm>
#include <bit>

#include "pkg/util/contract.h"

namespace berth::scheduler {
namespace {

// Signatures with numbers below this one are found without a hash.
constexpr size_t kComparedFirst = 4;

// The least number of lists, and the most that Reset keeps.
constexpr size_t kLeastLists = 64, kMostListsKept = 16384;

// Values are small numbers, whose multiples by an odd number differ in the upper bits.
uint64_t HashOf(std::span<const int64_t> values) {
  uint64_t hash = 0;
  for (const int64_t v : values) hash = (std::rotl(hash, 23) ^ static_cast<uint64_t>(v)) * 0x9e3779b97f4a7c15ull;
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
  if (first_.size() > kMostListsKept) first_.clear();
  std::fill(first_.begin(), first_.end(), 0);
  direct_.fill(0);
}

// Sets what direct_ says about the signature with this number, if it is small enough: the number when the signature has
// come, and 0 when it goes.
void SignatureTable::SetDirect(int32_t number, int32_t entry) {
  if (width_ != 1) return;
  const auto value = static_cast<uint64_t>(values(number)[0]);
  if (value < kDirect) direct_[value] = entry;
}

// Returns the beginning of the list of the signatures whose hash has the same upper bits. REQUIRES: there are lists.
int32_t* SignatureTable::FirstOf(std::span<const int64_t> v) {
  return &first_[HashOf(v) >> shift_];
}

// Makes twice as many lists and files all signatures anew.
void SignatureTable::Grow() {
  const size_t lists = std::max(kLeastLists, 2 * first_.size());
  shift_ = 64 - std::countr_zero(lists);
  first_.assign(lists, 0);
  for (size_t number = 1; number < uses_.size(); ++number) {
    if (uses_[number] == 0) continue;
    int32_t* const first = FirstOf(values(static_cast<int32_t>(number)));
    next_[number] = *first;
    *first = static_cast<int32_t>(number);
  }
}

// Most rows have one of few signatures, which got the first numbers, so these are compared before anything is hashed.
// Signatures with the same hash are linked through next_ instead of kept in vectors, so that a table whose size does
// not change allocates nothing.
int32_t SignatureTable::LookUp(std::span<const int64_t> v) {
  BERTH_REQUIRES(v.size() == width_);
  const size_t width = width_;
  if (Same(v.data(), values_.data(), width)) return 0;
  for (size_t number = 1; number < std::min(kComparedFirst, uses_.size()); ++number) {
    if (uses_[number] > 0 && Same(v.data(), &values_[number * width], width)) {
      ++uses_[number];
      return static_cast<int32_t>(number);
    }
  }
  if (uses_.size() >= first_.size()) Grow();
  int32_t& first = *FirstOf(v);
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
  SetDirect(number, number);
  return number;
}

void SignatureTable::TakeAll(std::vector<int64_t>* values, size_t rows) {
  BERTH_REQUIRES(values->size() == (rows + 1) * width_);
  values_.swap(*values);
  uses_.assign(rows + 1, 1);
  next_.assign(rows + 1, 0);
}

void SignatureTable::Release(int32_t number) {
  if (number == 0 || --uses_[static_cast<size_t>(number)] > 0) return;
  SetDirect(number, 0);
  int32_t* link = FirstOf(values(number));
  while (*link != number) link = &next_[static_cast<size_t>(*link)];
  *link = next_[static_cast<size_t>(number)];
  free_.push_back(number);
}

}  // namespace berth::scheduler
