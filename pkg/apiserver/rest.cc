// Handlers of the methods. Each reads its parameters, calls the store or the registry, and words the response. Error
// texts and their order follow the recorded servers.
#include "pkg/apiserver/rest.h"

#include <absl/strings/escaping.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>

#include "pkg/api/json_writer.h"
#include "pkg/api/stream.h"
#include "pkg/api/validation/check.h"
#include "pkg/apiserver/patch.h"
#include "pkg/apiserver/protobuf.h"
#include "pkg/apiserver/rest_route.h"
#include "pkg/apiserver/table.h"
#include "pkg/store/other_version.h"
#include "pkg/util/status.h"

namespace berth::apiserver {
namespace {

using api::JsonWriter;

constexpr std::string_view kBound =
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Success\",\"code\":201}\n";

std::string ParseIntError(std::string_view text) {
  return absl::StrCat("strconv.ParseInt: parsing ", GoQuoted(text), ": invalid syntax");
}

// Returns what error texts show of a body that is not an object.
std::string Summary(std::string_view body) {
  constexpr size_t kMost = 30;
  if (body.empty()) return "<empty>";
  std::string all = body[0] == '{' ? std::string(body) : absl::BytesToHexString(std::string(body.substr(0, kMost)));
  return all.size() > kMost ? absl::StrCat(all.substr(0, kMost), " ...") : all;
}

constexpr std::string_view kTypeMeta =
    " into Go value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
    "\"json:\\\"kind,omitempty\\\"\" }";

// Returns why a parsed body cannot be an object; empty if it can.
std::string NotAnObject(const Value& v) {
  std::string_view what;
  switch (v.type()) {
    case Value::Type::kArray:
      what = "array";
      break;
    case Value::Type::kString:
      what = "string";
      break;
    case Value::Type::kNumber:
      what = "number";
      break;
    case Value::Type::kBool:
      what = "bool";
      break;
    default:
      return "";
  }
  return absl::StrCat("couldn't get version/kind; json parse error: json: cannot unmarshal ", std::string(what),
                      std::string(kTypeMeta));
}

// Go's merge patch writes the objects that the patch touches with sorted keys and leaves the others as they were.
void SortTouched(const Value& patch, Value* object) {
  if (!patch.IsObject() || !object->IsObject()) return;
  Value sorted = Value::Object();
  std::vector<std::string> keys = object->keys;
  std::sort(keys.begin(), keys.end());
  for (const std::string& key : keys) sorted.Set(key, std::move(*object->Find(key)));
  *object = std::move(sorted);
  for (size_t i = 0; i < patch.keys.size(); ++i) {
    if (Value* child = object->Find(patch.keys[i])) SortTouched(patch.items[i], child);
  }
}

std::string_view MediaTypeOf(std::string_view content_type) {
  std::string_view type = content_type.substr(0, content_type.find(';'));
  while (!type.empty() && type.back() == ' ') type.remove_suffix(1);
  return type;
}

// Returns the decoded object in the form in which its kind is stored.
Value Stored(const ResourceInfo& r, size_t version, Value v) {
  return version > 0 && r.other_type != nullptr ? FromOtherVersion(r, v) : v;
}

ApiError ProtobufRefused(std::string_view kind, std::string_view user_agent) {
  ApiError e = UnsupportedMediaType();
  e.has_details = false;
  e.message =
      absl::StrCat("a ", std::string(kind), " in protobuf is not read here: ", std::string(HowToSpeakJson(user_agent)));
  return e;
}

// Turns a Table of v1beta1 into one of v1, which differs in nothing but the version.
void MakeV1(std::string* table) {
  constexpr std::string_view kOld = "meta.k8s.io/v1beta1";
  size_t at = table->find(kOld);
  if (at != std::string::npos) table->replace(at, kOld.size(), "meta.k8s.io/v1");
}

}  // namespace

// ---- answers ------------------------------------------------------------------------------------

HttpResponse Api::Finish(const Call& call, int status, std::string json) const {
  HttpResponse out;
  out.status = status;
  if (call.format == Format::kYaml) {
    out.content_type = "application/yaml";
    out.body = SortedYaml(json);
  } else if (WantsPretty(*call.request, call.query)) {
    out.body = Indent(json);
  } else {
    out.body = std::move(json);
  }
  for (const std::string& w : call.warnings) out.headers.emplace_back("Warning", absl::StrCat("299 - ", GoQuoted(w)));
  return out;
}

HttpResponse Api::ObjectResponse(const Call& call, int status, const Object& o) const {
  std::string json;
  if (call.format == Format::kTable) {
    const auto rows = ReadTableOptions(call.query, call.r->release, 1);
    if (auto* error = std::get_if<ApiError>(&rows)) return Error(call, *error);
    Value meta = Value::Object();
    if (validation::kSelfLinks.Has(call.r->release)) {
      meta.Set("selfLink", Value::String(SelfLink(*call.r, call.version, o.ns, o.name)));
    }
    meta.Set("resourceVersion", Value::String(std::to_string(o.rv)));
    json = MakeTable(*call.r, call.version, {std::make_shared<Object>(o)}, ToJson(meta), clock_->Wall(),
                     std::get<RowObject>(rows));
    if (call.table_v1) MakeV1(&json);
  } else {
    std::string sub = call.subresource.empty() ? "" : "/" + call.subresource;
    AppendObject(*call.r, call.version, o, sub, &json);
    json.push_back('\n');
  }
  return Finish(call, status, std::move(json));
}

// ---- bodies -------------------------------------------------------------------------------------

std::variant<Value, ApiError> Api::Body(const Call& call, std::string_view kind) const {
  std::string_view type = MediaTypeOf(call.request->content_type);
  std::string_view body = call.request->body;
  std::string of(kind);
  auto unrecognized = [&](const std::string& why) {
    return BadRequest(absl::StrCat("the object provided is unrecognized (must be of type ", of, "): ", why, " (",
                                   Summary(body), ")"));
  };
  Value v;
  if (type == "application/yaml") {
    auto document = api::ReadDocument(body);
    if (!document.ok()) return unrecognized("error converting YAML to JSON: " + util::Message(document.status()));
    v = FromJson(document->root());
  } else if (type.empty() || type == "application/json" || type == "*/*") {
    auto parsed = ParseJson(body);
    if (!parsed.ok()) {
      return unrecognized("couldn't get version/kind; json parse error: " + util::Message(parsed.status()));
    }
    v = *std::move(parsed);
  } else if (type == "application/vnd.kubernetes.protobuf") {
    const TypeDef& expected = kind == call.r->kind ? call.type() : registry_->catalog().Type(kind);
    auto parsed = DecodeProtobuf(body, expected);
    if (absl::IsUnimplemented(parsed.status())) return ProtobufRefused(of, call.request->user_agent);
    if (!parsed.ok()) return BadRequest(util::Message(parsed.status()));
    v = *std::move(parsed);
  } else {
    ApiError e = UnsupportedMediaType();
    e.has_details = false;
    e.message =
        "the body of the request was in an unknown format - accepted media types include: application/json, "
        "application/yaml, application/vnd.kubernetes.protobuf";
    return e;
  }
  if (std::string why = NotAnObject(v); !why.empty()) return unrecognized(why);
  std::string given_kind(v.Str("kind")), given_version(v.Str("apiVersion"));
  if (given_kind.empty()) given_kind = of;
  if (given_version.empty()) given_version = call.gv().Text();
  // A body of another kind is refused in the words of Go's failed conversion.
  bool binding = of == "Binding";
  const ResourceInfo* known = registry_->catalog().FindKind(given_version, given_kind);
  bool right = binding ? given_kind == "Binding" && given_version == "v1" : known == call.r;
  if (of == "Scale") right = given_kind == "Scale";
  if (of == "Eviction" || of == "TokenRequest") right = given_kind == of;
  if (right) return v;
  std::string prefix =
      absl::StrCat(given_kind, " in version ", GoQuoted(given_version), " cannot be handled as a ", of, ": ");
  if (known == nullptr) {
    return BadRequest(
        absl::StrCat(prefix, "no kind ", GoQuoted(given_kind), " is registered for version ", GoQuoted(given_version)));
  }
  if (binding) {
    return BadRequest(
        absl::StrCat(prefix, "converting (v1.", given_kind, ") to (core.Binding): Target not present in src"));
  }
  const FieldDef* spec = call.r->type->Find("spec");
  std::string first = spec == nullptr ? call.r->type->fields.back().go_name : spec->type->fields.front().go_name;
  return BadRequest(absl::StrCat(prefix, "converting (v1.", given_kind, ").v1.", given_kind, "Spec to (core.", of,
                                 ").core.", of, "Spec: ", first, " not present in src"));
}

std::optional<ApiError> Api::CheckFields(Call& call, const Value& v) const {
  if (call.write.fields == FieldValidation::kIgnore) return std::nullopt;
  std::vector<std::string> errors = validation::StrictErrors(v, call.type());
  if (errors.empty()) return std::nullopt;
  if (call.write.fields == FieldValidation::kStrict) {
    return BadRequest(absl::StrCat(call.r->kind, " in version ", GoQuoted(call.gv().Text()), " cannot be handled as a ",
                                   call.r->kind, ": strict decoding error: ", absl::StrJoin(errors, ", ")));
  }
  constexpr size_t kMostWarnings = 50;  // limits the number of headers
  if (errors.size() > kMostWarnings) errors.resize(kMostWarnings);
  call.warnings = std::move(errors);
  return std::nullopt;
}

std::variant<Value, ApiError> Api::DecodedBody(Call& call) const {
  auto body = Body(call, call.r->kind);
  if (std::holds_alternative<ApiError>(body)) return body;
  const Value& v = std::get<Value>(body);
  std::string_view type = MediaTypeOf(call.request->content_type);
  bool text = type != "application/yaml" && type != "application/vnd.kubernetes.protobuf";
  std::string_view source = text ? call.request->body : std::string_view();
  auto decoded = Decode(v, call.type(), call.gv().version, source);
  if (!decoded.ok()) {
    return BadRequest(absl::StrCat(call.r->kind, " in version ", GoQuoted(call.gv().Text()), " cannot be handled as a ",
                                   call.r->kind, ": ", util::Message(decoded.status())));
  }
  if (auto error = CheckFields(call, v)) return *error;
  return Stored(*call.r, call.version, *std::move(decoded));
}

std::variant<DeleteRequest, ApiError> Api::DeleteOptions(const Call& call) const {
  DeleteRequest out;
  std::string grace(call.query.Get("gracePeriodSeconds"));
  out.propagation = call.query.Get("propagationPolicy");
  if (std::string_view orphan = call.query.Get("orphanDependents"); !orphan.empty()) {
    out.orphan_dependents = orphan == "true" || orphan == "1";
  }
  if (!grace.empty()) {
    int64_t n;
    if (!absl::SimpleAtoi(grace, &n)) return BadRequest(ParseIntError(grace));
    out.grace_seconds = n;
  }
  if (call.request->body.empty()) return out;
  if (MediaTypeOf(call.request->content_type) == "application/vnd.kubernetes.protobuf") {
    auto parsed = DecodeProtobuf(call.request->body, registry_->catalog().Type("DeleteOptions"));
    if (!parsed.ok()) return BadRequest(util::Message(parsed.status()));
    if (auto error = ReadDeleteOptions(*parsed, "", &out)) return *error;
    return out;
  }
  auto parsed = ParseJson(call.request->body);
  if (!parsed.ok()) {
    return InternalError("couldn't get version/kind; json parse error: " + util::Message(parsed.status()));
  }
  if (std::string why = NotAnObject(*parsed); !why.empty()) return InternalError(why);
  if (auto error = ReadDeleteOptions(*parsed, call.request->body, &out)) return *error;
  return out;
}

std::optional<ApiError> Api::ReadDeleteOptions(const Value& body, std::string_view source, DeleteRequest* out) const {
  auto options = Decode(body, registry_->catalog().Type("DeleteOptions"), "v1", source);
  if (!options.ok()) return InternalError(util::Message(options.status()));
  if (const Value* v = options->Find("gracePeriodSeconds")) out->grace_seconds = v->AsInt();
  if (const Value* v = options->At({"preconditions", "uid"})) out->uid = v->text();
  if (const Value* v = options->At({"preconditions", "resourceVersion"})) out->resource_version = v->text();
  if (const Value* v = options->Find("orphanDependents")) out->orphan_dependents = v->AsBool();
  if (const Value* v = options->Find("propagationPolicy")) out->propagation = v->text();
  if (const Value* v = options->Find("dryRun")) {
    for (const Value& e : v->items) {
      if (e.text() == "All") continue;
      return InvalidObject("meta.k8s.io", "DeleteOptions", "", {NotSupported("dryRun", e.text(), {"All"})});
    }
    out->dry_run = !v->items.empty();
  }
  return std::nullopt;
}

// ---- reading ------------------------------------------------------------------------------------

namespace {

struct VersionParameter {
  bool given = false;
  uint64_t rv = 0;
};

std::optional<ApiError> ReadVersion(const Query& q, VersionParameter* out) {
  std::string text(q.Get("resourceVersion"));
  if (text.empty()) return std::nullopt;
  out->given = true;
  if (text.find_first_not_of("0123456789") != std::string::npos || !absl::SimpleAtoi(text, &out->rv)) {
    return InternalError(absl::StrCat("resourceVersion: Invalid value: ", GoQuoted(text),
                                      ": strconv.ParseUint: parsing ", GoQuoted(text), ": invalid syntax"));
  }
  return std::nullopt;
}

}  // namespace

// A version that the store has not reached yet may appear shortly, so the request is handled once more after a while.
HttpResponse Api::Get(Call& call) {
  Store& store = registry_->store();
  VersionParameter version;
  if (auto error = ReadVersion(call.query, &version)) return Error(call, *error);
  if (version.rv > store.rv()) {
    HttpResponse out = Error(call, VersionTooLarge(version.rv, store.rv()));
    out.wait = !call.last_try;
    return out;
  }
  ObjectPtr o = store.Get(*call.r, call.ns, call.name);
  if (o == nullptr) return Error(call, NotFound(call.resource(), call.name));
  std::string_view exporting = call.query.Get("export");
  if (exporting == "true" || exporting == "1") {
    // The export is an object that could be created elsewhere, so it has no identity and status.
    Value v = ToValue(*call.r, call.version, *o);
    Value& meta = v.Child("metadata");
    for (std::string_view key : {"namespace", "uid", "resourceVersion", "creationTimestamp", "generation"})
      meta.Erase(key);
    if (call.r->kind == "Pod") {
      v.Child("spec").Erase("nodeName");
      Value phase = Value::String("Pending");
      if (const Value* qos = v.At({"status", "qosClass"})) {
        Value copy = *qos;
        v.Set("status", Value::Object()).Set("phase", std::move(phase));
        v.Child("status").Set("qosClass", std::move(copy));
      }
    } else {
      v.Erase("status");
    }
    return Finish(call, 200, EncodeTyped(call.r->kind, call.gv().Text(), v, *call.r->type) + "\n");
  }
  return ObjectResponse(call, 200, *o);
}

// NOLINT(readability-function-size): checks the parameters of a list in the order in which a server does.
bool Api::Collect(Call& call, Page* page, HttpResponse* failed) {
  Store& store = registry_->store();
  auto fail = [&](const ApiError& e) {
    *failed = Error(call, e);
    return false;
  };
  int64_t limit = 0;
  std::string limit_text(call.query.Get("limit")), timeout(call.query.Get("timeoutSeconds"));
  if (!limit_text.empty() && !absl::SimpleAtoi(limit_text, &limit)) return fail(BadRequest(ParseIntError(limit_text)));
  int64_t ignored;
  if (!timeout.empty() && !absl::SimpleAtoi(timeout, &ignored)) return fail(BadRequest(ParseIntError(timeout)));
  ListOptions options;
  if (auto error = ReadListOptions(call.query, false, call.r->release, &options)) return fail(*error);
  auto selector =
      ObjectSelector::Parse(*call.r, call.ns, call.query.Get("fieldSelector"), call.query.Get("labelSelector"));
  if (auto* error = std::get_if<ApiError>(&selector)) return fail(*error);
  const auto& wanted = std::get<ObjectSelector>(selector);
  VersionParameter version;
  if (auto error = ReadVersion(call.query, &version)) return fail(*error);

  std::string prefix = call.ns.empty() ? "" : call.ns + "/";
  std::string start;
  std::string_view token = call.query.Get("continue");
  uint64_t at = store.rv();
  page->rv = at;
  if (!token.empty()) {
    if (version.rv > 0) {
      return fail(BadRequest("specifying resource version is not allowed when using continue"));
    }
    std::string why;
    if (!DecodeContinue(token, &at, &start, &why)) return fail(BadRequest("invalid continue token: " + why));
    start = prefix + start;
    page->rv = at;
    if (at > store.rv()) return fail(Expired("The provided continue parameter is from another server."));
  } else if (version.given) {
    if (version.rv > store.rv()) {
      *failed = Error(call, VersionTooLarge(version.rv, store.rv()));
      failed->wait = !call.last_try;
      return false;
    }
    bool exact = options.match == VersionMatch::kExact || (options.match == VersionMatch::kUnset && limit > 0);
    if (version.rv > 0 && exact) {
      at = version.rv;
      page->rv = at;
    } else {
      // The list comes from the watch cache: at least as new as requested, and without pages.
      page->rv = std::max(store.LastRv(*call.r), version.rv);
      limit = 0;
    }
  }
  auto take = [&](const ObjectPtr& o) {
    if (!wanted.Matches(*o)) return true;
    if (limit > 0 && page->items.size() == static_cast<size_t>(limit)) {
      const Object& last = *page->items.back();
      std::string next = last.Key().substr(prefix.size());
      next.push_back('\0');
      page->next = EncodeContinue(page->rv, next);
      return false;
    }
    page->items.push_back(o);
    return true;
  };
  // The current state is scanned directly; an older one is rebuilt from the changes since then, as far as they are
  // kept.
  if (at == store.rv()) {
    store.Scan(*call.r, call.ns, start, take);
  } else if (!store.ScanAt(*call.r, call.ns, start, at, take)) {
    return fail(Expired(token.empty() ? "The resourceVersion for the provided list is too old."
                                      : "The provided from parameter is too old to display a consistent list result. "
                                        "You must start a new list without the from."));
  }
  return true;
}

HttpResponse Api::List(Call& call) {
  Page page;
  HttpResponse failed;
  if (!Collect(call, &page, &failed)) return failed;
  std::string meta;
  JsonWriter m(&meta);
  m.Object();
  // the path as it was requested
  if (validation::kSelfLinks.Has(call.r->release)) m.Member("selfLink", call.request->path);
  m.Member("resourceVersion", std::to_string(page.rv)).MemberUnlessEmpty("continue", page.next).End();
  if (call.format == Format::kTable) {
    const auto rows = ReadTableOptions(call.query, call.r->release, page.items.size());
    if (auto* error = std::get_if<ApiError>(&rows)) return Error(call, *error);
    std::string table = MakeTable(*call.r, call.version, page.items, meta, clock_->Wall(), std::get<RowObject>(rows));
    if (call.table_v1) MakeV1(&table);
    return Finish(call, 200, std::move(table));
  }
  std::string json;
  size_t bytes = 200 + meta.size();
  for (const ObjectPtr& o : page.items) bytes += o->body().size() + 2;
  json.reserve(bytes);
  JsonWriter j(&json);
  j.Object().Member("kind", call.r->kind + "List").Member("apiVersion", call.gv().Text());
  j.Key("metadata").Literal(meta).Key("items");
  j.Each(page.items, [&](const ObjectPtr& o) { AppendItem(*call.r, call.version, *o, j.Place()); }).End().EndLine();
  return Finish(call, 200, std::move(json));
}

// ---- writing ------------------------------------------------------------------------------------

HttpResponse Api::Create(Call& call) {
  auto body = DecodedBody(call);
  if (auto* error = std::get_if<ApiError>(&body)) return Error(call, *error);
  auto made = registry_->Create(*call.r, call.version, call.ns, std::move(std::get<Value>(body)));
  if (auto* error = std::get_if<ApiError>(&made)) return Error(call, *error);
  return ObjectResponse(call, 201, *std::get<ObjectPtr>(made));
}

HttpResponse Api::Replace(Call& call) {
  auto body = DecodedBody(call);
  if (auto* error = std::get_if<ApiError>(&body)) return Error(call, *error);
  bool created = false;
  auto made = registry_->Update(*call.r, call.version, call.ns, call.name, std::move(std::get<Value>(body)),
                                {call.subresource, false}, &created);
  if (auto* error = std::get_if<ApiError>(&made)) return Error(call, *error);
  return ObjectResponse(call, created ? 201 : 200, *std::get<ObjectPtr>(made));
}

HttpResponse Api::Patch(Call& call) {
  std::string_view type = MediaTypeOf(call.request->content_type);
  PatchKind kind;
  if (type == "application/json-patch+json") {
    kind = PatchKind::kJson;
  } else if (type == "application/merge-patch+json") {
    kind = PatchKind::kMerge;
  } else if (type == "application/strategic-merge-patch+json") {
    kind = PatchKind::kStrategic;
  } else {
    ApiError e = UnsupportedMediaType();
    if (type == "application/apply-patch+yaml") {
      if (validation::kServerSideApply.Has(call.r->release)) return Apply(call);
      absl::StrAppend(&e.message, "; this release has no server-side apply, use kubectl apply without --server-side");
    }
    return Error(call, e);
  }
  ObjectPtr old = registry_->store().Get(*call.r, call.ns, call.name);
  if (old == nullptr) return Error(call, NotFound(call.resource(), call.name));
  auto patched = ApplyPatch(kind, ToValue(*call.r, call.version, *old), call.request->body, call.type());
  if (!patched.ok()) return Error(call, InternalError(util::Message(patched.status())));
  if (auto error = CheckFields(call, *patched)) return Error(call, *error);
  if (std::string why = NotAnObject(*patched); !why.empty()) return Error(call, InternalError(why));
  // Error texts quote the object in the form in which Go would have written it.
  auto decoded = Decode(*patched, call.type(), call.gv().version, "");
  if (!decoded.ok()) {
    std::string text;
    if (auto patch = ParseJson(call.request->body); kind == PatchKind::kMerge && patch.ok()) {
      SortTouched(*patch, &*patched);
      text = ToJson(*patched);
    } else {
      text = ToSortedJson(*patched);
    }
    auto again = ParseJson(text);
    if (again.ok()) decoded = Decode(*again, call.type(), call.gv().version, text);
    return Error(call, InternalError(util::Message(decoded.status())));
  }
  auto made = registry_->Update(*call.r, call.version, call.ns, call.name,
                                Stored(*call.r, call.version, *std::move(decoded)), {call.subresource, true});
  if (auto* error = std::get_if<ApiError>(&made)) return Error(call, *error);
  return ObjectResponse(call, 200, *std::get<ObjectPtr>(made));
}

HttpResponse Api::Delete(Call& call) {
  auto options = DeleteOptions(call);
  if (auto* error = std::get_if<ApiError>(&options)) return Error(call, *error);
  Registry::DryRun dry(registry_, std::get<DeleteRequest>(options).dry_run);
  auto gone = registry_->Delete(*call.r, call.version, call.ns, call.name, std::get<DeleteRequest>(options));
  if (auto* error = std::get_if<ApiError>(&gone)) return Error(call, *error);
  const Deleted& deleted = std::get<Deleted>(gone);
  if (deleted.as_status) return Finish(call, 200, DeletedStatus(call.resource(), call.name, deleted.object->uid));
  return ObjectResponse(call, 200, *deleted.object);
}

HttpResponse Api::DeleteCollection(Call& call) {
  auto options = DeleteOptions(call);
  if (auto* error = std::get_if<ApiError>(&options)) return Error(call, *error);
  Page page;
  HttpResponse failed;
  if (!Collect(call, &page, &failed)) return failed;
  HttpResponse list = List(call);
  Registry::DryRun dry(registry_, std::get<DeleteRequest>(options).dry_run);
  for (const ObjectPtr& o : page.items) {
    auto gone = registry_->Delete(*call.r, call.version, o->ns, o->name, std::get<DeleteRequest>(options));
    if (auto* error = std::get_if<ApiError>(&gone); error != nullptr && error->code != 404) return Error(call, *error);
  }
  return list;
}

HttpResponse Api::Bind(Call& call) {
  auto body = Body(call, "Binding");
  if (auto* error = std::get_if<ApiError>(&body)) return Error(call, *error);
  if (auto error = registry_->Bind(call.ns, std::get<Value>(body))) return Error(call, *error);
  return Finish(call, 201, std::string(kBound));
}

HttpResponse Api::Evict(Call& call) {
  auto body = Body(call, "Eviction");
  if (auto* error = std::get_if<ApiError>(&body)) return Error(call, *error);
  const Value& eviction = std::get<Value>(body);
  DeleteRequest how;
  const Value* options = eviction.Find("deleteOptions");
  if (options != nullptr && !options->IsNull()) {
    if (auto error = ReadDeleteOptions(*options, "", &how)) return Error(call, *error);
  }
  const Value* meta = eviction.Find("metadata");
  if (meta != nullptr && !meta->Str("name").empty() && meta->Str("name") != call.name) {
    return Error(call, BadRequest("name in URL does not match name in Eviction object"));
  }
  Registry::DryRun dry(registry_, how.dry_run);
  if (auto error = registry_->Evict(call.ns, call.name, how)) return Error(call, *error);
  return Finish(call, 201, std::string(kBound));
}

// The token says whose it is and how long it is good, and nobody has signed it: this server takes none of them for a
// proof, and on the port without TLS nobody has to prove anything.
HttpResponse Api::Token(Call& call) {
  constexpr int64_t kUsualSeconds = 3600;
  if (registry_->store().Get(*call.r, call.ns, call.name) == nullptr) {
    return Error(call, NotFound(call.resource(), call.name));
  }
  auto body = Body(call, "TokenRequest");
  if (auto* error = std::get_if<ApiError>(&body)) return Error(call, *error);
  Value& request = std::get<Value>(body);
  Value& spec = request.Child("spec");
  const Value* given = spec.Find("expirationSeconds");
  const int64_t seconds = given == nullptr || !given->IsNumber() ? kUsualSeconds : given->AsInt();
  spec.Set("expirationSeconds", Value::Int(seconds));
  const absl::Time end = clock_->Wall() + absl::Seconds(seconds);
  Value claims = Value::Object(
      {{"sub", absl::StrCat("system:serviceaccount:", call.ns, ":", call.name)}, {"exp", absl::ToUnixSeconds(end)}});
  Value& status = request.Child("status");
  status.SetAll({{"token", absl::StrCat(absl::WebSafeBase64Escape(R"({"alg":"none"})"), ".",
                                        absl::WebSafeBase64Escape(ToJson(claims)), ".")},
                 {"expirationTimestamp", absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", end, absl::UTCTimeZone())}});
  request.SetAll({{"kind", "TokenRequest"}, {"apiVersion", "authentication.k8s.io/v1"}});
  return Finish(call, 201, ToJson(request));
}

HttpResponse Api::ReviewAccess(const HttpRequest& request) {
  if (request.method != "POST") return ErrorResponse(request, MethodNotAllowed());
  const TypeDef& type = registry_->catalog().Type("SelfSubjectAccessReview");
  bool protobuf = MediaTypeOf(request.content_type) == "application/vnd.kubernetes.protobuf";
  auto parsed = protobuf ? DecodeProtobuf(request.body, type) : ParseJson(request.body);
  if (!parsed.ok()) return ErrorResponse(request, BadRequest(util::Message(parsed.status())));
  auto review = Decode(*parsed, type, "v1", "");
  if (!review.ok()) return ErrorResponse(request, BadRequest(util::Message(review.status())));
  RequestInfo what;
  if (const Value* a = review->At({"spec", "resourceAttributes"}); a != nullptr && a->IsObject()) {
    what.is_resource = true;
    what.verb = a->Str("verb");
    what.group = a->Str("group");
    what.version = a->Str("version");
    what.resource = a->Str("resource");
    what.subresource = a->Str("subresource");
    what.ns = a->Str("namespace");
    what.name = a->Str("name");
  } else if (const Value* path = review->At({"spec", "nonResourceAttributes"}); path != nullptr && path->IsObject()) {
    what.verb = path->Str("verb");
    what.path = path->Str("path");
  } else {
    return ErrorResponse(
        request,
        InvalidObject("authorization.k8s.io", "SelfSubjectAccessReview", "",
                      {InvalidRaw("spec.resourceAttributes", "null",
                                  "exactly one of nonResourceAttributes or resourceAttributes must be specified")}));
  }
  review->Child("status").Set("allowed", Value::Bool(!request.allowed || request.allowed(what)));
  HttpResponse out;
  out.status = 201;
  out.body = EncodeTyped("SelfSubjectAccessReview", "authorization.k8s.io/v1", *review, type) + "\n";
  return out;
}

HttpResponse Api::Scale(Call& call) {
  ObjectPtr old = registry_->store().Get(*call.r, call.ns, call.name);
  if (old == nullptr) return Error(call, NotFound(call.resource(), call.name));
  auto scale_of = [&](const Object& o) {
    Value v = ToValue(*call.r, call.version, o);
    Value scale = Value::Object();
    Value& meta = scale.Set("metadata", Value::Object());
    for (std::string_view key : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
      if (const Value* m = v.At({"metadata", key})) meta.Set(key, *m);
    }
    if (validation::kSelfLinks.Has(call.r->release)) {
      meta.Set("selfLink", Value::String(absl::StrCat(SelfLink(*call.r, call.version, o.ns, o.name), "/scale")));
    }
    if (const Value* n = v.At({"spec", "replicas"})) scale.Child("spec").Set("replicas", *n);
    Value& status = scale.Child("status");
    if (const Value* n = v.At({"status", "replicas"})) status.Set("replicas", *n);
    const Value* selector = v.At({"spec", "selector"});
    if (selector != nullptr && selector->Find("matchLabels") != nullptr) selector = selector->Find("matchLabels");
    std::string text;
    for (size_t i = 0; selector != nullptr && i < selector->keys.size(); ++i) {
      if (selector->items[i].IsString())
        absl::StrAppend(&text, text.empty() ? "" : ",", selector->keys[i], "=", selector->items[i].text());
    }
    if (!text.empty()) status.Set("selector", Value::String(text));
    return scale;
  };
  auto answer = [&](const Object& o) {
    const auto& type = registry_->catalog().Type("Scale");
    return Finish(call, 200, EncodeTyped("Scale", "autoscaling/v1", scale_of(o), type) + "\n");
  };
  if (call.request->method == "GET") return answer(*old);

  Value scale = scale_of(*old);
  if (call.request->method == "PATCH") {
    auto patched = ApplyPatch(PatchKind::kMerge, scale, call.request->body, registry_->catalog().Type("Scale"));
    if (!patched.ok()) return Error(call, InternalError(util::Message(patched.status())));
    scale = *std::move(patched);
  } else {
    auto body = Body(call, "Scale");
    if (auto* error = std::get_if<ApiError>(&body)) return Error(call, *error);
    scale = std::move(std::get<Value>(body));
  }
  auto decoded = Decode(scale, registry_->catalog().Type("Scale"), "v1", "");
  if (!decoded.ok()) return Error(call, BadRequest(util::Message(decoded.status())));
  const Value* replicas = decoded->At({"spec", "replicas"});
  int64_t n = replicas == nullptr ? 0 : replicas->AsInt();
  if (n < 0) {
    return Error(call,
                 InvalidObject("autoscaling", "Scale", call.name,
                               {InvalidRaw("spec.replicas", std::to_string(n), "must be greater than or equal to 0")}));
  }
  Value v = ToValue(*call.r, call.version, *old);
  v.Child("spec").Set("replicas", Value::Int(n));
  v.Child("metadata")
      .Set("resourceVersion",
           Value::String(decoded->Find("metadata") == nullptr ? std::string_view()
                                                              : decoded->Find("metadata")->Str("resourceVersion")));
  auto made = registry_->Update(*call.r, call.version, call.ns, call.name, std::move(v), {"", true});
  if (auto* error = std::get_if<ApiError>(&made)) return Error(call, *error);
  return answer(*std::get<ObjectPtr>(made));
}

}  // namespace berth::apiserver
