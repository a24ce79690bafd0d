// Compiles loops over columns twice: for every processor, and for processors with wider vectors (AVX2).
#pragma once

namespace berth::util {

#if defined(__x86_64__) && defined(__GNUC__)

inline bool HasWideVectors() {
  static const bool has = [] {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") != 0;
  }();
  return has;
}

template <typename Loops>
[[gnu::target("avx2")]] void RunWide(Loops loops) {
  loops();
}

// Calls the version of `loops` for this processor. Results do not depend on the version, because no fused operations
// are used. Write the lambda as [&]() BERTH_LOOPS { ... }, so that its body is inlined into both versions.
template <typename Loops>
void RunLoops(Loops loops) {
  if (HasWideVectors()) {
    RunWide(loops);
  } else {
    loops();
  }
}
#define BERTH_LOOPS __attribute__((always_inline))

#else

template <typename Loops>
void RunLoops(Loops loops) {
  loops();
}
#define BERTH_LOOPS

#endif

}  // namespace berth::util
