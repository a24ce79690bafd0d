#include "pkg/capi/guard.h"

#include <absl/strings/str_cat.h>

#include <cstdio>
#include <cstdlib>

#include "pkg/util/status.h"

namespace berth::capi {
namespace {

thread_local Frame* innermost = nullptr;

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
    std::fprintf(stderr, "libberth: a broken invariant outside of its functions: %.*s\n", static_cast<int>(why.size()),
                 why.data());
    std::abort();
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
