// Objects from JSON that is written with single quotes. For tests only.
#pragma once
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include <catch2/catch.hpp>

#include "pkg/api/decode.h"

namespace berth::scheduler::testing {

// Returns the concatenation of the texts. Not inlined, because the compiler then warns about overlaps that do not
// occur.
template <typename... Texts>
[[gnu::noinline]] std::string Cat(const Texts&... texts) {
  std::string out;
  (out.append(std::string_view(texts)), ...);
  return out;
}

// Returns the text with double quotes in place of single ones.
inline std::string Quoted(std::string_view text) {
  std::string out(text);
  std::replace(out.begin(), out.end(), '\'', '"');
  return out;
}

// Returns the object that `decode` makes of the JSON text. Fails the test when there is an error.
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

// Returns a comma and the members, or nothing when there are no members.
inline std::string More(std::string_view members) {
  return members.empty() ? std::string() : Cat(",", members);
}

// Returns the member "metadata" of an object "a" with name a, uid uid-a and namespace default. `more` are further
// members of it.
inline std::string Meta(std::string_view name, std::string_view more = {}) {
  return Cat("'metadata':{'name':'", name, "','namespace':'default','uid':'uid-", name, "'", More(more), "}");
}

// Returns a pod in the namespace default. The arguments are members of the objects `spec`, `labels`, `metadata` and
// `status`.
inline api::PodPtr PodOf(std::string_view name, std::string_view spec = {}, std::string_view labels = {},
                         std::string_view more_meta = {}, std::string_view status = {}) {
  std::string meta = Meta(name, Cat("'labels':{", labels, "}", More(more_meta)));
  return Decoded(api::DecodePod, Cat("{", meta, ",'spec':{", spec, "},'status':{", status, "}}"));
}
// Returns the member "containers" of a pod's spec with one container and these requests: Asks("'cpu':'1'"). `more` are
// further members of the container.
inline std::string Asks(std::string_view requests, std::string_view more = {}) {
  return Cat("'containers':[{'name':'c','image':'i','resources':{'requests':{", requests, "}}", More(more), "}]");
}
// Returns a node with the given members; by default, with 4 CPUs, 8Gi of memory and room for 10 pods.
inline api::NodePtr NodeOf(std::string_view name, std::string_view labels = {}, std::string_view spec = {},
                           std::string_view allocatable = "'cpu':'4','memory':'8Gi','pods':'10'",
                           std::string_view more_status = {}, std::string_view more_meta = {}) {
  return Decoded(api::DecodeNode,
                 Cat("{'metadata':{'name':'", name, "','uid':'uid-", name, "','labels':{", labels, "}", More(more_meta),
                     "},'spec':{", spec, "},'status':{'allocatable':{", allocatable, "}", More(more_status), "}}"));
}

}  // namespace berth::scheduler::testing
