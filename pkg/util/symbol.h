// Symbols: interned strings, so that names are compared as integers.
//
// Label keys and values, namespaces, node names, resource names, taints and images occur thousands of times; each
// distinct text is stored once. Do not intern texts that do not repeat, such as pod names and uids.
//
// A Symbol is a number and does not own its text. There are two ways to intern a text:
//   - Symbol(text) stores it for the life of the process. Use this for the names that the program itself contains and
//     for its configuration.
//   - SharedSymbol (one text) and SymbolKeeper (all texts of an object) hold references to it. Use these for everything
//     that comes from outside the process.
// When the last reference is released, the text is retired. It is freed when at least kRetiredTexts other texts have
// been retired after it, unless a new reference is taken before. So a copy of a Symbol may be used for a short time
// after its object has been destroyed; code that stores it for longer must hold a reference. The 2^30 numbers are all
// used once before any is reused. Until its number is reused, the Symbol of a freed text equals no other Symbol, and
// its str() is empty.
//
// Each thread has a small table of the texts that it interned last. Interning looks there first, and the table holds
// references to its texts.
//
// Thread-safety: all functions may be called from any thread. A single SharedSymbol, SymbolKeeper or KeptTexts is not
// thread-safe. str() takes no lock.
#pragma once
#include <absl/container/inlined_vector.h>

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace berth::util {

class Symbol {
 public:
  constexpr Symbol() = default;  // the empty string
  // Interns the text for the life of the process.
  explicit Symbol(std::string_view text);

  // Returns the symbol of the text if it is interned already, and the empty symbol otherwise. Adds nothing and takes no
  // reference.
  static Symbol Find(std::string_view text);
  // Interns a text that is used for a short time only, such as a reason of one decision. The texts of the last
  // kRetiredTexts calls are held, where consecutive calls with the same text count as one.
  static Symbol InternBriefly(std::string_view text);

  // Returns the text, or an empty text if it has been freed. The result is valid as long as the text is not freed.
  std::string_view str() const;
  std::string string() const { return std::string(str()); }
  bool empty() const { return id_ == 0; }

  // Returns the number. The empty string has 0. A text may have another number in another run.
  uint32_t id() const { return id_; }

  friend bool operator==(Symbol a, Symbol b) = default;
  // Orders by number, for sorted containers. To sort for display, compare str().
  friend auto operator<=>(Symbol a, Symbol b) = default;

  template <typename H>
  friend H AbslHashValue(H h, Symbol s) {
    return H::combine(std::move(h), s.id_);
  }

 private:
  friend class SharedSymbol;
  friend class SymbolKeeper;
  explicit constexpr Symbol(uint32_t id) : id_(id) {}
  uint32_t id_ = 0;
};

// A symbol that holds a reference to its text, which is not freed before the reference is released.
class SharedSymbol {
 public:
  constexpr SharedSymbol() = default;  // the empty string
  explicit SharedSymbol(std::string_view text);
  // If the text of `s` has been freed, the result is the empty symbol.
  explicit SharedSymbol(Symbol s);
  SharedSymbol(const SharedSymbol& o) : SharedSymbol(o.get()) {}
  SharedSymbol(SharedSymbol&& o) noexcept : id_(std::exchange(o.id_, 0)) {}
  SharedSymbol& operator=(SharedSymbol o) noexcept {
    std::swap(id_, o.id_);
    return *this;
  }
  SharedSymbol& operator=(Symbol s) { return *this = SharedSymbol(s); }
  ~SharedSymbol() {
    if (id_ != 0) Release();
  }

  Symbol get() const { return Symbol(id_); }
  operator Symbol() const { return get(); }  // NOLINT: implicit, so that it can be passed wherever a Symbol is expected
  std::string_view str() const { return get().str(); }
  std::string string() const { return get().string(); }
  bool empty() const { return id_ == 0; }
  uint32_t id() const { return id_; }

  friend bool operator==(const SharedSymbol& a, const SharedSymbol& b) { return a.id_ == b.id_; }
  friend bool operator==(const SharedSymbol& a, Symbol b) { return a.get() == b; }

  template <typename H>
  friend H AbslHashValue(H h, const SharedSymbol& s) {
    return H::combine(std::move(h), s.id_);
  }

 private:
  void Release();
  uint32_t id_ = 0;
};

// References to the texts of many symbols, made by SymbolKeeper::Take. An object whose other members are plain Symbols
// has one as a member. Copies share one set of references. All KeptTexts compare equal, so that a defaulted operator==
// of the object compares only the other members.
class KeptTexts {
 public:
  constexpr KeptTexts() = default;
  KeptTexts(const KeptTexts& o);
  KeptTexts(KeptTexts&& o) noexcept : block_(std::exchange(o.block_, nullptr)) {}
  KeptTexts& operator=(KeptTexts o) noexcept {
    std::swap(block_, o.block_);
    return *this;
  }
  ~KeptTexts() {
    if (block_ != nullptr) Release();
  }
  friend bool operator==(const KeptTexts&, const KeptTexts&) { return true; }

 private:
  friend class SymbolKeeper;
  struct Block;
  explicit KeptTexts(Block* block) : block_(block) {}
  void Release();
  Block* block_ = nullptr;
};

// Interns the texts of one object while the object is built, and holds references to them until Take or its own
// destruction.
class SymbolKeeper {
 public:
  SymbolKeeper() = default;
  SymbolKeeper(const SymbolKeeper&) = delete;
  SymbolKeeper& operator=(const SymbolKeeper&) = delete;
  ~SymbolKeeper();

  Symbol Intern(std::string_view text);
  // Takes a reference to the text of `s`, and returns `s`. REQUIRES: the text has not been freed.
  Symbol Keep(Symbol s);
  // Returns the references that were taken since the last call. The keeper no longer holds them.
  KeptTexts Take();

 private:
  absl::InlinedVector<uint32_t, 60> ids_;  // one for each reference; Intern leaves out texts that are never freed
};

struct SymbolStats {
  size_t texts = 0;  // stored texts, including retired ones
  size_t bytes = 0;  // memory that they take, including slots and index entries
};
SymbolStats GetSymbolStats();

// The number of retired texts that are stored before the oldest is freed. A retired text may be interned again, and a
// copy of its Symbol may still be in use.
inline constexpr size_t kRetiredTexts = 65536;

// For tests that find uses of a Symbol after its text was freed. While `on` is set, a text is freed when its last
// reference is released, and reading a freed text or taking a reference to it ends the process. To be called while no
// other thread runs.
void FreeSymbolsAtOnceForTest(bool on = true);
// For tests: reduces the 2^30 numbers to `numbers`, which must be a multiple of 256. While no other thread runs.
void LimitSymbolNumbersForTest(uint32_t numbers);

}  // namespace berth::util

template <>
struct std::hash<berth::util::Symbol> {
  size_t operator()(berth::util::Symbol s) const noexcept { return s.id() * 0x9e3779b97f4a7c15ull; }
};
