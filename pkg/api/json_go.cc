#include "pkg/api/json_go.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "pkg/util/status.h"

namespace berth::api::internal {
namespace {

// Returns a character as Go quotes it in its error texts.
std::string Quoted(char ch) {
  static constexpr std::string_view kFrom = "'\\\n\r\t", kTo = "'\\nrt";
  static constexpr char kHex[] = "0123456789abcdef";
  const auto c = static_cast<unsigned char>(ch);
  std::string out = "'";
  if (const size_t at = kFrom.find(ch); at != std::string_view::npos) {
    out += {'\\', kTo[at]};
  } else if (c >= 0x20 && c < 0x7f) {
    out += ch;
  } else if (c < 0xa0 || c == 0xad) {
    out += c < 0x80 ? "\\x" : "\\u00";
    out += {kHex[c >> 4], kHex[c & 15]};
  } else {
    out += {static_cast<char>(0xc0 | c >> 6), static_cast<char>(0x80 | (c & 0x3f))};
  }
  return out + "'";
}

// Says what is wrong with a value at the character where it can no longer be one.
absl::Status WrongValue(std::string_view text, size_t at) {
  const std::string_view before = text.substr(0, at);
  if (before.ends_with('-')) return UnexpectedInGo(text, at, "in numeric literal");
  for (const std::string_view word : {"true", "false", "null"}) {
    for (size_t n = 1; n < word.size(); ++n) {
      if (!before.ends_with(word.substr(0, n))) continue;
      return UnexpectedInGo(text, at,
                            absl::StrCat("in literal ", util::ToAbsl(word), " (expecting ", Quoted(word[n]), ")"));
    }
  }
  return UnexpectedInGo(text, at, "looking for beginning of value");
}

// Returns the number of UTF-16 that is escaped at this place, such as \uD83D, or 0 if there is no such escape.
uint32_t UnitAt(std::string_view text, size_t at) {
  uint32_t unit = 0;
  if (text.substr(at, 2) != "\\u" || text.size() - at < 6) return 0;
  const char *digits = text.data() + at + 2, *end = digits + 4;
  return std::from_chars(digits, end, unit, 16).ptr == end ? unit : 0;
}

}  // namespace

absl::Status UnexpectedInGo(std::string_view text, size_t at, std::string_view where) {
  if (at >= text.size()) return absl::InvalidArgumentError("unexpected end of JSON input");
  return absl::InvalidArgumentError(absl::StrCat("invalid character ", Quoted(text[at]), " ", util::ToAbsl(where)));
}

absl::Status AsGoSays(rapidjson::ParseErrorCode code, size_t at, std::string_view text) {
  switch (code) {
    case rapidjson::kParseErrorObjectMissName:
      return UnexpectedInGo(text, at, "looking for beginning of object key string");
    case rapidjson::kParseErrorObjectMissColon:
      return UnexpectedInGo(text, at, "after object key");
    case rapidjson::kParseErrorObjectMissCommaOrCurlyBracket:
      return UnexpectedInGo(text, at, "after object key:value pair");
    case rapidjson::kParseErrorArrayMissCommaOrSquareBracket:
      return UnexpectedInGo(text, at, "after array element");
    case rapidjson::kParseErrorStringMissQuotationMark:
      return UnexpectedInGo(text, at, "in string literal");
    case rapidjson::kParseErrorStringEscapeInvalid:  // at the backslash; or it is a control character
      if (text[at] != '\\') return UnexpectedInGo(text, at, "in string literal");
      return UnexpectedInGo(text, at + 1, "in string escape code");
    case rapidjson::kParseErrorStringUnicodeEscapeInvalidHex:
      at += 2;
      while (at < text.size() && absl::ascii_isxdigit(static_cast<unsigned char>(text[at]))) ++at;
      return UnexpectedInGo(text, at, "in \\u hexadecimal character escape");
    case rapidjson::kParseErrorNumberMissFraction:
      return UnexpectedInGo(text, at, "after decimal point in numeric literal");
    case rapidjson::kParseErrorNumberMissExponent:
      return UnexpectedInGo(text, at, "in exponent of numeric literal");
    case rapidjson::kParseErrorNumberTooBig: {
      const size_t end = std::min(text.find_first_not_of("+-.0123456789Ee", at), text.size());
      return absl::InvalidArgumentError(absl::StrCat(
          "json: cannot unmarshal number ", util::ToAbsl(text.substr(at, end - at)), " into Go value of type float64"));
    }
    default:
      return WrongValue(text, at);
  }
}

bool MayHaveHalfPairs(std::string_view text) {
  return text.find("\\ud") != std::string_view::npos || text.find("\\uD") != std::string_view::npos;
}

std::string WithoutHalfPairs(std::string_view text) {
  std::string out(text);
  for (size_t at = out.find('\\'); at < out.size(); at = out.find('\\', at)) {
    const uint32_t unit = UnitAt(out, at);
    if (unit < 0xd800 || unit > 0xdfff) {
      at += 2;  // whatever is escaped, this is not where the next escape begins
      continue;
    }
    const uint32_t second = unit < 0xdc00 ? UnitAt(out, at + 6) : 0;
    if (second >= 0xdc00 && second <= 0xdfff) {
      at += 12;
    } else {
      out.replace(at, 6, "\\ufffd");
      at += 6;
    }
  }
  return out;
}

}  // namespace berth::api::internal
