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

namespace berth::util {
namespace {

// What a slot's `refs` holds: how many keep the text, and these.
constexpr uint32_t kPermanent = 1u << 31;  // never freed; the number no longer matters
constexpr uint32_t kRetired = 1u << 30;    // in Table::retired
constexpr uint32_t kAgain = 1u << 29;      // kept and given up once more since it was put there
constexpr uint32_t kGone = 1u << 28;       // the text was freed
constexpr uint32_t kCount = kGone - 1;

struct Slot {
  const char* text = nullptr;
  uint32_t size = 0;
  std::atomic<uint32_t> refs{0};

  std::string_view view() const { return {text, size}; }

  // Returns false for a text that is gone, which cannot be kept.
  bool Retain() {
    uint32_t seen = refs.load(std::memory_order_relaxed);
    while ((seen & (kPermanent | kGone)) == 0) {
      if (refs.compare_exchange_weak(seen, seen + 1, std::memory_order_relaxed)) return true;
    }
    return (seen & kGone) == 0;
  }
  // Returns true when nobody keeps the text any more and it has yet to be retired. The slot must not be touched then
  // but under the lock: it may be gone by now.
  bool Release() {
    uint32_t seen = refs.load(std::memory_order_relaxed), next;
    do {
      if ((seen & (kPermanent | kGone)) != 0) return false;
      next = seen - 1;
      if ((next & kCount) == 0 && (next & kRetired) != 0) next |= kAgain;
    } while (!refs.compare_exchange_weak(seen, next, std::memory_order_acq_rel, std::memory_order_relaxed));
    return (next & (kCount | kRetired)) == 0;
  }
};

// Texts lie in chunks that are found by number: chunk k holds the numbers from k * kChunkSize. A chunk whose texts are
// all gone is freed. Small ones, because one text that stays keeps its whole chunk.
constexpr int kChunkBits = 8;
constexpr uint32_t kChunkSize = 1u << kChunkBits;
constexpr uint32_t kChunks = 1u << 22;
struct Chunk {
  std::array<Slot, kChunkSize> slots;
  uint32_t live = 0;
};
Chunk* chunks[kChunks];  // read and written through ChunkAt; zero pages until they are used

std::atomic_ref<Chunk*> ChunkAt(uint32_t number) {
  return std::atomic_ref<Chunk*>(chunks[number]);
}
// Null when the whole chunk is gone.
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

// Beside its characters a text takes a slot, an entry of Table::ids, and what the allocator rounds up.
constexpr size_t kBytesBeside = sizeof(Slot) + 8 + 8;
// Freed chunks are kept for a moment: a symbol that is used against the rules then still reads what was ours.
constexpr size_t kChunksInQuarantine = 16;

struct Table {
  std::shared_mutex mutex;  // of all that follows; a text goes only while it is held alone
  absl::flat_hash_set<uint32_t, HashById, EqualById> ids;
  uint32_t next = 0;   // the next number
  uint32_t fresh = 0;  // chunks below were used before
  uint32_t chunk_limit = kChunks;
  std::deque<uint32_t> free_chunks;  // the one that was freed first is the first
  std::deque<std::unique_ptr<Chunk>> quarantine;
  std::deque<uint32_t> retired;  // texts that nobody keeps, or that somebody keeps again
  size_t most_retired = kRetiredTexts;
  std::atomic<size_t> texts{0}, bytes{0};

  Table() {
    Slot* empty = Add("");
    empty->refs = kPermanent;
  }

  // Returns the slot of `next`, which Add takes.
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

  // The chunk that numbers are being taken from stays.
  bool IsOpen(uint32_t chunk) const { return next != 0 && (next - 1) >> kChunkBits == chunk; }
  void FreeChunk(uint32_t number) {
    quarantine.emplace_back(ChunkAt(number).exchange(nullptr, std::memory_order_acq_rel));
    if (quarantine.size() > kChunksInQuarantine) quarantine.pop_front();
    free_chunks.push_back(number);
  }

