// What every function of the C ABI runs in: exceptions and broken invariants become error codes, and what the engine
// logs goes to the handle in use. In libberth.so glog's classes are those of glog_standin.cc, which end up here.
//
// A broken invariant leaves the function without running destructors, because neither CHECK nor assert may throw. What
// was in use then stays in memory for good, and its handle can only be closed.
#pragma once
#include <setjmp.h>

#include <array>
#include <cstdint>
#include <exception>
#include <new>
#include <string_view>

#include "pkg/capi/handles.h"

namespace berth::capi {

// One function of the C ABI that is being called by this thread. Frames nest where a callback calls the library.
struct Frame {
  Frame* outer = nullptr;
  std::array<Held*, 2> in_use = {};
  jmp_buf back;
};

// Calls f(of), which must not throw. Returns false, and has noted the error, if an invariant broke meanwhile.
bool RunGuarded(void (*f)(void*), void* of);
// Ends the innermost frame because of a broken invariant. Ends the process if there is none.
[[noreturn]] void BreakOff(std::string_view why);
// Hands a message of the engine to what is in use. Severities are those of berth_log_function.
void PassLog(int32_t severity, std::string_view text);

// Runs f, and makes an error of whatever it throws.
template <typename F>
int32_t Guarded(F f) {
  struct Call {
    F* f;
    int32_t code;
  } call = {&f, BERTH_INTERNAL};
  auto run = [](void* of) {
    Call& c = *static_cast<Call*>(of);
    try {
      c.code = (*c.f)();
    } catch (const std::bad_alloc&) {
      c.code = Fail(BERTH_INTERNAL, "there is not enough memory");
    } catch (const std::exception& e) {
      c.code = Fail(BERTH_INTERNAL, e.what());
    } catch (...) {
      c.code = Fail(BERTH_INTERNAL, "an exception of an unknown kind");
    }
  };
  return RunGuarded(run, &call) ? call.code : int32_t{BERTH_INTERNAL};
}

}  // namespace berth::capi
