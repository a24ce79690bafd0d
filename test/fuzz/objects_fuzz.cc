// Objects as JSON and YAML, quantities and selectors.
#include "pkg/api/decode.h"
#include "pkg/api/labels.h"
#include "pkg/api/quantity.h"
#include "pkg/api/stream.h"
#include "test/fuzz/fuzz.h"

namespace berth::fuzz {
namespace {

void DecodeAll(api::Json j) {
  (void)api::DecodeMeta(j);
  (void)api::DecodeObject(j);
  (void)api::DecodePod(j);
  (void)api::DecodeNode(j);
  (void)api::DecodeService(j);
  (void)api::DecodeReplicaSet(j);
  (void)api::DecodeStatefulSet(j);
  (void)api::DecodePersistentVolume(j);
  (void)api::DecodePersistentVolumeClaim(j);
  (void)api::DecodePodDisruptionBudget(j);
}

// Returns the JSON that reading and writing changes no more: a byte that is not UTF-8 becomes an escape, and this a
// character.
std::string Settled(std::string text) {
  for (int i = 0; i < 3; ++i) {
    api::Document d;
    Require(d.Parse(text).ok(), "what is written cannot be read");
    text = d.root().Serialize();
  }
  return text;
}

void Json(std::string_view input) {
  api::Document d, part;
  if (!d.Parse(input).ok()) return;
  DecodeAll(d.root());
  // What was left unread is written, too.
  Require(part.Parse(input, nullptr, api::Unread::kManagedFields).ok() &&
              Settled(part.root().Serialize()) == Settled(d.root().Serialize()),
          "an object whose managedFields are left unread is another one");
}

// JSON or YAML, one document, as policies and configurations are read.
void Yaml(std::string_view input) {
  if (auto d = api::ReadDocument(input); d.ok()) DecodeAll(d->root());
}

void Quantity(std::string_view input) {
  auto q = api::Quantity::Parse(input);
  if (!q.ok()) return;
  // Both round up, so whole units are never fewer than the thousandths say, and less than one more. Negative fractions
  // are rounded as 1.10 does it: away from zero, or toward positive infinity and one further.
  const int64_t whole = q->Value(), milli = q->MilliValue();
  if (q->SaturatesValue() || q->SaturatesMilliValue()) return;
  const int64_t more = whole - milli / 1000;
  Require(q->Sign() >= 0 ? more >= 0 && more <= 1 && (milli != 0 || whole == 0) : more >= -1 && more <= 2,
          "Value and MilliValue disagree");
}

void Selectors(std::string_view input) {
  auto s = api::Selector::Parse(input);
  if (!s.ok()) return;
  (void)s->Matches(api::Labels({{util::Symbol("app"), util::Symbol("web")}}));
  (void)s->Matches(api::Labels());
}

[[maybe_unused]] const bool kObjectsRegistered = Register({"json", Json}) && Register({"yaml", Yaml}) &&
                                                 Register({"quantity", Quantity}) && Register({"selectors", Selectors});

}  // namespace
}  // namespace berth::fuzz
