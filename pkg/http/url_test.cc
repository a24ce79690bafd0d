#include "pkg/http/url.h"

#include <catch2/catch.hpp>

#include "pkg/util/status.h"

namespace berth::http {

TEST_CASE("url: parts") {
  const auto url = ParseUrl("HTTPS://user:p%40ss@[::1]:8443/a?b=c#d");
  REQUIRE(url.ok());
  CHECK(url->https);
  CHECK(url->host == "::1");
  CHECK(url->port == 8443);
  CHECK(url->target == "/a?b=c");
  CHECK(url->credentials == "user:p@ss");
  CHECK(ParseUrl("http://h")->target == "/");
  CHECK(ParseUrl("http://h?x")->target == "/?x");
  CHECK(ParseUrl("http://me@h")->credentials == "me:");
  CHECK(ParseUrl("http://h/a@b")->credentials.empty());
}

TEST_CASE("url: errors name the URL without its password") {
  const auto error = [](const char* url) { return util::Message(ParseUrl(url).status()); };
  CHECK(error("h/x") == "\"h/x\" is not a URL: it should begin with http:// or https://");
  CHECK(error("http://me:secret@:80/") == "\"http://me:***@:80/\" is not a URL: it has no host");
  CHECK(error("http://me:secret@h:x/") ==
        "\"http://me:***@h:x/\" is not a URL: the port should be a number from 1 to 65535");
  CHECK(error("http://[::1") == "\"http://[::1\" is not a URL: a bracket is not closed");
  CHECK(error("http://h/a b") == "\"http://h/a b\" is not a URL: it has blanks or control characters");
  CHECK(error("http://h\r\nX/") == "\"http://h\r\nX/\" is not a URL: it has blanks or control characters");
}

TEST_CASE("url: a password is never shown") {
  CHECK(RedactUrl("http://me:secret@h:80/a@b?c@d") == "http://me:***@h:80/a@b?c@d");
  CHECK(RedactUrl("http://me:se@cret@h/") == "http://me:***@h/");
  CHECK(RedactUrl("me:secret@h") == "me:***@h");
  CHECK(RedactUrl("http://me@h/") == "http://me@h/");
  CHECK(RedactUrl("http://h:80/") == "http://h:80/");
  CHECK(RedactUrl("http://h/x:y@z") == "http://h/x:y@z");
  CHECK(RedactUrl("") == "");
}

TEST_CASE("url: encoding") {
  CHECK(PercentEncode("a b/ü~") == "a%20b%2F%C3%BC~");
  CHECK(PercentDecode("a%20b%2f%zz%4") == "a b/%zz%4");
  CHECK(HostPort("::1", 80) == "[::1]:80");
  CHECK(BasicAuthorization("a:b") == "Basic YTpi");
}

}  // namespace berth::http
