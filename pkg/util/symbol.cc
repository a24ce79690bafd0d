#include "pkg/util/symbol.h"

#include <absl/container/flat_hash_set.h>
#include <absl/hash/hash.h>
#include <glog/logging.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include "pkg/util/contract.h"

namespace berth::util {
namespace {

// Slot::refs contains the number of references (kCount) and these flags.
constexpr uint32_t kPermanent = 1u << 31;  // the text is never freed, and references are no longer counted
constexpr uint32_t kRetired = 1u << 30;    // the text is in Table::retired
constexpr uint32_t kReleasedAgain =
    1u << 29;                         // while it was in Table::retired, a last reference was released once more
constexpr uint32_t kGone = 1u << 28;  // the text was freed
constexpr uint32_t kCount = kGone - 1;

struct Slot {
  const char* text = nullptr;
  uint32_t size = 0;
  std::atomic<uint32_t> refs{0};

  std::string_view view() const { return {text, size}; }

  // Takes a reference. Returns false, and takes none, if the text was freed.
  bool Retain() {
    uint32_t seen = refs.load(std::memory_order_relaxed);
    while ((seen & (kPermanent | kGone)) == 0) {
      if (refs.compare_exchange_weak(seen, seen + 1, std::memory_order_relaxed)) return true;
    }
    return (seen & kGone) == 0;
  }
  // Releases a reference. Returns true if it was the last one and the text is not in Table::retired yet. The caller
  // must then take Table::mutex and look the slot up again, because another thread may have freed it in the meantime.
  bool Release() {
    uint32_t seen = refs.load(std::memory_order_relaxed), next;
    do {
      if ((seen & (kPermanent | kGone)) != 0) return false;
      next = seen - 1;
      if ((next & kCount) == 0 && (next & kRetired) != 0) next |= kReleasedAgain;
    } while (!refs.compare_exchange_weak(seen, next, std::memory_order_acq_rel, std::memory_order_relaxed));
    return (next & (kCount | kRetired)) == 0;
  }
};

// Slots are in chunks: chunk k has the numbers from k * kChunkSize on. A chunk is freed when all of its texts have been
// freed. Chunks are small because a single text that is not freed holds a whole chunk.
constexpr int kChunkBits = 8;
constexpr uint32_t kChunkSize = 1u << kChunkBits;
constexpr uint32_t kChunks = 1u << 22;
struct Chunk {
  std::array<Slot, kChunkSize> slots;
  uint32_t live = 0;  // number of slots with a text; guarded by Table::mutex
};
// Accessed through ChunkAt only. The array is 32 MiB of address space, of which the kernel allocates only the pages
// that are written.
Chunk* chunks[kChunks];

std::atomic_ref<Chunk*> ChunkAt(uint32_t number) {
  return std::atomic_ref<Chunk*>(chunks[number]);
}
// Returns null if the chunk of the number was freed.
Slot* SlotOf(uint32_t id) {
  Chunk* chunk = ChunkAt(id >> kChunkBits).load(std::memory_order_acquire);
  return chunk == nullptr ? nullptr : &chunk->slots[id & (kChunkSize - 1)];
}

struct Text {
  std::string_view text;
  size_t hash;
};
struct HashById {
  using is_transparent = void;
  size_t operator()(const Text& t) const { return t.hash; }
  size_t operator()(uint32_t id) const { return absl::HashOf(SlotOf(id)->view()); }
};
struct EqualById {
  using is_transparent = void;
  bool operator()(uint32_t a, uint32_t b) const { return a == b; }
  bool operator()(uint32_t id, const Text& t) const { return SlotOf(id)->view() == t.text; }
  bool operator()(const Text& t, uint32_t id) const { return (*this)(id, t); }
};

// The memory of a text besides its characters: the slot, about 8 bytes for the entry in Table::ids, and about 8 bytes
// by which the allocator rounds up.
constexpr size_t kBytesBeside = sizeof(Slot) + 8 + 8;
// The number of freed chunks whose memory is not released yet. Without them, a thread that uses a Symbol whose text is
// being freed, which the contract forbids, could take the memory of something else for a slot.
constexpr size_t kChunksInQuarantine = 16;

struct Table {
  // Guards the members below except `texts` and `bytes`. Texts are added and freed only under an exclusive lock.
  std::shared_mutex mutex;
  absl::flat_hash_set<uint32_t, HashById, EqualById> ids;
  uint32_t next = 0;   // the number of the next new text
  uint32_t fresh = 0;  // all chunks below this one have been used
  uint32_t chunk_limit = kChunks;
  std::deque<uint32_t> free_chunks;  // in the order in which they were freed
  std::deque<std::unique_ptr<Chunk>> quarantine;
  // Numbers of texts without references, the oldest first. A text that gets a new reference stays here until
  // FreeOrKeep.
  std::deque<uint32_t> retired;
  size_t most_retired = kRetiredTexts;
  std::atomic<size_t> texts{0}, bytes{0};

