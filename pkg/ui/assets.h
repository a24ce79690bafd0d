// The page's files, which are embedded in the program.
#pragma once
#include <string_view>

namespace berth::ui {

struct Asset {
  std::string_view content, type;
};

// Returns the file for a path below /ui/ ("" is the page itself), or null if there is none.
const Asset* FindAsset(std::string_view path);

}  // namespace berth::ui
