// The page's files, embedded in the program when it is linked.
#pragma once
#include <string_view>

namespace berth::ui {

struct Asset {
  std::string_view content, type;
};

// Returns the file of a path below /ui/, "" for the page itself; null when there is none.
const Asset* FindAsset(std::string_view path);

}  // namespace berth::ui
