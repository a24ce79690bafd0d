// What a function requires of its callers ("REQUIRES: ..." in its header), stated as code where that is cheap to say.
// BERTH_REQUIRES(condition) checks the condition in builds for debugging and with sanitizers (hack/build/flags.mk
// defines BERTH_CHECKS_CONTRACTS there). In release builds the condition is compiled but not evaluated, so it costs
// nothing. A condition must have no side effects. A contract is about our own code: what comes from outside is checked
// where it enters, in every build.
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