  Table() {
    Slot* empty = Add("");
    empty->refs = kPermanent;
  }

  // Returns the slot of `next`. If a new chunk begins there, creates it and, when no fresh chunk is left, sets `next`
  // to the beginning of a freed one. A previous chunk that has no texts left is then freed.
  Slot* Room() {
    if ((next & (kChunkSize - 1)) == 0) {
      const uint32_t before = (next >> kChunkBits) - 1;
      if (next != 0 && ChunkAt(before).load(std::memory_order_relaxed)->live == 0) FreeChunk(before);
      uint32_t number = fresh;
      if (fresh < chunk_limit) {
        ++fresh;
      } else {
        if (free_chunks.empty()) LOG(FATAL) << "There are more than " << ids.size() << " texts of names and labels";
        number = free_chunks.front();
        free_chunks.pop_front();
      }
      next = number << kChunkBits;
      ChunkAt(number).store(new Chunk, std::memory_order_release);
    }
    return SlotOf(next);
  }
  Slot* Add(std::string_view text) {
    Slot* slot = Room();
    char* copy = new char[text.size() + 1];
    std::memcpy(copy, text.data(), text.size());
    copy[text.size()] = 0;
    slot->text = copy;
    slot->size = static_cast<uint32_t>(text.size());
    ++ChunkAt(next >> kChunkBits).load(std::memory_order_relaxed)->live;
    ids.insert(next++);
    texts.fetch_add(1, std::memory_order_relaxed);
    bytes.fetch_add(text.size() + kBytesBeside, std::memory_order_relaxed);
    return slot;
  }

  // Returns whether new numbers are taken from this chunk. Such a chunk is not freed even if it has no texts.
  bool IsOpen(uint32_t chunk) const { return next != 0 && (next - 1) >> kChunkBits == chunk; }
  void FreeChunk(uint32_t number) {
    quarantine.emplace_back(ChunkAt(number).exchange(nullptr, std::memory_order_acq_rel));
    if (quarantine.size() > kChunksInQuarantine) quarantine.pop_front();
    free_chunks.push_back(number);
  }

  // Enters a text in `retired`, unless another thread has taken a reference or retired the text since the caller
  // released the last reference. The text, or even its chunk, may also have been freed since then.
  void Retire(uint32_t id) {
    Slot* slot = SlotOf(id);
    if (slot == nullptr) return;
    uint32_t seen = slot->refs.load(std::memory_order_relaxed);
    do {
      if ((seen & (kPermanent | kGone | kRetired | kCount)) != 0) return;
    } while (!slot->refs.compare_exchange_weak(seen, seen | kRetired, std::memory_order_relaxed));
    retired.push_back(id);
    Trim();
  }
  // Terminates because FreeOrKeep clears kReleasedAgain when it moves a text to the end, so no text is moved twice in a
  // row.
  void Trim() {
    while (retired.size() > most_retired) {
      const uint32_t oldest = retired.front();
      retired.pop_front();
      FreeOrKeep(oldest);
    }
  }
  // Decides about a text that was taken from the front of `retired`. With references, or if it is permanent, it leaves
  // the list. If references were taken and released since it was entered, it goes to the end of the list, because it is
  // in use from time to time. Otherwise it is freed.
  void FreeOrKeep(uint32_t id) {
    Slot* slot = SlotOf(id);
    uint32_t seen = slot->refs.load(std::memory_order_relaxed), next_refs;
    bool gone, again;
    do {
      gone = (seen & (kPermanent | kCount | kReleasedAgain)) == 0;
      again = (seen & (kPermanent | kCount)) == 0 && !gone;
      next_refs = gone ? kGone : again ? seen & ~kReleasedAgain : seen & ~(kRetired | kReleasedAgain);
    } while (!slot->refs.compare_exchange_weak(seen, next_refs, std::memory_order_acq_rel, std::memory_order_relaxed));
    if (again) retired.push_back(id);
    if (gone) Erase(id, slot);
  }
  void Erase(uint32_t id, Slot* slot) {
    ids.erase(ids.find(Text{slot->view(), absl::HashOf(slot->view())}));
    texts.fetch_sub(1, std::memory_order_relaxed);
    bytes.fetch_sub(slot->size + kBytesBeside, std::memory_order_relaxed);
    delete[] slot->text;
    slot->text = nullptr;
    slot->size = 0;
    const uint32_t number = id >> kChunkBits;
    if (--ChunkAt(number).load(std::memory_order_relaxed)->live == 0 && !IsOpen(number)) FreeChunk(number);
  }
};

Table& TheTable() {
  static Table* table = new Table;  // never destroyed, because destructors of static objects may release symbols
  return *table;
}

void Retire(uint32_t id) {
  Table& t = TheTable();
  std::unique_lock lock(t.mutex);
  t.Retire(id);
}
void Release(uint32_t id) {
  Slot* slot = SlotOf(id);
  if (slot != nullptr && slot->Release()) Retire(id);
}

// ---- the table of each thread -------------------------------------------------------------------

constinit std::atomic<bool> at_once{false};  // see FreeSymbolsAtOnceForTest

// The texts that a thread interned last, by hash. Each entry holds a reference to its text, so a lookup needs no lock,
// and a hit costs one increment of the reference count.
class ThreadCache {
 public:
  ~ThreadCache() {
    for (const Entry& e : entries_) {
      if (e.id != 0) Release(e.id);
    }
  }
  // Returns the number of the text, or 0 if it has no entry.
  uint32_t Find(const Text& t) const {
    const Entry& e = At(t.hash);
    if (e.id == 0 || e.tag != Tag(t.hash)) return 0;
    return SlotOf(e.id)->view() == t.text ? e.id : 0;
  }
  // Enters the text in place of the previous entry with its hash. REQUIRES: the caller holds a reference to the text.
  void Put(const Text& t, uint32_t id) {
    Entry& e = At(t.hash);
    SlotOf(id)->Retain();
    const uint32_t before = std::exchange(e.id, id);
    e.tag = Tag(t.hash);
    if (before != 0) Release(before);
  }

