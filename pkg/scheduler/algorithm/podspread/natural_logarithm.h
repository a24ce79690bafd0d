// The natural logarithm as the release's mathematics computes it (FreeBSD's e_log): the C library's differs in the last
// bit for some arguments, which would change rounded scores.
#pragma once

namespace berth::scheduler::podspread {

// REQUIRES: x is finite and positive.
double NaturalLogarithm(double x);

}  // namespace berth::scheduler::podspread
