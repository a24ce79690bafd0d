#include "pkg/world/living/fields.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/time/civil_time.h>

#include <algorithm>
#include <optional>

#include "pkg/util/status.h"

namespace berth::world::living {

int64_t NumberAt(const Value& v, Path path, int64_t otherwise) {
  const Value* at = v.At(path);
  return at != nullptr && at->IsNumber() ? at->AsInt() : otherwise;
}

std::string_view TextAt(const Value& v, Path path) {
  const Value* at = v.At(path);
  return at != nullptr && at->IsString() ? std::string_view(at->text()) : std::string_view();
}

bool TrueAt(const Value& v, Path path) {
  const Value* at = v.At(path);
  return at != nullptr && at->AsBool();
}

namespace {

// The form in which servers write times, with a digit for each 0.
constexpr std::string_view kPlainTime = "0000-00-00T00:00:00Z";

// Returns the time of a text in that form; none if it has another one, or a day that not every month has.
std::optional<absl::Time> PlainTime(std::string_view text) {
  if (text.size() != kPlainTime.size()) return std::nullopt;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_digit = text[i] >= '0' && text[i] <= '9';
    if (kPlainTime[i] == '0' ? !is_digit : text[i] != kPlainTime[i]) return std::nullopt;
  }
  const auto number = [&](size_t at) { return (text[at] - '0') * 10 + (text[at + 1] - '0'); };
  constexpr int kHundred = 100, kDaysOfAll = 28, kMonths = 12, kHours = 24, kSixty = 60;
  const int month = number(5), day = number(8), hour = number(11), minute = number(14), second = number(17);
  if (month < 1 || month > kMonths || day < 1 || day > kDaysOfAll) return std::nullopt;
  if (hour >= kHours || minute >= kSixty || second >= kSixty) return std::nullopt;
  const int64_t days = absl::CivilDay(number(0) * kHundred + number(2), month, day) - absl::CivilDay(1970, 1, 1);
  return absl::FromUnixSeconds(((days * kHours + hour) * kSixty + minute) * kSixty + second);
}

}  // namespace

absl::Time TimeAt(const Value& v, Path path) {
  const std::string_view text = TextAt(v, path);
  if (text.empty()) return absl::InfinitePast();
  if (const auto plain = PlainTime(text)) return *plain;
  absl::Time t = absl::InfinitePast();
  std::string why;
  absl::ParseTime(absl::RFC3339_full, util::ToAbsl(text), &t, &why);
  return t;
}

std::string TimeText(absl::Time t) {
  const absl::CivilSecond s = absl::ToCivilSecond(t, absl::UTCTimeZone());
  constexpr int64_t kFirstYear = 1000, kLastYear = 9999;
  if (s.year() < kFirstYear || s.year() > kLastYear) {
    return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", t, absl::UTCTimeZone());
  }
  std::string text(kPlainTime);
  const auto write = [&](size_t at, int n) {
    text[at] = static_cast<char>('0' + n / 10);
    text[at + 1] = static_cast<char>('0' + n % 10);
  };
  constexpr int kHundred = 100;
  write(0, static_cast<int>(s.year()) / kHundred);
  write(2, static_cast<int>(s.year()) % kHundred);
  write(5, s.month());
  write(8, s.day());
  write(11, s.hour());
  write(14, s.minute());
  write(17, s.second());
  return text;
}

std::string_view UidOf(const Value& object) {
  return TextAt(object, {"metadata", "uid"});
}

bool IsTerminating(const Value& object) {
  return !TextAt(object, {"metadata", "deletionTimestamp"}).empty();
}

bool HasFinalizer(const Value& object, std::string_view finalizer) {
  const Value* list = object.At({"metadata", "finalizers"});
  return list != nullptr &&
         std::any_of(list->items.begin(), list->items.end(), [&](const Value& f) { return f.text() == finalizer; });
}

bool RemoveFinalizer(Value* object, std::string_view finalizer) {
  Value* list = object->At({"metadata", "finalizers"});
  if (list == nullptr) return false;
  const size_t removed = list->items.EraseIf([&](const Value& f) { return f.text() == finalizer; });
  if (list->items.empty()) object->Child("metadata").Erase("finalizers");
  return removed > 0;
}

std::vector<std::string> ClaimsUsedBy(const Value& pod) {
  std::vector<std::string> names;
  const Value* volumes = pod.At({"spec", "volumes"});
  if (volumes == nullptr) return names;
  for (const Value& v : volumes->items) {
    if (const std::string_view name = TextAt(v, {"persistentVolumeClaim", "claimName"}); !name.empty()) {
      names.emplace_back(name);
    } else if (v.Find("ephemeral") != nullptr) {
      names.push_back(absl::StrCat(util::ToAbsl(NameOf(pod)), "-", util::ToAbsl(v.Str("name"))));
    }
  }
  return names;
}

