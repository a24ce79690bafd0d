// Decodes messages by the type table: a member's number gives its name and type, so a message becomes the same JSON
// value that a client would have sent as JSON. Depth and lengths are checked, because the bytes come from outside.
#include "pkg/apiserver/protobuf.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>
#include <absl/time/time.h>

#include "pkg/util/status.h"

namespace berth::apiserver {
namespace {

using Kind = FieldDef::Kind;
using Shape = FieldDef::Shape;

// One member of a message in wire format.
struct Item {
  int number = 0;
  bool is_bytes = false;
  uint64_t varint = 0;
  std::string_view bytes;
};

// Reads the members of a message one after another.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}
  bool done() const { return text_.empty(); }
  bool Next(Item* item) {
    uint64_t tag;
    if (!Varint(&tag)) return false;
    item->number = static_cast<int>(tag >> 3);
    constexpr int kVarint = 0, k64 = 1, kBytes = 2, k32 = 5;
    item->is_bytes = false;
    switch (tag & 7) {
      case kVarint:
        return Varint(&item->varint);
      case kBytes: {
        uint64_t n;
        if (!Varint(&n) || n > text_.size()) return false;
        item->is_bytes = true;
        item->bytes = text_.substr(0, n);
        text_.remove_prefix(n);
        return true;
      }
      case k64:
      case k32: {
        size_t n = (tag & 7) == k64 ? 8 : 4;
        if (n > text_.size()) return false;
        text_.remove_prefix(n);
        return true;
      }
      default:
        return false;
    }
  }
  bool Varint(uint64_t* out) {
    *out = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (text_.empty()) return false;
      auto c = static_cast<unsigned char>(text_.front());
      text_.remove_prefix(1);
      *out |= static_cast<uint64_t>(c & 0x7f) << shift;
      if (c < 0x80) return true;
    }
    return false;
  }

 private:
  std::string_view text_;
};

absl::Status Broken(std::string_view what) {
  return util::InvalidArgument(absl::StrCat("protobuf: ", std::string(what), " is cut or malformed"));
}

absl::StatusOr<Value> Message(std::string_view text, const TypeDef& type, int depth);
absl::Status Members(std::string_view text, const TypeDef& type, int within, int depth, Value* out);

// Decodes one value. `bytes`: the member holds bytes in Go, which are base64 in JSON.
absl::StatusOr<Value> One(const Item& item, const FieldDef& f, bool bytes, int depth) {
  bool bytes_wanted = f.kind != Kind::kBool && f.kind != Kind::kInt32 && f.kind != Kind::kInt64;
  if (bytes_wanted != item.is_bytes) return Broken(f.name);
  auto number = static_cast<int64_t>(item.varint);
  switch (f.kind) {
    case Kind::kString:
      if (bytes) return Value::String(absl::Base64Escape(std::string(item.bytes)));
      return Value::String(item.bytes);
    case Kind::kBool:
      return Value::Bool(item.varint != 0);
    case Kind::kInt32:
      return Value::Int(static_cast<int32_t>(number));
    case Kind::kInt64:
      return Value::Int(number);
    case Kind::kStruct:
      return Message(item.bytes, *f.type, depth + 1);
    default:
      break;
  }
  // Quantity{1: text}, Time{1: seconds, 2: nanos}, IntOrString{1: is text, 2: number, 3: text}
  Reader r(item.bytes);
  Item part;
  int64_t first = 0, second = 0;
  std::string text;
  bool any = !r.done();
  while (!r.done()) {
    if (!r.Next(&part)) return Broken(f.name);
    if (part.is_bytes) {
      text = part.bytes;
    } else if (part.number == 1) {
      first = static_cast<int64_t>(part.varint);
    } else {
      second = static_cast<int64_t>(part.varint);
    }
  }
  switch (f.kind) {
    case Kind::kQuantity:
      return Value::String(text);
    case Kind::kIntOrString:
      return first != 0 ? Value::String(text) : Value::Int(static_cast<int32_t>(second));
    case Kind::kTime:
    case Kind::kMicroTime:
      if (!any) return Value();
      return Value::String(absl::FormatTime(
          "%Y-%m-%dT%H:%M:%E*SZ", absl::FromUnixSeconds(first) + absl::Nanoseconds(second), absl::UTCTimeZone()));
    default:
      return Broken(f.name);
  }
}

