#include "pkg/util/symbol.h"

#include <array>
#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace berth::util {
namespace {

// Texts live in chunks that never move, found by number: chunk k holds 2^kChunkBits of them.
constexpr int kChunkBits = 12;
constexpr uint32_t kChunkSize = 1u << kChunkBits;
constexpr uint32_t kChunks = 1u << 17;  // 2^29 symbols in all

struct Table {
  std::array<std::atomic<std::string_view*>, kChunks> chunks{};
  std::shared_mutex mutex;
  std::unordered_map<std::string_view, uint32_t> ids;
  uint32_t next = 0;

  Table() { Add(""); }

  uint32_t Add(std::string_view text) {
    uint32_t id = next++;
    auto& chunk = chunks.at(id >> kChunkBits);
    if (chunk.load(std::memory_order_relaxed) == nullptr) {
      chunk.store(new std::string_view[kChunkSize], std::memory_order_release);
    }
    char* copy = new char[text.size() + 1];
    text.copy(copy, text.size());
    copy[text.size()] = 0;
    std::string_view kept(copy, text.size());
    chunk.load(std::memory_order_relaxed)[id & (kChunkSize - 1)] = kept;
    ids.emplace(kept, id);
    return id;
  }
};

Table& TheTable() {
  static Table* table = new Table;  // outlives every user
  return *table;
}

}  // namespace

Symbol::Symbol(std::string_view text) {
  if (text.empty()) return;
  Table& t = TheTable();
  {
    std::shared_lock lock(t.mutex);
    if (auto it = t.ids.find(text); it != t.ids.end()) {
      id_ = it->second;
      return;
    }
  }
  std::unique_lock lock(t.mutex);
  auto it = t.ids.find(text);
  id_ = it != t.ids.end() ? it->second : t.Add(text);
}

Symbol Symbol::Find(std::string_view text) {
  Symbol s;
  if (text.empty()) return s;
  Table& t = TheTable();
  std::shared_lock lock(t.mutex);
  if (auto it = t.ids.find(text); it != t.ids.end()) s.id_ = it->second;
  return s;
}

std::string_view Symbol::str() const {
  return TheTable().chunks[id_ >> kChunkBits].load(std::memory_order_acquire)[id_ & (kChunkSize - 1)];
}

}  // namespace berth::util