const Value* ControllerOf(const Value& object) {
  const Value* owners = object.At({"metadata", "ownerReferences"});
  if (owners == nullptr) return nullptr;
  for (const Value& o : owners->items) {
    if (TrueAt(o, {"controller"})) return &o;
  }
  return nullptr;
}

bool RemoveOwner(std::string_view uid, Value* object) {
  Value* owners = object->At({"metadata", "ownerReferences"});
  if (owners == nullptr) return false;
  const size_t removed = owners->items.EraseIf([&](const Value& o) { return o.Str("uid") == uid; });
  if (owners->items.empty()) object->Child("metadata").Erase("ownerReferences");
  return removed > 0;
}

const Value* ConditionOf(const Value& object, std::string_view type) {
  const Value* list = object.At({"status", "conditions"});
  if (list == nullptr) return nullptr;
  for (const Value& c : list->items) {
    if (c.Str("type") == type) return &c;
  }
  return nullptr;
}

bool IsConditionTrue(const Value& object, std::string_view type) {
  const Value* c = ConditionOf(object, type);
  return c != nullptr && c->Str("status") == "True";
}

bool SetCondition(const Condition& c, absl::Time now, Value* object) {
  Value& status = object->Child("status");
  Value* list = status.Find("conditions");
  if (list == nullptr || !list->IsArray()) list = &status.Set("conditions", Value::Array());
  auto same =
      std::find_if(list->items.begin(), list->items.end(), [&](const Value& o) { return o.Str("type") == c.type; });
  const bool turns = same == list->items.end() || same->Str("status") != c.status;
  if (!turns && same->Str("reason") == c.reason && same->Str("message") == c.message) return false;
  Value v = Value::Object({{"type", c.type}, {"status", c.status}});
  if (c.has_update_time) v.Set("lastUpdateTime", Value::String(TimeText(now)));
  // Somebody may have written a condition without its time.
  const Value* since = turns ? nullptr : same->Find("lastTransitionTime");
  v.Set("lastTransitionTime", since == nullptr || since->IsNull() ? Value::String(TimeText(now)) : *since);
  if (!c.reason.empty()) v.Set("reason", Value::String(c.reason));
  if (!c.message.empty()) v.Set("message", Value::String(c.message));
  if (same == list->items.end()) {
    list->Append(std::move(v));
  } else {
    *same = std::move(v);
  }
  return true;
}

void RemoveCondition(std::string_view type, Value* object) {
  Value* list = object->At({"status", "conditions"});
  if (list != nullptr) list->items.EraseIf([&](const Value& c) { return c.Str("type") == type; });
}

int64_t ShareOf(const Value* v, int64_t whole, bool up, int64_t otherwise) {
  constexpr int64_t kPercent = 100;
  if (v == nullptr || v->IsNull()) return otherwise;
  if (v->IsNumber()) return v->AsInt();
  std::string_view text = v->text();
  int64_t n = 0;
  if (!text.ends_with('%') || !absl::SimpleAtoi(util::ToAbsl(text.substr(0, text.size() - 1)), &n)) return otherwise;
  return (n * whole + (up ? kPercent - 1 : 0)) / kPercent;
}

bool Selects(const Value* selector, const Value* labels, bool none) {
  if (selector == nullptr || selector->IsNull()) return none;
  auto value_of = [&](std::string_view key) { return labels == nullptr ? nullptr : labels->Find(key); };
  if (const Value* wanted = selector->Find("matchLabels")) {
    for (size_t i = 0; i < wanted->keys.size(); ++i) {
      const Value* have = value_of(wanted->keys[i]);
      if (have == nullptr || have->text() != wanted->items[i].text()) return false;
    }
  }
  if (const Value* expressions = selector->Find("matchExpressions")) {
    for (const Value& e : expressions->items) {
      const Value* have = value_of(e.Str("key"));
      const std::string_view op = e.Str("operator");
      const Value* values = e.Find("values");
      const bool listed = have != nullptr && values != nullptr &&
                          std::any_of(values->items.begin(), values->items.end(),
                                      [&](const Value& v) { return v.text() == have->text(); });
      const bool holds = op == "In"       ? listed
                         : op == "NotIn"  ? !listed
                         : op == "Exists" ? have != nullptr
                                          : have == nullptr;
      if (!holds) return false;
    }
  }
  return true;
}

void SetCount(std::string_view member, int64_t n, Value* status) {
  if (n == 0) {
    status->Erase(member);
  } else {
    status->Set(member, Value::Int(n));
  }
}

}  // namespace berth::world::living
