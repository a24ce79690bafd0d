// Members of objects that take little memory in a cluster with very many of them: a value, a time or a text that most
// objects lack, and lists that many objects have in common. Thread-safety: that of the values; copies of a SharedText
// or SharedList may be used and destroyed by several threads.
#pragma once
#include <algorithm>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::api {

// An optional value that is absent in most objects. It takes the size of a pointer, and memory of its own only while it
// is present. Copies are independent of each other.
template <typename T>
class Rare {
 public:
  Rare() = default;
  Rare(T value) : value_(std::make_unique<T>(std::move(value))) {}  // NOLINT: implicit, as std::optional's
  Rare(std::optional<T> value) {                                    // NOLINT
    if (value) value_ = std::make_unique<T>(*std::move(value));
  }
  Rare(const Rare& o) : value_(o.value_ == nullptr ? nullptr : std::make_unique<T>(*o.value_)) {}
  Rare(Rare&&) noexcept = default;
  Rare& operator=(Rare o) noexcept {
    value_ = std::move(o.value_);
    return *this;
  }
  operator std::optional<T>() const { return has_value() ? std::optional<T>(*value_) : std::nullopt; }  // NOLINT

  bool has_value() const { return value_ != nullptr; }
  explicit operator bool() const { return has_value(); }
  // REQUIRE: has_value().
  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  T& operator*() { return *value_; }
  T* operator->() { return value_.get(); }
  void reset() { value_.reset(); }
  // Returns the value, which is made if it is absent.
  T& Ensure() {
    if (value_ == nullptr) value_ = std::make_unique<T>();
    return *value_;
  }

 private:
  std::unique_ptr<T> value_;  // null: absent
};

// A Unix time in seconds, or none. It takes the size of the time: the least number, kNone, stands for none.
class OptionalTime {
 public:
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::min();
  constexpr OptionalTime() = default;
  constexpr OptionalTime(int64_t seconds) : seconds_(seconds) {}  // NOLINT: implicit, as std::optional's

  constexpr bool has_value() const { return seconds_ != kNone; }
  explicit constexpr operator bool() const { return has_value(); }
  // REQUIRES: has_value().
  constexpr int64_t operator*() const { return seconds_; }
  constexpr int64_t value_or(int64_t other) const { return has_value() ? seconds_ : other; }
  void reset() { seconds_ = kNone; }
  friend bool operator==(const OptionalTime&, const OptionalTime&) = default;

 private:
  int64_t seconds_ = kNone;
};

// A text of less than 4 GiB that is replaced but not edited. It takes the size of a pointer, and memory of its own only
// while it is not empty. Copies are independent of each other.
class Text {
 public:
  Text() = default;
  Text(std::string_view text);                                     // NOLINT: implicit, as std::string's
  Text(const std::string& text) : Text(std::string_view(text)) {}  // NOLINT
  Text(const char* text) : Text(std::string_view(text)) {}         // NOLINT
  Text(const Text& o) : Text(o.str()) {}
  Text(Text&&) noexcept = default;
  Text& operator=(Text o) noexcept {
    block_ = std::move(o.block_);
    return *this;
  }

  // The result is valid until the text is replaced or destroyed.
  std::string_view str() const {
    if (block_ == nullptr) return {};
    uint32_t size;
    std::memcpy(&size, block_.get(), sizeof size);
    return {block_.get() + sizeof size, size};
  }
  operator std::string_view() const { return str(); }  // NOLINT: implicit, so that it can be passed like a std::string
  std::string string() const { return std::string(str()); }
  bool empty() const { return block_ == nullptr; }
  friend bool operator==(const Text& a, const Text& b) { return a.str() == b.str(); }

 private:
  std::unique_ptr<char[]> block_;  // the size, and the characters; null: empty
};

inline Text::Text(std::string_view text) {
  if (text.empty()) return;
  const auto size = static_cast<uint32_t>(text.size());
  block_.reset(new char[sizeof size + size]);
  std::memcpy(block_.get(), &size, sizeof size);
  std::memcpy(block_.get() + sizeof size, text.data(), size);
}

// A text that does not change, or none. It takes the size of a pointer. Copies share its memory.
class SharedText {
 public:
  SharedText() = default;
  explicit SharedText(std::string text) : shared_(new Shared(std::move(text))) {}

  // REQUIRE: there is a text.
  const std::string& operator*() const { return shared_->text; }
  const std::string* operator->() const { return &shared_->text; }
  void reset() { shared_.reset(); }
  // Returns whether both are copies of one text.
  friend bool operator==(const SharedText& a, const SharedText& b) { return a.shared_ == b.shared_; }
  friend bool operator==(const SharedText& a, std::nullptr_t) { return a.shared_ == nullptr; }

 private:
  struct Shared : boost::intrusive_ref_counter<Shared> {
    explicit Shared(std::string t) : text(std::move(t)) {}
    std::string text;
  };
  boost::intrusive_ptr<const Shared> shared_;  // null: none
};

// An immutable list. Copies share its memory.
template <typename T>
class SharedList {
 public:
  SharedList() = default;
  SharedList(std::vector<T> list)  // NOLINT: implicit, so that objects can be filled in like those with a vector
      : shared_(list.empty() ? nullptr : new Shared(std::move(list))) {}
  SharedList(std::initializer_list<T> list) : SharedList(std::vector<T>(list)) {}

  const std::vector<T>& list() const {
    static const std::vector<T> kNone;
    return shared_ == nullptr ? kNone : shared_->list;
  }
  operator const std::vector<T>&() const { return list(); }  // NOLINT: implicit, for functions that take a vector
  size_t size() const { return list().size(); }
  bool empty() const { return shared_ == nullptr; }
  auto begin() const { return list().begin(); }
  auto end() const { return list().end(); }
  const T& operator[](size_t i) const { return shared_->list[i]; }
  // Returns a list of the elements of which `leave_out` is false.
  template <typename P>
  SharedList Without(P leave_out) const {
    std::vector<T> rest = list();
    std::erase_if(rest, leave_out);
    return rest;
  }
  friend bool operator==(const SharedList& a, const SharedList& b) {
    return a.shared_ == b.shared_ || a.list() == b.list();
  }

 private:
  struct Shared : boost::intrusive_ref_counter<Shared> {
    explicit Shared(std::vector<T> elements) : list(std::move(elements)) {}
    std::vector<T> list;
  };
  boost::intrusive_ptr<const Shared> shared_;  // null: empty
};

}  // namespace berth::api
