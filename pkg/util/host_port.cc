#include "pkg/util/host_port.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <arpa/inet.h>

#include <algorithm>

namespace berth::util {

std::optional<HostPort> SplitHostPort(std::string_view a) {
  HostPort out;
  if (!a.empty() && a[0] == '[') {
    const size_t close = a.find(']');
    if (close == std::string_view::npos || close + 1 >= a.size() || a[close + 1] != ':') return std::nullopt;
    out.host = a.substr(1, close - 1);
    out.port = a.substr(close + 2);
  } else {
    const size_t colon = a.rfind(':');
    if (colon == std::string_view::npos || a.find(':') != colon) return std::nullopt;
    out.host = a.substr(0, colon);
    out.port = a.substr(colon + 1);
  }
  return out;
}

bool IsIpAddress(std::string_view text) {
  unsigned char address[16];
  const std::string whole(text), plain = whole.substr(0, whole.find('%'));
  return inet_pton(AF_INET, whole.c_str(), address) == 1 || inet_pton(AF_INET6, plain.c_str(), address) == 1;
}

bool IsHost(std::string_view text) {
  if (IsIpAddress(text)) return true;
  // A text of only digits and dots would be an IP address.
  return !text.empty() && text.size() <= 253 && text.find_first_not_of("0123456789.") != std::string_view::npos &&
         text.front() != '-' && std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.' || c == '_';
         });
}

std::string JoinHostPort(std::string_view host, std::string_view port) {
  const std::string h(host);
  return h.find(':') == std::string::npos ? absl::StrCat(h, ":", std::string(port))
                                          : absl::StrCat("[", h, "]:", std::string(port));
}

bool IsPort(std::string_view s) {
  return !s.empty() && s.size() <= 5 && s.find_first_not_of("0123456789") == std::string_view::npos &&
         std::stoi(std::string(s)) <= 65535;
}

}  // namespace berth::util
