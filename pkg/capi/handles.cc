#include "pkg/capi/handles.h"

#include <absl/container/flat_hash_map.h>

#include <mutex>
#include <utility>

#include "pkg/util/status.h"

namespace berth::capi {
namespace {

struct Table {
  std::mutex mutex;
  absl::flat_hash_map<uintptr_t, std::shared_ptr<Held>> held;
  uintptr_t next = 16;
};

// Never destroyed, because handles may be used while the process ends.
Table& TheTable() {
  static Table& table = *new Table;
  return table;
}

std::string& ErrorOfThread() {
  thread_local std::string error;
  return error;
}

}  // namespace

void* Enter(std::shared_ptr<Held> held) {
  Table& t = TheTable();
  const std::lock_guard lock(t.mutex);
  const uintptr_t handle = t.next;
  t.next += 16;
  t.held.emplace(handle, std::move(held));
  return reinterpret_cast<void*>(handle);
}

std::shared_ptr<Held> Find(const void* handle) {
  Table& t = TheTable();
  const std::lock_guard lock(t.mutex);
  auto it = t.held.find(reinterpret_cast<uintptr_t>(handle));
  return it == t.held.end() ? nullptr : it->second;
}

void Remove(const void* handle) {
  std::shared_ptr<Held> last;  // declared before the lock, so that the object is destroyed without it
  Table& t = TheTable();
  const std::lock_guard lock(t.mutex);
  auto it = t.held.find(reinterpret_cast<uintptr_t>(handle));
  if (it == t.held.end()) return;
  last = std::move(it->second);
  t.held.erase(it);
}

int32_t Fail(int32_t code, std::string_view why) {
  ErrorOfThread() = why;
  return code;
}
int32_t Fail(const absl::Status& status) {
  return Fail(status.code() == absl::StatusCode::kInternal ? BERTH_INTERNAL : BERTH_INVALID, util::Message(status));
}
const char* LastError() {
  return ErrorOfThread().c_str();
}

}  // namespace berth::capi
