#include "cmd/schedsim/defaulting.h"

#include <absl/strings/str_format.h>
#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

namespace berth::schedsim {
namespace {

using rapidjson::Value;

Value* Member(Value* v, const char* name) {
  if (v == nullptr || !v->IsObject()) return nullptr;
  auto it = v->FindMember(name);
  return it == v->MemberEnd() || it->value.IsNull() ? nullptr : &it->value;
}

void LimitsToRequests(Value* container, rapidjson::Document::AllocatorType& a) {
  Value* resources = Member(container, "resources");
  Value* limits = Member(resources, "limits");
  if (limits == nullptr || !limits->IsObject()) return;
  if (Member(resources, "requests") == nullptr) {
    resources->RemoveMember("requests");
    resources->AddMember("requests", Value(rapidjson::kObjectType), a);
  }
  Value* requests = Member(resources, "requests");
  if (!requests->IsObject()) return;
  for (auto& limit : limits->GetObject()) {
    if (requests->FindMember(limit.name) == requests->MemberEnd()) {
      requests->AddMember(Value(limit.name, a), Value(limit.value, a), a);
    }
  }
}

void HostPorts(Value* container, rapidjson::Document::AllocatorType& a) {
  Value* ports = Member(container, "ports");
  if (ports == nullptr || !ports->IsArray()) return;
  for (Value& port : ports->GetArray()) {
    Value* number = Member(&port, "containerPort");
    if (number != nullptr && Member(&port, "hostPort") == nullptr) {
      port.RemoveMember("hostPort");
      port.AddMember("hostPort", Value(*number, a), a);
    }
  }
}

}  // namespace

std::string WithServerDefaults(api::Json object, int number) {
  std::string text = object.Serialize();
  rapidjson::Document d;

  d.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseFullPrecisionFlag>(text.data(), text.size());
  if (d.HasParseError() || !d.IsObject()) return text;
  auto& a = d.GetAllocator();
  if (Value* meta = Member(&d, "metadata"); meta != nullptr && meta->IsObject() && Member(meta, "uid") == nullptr) {
    meta->RemoveMember("uid");
    meta->AddMember("uid", Value(absl::StrFormat("00000000-0000-0000-0000-%012d", number).c_str(), a), a);
  }
  Value* kind = Member(&d, "kind");
  if (kind == nullptr || !kind->IsString()) return text;
  if (std::string_view(kind->GetString()) == "Pod") {
    Value* spec = Member(&d, "spec");
    Value* host_network = Member(spec, "hostNetwork");
    for (const char* list : {"containers", "initContainers"}) {
      Value* containers = Member(spec, list);
      if (containers == nullptr || !containers->IsArray()) continue;
      for (Value& c : containers->GetArray()) {
        LimitsToRequests(&c, a);
        if (host_network != nullptr && host_network->IsTrue()) HostPorts(&c, a);
      }
    }
  } else if (std::string_view(kind->GetString()) == "Node") {
    Value* status = Member(&d, "status");
    Value* capacity = Member(status, "capacity");
    if (capacity != nullptr && Member(status, "allocatable") == nullptr) {
      status->RemoveMember("allocatable");
      status->AddMember("allocatable", Value(*capacity, a), a);
    }
  }
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  d.Accept(writer);
  return {buffer.GetString(), buffer.GetSize()};
}

}  // namespace berth::schedsim