  // Nobody kept the text when the lock was taken; somebody may again.
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
  // A text is put behind once at most, so this ends.
  void Trim() {
    while (retired.size() > most_retired) {
      const uint32_t oldest = retired.front();
      retired.pop_front();
      LetGo(oldest);
    }
  }
  // The text has been in `retired` long enough.
  void LetGo(uint32_t id) {
    Slot* slot = SlotOf(id);
    uint32_t seen = slot->refs.load(std::memory_order_relaxed), next_refs;
    bool gone, again;
    do {
      gone = (seen & (kPermanent | kCount | kAgain)) == 0;
      again = (seen & (kPermanent | kCount)) == 0 && !gone;
      next_refs = gone ? kGone : again ? seen & ~kAgain : seen & ~(kRetired | kAgain);
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
  static Table* table = new Table;  // outlives every user
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

// ---- what a thread has interned lately ----------------------------------------------------------

constinit std::atomic<bool> at_once{false};  // see FreeSymbolsAtOnceForTest

// By hash; an entry keeps its text, so that looking needs no lock and a hit no more than one step of its count.
class Recent {
 public:
  ~Recent() {
    for (const Entry& e : entries_) {
      if (e.id != 0) Release(e.id);
    }
  }
  // Returns 0 for a text that is not among them.
  uint32_t Find(const Text& t) const {
    const Entry& e = At(t.hash);
    if (e.id == 0 || e.tag != Tag(t.hash)) return 0;
    return SlotOf(e.id)->view() == t.text ? e.id : 0;
  }
  // REQUIRES: somebody keeps the text of `id`.
  void Put(const Text& t, uint32_t id) {
    Entry& e = At(t.hash);
    SlotOf(id)->Retain();
    const uint32_t before = std::exchange(e.id, id);
    e.tag = Tag(t.hash);
    if (before != 0) Release(before);
  }

  // Longer texts are left to the table, so that what threads remember stays small.
  static constexpr size_t kLongest = 256;
  // Null in a thread that ends.
  static Recent* OfThisThread() {
    if (recent_ != nullptr) return recent_;
    if (ended_ || at_once.load(std::memory_order_relaxed)) return nullptr;
    static thread_local Closer closer;
    closer.Open();
    return recent_;
  }
  static void Forget() {
    delete recent_;
    recent_ = nullptr;
  }

 private:
  struct Entry {
    uint32_t id = 0, tag = 0;
  };
  struct Closer {
    void Open() { recent_ = new Recent; }
    ~Closer() {
      ended_ = true;
      Forget();
    }
  };
  static uint32_t Tag(size_t hash) { return static_cast<uint32_t>(hash >> 32); }
  Entry& At(size_t hash) { return entries_[hash & (entries_.size() - 1)]; }
  const Entry& At(size_t hash) const { return entries_[hash & (entries_.size() - 1)]; }

  std::array<Entry, 4096> entries_;
  static thread_local Recent* recent_;
  static thread_local bool ended_;
};
constinit thread_local Recent* Recent::recent_ = nullptr;
constinit thread_local bool Recent::ended_ = false;

// Returns the number of the text, kept once more, or for good. `permanent`, when not null, gets whether it stays
// whatever is released.
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
  Recent* recent = text.size() <= Recent::kLongest ? Recent::OfThisThread() : nullptr;
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
  if (Recent* recent = Recent::OfThisThread(); recent != nullptr) {
    if (const uint32_t id = recent->Find(t); id != 0) return Symbol(id);
  }
  Table& table = TheTable();
  std::shared_lock lock(table.mutex);
  auto it = table.ids.find(t);
  return it == table.ids.end() ? Symbol() : Symbol(*it);
}

Symbol Symbol::Passing(std::string_view text) {
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

// ---- who keeps texts ----------------------------------------------------------------------------

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
  uint32_t* ids() { return reinterpret_cast<uint32_t*>(this + 1); }  // as many as `size` says
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

// ---- numbers and tests --------------------------------------------------------------------------

SymbolStats GetSymbolStats() {
  const Table& t = TheTable();
  return {t.texts.load(std::memory_order_relaxed), t.bytes.load(std::memory_order_relaxed)};
}

void FreeSymbolsAtOnceForTest(bool on) {
  Recent::Forget();
  at_once = on;
  Table& t = TheTable();
  std::unique_lock lock(t.mutex);
  t.most_retired = on ? 0 : kRetiredTexts;
  t.Trim();
}

void LimitSymbolNumbersForTest(uint32_t numbers) {
  Table& t = TheTable();
  std::unique_lock lock(t.mutex);
  t.chunk_limit = numbers >> kChunkBits;
}

}  // namespace berth::util
