// How nodes name the images that they report, whose nodes the cache lists.
#pragma once
#include <string>
#include <string_view>

#include "pkg/util/symbol.h"

namespace berth::scheduler {

using util::Symbol;

// Returns the name under which nodes report an image: with the tag ":latest" unless it has a tag or a digest. A colon
// before the last slash belongs to the port of a registry.
inline util::SharedSymbol ReportedName(Symbol image) {
  const std::string_view text = image.str();
  const size_t colon = text.rfind(':'), slash = text.rfind('/');
  const bool tagged = colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash);
  return tagged ? util::SharedSymbol(image) : util::SharedSymbol(std::string(text) + ":latest");
}

}  // namespace berth::scheduler
