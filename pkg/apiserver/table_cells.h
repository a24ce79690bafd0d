// What cells are made of: members of objects.
#pragma once
#include <absl/time/time.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "pkg/apiserver/table.h"
#include "pkg/apiserver/table_rows.h"

namespace berth::apiserver::cells {

// Returns the text at a path; empty if there is none.
inline std::string_view Str(const Value& v, std::initializer_list<std::string_view> path) {
  const Value* at = v.At(path);
  return at != nullptr && !at->IsNull() ? std::string_view(at->text()) : std::string_view();
}

// Returns the number at a path; 0 if there is none.
inline int64_t Int(const Value& v, std::initializer_list<std::string_view> path) {
  const Value* at = v.At(path);
  return at == nullptr ? 0 : at->AsInt();
}

inline std::string_view Or(std::string_view s, std::string_view otherwise) {
  return s.empty() ? otherwise : s;
}

}  // namespace berth::apiserver::cells
