// A vector that its copies share once it is frozen, so that a copy of a large value costs what is changed of it.
//
// One that is not frozen has contents of its own and behaves as std::vector. Frozen contents never change: who changes
// a frozen vector first gets contents of its own, whose elements are copies of the frozen ones. So references that were
// taken through a const vector before stay with the contents as they were, and are good as long as some vector has
// these. Thread-safety: frozen contents may be read, copied and dropped by several threads at once; everything else is
// as with a standard container.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <utility>
#include <vector>

namespace berth::validation {

template <typename T>
class SharedVector {
 public:
  using value_type = T;
  using iterator = typename std::vector<T>::iterator;
  using const_iterator = typename std::vector<T>::const_iterator;

  SharedVector() = default;
  SharedVector(std::initializer_list<T> from) { *this = std::vector<T>(from); }
  SharedVector(const SharedVector& o) : contents_(CopyOf(o.contents_)) {}
  SharedVector(SharedVector&& o) noexcept : contents_(std::exchange(o.contents_, nullptr)) {}
  SharedVector& operator=(const SharedVector& o) {
    if (contents_ != o.contents_) Drop(std::exchange(contents_, CopyOf(o.contents_)));
    return *this;
  }
  SharedVector& operator=(SharedVector&& o) noexcept {
    Drop(std::exchange(contents_, std::exchange(o.contents_, nullptr)));
    return *this;
  }
  SharedVector& operator=(std::vector<T> v) {
    Drop(std::exchange(contents_, v.empty() ? nullptr : new Contents{.items = std::move(v)}));
    return *this;
  }
  ~SharedVector() { Drop(contents_); }

  // ---- reading ----
  const std::vector<T>& get() const { return contents_ == nullptr ? None() : contents_->items; }
  operator const std::vector<T>&() const { return get(); }  // NOLINT(google-explicit-constructor)
  size_t size() const { return contents_ == nullptr ? 0 : contents_->items.size(); }
  bool empty() const { return contents_ == nullptr || contents_->items.empty(); }
  const_iterator begin() const { return get().begin(); }
  const_iterator end() const { return get().end(); }
  const T* data() const { return get().data(); }
  const T& operator[](size_t i) const { return contents_->items[i]; }
  const T& front() const { return contents_->items.front(); }
  const T& back() const { return contents_->items.back(); }
  friend bool operator==(const SharedVector& a, const SharedVector& b) { return a.Shares(b) || a.get() == b.get(); }

  // ---- changing ----
  std::vector<T>& own() { return Own()->items; }
  iterator begin() { return empty() ? iterator() : own().begin(); }
  iterator end() { return empty() ? iterator() : own().end(); }
  T& operator[](size_t i) { return own()[i]; }
  T& front() { return own().front(); }
  T& back() { return own().back(); }
  void push_back(T v) { own().push_back(std::move(v)); }
  template <typename... A>
  T& emplace_back(A&&... with) {
    return own().emplace_back(std::forward<A>(with)...);
  }
  template <typename... A>
  iterator insert(const_iterator at, A&&... what) {
    const auto place = at - std::as_const(*this).begin();
    return own().insert(own().begin() + place, std::forward<A>(what)...);
  }
  iterator insert(const_iterator at, std::initializer_list<T> what) {
    const auto place = at - std::as_const(*this).begin();
    return own().insert(own().begin() + place, what);
  }
  iterator erase(const_iterator at) {
    const auto place = at - std::as_const(*this).begin();
    return own().erase(own().begin() + place);
  }
  void resize(size_t n) { own().resize(n); }
  void reserve(size_t n) {
    if (n > 0) own().reserve(n);
  }
  void clear() { Drop(std::exchange(contents_, nullptr)); }
  // Removes the elements that `goes` returns true for, which is asked once for each in turn. Returns how many these
  // are.
  template <typename F>
  size_t EraseIf(F goes) {
    const std::vector<T>& all = get();
    const size_t first = static_cast<size_t>(std::find_if(all.begin(), all.end(), std::ref(goes)) - all.begin());
    if (first == all.size()) return 0;
    std::vector<T>& items = own();
    size_t kept = first;
    for (size_t i = first + 1; i < items.size(); ++i) {
      if (!goes(std::as_const(items[i]))) items[kept++] = std::move(items[i]);
    }
    const size_t removed = items.size() - kept;
    items.erase(items.begin() + static_cast<ptrdiff_t>(kept), items.end());
    return removed;
  }

  // ---- sharing ----
  // Makes copies share the contents from now on, after `freeze(element)` for each element. Nobody may hold a
  // reference through which elements are changed.
  template <typename F>
  void Freeze(F freeze) {
    if (contents_ == nullptr || contents_->frozen) return;
    for (T& element : contents_->items) freeze(element);
    contents_->frozen = true;
  }
  bool is_frozen() const { return contents_ != nullptr && contents_->frozen; }
  bool Shares(const SharedVector& o) const { return contents_ == o.contents_; }
  // A mark of its user's, which says something about frozen contents; null if none was set before they were frozen.
  const void* mark() const { return is_frozen() ? contents_->mark : nullptr; }
  void set_mark(const void* mark) {
    if (contents_ != nullptr && !contents_->frozen) contents_->mark = mark;
  }

 private:
  struct Contents {
    std::atomic<uint32_t> owners{1};  // more than one only if it is frozen
    bool frozen = false;
    const void* mark = nullptr;
    std::vector<T> items{};
  };

  static const std::vector<T>& None() {
    static const auto* none = new std::vector<T>;
    return *none;
  }
  static Contents* CopyOf(Contents* c) {
    if (c == nullptr) return nullptr;
    if (!c->frozen) return c->items.empty() ? nullptr : new Contents{.items = c->items};
    c->owners.fetch_add(1, std::memory_order_relaxed);
    return c;
  }
  static void Drop(Contents* c) {
    if (c == nullptr) return;
    if (!c->frozen || c->owners.load(std::memory_order_acquire) == 1 ||
        c->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      delete c;
    }
  }
  // Returns contents that nobody else has.
  Contents* Own() {
    if (contents_ == nullptr) {
      contents_ = new Contents;
    } else if (contents_->frozen) {
      if (contents_->owners.load(std::memory_order_acquire) == 1) {
        contents_->frozen = false;
      } else {
        Drop(std::exchange(contents_, new Contents{.items = contents_->items}));
      }
    }
    contents_->mark = nullptr;
    return contents_;
  }

  Contents* contents_ = nullptr;
};

}  // namespace berth::validation
