// Nodes whose images are passed over are those that are read in full.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <vector>

#include "pkg/api/decode.h"

namespace berth::api {
namespace {

struct Image {
  std::string name;
  int size;
};

std::string JsonOf(const std::vector<Image>& images) {
  return absl::StrCat("[",
                      absl::StrJoin(images, ",",
                                    [](std::string* out, const Image& i) {
                                      absl::StrAppend(out, R"({"names":[")", i.name, R"(","x]\"["],"sizeBytes":)",
                                                      i.size, "}");
                                    }),
                      "]");
}

std::string Event(const std::string& name, const std::string& images, int time) {
  return absl::StrCat(R"({"type":"MODIFIED","object":{"kind":"Node","metadata":{"name":")", name,
                      R"(","resourceVersion":")", time, R"("},"spec":{"images":["none of the node's"]},"status":{)",
                      images.empty() ? "" : absl::StrCat(R"("images":)", images, ","),
                      R"("allocatable":{"cpu":"4"},"conditions":[{"type":"Ready","status":"True"}]}}})");
}

// As an informer reads an event.
NodePtr Read(const std::string& event, NodeImagesMemory* memory) {
  Document doc;
  REQUIRE(doc.Parse(event, memory).ok());
  DecodeOptions options;
  options.images = memory;
  auto node = DecodeNode(doc.root().Find("object"), options);
  REQUIRE(node.ok());
  return *node;
}

}  // namespace

TEST_CASE("a list of images that did not change is passed over and shared") {
  NodeImagesMemory memory;
  const std::string images = JsonOf({{"a", 1}, {"b", 2}});
  const NodePtr first = Read(Event("n", images, 1), &memory), second = Read(Event("n", images, 2), &memory);
  CHECK(memory.taken() == 1);
  CHECK(first->images.size() == 2);
  CHECK(second->images.begin() == first->images.begin());
  CHECK(second->SchedulesLike(*first));
  CHECK(second->meta.resource_version == "2");
  CHECK(second->conditions.size() == 1);
}

TEST_CASE("the images of a node that was listed are passed over in its first heartbeat") {
  NodeImagesMemory memory;
  const std::string event = Event("n", JsonOf({{"a", 1}, {"b", 2}}), 1);
  const size_t begin = event.find("{\"kind\"");
  const std::string element = event.substr(begin, event.size() - begin - 1);
  Document doc;
  REQUIRE(doc.Parse(element, &memory).ok());
  DecodeOptions options;
  options.images = &memory;
  const auto listed = DecodeNode(doc.root(), options);
  REQUIRE(listed.ok());
  REQUIRE((*listed)->images.size() == 2);
  const NodePtr node = Read(event, &memory);
  CHECK(memory.taken() == 1);
  CHECK(node->images.begin() == (*listed)->images.begin());
}

TEST_CASE("images are kept only as long as a node has them") {
  NodeImagesMemory memory;
  const std::string images = JsonOf({{"a", 1}});
  Read(Event("n", images, 1), &memory);
  CHECK(Read(Event("n", images, 2), &memory)->images.size() == 1);
  CHECK(memory.taken() == 0);
}

TEST_CASE("a node read with what is remembered is the node read in full") {
  std::minstd_rand random(3);
  NodeImagesMemory memory;
  std::map<std::string, std::vector<Image>> images;
  std::map<std::string, NodePtr> nodes;
  for (int i = 0; i < 2000; ++i) {
    const std::string name = absl::StrCat("node-", random() % 5);
    std::vector<Image>& of_node = images[name];
    switch (random() % 8) {
      case 0:
        of_node.push_back({absl::StrCat("image-", random() % 10), static_cast<int>(random() % 3)});
        break;
      case 1:
        if (!of_node.empty()) of_node.erase(of_node.begin() + static_cast<ptrdiff_t>(random() % of_node.size()));
        break;
      case 2:
        // As long as before.
        if (!of_node.empty()) of_node[random() % of_node.size()].size = static_cast<int>(random() % 3);
        break;
      case 3:
        nodes.erase(name);
        break;
      default:
        break;
    }
    const std::string event = Event(name, random() % 16 == 0 ? "" : JsonOf(of_node), i);
    const NodePtr node = Read(event, &memory), full = Read(event, nullptr);
    REQUIRE(node->SchedulesLike(*full));
    REQUIRE(node->images == full->images);
    nodes[name] = node;
  }
  CHECK(memory.taken() > 500);
}

TEST_CASE("only the first of two lists of images is passed over, and the last one counts") {
  NodeImagesMemory memory;
  const std::string images = JsonOf({{"a", 1}});
  const NodePtr kept = Read(Event("n", images, 1), &memory);
  const NodePtr node = Read(Event("n", images + R"(,"images":)" + JsonOf({{"b", 1}, {"c", 1}}), 2), &memory);
  CHECK(memory.taken() == 1);
  CHECK(node->images.size() == 2);
}

TEST_CASE("what is remembered of one document is not used for another") {
  NodeImagesMemory memory;
  const std::string images = JsonOf({{"a", 1}});
  const std::string event = Event("n", images, 1);
  const NodePtr kept = Read(event, &memory);
  // The same place in the text, but not the member that is followed.
  std::string other = event;
  other.replace(other.find("\"status\""), 8, "\"Status\"");
  other.replace(other.find("sizeBytes\":1"), 12, "sizeBytes\":2");
  const NodePtr node = Read(other, &memory);
  REQUIRE(node->images.size() == 1);
  CHECK(node->images.begin()->size_bytes == 2);
}

}  // namespace berth::api
