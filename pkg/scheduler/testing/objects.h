// Objects written as JSON with single quotes. For tests only.
#pragma once
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include <catch2/catch.hpp>

#include "pkg/api/decode.h"

namespace berth::scheduler::testing {

// Texts one after another; kept out of line, where the compiler does not warn of overlaps that are none.
template <typename... Texts>
[[gnu::noinline]] std::string Cat(const Texts&... texts) {
  std::string out;
  (out.append(std::string_view(texts)), ...);
  return out;
}

inline std::string Quoted(std::string_view text) {
  std::string out(text);
  std::replace(out.begin(), out.end(), '\'', '"');
  return out;
}

template <typename T>
T Decoded(absl::StatusOr<T> (*decode)(api::Json, const api::DecodeOptions&), std::string_view text) {
  api::Document document;
  std::string json = Quoted(text);
  INFO(json);
  absl::Status parsed = document.Parse(json);
  INFO(parsed.message());
  REQUIRE(parsed.ok());
  auto object = decode(document.root(), {});
  INFO(object.status().message());
  REQUIRE(object.ok());
  return *object;
}

// Members that follow others, with the comma between, or nothing.
inline std::string More(std::string_view members) {
  return members.empty() ? std::string() : Cat(",", members);
}

// "a" -> {name a, uid uid-a, namespace default} with `more` members of metadata.
inline std::string Meta(std::string_view name, std::string_view more = {}) {
  return Cat("'metadata':{'name':'", name, "','namespace':'default','uid':'uid-", name, "'", More(more), "}");
}

// A pod of namespace default; `spec` and `labels` are members of the objects of these names.
inline api::PodPtr PodOf(std::string_view name, std::string_view spec = {}, std::string_view labels = {},
                         std::string_view more_meta = {}, std::string_view status = {}) {
  std::string meta = Meta(name, Cat("'labels':{", labels, "}", More(more_meta)));
  return Decoded(api::DecodePod, Cat("{", meta, ",'spec':{", spec, "},'status':{", status, "}}"));
}
// A container that requests these, as a member of spec: Asks("'cpu':'1'").
inline std::string Asks(std::string_view requests, std::string_view more = {}) {
  return Cat("'containers':[{'name':'c','image':'i','resources':{'requests':{", requests, "}}", More(more), "}]");
}
// A ready node with 4 CPUs, 8Gi and 10 pods, unless `allocatable` says otherwise.
inline api::NodePtr NodeOf(std::string_view name, std::string_view labels = {}, std::string_view spec = {},
                           std::string_view allocatable = "'cpu':'4','memory':'8Gi','pods':'10'",
                           std::string_view more_status = {}, std::string_view more_meta = {}) {
  return Decoded(api::DecodeNode,
                 Cat("{'metadata':{'name':'", name, "','uid':'uid-", name, "','labels':{", labels, "}", More(more_meta),
                     "},'spec':{", spec, "},'status':{'allocatable':{", allocatable, "}", More(more_status), "}}"));
}

}  // namespace berth::scheduler::testing
