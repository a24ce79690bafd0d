#include "pkg/scheduler/reference/plugins/logarithm.h"

#include <cmath>

#include "pkg/util/contract.h"

namespace berth::scheduler::reference::plugins {

// The method is that of FreeBSD's e_log.c: x = 2^k * f1 with f1 between sqrt(1/2) and sqrt(2), and a polynomial in
// s = f / (2 + f) with f = f1 - 1. The order of operations must stay, because it decides about the last bit.
double NaturalLogarithm(double x) {
  BERTH_REQUIRES(std::isfinite(x) && x > 0);
  constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;
  constexpr double kL1 = 6.666666666666735130e-01, kL2 = 3.999999999940941908e-01, kL3 = 2.857142874366239149e-01,
                   kL4 = 2.222219843214978396e-01, kL5 = 1.818357216161805012e-01, kL6 = 1.531383769920937332e-01,
                   kL7 = 1.479819860511658591e-01;
  int exponent = 0;
  double f1 = std::frexp(x, &exponent);
  if (f1 < 0.70710678118654752440) {
    f1 *= 2;
    --exponent;
  }
  double f = f1 - 1, k = exponent;
  double s = f / (2 + f), s2 = s * s, s4 = s2 * s2;
  double t1 = s2 * (kL1 + s4 * (kL3 + s4 * (kL5 + s4 * kL7)));
  double t2 = s4 * (kL2 + s4 * (kL4 + s4 * kL6));
  double r = t1 + t2, half_square = 0.5 * f * f;
  return k * kLn2High - ((half_square - (s * (half_square + r) + k * kLn2Low)) - f);
}

}  // namespace berth::scheduler::reference::plugins
