#include "pkg/scheduler/core/combinations.h"

#include <algorithm>
#include <bit>

#include "pkg/util/contract.h"

namespace berth::scheduler {

uint32_t Combinations::With(uint32_t before, uint32_t check, uint32_t number) {
  const auto [it, fresh] = places_.try_emplace({before, check, number}, static_cast<uint32_t>(all_.size()));
  if (!fresh) return it->second;
  all_.push_back({.before = before,
                  .check = check,
                  .first = before == 0 ? check : all_[before].first,
                  .numbered = number != 0 && all_[before].numbered});
  return it->second;
}

std::vector<uint32_t> Combinations::ChecksOf(uint32_t place) const {
  std::vector<uint32_t> checks;
  for (; place != 0; place = all_[place].before) checks.push_back(all_[place].check);
  std::reverse(checks.begin(), checks.end());
  return checks;
}

void FailedChecks::Add(uint32_t check, std::span<const Row> rows, std::span<const uint32_t> numbers) {
  BERTH_REQUIRES(numbers.size() == rows.size());
  uint32_t any = 0;
  for (const uint32_t number : numbers) any |= number;
  if (any == 0) return;
  const int shift = Reserve(check, std::bit_width(any), /*numbered=*/true);
  uint64_t* const words = words_.data();
  for (size_t i = 0; i < rows.size(); ++i) words[rows[i]] |= uint64_t{numbers[i]} << shift;
}

void FailedChecks::Add(uint32_t check, bool numbered, const RowSet& all, const RowSet& fitting) {
  const uint64_t bit = uint64_t{1} << Reserve(check, 1, numbered);
  all.ForEachNotIn(fitting, [words = words_.data(), bit](Row row) { words[row] |= bit; });
}

int FailedChecks::Reserve(uint32_t check, int bits, bool numbered) {
  if (used_ + bits > kWordBits) LookUpAll();
  fields_.push_back({check, used_, bits, numbered});
  used_ += bits;
  return fields_.back().shift;
}

void FailedChecks::LookUpAll() {
  for (Row row = 0; row < words_.size(); ++row) words_[row] = Of(row);
  fields_.clear();
  places_.clear();
  recent_.fill({});
  used_ = kPlaceBits;
  looked_up_ = true;
}

uint32_t FailedChecks::Find(uint64_t word) {
  const auto [it, fresh] = places_.try_emplace(word, 0);
  if (!fresh) return it->second;
  uint32_t place = looked_up_ ? static_cast<uint32_t>(word) : 0;
  for (const Field& f : fields_) {
    const auto number = static_cast<uint32_t>(word >> f.shift & ((uint64_t{1} << f.bits) - 1));
    if (number != 0) place = combinations_->With(place, f.check, f.numbered ? number : 0);
  }
  return it->second = place;
}

}  // namespace berth::scheduler
