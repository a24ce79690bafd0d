// Handles of the C ABI: values that are looked up in a table of the process and never followed as pointers, so that any
// value may be passed. And the errors of a thread.
//
// Thread-safety: thread-safe. What a handle stands for is used by one thread at a time, which Use makes sure of.
#pragma once
#include <absl/status/status.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "pkg/capi/berth.h"

namespace berth::capi {

// What a handle stands for.
class Held {
 public:
  virtual ~Held() = default;
  // Takes a message of the engine; severities are those of berth_log_function.
  virtual void Log(int32_t /*severity*/, std::string_view /*text*/) {}
  std::atomic_flag busy;
  std::atomic<bool> broken = false;  // an invariant broke while it was in use: it can only be closed
};

// Enters an object, and returns its handle, which is never null and never used again.
void* Enter(std::shared_ptr<Held> held);
// Returns the object, or null if there is none.
std::shared_ptr<Held> Find(const void* handle);
void Remove(const void* handle);

// Notes why a call of this thread failed, and returns the code.
int32_t Fail(int32_t code, std::string_view why);
int32_t Fail(const absl::Status& status);
const char* LastError();

// Tells the innermost call of this thread what it uses (guard.h).
void NoteInUse(Held* held);

// The right to use what a handle stands for, as long as the object exists. Null if there is none: code() says why.
template <typename T>
class Use {
 public:
  Use(const void* handle, const char* kind) : held_(std::dynamic_pointer_cast<T>(Find(handle))) {
    if (held_ == nullptr) {
      code_ = Fail(BERTH_BAD_HANDLE, std::string("the handle is not one of open ") + kind);
    } else if (held_->busy.test_and_set(std::memory_order_acquire)) {
      held_ = nullptr;
      code_ = Fail(BERTH_BUSY, std::string("the handle of ") + kind +
                                   " is in use: by another thread, or by the call that runs this callback");
    } else if (held_->broken.load(std::memory_order_relaxed)) {
      held_->busy.clear(std::memory_order_release);
      held_ = nullptr;
      code_ = Fail(BERTH_INTERNAL, std::string("an invariant of the engine broke when this handle of ") + kind +
                                       " was used: it can only be closed");
    } else {
      NoteInUse(held_.get());
    }
  }
  ~Use() {
    if (held_ != nullptr) held_->busy.clear(std::memory_order_release);
  }
  Use(const Use&) = delete;
  explicit operator bool() const { return held_ != nullptr; }
  T* operator->() const { return held_.get(); }
  T& operator*() const { return *held_; }
  int32_t code() const { return code_; }

 private:
  std::shared_ptr<T> held_;
  int32_t code_ = BERTH_OK;
};

}  // namespace berth::capi
