// Random changes of an input, the same for the same seed: for fuzzing without libFuzzer. Nothing steers them but the
// corpus and the dictionary.
#pragma once
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace berth::fuzz {

class Mutator {
 public:
  // Inputs are never made longer than `max_bytes`. REQUIRES: `corpus` is not empty.
  Mutator(uint64_t seed, std::vector<std::string> corpus, std::vector<std::string> dictionary, size_t max_bytes)
      : random_(seed), corpus_(std::move(corpus)), dictionary_(std::move(dictionary)), max_bytes_(max_bytes) {}

  // Returns an input of the corpus with some changes.
  std::string Next();

 private:
  size_t Below(size_t n) { return n == 0 ? 0 : random_() % n; }
  void Change(std::string* input);

  std::mt19937_64 random_;
  std::vector<std::string> corpus_, dictionary_;
  size_t max_bytes_;
};

// Returns the entries of a dictionary in libFuzzer's format: one quoted text a line, with \" \\ and \xNN.
std::vector<std::string> ParseDictionary(std::string_view text);

}  // namespace berth::fuzz
