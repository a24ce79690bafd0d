// Fuzz targets: each takes any bytes, and whatever they are nothing may crash, hang or contradict itself. They are
// built twice: with libFuzzer and sanitizers (make fuzz), and with a plain main that runs the corpus (make test).
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace berth::fuzz {

struct Target {
  const char* name;
  void (*run)(std::string_view input);
};

// To be called from a static initialiser; returns true.
bool Register(Target target);
const std::vector<Target>& Targets();
// Null when there is none.
const Target* Find(std::string_view name);

// What a target found out to be wrong; ends the process, so that the input is kept.
inline void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}

// Small decisions out of the input, for targets that build something; zeros when it is used up.
class Choices {
 public:
  explicit Choices(std::string_view input) : input_(input) {}
  uint8_t Byte() {
    if (at_ >= input_.size()) return 0;
    return static_cast<uint8_t>(input_[at_++]);
  }
  int Below(int n) { return Byte() % n; }
  bool Flip() { return (Byte() & 1) != 0; }
  bool done() const { return at_ >= input_.size(); }

 private:
  std::string_view input_;
  size_t at_ = 0;
};

}  // namespace berth::fuzz
