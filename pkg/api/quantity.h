// Quantity: an amount of a resource as Kubernetes 1.10 writes it: "100m", "1.5Gi", "1e3", "-2k", "0.5".
//
// The amount is held exactly, in units of 10^-9; finer digits are rounded away from zero, as in 1.10, and amounts
// beyond about +-1.7e29 saturate. Reading one as int64 saturates too, so nothing ever wraps around or becomes 0
// (upstream bug B-06, fixed). Thread-safety: immutable, trivially copyable, thread-safe.
#pragma once
#include <absl/status/statusor.h>

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace berth::api {

class Quantity {
 public:
  // The notation in which a quantity was written, and in which it is written again.
  enum class Format : uint8_t { kDecimalSI, kBinarySI, kDecimalExponent };

  constexpr Quantity() = default;  // 0

  // Parses a quantity. Errors have 1.10's texts: "quantities must match the regular expression '...'", "unable to parse
  // quantity's suffix". Surrounding white space is ignored, as the JSON decoder does.
  static absl::StatusOr<Quantity> Parse(std::string_view text);
  static Quantity FromInt(int64_t units);

  // Return the amount rounded up to whole units or thousandths. Negative fractions are rounded as in 1.10: away from
  // zero for short notations; toward positive infinity, and one further, for those that 1.10 holds with arbitrary
  // precision.
  int64_t Value() const { return Rounded(1'000'000'000); }
  int64_t MilliValue() const { return Rounded(1'000'000); }

  // Return whether Value() or MilliValue() must be cut to fit into an int64.
  bool SaturatesValue() const { return Beyond(1'000'000'000); }
  bool SaturatesMilliValue() const { return Beyond(1'000'000); }

  int Sign() const { return nano_ > 0 ? 1 : nano_ < 0 ? -1 : 0; }

  // Returns the canonical text, with the largest suffix that leaves no fraction ("1024Mi" is "1Gi", "0.5" is "500m").
  std::string String() const;

  Format format() const { return format_; }

  // Returns the amount rounded up (away from zero) to thousandths, as the API server stores cpu.
  Quantity RoundedUpToMilli() const;

  // Adds exactly; results beyond the range saturate.
  Quantity& operator+=(const Quantity& o) {
    if (__builtin_add_overflow(nano_, o.nano_, &nano_)) nano_ = o.nano_ > 0 ? ~kLowest : kLowest;
    long_form_ = long_form_ || o.long_form_;
    return *this;
  }
  friend Quantity operator+(Quantity a, const Quantity& b) { return a += b; }

  // Returns whether the notation is the same, too, so that nothing distinguishes the two.
  bool IsSameAs(const Quantity& o) const {
    return nano_ == o.nano_ && format_ == o.format_ && long_form_ == o.long_form_;
  }

  // Compare exactly, whatever the notation.
  friend std::strong_ordering operator<=>(const Quantity& a, const Quantity& b) { return a.nano_ <=> b.nano_; }
  friend bool operator==(const Quantity& a, const Quantity& b) { return a.nano_ == b.nano_; }
  template <typename H>
  friend H AbslHashValue(H h, const Quantity& q) {
    return H::combine(std::move(h), static_cast<uint64_t>(q.nano_), static_cast<int64_t>(q.nano_ >> 64));
  }

 private:
  __extension__ using Int128 = __int128;
  static constexpr Int128 kLowest = static_cast<Int128>(1) << 126 << 1;
  int64_t Rounded(int64_t unit) const;
  bool Beyond(int64_t unit) const;

  Int128 nano_ = 0;
  Format format_ = Format::kDecimalSI;
  bool long_form_ = false;  // 1.10 would hold it with arbitrary precision
};

}  // namespace berth::api
