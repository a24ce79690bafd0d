// The natural logarithm as Kubernetes 1.29 computes it. That of the C library differs in the last bit for some
// integers, which would change scores.
#pragma once

namespace berth::scheduler::reference::plugins {

// REQUIRES: x is finite and positive.
double NaturalLogarithm(double x);

}  // namespace berth::scheduler::reference::plugins
