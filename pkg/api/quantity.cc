// A quantity is an integer multiple of 10^-9 in 128 bits. Parsing computes mantissa * 10^scale or mantissa * 2^exponent
// without floating point; multiplications saturate.
#include "pkg/api/quantity.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <limits>

namespace berth::api {
namespace {

__extension__ using Int128 = __int128;

constexpr Int128 kMax = (static_cast<Int128>(std::numeric_limits<int64_t>::max()) << 64) | ~uint64_t{0};

Int128 SaturatingMul(Int128 a, Int128 b) {
  Int128 r;
  if (__builtin_mul_overflow(a, b, &r)) return (a < 0) == (b < 0) ? kMax : -kMax;
  return r;
}

struct Suffix {
  std::string_view text;
  int base;      // 10 or 2
  int exponent;  // of base
};

constexpr std::array<Suffix, 16> kSuffixes = {{{"n", 10, -9},
                                               {"u", 10, -6},
                                               {"m", 10, -3},
                                               {"", 10, 0},
                                               {"k", 10, 3},
                                               {"M", 10, 6},
                                               {"G", 10, 9},
                                               {"T", 10, 12},
                                               {"P", 10, 15},
                                               {"E", 10, 18},
                                               {"Ki", 2, 10},
                                               {"Mi", 2, 20},
                                               {"Gi", 2, 30},
                                               {"Ti", 2, 40},
                                               {"Pi", 2, 50},
                                               {"Ei", 2, 60}}};

std::string_view DecimalSuffix(int exponent) {
  for (const Suffix& s : kSuffixes) {
    if (s.base == 10 && s.exponent == exponent) return s.text;
  }
  return {};
}

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

std::string ToText(Int128 v) {
  if (v == 0) return "0";
  bool negative = v < 0;
  std::string out;
  for (; v != 0; v /= 10) out.push_back(static_cast<char>('0' + (negative ? -(v % 10) : v % 10)));
  if (negative) out.push_back('-');
  std::reverse(out.begin(), out.end());
  return out;
}

absl::Status BadForm() {
  return absl::InvalidArgumentError(
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
}

}  // namespace

// NOLINT(readability-function-size): one pass over the text, in the order of its grammar.
absl::StatusOr<Quantity> Quantity::Parse(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return BadForm();
  text = text.substr(first, text.find_last_not_of(kSpace) - first + 1);

  size_t pos = 0;
  bool negative = false;
  if (text[pos] == '+' || text[pos] == '-') negative = text[pos++] == '-';
  size_t int_begin = pos;
  while (pos < text.size() && IsDigit(text[pos])) ++pos;
  std::string_view whole = text.substr(int_begin, pos - int_begin);
  std::string_view fraction;
  bool dot = pos < text.size() && text[pos] == '.';
  if (dot) {
    size_t begin = ++pos;
    while (pos < text.size() && IsDigit(text[pos])) ++pos;
    fraction = text.substr(begin, pos - begin);
  }
  if (whole.empty() && fraction.empty()) return BadForm();
  std::string_view suffix_text = text.substr(pos);

  Quantity q;
  int base = 10;
  int64_t exponent = 0;
  bool found = false;
  for (const Suffix& s : kSuffixes) {
    if (s.text == suffix_text) {
      base = s.base;
      exponent = s.exponent;
      found = true;
      q.format_ = base == 2 ? Format::kBinarySI : Format::kDecimalSI;
      break;
    }
  }
  if (!found) {
    if (suffix_text.find_first_not_of("eEinumkKMGTP+-0123456789") != std::string_view::npos) return BadForm();
    bool exponent_form = suffix_text.size() > 1 && (suffix_text[0] == 'e' || suffix_text[0] == 'E');
    std::string_view digits = exponent_form ? suffix_text.substr(1) : std::string_view();
    bool exponent_negative = !digits.empty() && digits[0] == '-';
    if (!digits.empty() && (digits[0] == '-' || digits[0] == '+')) digits.remove_prefix(1);
    if (digits.empty() || !std::all_of(digits.begin(), digits.end(), IsDigit)) {
      return absl::InvalidArgumentError("unable to parse quantity's suffix");
    }
    for (char c : digits) exponent = std::min<int64_t>(exponent * 10 + (c - '0'), 1'000'000);
    if (exponent_negative) exponent = -exponent;
    q.format_ = Format::kDecimalExponent;
  }

  // 1.10 keeps short notations as int64 * 10^scale and others with arbitrary precision; only the rounding of negative
  // fractions distinguishes them.
  while (whole.size() > 1 && whole[0] == '0') whole.remove_prefix(1);
  size_t digits = whole.size() + fraction.size();
  if (base == 10) {
    q.long_form_ = digits > 18 || exponent - static_cast<int64_t>(fraction.size()) < -9;
  } else {
    q.long_form_ = !fraction.empty() || static_cast<int64_t>(digits) > 15 - exponent * 3 / 10 - 1;
  }

  // nano = mantissa * factor / divisor, where divisor comes from fraction digits and negative exponents.
  Int128 mantissa = 0;
  bool sticky = false;  // a nonzero digit below the last one held was dropped
  int64_t scale = 9 + (base == 10 ? exponent : 0);
  for (char c : whole) {
    mantissa = SaturatingMul(mantissa, 10);
    if (mantissa < kMax) mantissa += c - '0';
  }
  for (char c : fraction) {
    if (mantissa > kMax / 100) {
      sticky |= c != '0';
      continue;
    }
    mantissa = mantissa * 10 + (c - '0');
    --scale;
  }
  if (base == 2) {
    // Divides before multiplying if the product would not fit, which happens only beyond 2^66 units.
    while (scale < 0 && mantissa > kMax >> exponent) {
      sticky |= mantissa % 10 != 0;
      mantissa /= 10;
      ++scale;
    }
    mantissa = SaturatingMul(mantissa, Int128{1} << exponent);
  }
  for (; scale > 0 && mantissa != 0 && mantissa < kMax; --scale) mantissa = SaturatingMul(mantissa, 10);
  for (; scale < 0 && mantissa != 0; ++scale) {
    sticky |= mantissa % 10 != 0;
    mantissa /= 10;
  }
  if (sticky && mantissa < kMax) ++mantissa;
  q.nano_ = negative ? -mantissa : mantissa;
  return q;
}

Quantity Quantity::FromInt(int64_t units) {
  Quantity q;
  q.nano_ = static_cast<Int128>(units) * 1'000'000'000;
  return q;
}

int64_t Quantity::Rounded(int64_t unit) const {
  Int128 v = nano_ / unit;
  Int128 rest = nano_ % unit;
  if (rest > 0) v += 1;
  if (rest < 0) v += long_form_ ? 1 : -1;
  if (v > std::numeric_limits<int64_t>::max()) return std::numeric_limits<int64_t>::max();
  if (v < std::numeric_limits<int64_t>::min()) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(v);
}

bool Quantity::Beyond(int64_t unit) const {
  Int128 limit = static_cast<Int128>(std::numeric_limits<int64_t>::max()) * unit;
  return nano_ > limit || nano_ < -limit;
}

Quantity Quantity::RoundedUpToMilli() const {
  Quantity q = *this;
  Int128 rest = nano_ % 1'000'000;
  if (rest != 0) {
    Int128 up = rest > 0 ? 1'000'000 - rest : -(1'000'000 + rest);
    if (__builtin_add_overflow(q.nano_, up, &q.nano_)) q.nano_ = rest > 0 ? kMax : -kMax;
    q.long_form_ = false;
  }
  return q;
}

std::string Quantity::String() const {
  if (nano_ == 0) return "0";
  Format format = format_;
  constexpr Int128 kUnit = 1'000'000'000;
  // Binary notation has no fractions, so what is no whole number is written in decimal notation.
  const bool small = nano_ < 1024 * kUnit && nano_ > -1024 * kUnit;
  if (format == Format::kBinarySI && (small || nano_ % kUnit != 0)) format = Format::kDecimalSI;
  if (format == Format::kBinarySI) {
    Int128 v = nano_ / kUnit;
    int exponent = 0;
    while (exponent < 60 && v % 1024 == 0) {
      v /= 1024;
      exponent += 10;
    }
    std::string out = ToText(v);
    for (const Suffix& s : kSuffixes) {
      if (s.base == 2 && s.exponent == exponent) out.append(s.text);
    }
    return out;
  }
  Int128 v = nano_;
  int exponent = -9;
  while (exponent < 18 && v % 1000 == 0) {
    v /= 1000;
    exponent += 3;
  }
  std::string out = ToText(v);
  if (format == Format::kDecimalSI) return out.append(DecimalSuffix(exponent));
  if (exponent != 0) absl::StrAppend(&out, "e", exponent);
  return out;
}

}  // namespace berth::api