  // Longer texts, in bytes, are not entered, so that the memory that the entries of a thread hold is bounded.
  static constexpr size_t kLongest = 256;
  // Returns null when the thread's objects are being destroyed, and while FreeSymbolsAtOnceForTest is in effect.
  static ThreadCache* OfThisThread() {
    if (cache_ != nullptr) return cache_;
    if (ended_ || at_once.load(std::memory_order_relaxed)) return nullptr;
    static thread_local Closer closer;
    closer.Open();
    return cache_;
  }
  static void Forget() {
    delete cache_;
    cache_ = nullptr;
  }

 private:
  struct Entry {
    uint32_t id = 0, tag = 0;
  };
  struct Closer {
    void Open() { cache_ = new ThreadCache; }
    ~Closer() {
      ended_ = true;
      Forget();
    }
  };
  static uint32_t Tag(size_t hash) { return static_cast<uint32_t>(hash >> 32); }
  Entry& At(size_t hash) { return entries_[hash & (entries_.size() - 1)]; }
  const Entry& At(size_t hash) const { return entries_[hash & (entries_.size() - 1)]; }

  std::array<Entry, 4096> entries_;
  static thread_local ThreadCache* cache_;
  static thread_local bool ended_;
};
constinit thread_local ThreadCache* ThreadCache::cache_ = nullptr;
constinit thread_local bool ThreadCache::ended_ = false;

// Returns the number of the text. Makes the text permanent if `for_good`, and takes a reference to it otherwise. If
// `permanent` is not null, sets it to whether the text is permanent, so that the reference need not be released.
uint32_t Intern(std::string_view text, bool for_good, bool* permanent = nullptr) {
  if (permanent != nullptr) *permanent = true;
  if (text.empty()) return 0;
  const Text t{text, absl::HashOf(text)};
  auto keep = [&](Slot* slot) {
    if (for_good) {
      const bool already = (slot->refs.load(std::memory_order_relaxed) & kPermanent) != 0;
      if (!already) slot->refs.fetch_or(kPermanent, std::memory_order_relaxed);
    } else {
      slot->Retain();
      if (permanent != nullptr) *permanent = (slot->refs.load(std::memory_order_relaxed) & kPermanent) != 0;
    }
  };
  ThreadCache* recent = text.size() <= ThreadCache::kLongest ? ThreadCache::OfThisThread() : nullptr;
  if (recent != nullptr) {
    if (const uint32_t id = recent->Find(t); id != 0) {
      keep(SlotOf(id));
      return id;
    }
  }
  Table& table = TheTable();
  uint32_t id = 0;
  {
    std::shared_lock lock(table.mutex);
    if (auto it = table.ids.find(t); it != table.ids.end()) keep(SlotOf(id = *it));
  }
  if (id == 0) {
    std::unique_lock lock(table.mutex);
    if (auto it = table.ids.find(t); it != table.ids.end()) {
      keep(SlotOf(id = *it));
    } else {
      keep(table.Add(text));
      id = table.next - 1;
    }
  }
  if (recent != nullptr) recent->Put(t, id);
  return id;
}

}  // namespace

// ---- Symbol -------------------------------------------------------------------------------------

Symbol::Symbol(std::string_view text) : id_(Intern(text, /*for_good=*/true)) {}

Symbol Symbol::Find(std::string_view text) {
  if (text.empty()) return {};
  const Text t{text, absl::HashOf(text)};
  if (ThreadCache* recent = ThreadCache::OfThisThread(); recent != nullptr) {
    if (const uint32_t id = recent->Find(t); id != 0) return Symbol(id);
  }
  Table& table = TheTable();
  std::shared_lock lock(table.mutex);
  auto it = table.ids.find(t);
  return it == table.ids.end() ? Symbol() : Symbol(*it);
}

Symbol Symbol::InternBriefly(std::string_view text) {
  struct Kept {
    std::mutex mutex;
    std::deque<SharedSymbol> texts;
  };
  static Kept& kept = *new Kept;
  SharedSymbol s(text);
  const Symbol out = s;
  std::lock_guard lock(kept.mutex);
  if (!kept.texts.empty() && kept.texts.back() == out) return out;
  kept.texts.push_back(std::move(s));
  if (kept.texts.size() > kRetiredTexts) kept.texts.pop_front();
  return out;
}

std::string_view Symbol::str() const {
  const Slot* slot = SlotOf(id_);
  if (slot != nullptr && slot->text != nullptr) [[likely]] {
    return slot->view();
  }
  CHECK(id_ == 0 || !at_once.load(std::memory_order_relaxed)) << "the text of symbol " << id_ << " is gone";
  return {};
}

// ---- references to texts ------------------------------------------------------------------------

SharedSymbol::SharedSymbol(std::string_view text) : id_(Intern(text, /*for_good=*/false)) {}

SharedSymbol::SharedSymbol(Symbol s) {
  if (s.empty()) return;
  Slot* slot = SlotOf(s.id());
  const bool kept = slot != nullptr && slot->Retain();
  CHECK(kept || !at_once.load(std::memory_order_relaxed)) << "the text of symbol " << s.id() << " is gone";
  if (kept) id_ = s.id();
}

void SharedSymbol::Release() {
  util::Release(id_);
}

struct KeptTexts::Block {
  std::atomic<uint32_t> owners{1};
  uint32_t size = 0;
  uint32_t* ids() { return reinterpret_cast<uint32_t*>(this + 1); }  // `size` numbers, allocated behind the block
};

KeptTexts::KeptTexts(const KeptTexts& o) : block_(o.block_) {
  if (block_ != nullptr) block_->owners.fetch_add(1, std::memory_order_relaxed);
}

void KeptTexts::Release() {
  if (block_->owners.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  for (uint32_t i = 0; i < block_->size; ++i) util::Release(block_->ids()[i]);
  block_->~Block();
  ::operator delete(block_);
}

SymbolKeeper::~SymbolKeeper() {
  for (const uint32_t id : ids_) Release(id);
}

Symbol SymbolKeeper::Intern(std::string_view text) {
  bool permanent;
  const uint32_t id = util::Intern(text, /*for_good=*/false, &permanent);
  if (!permanent) ids_.push_back(id);
  return Symbol(id);
}

Symbol SymbolKeeper::Keep(Symbol s) {
  if (s.empty()) return s;
  Slot* slot = SlotOf(s.id());
  const bool kept = slot != nullptr && slot->Retain();
  CHECK(kept || !at_once.load(std::memory_order_relaxed)) << "the text of symbol " << s.id() << " is gone";
  if (kept) ids_.push_back(s.id());
  return s;
}

KeptTexts SymbolKeeper::Take() {
  if (ids_.empty()) return {};
  void* memory = ::operator new(sizeof(KeptTexts::Block) + ids_.size() * sizeof(uint32_t));
  auto* block = new (memory) KeptTexts::Block;
  block->size = static_cast<uint32_t>(ids_.size());
  std::copy(ids_.begin(), ids_.end(), block->ids());
  ids_.clear();
  return KeptTexts(block);
}

// ---- statistics and tests -----------------------------------------------------------------------

SymbolStats GetSymbolStats() {
  const Table& t = TheTable();
  return {t.texts.load(std::memory_order_relaxed), t.bytes.load(std::memory_order_relaxed)};
}

void FreeSymbolsAtOnceForTest(bool on) {
  ThreadCache::Forget();
  at_once = on;
  Table& t = TheTable();
  std::unique_lock lock(t.mutex);
  t.most_retired = on ? 0 : kRetiredTexts;
  t.Trim();
}

void LimitSymbolNumbersForTest(uint32_t numbers) {
  BERTH_REQUIRES(numbers % kChunkSize == 0);
  Table& t = TheTable();
  std::unique_lock lock(t.mutex);
  t.chunk_limit = numbers >> kChunkBits;
}

}  // namespace berth::util