absl::StatusOr<Value> Message(std::string_view text, const TypeDef& type, int depth) {
  constexpr int kMostNesting = 64;
  if (depth > kMostNesting) return util::InvalidArgument("protobuf: nested too deeply");
  if (!type.proto) {
    return absl::UnimplementedError(absl::StrCat("protobuf: ", type.name, " is not understood here; send JSON"));
  }
  Value out = Value::Object();
  BERTH_RETURN_IF_ERROR(Members(text, type, 0, depth, &out));
  return out;
}

// Decodes a member whose values have names.
absl::Status Entry(const Item& item, const FieldDef& f, bool bytes, int depth, Value* out) {
  Reader entry(item.bytes);
  Item part;
  std::string key;
  Value value = Value::String("");
  while (!entry.done()) {
    if (!entry.Next(&part)) return Broken(f.name);
    if (part.number == 1) {
      key = part.bytes;
      continue;
    }
    auto v = One(part, f, bytes, depth);
    if (!v.ok()) return v.status();
    value = *std::move(v);
  }
  out->Child(f.name).Set(key, std::move(value));
  return absl::OkStatus();
}

// Returns whether a message has only texts and messages that are empty themselves.
bool IsBlank(std::string_view text, int depth) {
  constexpr int kMostNestingOfBlanks = 8;
  Reader r(text);
  Item item;
  while (!r.done()) {
    if (!r.Next(&item) || !item.is_bytes || depth > kMostNestingOfBlanks) return false;
    if (!item.bytes.empty() && !IsBlank(item.bytes, depth + 1)) return false;
  }
  return true;
}

// Decodes the members of `type` that are in its message, or in the one of number `within` in that.
absl::Status Members(std::string_view text, const TypeDef& type, int within, int depth, Value* out) {
  Reader r(text);
  Item item;
  while (!r.done()) {
    if (!r.Next(&item)) return Broken(type.name);
    const FieldDef* f = nullptr;
    bool holds = false;
    for (const FieldDef& each : type.fields) {
      if (each.within == within && each.number == item.number) f = &each;
      holds = holds || (within == 0 && each.within == item.number && each.within != 0);
    }
    if (holds && item.is_bytes) {
      BERTH_RETURN_IF_ERROR(Members(item.bytes, type, item.number, depth, out));
      continue;
    }
    // A member of a later release, or a status that says nothing, as Go's clients send it with what they create.
    if (f == nullptr || (f->name == "status" && IsBlank(item.bytes, depth))) continue;
    const bool bytes = f->name == "binaryData" || (type.name == "Secret" && f->name == "data");
    if (f->shape == Shape::kMap) {
      BERTH_RETURN_IF_ERROR(Entry(item, *f, bytes, depth, out));
      continue;
    }
    auto v = One(item, *f, bytes, depth);
    if (!v.ok()) return v.status();
    if (f->shape == Shape::kList) {
      Value* list = out->Find(f->name);
      if (list == nullptr) list = &out->Set(f->name, Value::Array());
      list->Append(*std::move(v));
    } else {
      out->Set(f->name, *std::move(v));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Value> DecodeProtobuf(std::string_view body, const TypeDef& type) {
  constexpr std::string_view kMagic("k8s\0", 4);
  if (!body.starts_with(kMagic)) return util::InvalidArgument("protobuf: the body does not begin with k8s and a zero");
  std::string_view type_meta, raw;
  Reader envelope(body.substr(kMagic.size()));
  Item item;
  while (!envelope.done()) {
    if (!envelope.Next(&item)) return Broken("the envelope");
    if (item.number == 1) type_meta = item.bytes;
    if (item.number == 2) raw = item.bytes;
  }
  std::string api_version, kind;
  Reader meta(type_meta);
  while (!meta.done()) {
    if (!meta.Next(&item)) return Broken("the envelope");
    (item.number == 1 ? api_version : kind) = item.bytes;
  }
  auto v = Message(raw, type, 0);
  if (!v.ok()) return v;
  if (!kind.empty()) v->Set("kind", Value::String(kind));
  if (!api_version.empty()) v->Set("apiVersion", Value::String(api_version));
  return v;
}

}  // namespace berth::apiserver
