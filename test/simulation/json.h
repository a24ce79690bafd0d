// Small help with rapidjson's tree, in which the simulated server and its users edit objects.
#pragma once
#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <initializer_list>
#include <string>
#include <string_view>

namespace berth::simulation {

using Tree = rapidjson::Document;
using Node = rapidjson::Value;

inline Tree ParseJson(std::string_view text) {
  Tree t;
  t.Parse(text.data(), text.size());
  return t;
}

inline std::string WriteJson(const Node& v) {
  rapidjson::StringBuffer out;
  rapidjson::Writer<rapidjson::StringBuffer> w(out);
  v.Accept(w);
  return {out.GetString(), out.GetSize()};
}

// Returns the member at the end of the path, or null.
inline const Node* At(const Node& v, std::initializer_list<const char*> path) {
  const Node* at = &v;
  for (const char* key : path) {
    if (!at->IsObject()) return nullptr;
    auto it = at->FindMember(key);
    if (it == at->MemberEnd()) return nullptr;
    at = &it->value;
  }
  return at;
}

inline std::string TextAt(const Node& v, std::initializer_list<const char*> path) {
  const Node* n = At(v, path);
  return n != nullptr && n->IsString() ? std::string(n->GetString(), n->GetStringLength()) : std::string();
}

// Sets a member, making the objects on the way.
inline void Set(Tree* t, std::initializer_list<const char*> path, Node value) {
  Node* at = t;
  const char* last = nullptr;
  for (const char* key : path) {
    if (last != nullptr) at = &(*at)[last];
    if (!at->HasMember(key))
      at->AddMember(Node(key, t->GetAllocator()), Node(rapidjson::kObjectType), t->GetAllocator());
    last = key;
  }
  (*at)[last] = value;
}
inline void SetText(Tree* t, std::initializer_list<const char*> path, std::string_view text) {
  Set(t, path, Node(text.data(), static_cast<rapidjson::SizeType>(text.size()), t->GetAllocator()));
}

}  // namespace berth::simulation
