// What a function requires of its callers ("REQUIRES: ..." in its header), as a condition without side effects where
// that is cheap. BERTH_REQUIRES(condition) checks it in builds for debugging and with sanitizers (hack/build/flags.mk
// defines BERTH_CHECKS_CONTRACTS there); release builds compile it and do not evaluate it. A contract is about our own
// code: what comes from outside is checked where it enters, in every build. What must outlive what, and which thread
// calls, is said in other words, because no condition can say it; the address and thread sanitizers see it broken.
#pragma once

namespace berth::util {

// Ends the process after logging the condition and its place, unless a test has asked for an exception.
[[noreturn]] void BrokenContract(const char* condition, const char* file, int line);

// For tests: while the object lives, a broken contract is thrown as a BrokenContractError. Not to be nested.
class ThrowBrokenContracts {
 public:
  ThrowBrokenContracts();
  ~ThrowBrokenContracts();
  ThrowBrokenContracts(const ThrowBrokenContracts&) = delete;
  ThrowBrokenContracts& operator=(const ThrowBrokenContracts&) = delete;
};
struct BrokenContractError {
  const char* condition;
};

// Whether this build checks contracts.
#ifdef BERTH_CHECKS_CONTRACTS
inline constexpr bool kChecksContracts = true;
#define BERTH_REQUIRES(condition) \
  ((condition) ? static_cast<void>(0) : ::berth::util::BrokenContract(#condition, __FILE__, __LINE__))
#else
inline constexpr bool kChecksContracts = false;
#define BERTH_REQUIRES(condition) static_cast<void>(sizeof(static_cast<bool>(condition)))
#endif

}  // namespace berth::util
