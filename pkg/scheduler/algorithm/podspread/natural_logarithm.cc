#include "pkg/scheduler/algorithm/podspread/natural_logarithm.h"

#include <cmath>

#include "pkg/util/contract.h"

namespace berth::scheduler::podspread {

// Writes x as 2^k * m with m in [sqrt(1/2), sqrt(2)) and evaluates a polynomial in s = f / (2 + f), where f = m - 1.
// The order of the operations decides the last bit, and none may be contracted into a fused multiply-add.
double NaturalLogarithm(double x) {
  BERTH_REQUIRES(std::isfinite(x) && x > 0);
  constexpr double kHigh = 6.93147180369123816490e-01, kLow = 1.90821492927058770002e-10;
  constexpr double kOdd[] = {6.666666666666735130e-01, 2.857142874366239149e-01, 1.818357216161805012e-01,
                             1.479819860511658591e-01};
  constexpr double kEven[] = {3.999999999940941908e-01, 2.222219843214978396e-01, 1.531383769920937332e-01};
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0.70710678118654752440) {
    m *= 2;
    --exponent;
  }
  const double f = m - 1, k = exponent, s = f / (2 + f), s2 = s * s, s4 = s2 * s2;
  const double odd = s2 * (kOdd[0] + s4 * (kOdd[1] + s4 * (kOdd[2] + s4 * kOdd[3])));
  const double even = s4 * (kEven[0] + s4 * (kEven[1] + s4 * kEven[2]));
  const double r = odd + even, h = 0.5 * f * f;
  return k * kHigh - ((h - (s * (h + r) + k * kLow)) - f);
}

}  // namespace berth::scheduler::podspread
