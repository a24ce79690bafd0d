#include "pkg/lab/ties.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include "pkg/util/go_text.h"
#include "pkg/util/status.h"

namespace berth::lab {

absl::StatusOr<Ties> Ties::Parse(std::string_view text) {
  constexpr std::string_view kRandomWithSeed = "random:";
  Ties ties;
  if (text == "turn") return ties;
  if (text == "first") {
    ties.kind = Kind::kFirst;
    return ties;
  }
  if (text.starts_with(kRandomWithSeed) &&
      absl::SimpleAtoi(util::ToAbsl(text.substr(kRandomWithSeed.size())), &ties.seed)) {
    ties.kind = Kind::kRandom;
    return ties;
  }
  return util::InvalidArgument(absl::StrCat("invalid value ", util::GoQuoted(text),
                                            ": must be turn, first or random:SEED, SEED a whole number from 0 on"));
}

std::string Ties::InWords() const {
  switch (kind) {
    case Kind::kTurn:
      return {};
    case Kind::kFirst:
      return "the first of them wins (--ties first)";
    case Kind::kRandom:
      return absl::StrCat("which one wins is drawn at random (--ties random:", seed, ")");
  }
  return {};
}

std::optional<uint64_t> TieBreaker::Next() {
  if (ties_.kind == Ties::Kind::kTurn) return std::nullopt;
  if (ties_.kind == Ties::Kind::kFirst) return 0;
  // splitmix64: a counter whose bits are mixed, so that numbers are the same on every machine.
  uint64_t z = ties_.seed + ++drawn_ * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace berth::lab
