// The natural logarithm as upstream computes it (the e_log algorithm of FreeBSD). For some arguments, the result of the
// C library differs in the last bit, which would change rounded scores.
#pragma once

namespace berth::scheduler::podspread {

// Returns the natural logarithm of x. REQUIRES: x is finite and positive.
double NaturalLogarithm(double x);

}  // namespace berth::scheduler::podspread
