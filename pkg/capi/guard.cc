#include "pkg/capi/guard.h"

#include <absl/strings/str_cat.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "pkg/util/status.h"

namespace berth::capi {
namespace {

thread_local Frame* innermost = nullptr;

// What the program that loads the library had set before.
std::terminate_handler outside = nullptr;

// Writes why std::terminate was called. Takes no memory, as there may be none.
void Reason(char* out, size_t size) {
  std::snprintf(out, size, "terminated without an exception");
  if (const std::exception_ptr uncaught = std::current_exception()) {
    try {
      std::rethrow_exception(uncaught);
    } catch (const std::exception& e) {
      std::snprintf(out, size, "an exception that nothing catches: %s", e.what());
    } catch (...) {
      std::snprintf(out, size, "an exception that nothing catches");
    }
  }
}

// Ends the call of this thread, or does what the program had asked for.
[[noreturn]] void OnTerminate() {
  if (innermost != nullptr) {
    char why[512];
    Reason(why, sizeof(why));
    BreakOff(why);
  }
  if (outside != nullptr) outside();
  std::abort();
}

// The handler belongs to the process: it is set when the library is loaded, and taken back when it is unloaded.
struct Terminating {
  Terminating() : before(std::set_terminate(OnTerminate)) { outside = before; }
  ~Terminating() {
    if (std::get_terminate() == OnTerminate) std::set_terminate(before);
  }
  std::terminate_handler before;
} terminating;

}  // namespace

void NoteInUse(Held* held) {
  if (innermost == nullptr) return;
  for (Held*& h : innermost->in_use) {
    if (h != nullptr) continue;
    h = held;
    return;
  }
}

bool RunGuarded(void (*f)(void*), void* of) {
  Frame frame;
  frame.outer = innermost;
  if (_setjmp(frame.back) != 0) return false;
  innermost = &frame;
  f(of);
  innermost = frame.outer;
  return true;
}

void BreakOff(std::string_view why) {
  Frame* frame = innermost;
  if (frame == nullptr) {
    std::abort();  // nobody called the library
  }
  PassLog(3, why);
  Fail(BERTH_INTERNAL, absl::StrCat("a broken invariant of the engine, close the handle: ", util::ToAbsl(why)));
  for (Held* h : frame->in_use) {
    if (h == nullptr) continue;
    h->broken.store(true, std::memory_order_relaxed);
    h->busy.clear(std::memory_order_release);
  }
  innermost = frame->outer;
  _longjmp(frame->back, 1);
}

void PassLog(int32_t severity, std::string_view text) {
  for (Frame* f = innermost; f != nullptr; f = f->outer) {
    for (Held* h : f->in_use) {
      if (h != nullptr) h->Log(severity, text);
    }
    return;
  }
}

}  // namespace berth::capi
