// The results of a function of whole numbers, which is called once for each number of a small range. Scores of topology
// domains are such functions: many nodes have few different sums, and a division costs more than looking it up.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace berth::scheduler {

// `f` takes an int64_t and returns a T, always the same for the same number. Two objects with the same types T and F
// must not be in use by one thread at the same time, because they share their memory; every lambda has a type of its
// own. Thread-safety: one thread.
template <typename T, typename F>
class ResultsOfRange {
 public:
  // Finds the results of `least` to `most`, unless these are too many for about `uses` calls. REQUIRES: least <= most.
  ResultsOfRange(int64_t least, int64_t most, size_t uses, F f) : least_(static_cast<uint64_t>(least)), f_(f) {
    thread_local std::vector<T> results;
    const uint64_t range = static_cast<uint64_t>(most) - least_;
    if (range >= uses / 2) return;
    results.resize(range + 1);
    for (uint64_t i = 0; i <= range; ++i) results[i] = f_(static_cast<int64_t>(least_ + i));
    results_ = results.data();
    size_ = results.size();
  }
  ResultsOfRange(const ResultsOfRange&) = delete;
  ResultsOfRange& operator=(const ResultsOfRange&) = delete;

  // Returns f(number), which may be outside of the range.
  T operator()(int64_t number) const {
    const uint64_t at = static_cast<uint64_t>(number) - least_;
    return at < size_ ? results_[at] : f_(number);
  }

 private:
  uint64_t least_;
  F f_;
  const T* results_ = nullptr;
  size_t size_ = 0;
};

// Returns the results as above.
template <typename T, typename F>
ResultsOfRange<T, F> ResultsOf(int64_t least, int64_t most, size_t uses, F f) {
  return {least, most, uses, f};
}

}  // namespace berth::scheduler
