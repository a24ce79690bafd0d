#include "pkg/ui/assets.h"

#include <array>
#include <utility>

// Embeds a file. Paths are relative to the root of the project, where the compiler runs. The Makefile recompiles this
// source when one of the files changes.
#define EMBED(name, path)                                                                                    \
  __asm__(".section .rodata\n.global ui_" #name "_begin\nui_" #name "_begin:\n.incbin \"pkg/ui/assets/" path \
          "\"\n.global ui_" #name "_end\nui_" #name "_end:\n.byte 0\n.previous\n");                          \
  extern "C" const char ui_##name##_begin[], ui_##name##_end[]

EMBED(html, "index.html");
EMBED(css, "style.css");
EMBED(icon, "icon.svg");
EMBED(app, "app.js");
EMBED(dom, "dom.js");
EMBED(feed, "feed.js");
EMBED(map, "map.js");
EMBED(nodes, "nodes.js");
EMBED(pods, "pods.js");
EMBED(more, "more.js");

#undef EMBED

namespace berth::ui {

const Asset* FindAsset(std::string_view path) {
  constexpr std::string_view kHtml = "text/html; charset=utf-8", kCss = "text/css; charset=utf-8",
                             kScript = "text/javascript; charset=utf-8", kSvg = "image/svg+xml";
  const auto text = [](const char* begin, const char* end) {
    return std::string_view(begin, static_cast<size_t>(end - begin));
  };
  static const std::array<std::pair<std::string_view, Asset>, 10> kAssets = {{
      {"", {text(ui_html_begin, ui_html_end), kHtml}},
      {"style.css", {text(ui_css_begin, ui_css_end), kCss}},
      {"icon.svg", {text(ui_icon_begin, ui_icon_end), kSvg}},
      {"app.js", {text(ui_app_begin, ui_app_end), kScript}},
      {"dom.js", {text(ui_dom_begin, ui_dom_end), kScript}},
      {"feed.js", {text(ui_feed_begin, ui_feed_end), kScript}},
      {"map.js", {text(ui_map_begin, ui_map_end), kScript}},
      {"nodes.js", {text(ui_nodes_begin, ui_nodes_end), kScript}},
      {"pods.js", {text(ui_pods_begin, ui_pods_end), kScript}},
      {"more.js", {text(ui_more_begin, ui_more_end), kScript}},
  }};
  for (const auto& [name, asset] : kAssets) {
    if (name == path) return &asset;
  }
  return nullptr;
}

}  // namespace berth::ui
