// Symbols: interned strings, so that comparing names is comparing integers.
//
// Label keys and values, namespaces, node names, resource names, taints and images repeat by the thousand; each
// distinct text is kept once. Do not intern what does not repeat (pod names, uids).
//
// A Symbol is a number and keeps nothing alive. Its text is there for good when it was interned by Symbol(text), which
// is for what the program itself names: constants, configuration. What comes from outside is interned by whoever keeps
// it, through a SharedSymbol (one text) or a SymbolKeeper (the texts of a whole object). A text that nobody keeps any
// more stays until so many others have been given up after it (kRetiredTexts); then it is freed. So a copied Symbol
// may outlive its object by a moment, but not by hours. Numbers are used again only after 2^30 texts; until then the
// symbol of a text that is gone equals no other, and its str() is empty.
//
// Threading: everything may be called from any thread, but one SharedSymbol, SymbolKeeper or KeptTexts belongs to one
// thread at a time, as an int does. Interning looks first into a small table of the thread's own; str() is lock-free.
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
  // The text is kept for the life of the process.
  explicit Symbol(std::string_view text);

  // The symbol of a text already interned, else the empty symbol: a lookup that adds nothing.
  static Symbol Find(std::string_view text);
  // For words that are read soon, such as the reasons of one decision: the last 65,536 different ones are kept.
  static Symbol Passing(std::string_view text);

  std::string_view str() const;
  std::string string() const { return std::string(str()); }
  bool empty() const { return id_ == 0; }

  // 0 is the empty string, each new text gets the next number. Not stable between runs.
  uint32_t id() const { return id_; }

  friend bool operator==(Symbol a, Symbol b) = default;
  // Orders by number, for sorted containers. For display order compare str().
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

// A symbol whose text stays as long as this is there.
class SharedSymbol {
 public:
  constexpr SharedSymbol() = default;  // the empty string
  explicit SharedSymbol(std::string_view text);
  // REQUIRES: the text of `s` is still there.
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
  operator Symbol() const { return get(); }  // NOLINT: wherever a symbol is read, this is one
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

// Keeps the texts of many symbols: a member of an object that is made of plain ones. Copies share what they keep, and
// all compare equal, so that it plays no part in comparing objects.
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

// Interns the texts of one object while it is made.
class SymbolKeeper {
 public:
  SymbolKeeper() = default;
  SymbolKeeper(const SymbolKeeper&) = delete;
  SymbolKeeper& operator=(const SymbolKeeper&) = delete;
  ~SymbolKeeper();

  Symbol Intern(std::string_view text);
  // REQUIRES: the text of `s` is still there.
  Symbol Keep(Symbol s);
  // Returns what keeps all that was interned since the last call.
  KeptTexts Take();

 private:
  absl::InlinedVector<uint32_t, 60> ids_;  // without those that stay for good
};

struct SymbolStats {
  size_t texts = 0;
  size_t bytes = 0;  // that they take, with what is needed to find them
};
SymbolStats GetSymbolStats();

// How many texts that nobody keeps stay, in case they come again or a copied Symbol is still in use.
inline constexpr size_t kRetiredTexts = 65536;

// For tests that look for symbols used beyond the life of their text: from now on a text is freed when the last who
// keeps it is gone, and to read or keep one that was freed ends the process. REQUIRES: no other thread runs.
void FreeSymbolsAtOnceForTest(bool on = true);
// For tests: so many numbers in all, a multiple of 256, instead of 2^30. REQUIRES: no other thread runs.
void LimitSymbolNumbersForTest(uint32_t numbers);

}  // namespace berth::util

template <>
struct std::hash<berth::util::Symbol> {
  size_t operator()(berth::util::Symbol s) const noexcept { return s.id() * 0x9e3779b97f4a7c15ull; }
};
