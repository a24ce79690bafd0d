#include "pkg/api/json_writer.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <array>
#include <bit>

#include "pkg/api/json.h"
#include "pkg/api/yaml_text.h"
#include "pkg/util/utf8.h"

namespace berth::api {
namespace {

// ASCII characters that need no escape in a JSON string, as Go writes it.
constexpr auto kStandsForItself = [] {
  std::array<bool, 256> plain{};
  for (size_t c = 0x20; c < 0x80; ++c) plain[c] = c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
  return plain;
}();

bool StandsForItself(std::string_view s) {
  size_t i = 0;
#ifdef __SSE2__
  __m128i escaped = _mm_setzero_si128();
  for (; i + 16 <= s.size(); i += 16) {
    const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(s.data() + i));
    const auto is = [v](char c) { return _mm_cmpeq_epi8(v, _mm_set1_epi8(c)); };
    // Bytes outside of ASCII are negative, so they are less than a space as well.
    escaped = _mm_or_si128(escaped, _mm_cmplt_epi8(v, _mm_set1_epi8(' ')));
    escaped = _mm_or_si128(escaped, _mm_or_si128(_mm_or_si128(is('"'), is('\\')), _mm_or_si128(is('<'), is('>'))));
    escaped = _mm_or_si128(escaped, is('&'));
  }
  if (_mm_movemask_epi8(escaped) != 0) return false;
#endif
  bool plain = true;
  for (; i < s.size(); ++i) plain &= kStandsForItself[static_cast<unsigned char>(s[i])];
  return plain;
}

}  // namespace

void AppendJsonString(std::string_view s, std::string* out) {
  constexpr char kHex[] = "0123456789abcdef";
  // Nearly all texts are short and need no escapes; they are appended in one step.
  if (char text[130]; s.size() <= sizeof(text) - 2) {
    if (StandsForItself(s)) {
      text[0] = '"';
      std::copy(s.begin(), s.end(), text + 1);
      text[s.size() + 1] = '"';
      out->append(text, s.size() + 2);
      return;
    }
  }
  out->push_back('"');
  size_t run = 0;  // start of the run of characters that need no escape
  for (size_t i = 0; i < s.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(s[i]);
    if (kStandsForItself[c]) continue;
    const size_t wide = c < 0x80 ? 0 : util::Utf8Length(s.substr(i));
    const bool separator = wide == 3 && (s.substr(i, 3) == "\xE2\x80\xA8" || s.substr(i, 3) == "\xE2\x80\xA9");
    if (wide != 0 && !separator) {
      i += wide - 1;
      continue;
    }
    out->append(s.substr(run, i - run));
    if (c == '"' || c == '\\') {
      out->push_back('\\');
      out->push_back(s[i]);
    } else if (c == '\n') {
      *out += "\\n";
    } else if (c == '\r') {
      *out += "\\r";
    } else if (c == '\t') {
      *out += "\\t";
    } else if (separator) {
      *out += s[i + 2] == '\xA8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else if (c >= 0x80) {
      *out += "\\ufffd";
    } else {
      *out += "\\u00";
      out->push_back(kHex[c >> 4]);
      out->push_back(kHex[c & 15]);
    }
    run = i + 1;
  }
  out->append(s.substr(run));
  out->push_back('"');
}

std::string JsonString(std::string_view s) {
  std::string out;
  AppendJsonString(s, &out);
  return out;
}

void JsonWriter::NewLine() {
  *out_ += '\n';
  out_->append(2 * (static_cast<size_t>(std::bit_width(open_) - 1) + 63 * outer_.size()), ' ');
}

JsonWriter& JsonWriter::OtherKey(std::string_view key) {
  if (out_->back() != '{') *out_ += ',';
  if (indented_) NewLine();
  AppendJsonString(key, out_);
  *out_ += indented_ ? ": " : ":";
  return *this;
}

JsonWriter& JsonWriter::Name(std::string_view ns, std::string_view name) {
  if (ns.empty()) return Text(name);
  Separate();
  if (char text[128]; ns.size() + name.size() < sizeof(text)) {
    std::copy(ns.begin(), ns.end(), text);
    text[ns.size()] = '/';
    std::copy(name.begin(), name.end(), text + ns.size() + 1);
    return Append(std::string_view(text, ns.size() + 1 + name.size()));
  }
  return Append(std::string(ns).append("/").append(name));
}

JsonWriter& JsonWriter::MembersOf(std::string_view object) {
  BERTH_REQUIRES(object.starts_with('{') && object.ends_with('}'));
  object = object.substr(1, object.size() - 2);
  if (object.empty()) return *this;
  if (out_->back() != '{') *out_ += ',';
  *out_ += object;
  return *this;
}

std::string JsonWriter::Finish(std::string_view format) {
  return format == "yaml" ? YamlOf(Finish()) : Finish();
}

}  // namespace berth::api
