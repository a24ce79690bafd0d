// Members of objects that take little memory in a cluster with very many of them: a value that most objects lack, and a
// list that many objects have in common. Thread-safety: that of the values; copies of a SharedList may be used and
// destroyed by several threads.
#pragma once
#include <algorithm>
#include <initializer_list>
#include <memory>
#include <optional>
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

// An immutable list. Copies share its memory.
template <typename T>
class SharedList {
 public:
  SharedList() = default;
  SharedList(std::vector<T> list)  // NOLINT: implicit, so that objects can be filled in like those with a vector
      : list_(list.empty() ? nullptr : std::make_shared<const std::vector<T>>(std::move(list))) {}
  SharedList(std::initializer_list<T> list) : SharedList(std::vector<T>(list)) {}

  const std::vector<T>& list() const {
    static const std::vector<T> kNone;
    return list_ == nullptr ? kNone : *list_;
  }
  operator const std::vector<T>&() const { return list(); }  // NOLINT: implicit, for functions that take a vector
  size_t size() const { return list_ == nullptr ? 0 : list_->size(); }
  bool empty() const { return list_ == nullptr; }
  auto begin() const { return list().begin(); }
  auto end() const { return list().end(); }
  const T& operator[](size_t i) const { return (*list_)[i]; }
  friend bool operator==(const SharedList& a, const SharedList& b) {
    return a.list_ == b.list_ || a.list() == b.list();
  }

 private:
  std::shared_ptr<const std::vector<T>> list_;  // null: empty
};

}  // namespace berth::api
