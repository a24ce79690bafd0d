// Parses URLs strictly, because a URL from a file is used long after it was read, when a mistake would be hard to find.
#include "pkg/http/url.h"

#include <absl/strings/ascii.h>
#include <absl/strings/escaping.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include "pkg/util/status.h"

namespace berth::http {
namespace {

using util::ToAbsl;

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

absl::StatusOr<Url> ParseUrl(std::string_view url) {
  const auto wrong = [&](std::string_view what) {
    return util::InvalidArgument(absl::StrCat("\"", RedactUrl(url), "\" is not a URL: ", ToAbsl(what)));
  };
  Url out;
  const size_t colon = url.find("://");
  if (colon == std::string_view::npos) return wrong("it should begin with http:// or https://");
  const std::string scheme = absl::AsciiStrToLower(ToAbsl(url.substr(0, colon)));
  if (scheme != "http" && scheme != "https") return wrong("it should begin with http:// or https://");
  out.https = scheme == "https";
  std::string_view rest = url.substr(colon + 3);
  const size_t end = rest.find_first_of("/?#");
  std::string_view authority = rest.substr(0, end);
  if (const size_t at = authority.rfind('@'); at != std::string_view::npos) {
    std::string_view user = authority.substr(0, at), password;
    if (const size_t split = user.find(':'); split != std::string_view::npos) {
      password = user.substr(split + 1);
      user = user.substr(0, split);
    }
    out.credentials = absl::StrCat(PercentDecode(user), ":", PercentDecode(password));
    authority.remove_prefix(at + 1);
  }
  std::string_view port;
  if (authority.starts_with('[')) {
    const size_t close = authority.find(']');
    if (close == std::string_view::npos) return wrong("a bracket is not closed");
    out.host = authority.substr(1, close - 1);
    authority.remove_prefix(close + 1);
    if (!authority.empty() && authority[0] != ':') return wrong("only a port may follow the address");
    if (!authority.empty()) port = authority.substr(1);
  } else {
    const size_t split = authority.find(':');
    out.host = authority.substr(0, split);
    if (split != std::string_view::npos) port = authority.substr(split + 1);
  }
  if (out.host.empty()) return wrong("it has no host");
  out.port = out.https ? 443 : 80;
  if (!port.empty()) {
    int number = 0;
    if (port.find_first_not_of("0123456789") != std::string_view::npos || !absl::SimpleAtoi(ToAbsl(port), &number) ||
        number < 1 || number > 65535) {
      return wrong("the port should be a number from 1 to 65535");
    }
    out.port = static_cast<uint16_t>(number);
  }
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end);
  rest = rest.substr(0, rest.find('#'));
  out.target = rest.starts_with('/') ? std::string(rest) : absl::StrCat("/", ToAbsl(rest));
  for (const char c : absl::StrCat(out.host, out.target)) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f) return wrong("it has blanks or control characters");
  }
  return out;
}

// Works on text, not on a parsed URL, because it must also be safe for text that cannot be parsed.
std::string RedactUrl(std::string_view url) {
  const size_t colon = url.find("://");
  const size_t begin = colon == std::string_view::npos ? 0 : colon + 3;
  const size_t end = std::min(url.find_first_of("/?#", begin), url.size());
  const size_t at = url.substr(0, end).rfind('@');
  if (at == std::string_view::npos || at < begin) return std::string(url);
  const size_t password = url.find(':', begin);
  if (password == std::string_view::npos || password > at) return std::string(url);
  return absl::StrCat(ToAbsl(url.substr(0, password)), ":***", ToAbsl(url.substr(at)));
}

std::string HostPort(std::string_view host, uint16_t port) {
  const bool v6 = host.find(':') != std::string_view::npos;
  return absl::StrCat(v6 ? "[" : "", ToAbsl(host), v6 ? "]" : "", ":", port);
}

std::string BasicAuthorization(std::string_view credentials) {
  return absl::StrCat("Basic ", absl::Base64Escape(ToAbsl(credentials)));
}

std::string PercentDecode(std::string_view s) {
  std::string out;
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '%' && i + 2 < s.size() && HexValue(s[i + 1]) >= 0 && HexValue(s[i + 2]) >= 0) {
      out += static_cast<char>(HexValue(s[i + 1]) * 16 + HexValue(s[i + 2]));
      i += 2;
    } else {
      out += s[i];
    }
  }
  return out;
}

std::string PercentEncode(std::string_view s) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(s.size());
  for (const unsigned char c : s) {
    if (absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.' || c == '~') {
      out += static_cast<char>(c);
    } else {
      out += '%';
      out += kHex[c >> 4];
      out += kHex[c & 15];
    }
  }
  return out;
}

}  // namespace berth::http
