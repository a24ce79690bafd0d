// Symbols: interned strings, so that comparing names is comparing integers.
//
// Label keys and values, namespaces, node names, resource names, taints and images repeat by the thousand; each
// distinct text is kept once, for the life of the process. Do not intern what does not repeat (pod names, uids).
//
// Threading: Intern may be called from any thread (it locks a shard); str() is lock-free.
#pragma once
#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace berth::util {

class Symbol {
 public:
  constexpr Symbol() = default;  // the empty string
  explicit Symbol(std::string_view text);

  // The symbol of a text already interned, else the empty symbol: a lookup that adds nothing.
  static Symbol Find(std::string_view text);

  std::string_view str() const;
  std::string string() const { return std::string(str()); }
  bool empty() const { return id_ == 0; }

  // Dense: 0 is the empty string, each new text gets the next number. Not stable between runs.
  uint32_t id() const { return id_; }

  friend bool operator==(Symbol a, Symbol b) = default;
  // Orders by number, for sorted containers. For display order compare str().
  friend auto operator<=>(Symbol a, Symbol b) = default;

  template <typename H>
  friend H AbslHashValue(H h, Symbol s) {
    return H::combine(std::move(h), s.id_);
  }

 private:
  uint32_t id_ = 0;
};

}  // namespace berth::util

template <>
struct std::hash<berth::util::Symbol> {
  size_t operator()(berth::util::Symbol s) const noexcept { return s.id() * 0x9e3779b97f4a7c15ull; }
};
