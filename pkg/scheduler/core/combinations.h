// The checks that rows fail where all checks are evaluated (alwaysCheckAllPredicates, and all of 1.8 and 1.9).
//
// Thread-safety: none.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <array>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "pkg/scheduler/cache/row_set.h"
#include "pkg/scheduler/cache/template_info.h"

namespace berth::scheduler {

// Rows that fail the same checks, with the same numbers of reasons, share a combination. Combinations are known by
// their place; place 0 is that of no checks.
class Combinations {
 public:
  struct Combination {
    uint32_t before = 0;    // the combination without the last check
    uint32_t check = 0;     // the last check, as an index in Checks::list
    uint32_t first = 0;     // the first check
    bool numbered = false;  // whether all of its checks number their reasons, so that its rows share a list of reasons
  };
  // Returns whether there is none but that of no checks.
  bool empty() const { return all_.size() == 1; }
  // Returns a number that is larger than each place.
  size_t limit() const { return all_.size(); }
  const Combination& at(uint32_t place) const { return all_[place]; }
  // Returns the combination with one more check and the number of its reasons, which is 0 if it does not number them.
  uint32_t With(uint32_t before, uint32_t check, uint32_t number);
  // Returns the checks of the combination, in the order of evaluation.
  std::vector<uint32_t> ChecksOf(uint32_t place) const;

 private:
  using Key = std::tuple<uint32_t, uint32_t, uint32_t>;  // `before`, check and number
  std::vector<Combination> all_{{.numbered = true}};
  absl::flat_hash_map<Key, uint32_t> places_;
};

// Collects, check by check, what rows fail. The numbers of a row are packed into a word, in which each check takes as
// many bits as the largest of its numbers needs, so that the combination of a row is looked up once and not for each
// check that it fails. Where the bits of a word do not suffice, combinations are looked up before the end, and take the
// place of the numbers.
class FailedChecks {
 public:
  // `combinations` must outlive this object. The rows are below `row_count`.
  FailedChecks(uint32_t row_count, Combinations* combinations) : words_(row_count, 0), combinations_(combinations) {}

  // Adds a check with the numbers of the reasons of the rows, 0 for those that fit. To be called in the order of
  // evaluation. REQUIRES: numbers.size() == rows.size().
  void Add(uint32_t check, std::span<const Row> rows, std::span<const uint32_t> numbers);
  // Adds a check that fails the rows which are in `all` and not in `fitting`. `numbered`: whether they share their
  // reasons.
  void Add(uint32_t check, bool numbered, const RowSet& all, const RowSet& fitting);
  // Returns the combination of the row. To be called after all checks are added.
  uint32_t Of(Row row) {
    const uint64_t word = words_[row];
    if (word == 0) return 0;
    Recent& recent = recent_[(word * 0x9E3779B97F4A7C15u) >> (64 - kRecentBits)];
    if (recent.word != word) recent = {word, Find(word)};
    return recent.place;
  }

 private:
  // The bits that the numbers of a check take in each word.
  struct Field {
    uint32_t check;
    int shift, bits;
    bool numbered;
  };
  static constexpr int kWordBits = 64, kPlaceBits = 32, kRecentBits = 8;
  // The words that were looked up most recently, each in its own place: most lookups find theirs.
  struct Recent {
    uint64_t word = 0;  // 0: none
    uint32_t place = 0;
  };
  // Returns where the bits of the check begin.
  int Reserve(uint32_t check, int bits, bool numbered);
  // Puts the combination of each row in the place of its numbers.
  void LookUpAll();
  uint32_t Find(uint64_t word);

  std::vector<uint64_t> words_;  // by row
  std::vector<Field> fields_;
  int used_ = 0;            // bits of each word
  bool looked_up_ = false;  // whether the lowest kPlaceBits of each word are a combination
  Combinations* combinations_;
  std::array<Recent, size_t{1} << kRecentBits> recent_;
  absl::flat_hash_map<uint64_t, uint32_t> places_;  // by word
};

}  // namespace berth::scheduler
