// What comes over connections: lists and watches in pieces, and requests to hollow-apiserver.
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <string>
#include <vector>

#include "pkg/api/json.h"
#include "pkg/apiserver/rest.h"
#include "pkg/client/framing.h"
#include "test/fuzz/fuzz.h"

namespace berth::fuzz {
namespace {

absl::Status Feed(client::ListFramer& f, std::string_view piece, std::vector<std::string>* out) {
  return f.Feed(piece, [&](std::string_view v) {
    out->emplace_back(v);
    return true;
  });
}
// A watch's lines are tried as values, and what is no value is cut by its brackets.
absl::Status Feed(client::ValueFramer& f, std::string_view piece, std::vector<std::string>* out) {
  using Result = client::ValueFramer::Result;
  return f.Feed(piece, [&](std::string_view v, bool counted) {
    api::Document doc;
    const bool valid = doc.Parse(v).ok();
    if (!counted && !valid) return Result::kNoValue;
    out->emplace_back(v.substr(0, v.find_last_not_of(" \r\t") + 1));
    return Result::kUsed;
  });
}

// However a stream is cut into pieces, the same objects come out.
template <typename Framer>
std::vector<std::string> Frames(std::string_view input, size_t piece, bool* ok) {
  Framer f;
  std::vector<std::string> out;
  *ok = true;
  for (size_t at = 0; at < input.size() && *ok; at += piece) {
    *ok = Feed(f, input.substr(at, piece), &out).ok();
  }
  return out;
}

template <typename Framer>
void Framing(std::string_view input) {
  bool whole = false, cut = false;
  const auto one = Frames<Framer>(input, std::max<size_t>(1, input.size()), &whole);
  const auto many = Frames<Framer>(input, 1 + input.size() % 7, &cut);
  Require(whole == cut && (!whole || one == many), "a stream means something else when it comes in pieces");
}

void Watch(std::string_view input) {
  Framing<client::ValueFramer>(input);
}
void List(std::string_view input) {
  Framing<client::ListFramer>(input);
}

// Requests, one after another, divided by lines of "%%": METHOD TARGET, "content type|accept", and the body.
void Apiserver(std::string_view input) {
  util::ManualClock clock;
  apiserver::Store store(release::Version{10});
  apiserver::Registry registry(&store, &clock);
  apiserver::Api api(&registry, &clock);
  int left = 16;
  for (const std::string& text : std::vector<std::string>(absl::StrSplit(std::string(input), "%%\n"))) {
    if (--left < 0) break;
    const std::vector<std::string> parts = absl::StrSplit(text, absl::MaxSplits('\n', 2));
    const std::vector<std::string> words = absl::StrSplit(parts[0], absl::MaxSplits(' ', 1));
    const std::vector<std::string> types = absl::StrSplit(parts.size() > 1 ? parts[1] : "", absl::MaxSplits('|', 1));
    apiserver::HttpRequest r;
    r.method = words[0];
    const std::string target = words.size() > 1 ? words[1] : "/";
    r.path = target.substr(0, target.find('?'));
    if (r.path.size() < target.size()) r.query = target.substr(r.path.size() + 1);
    r.content_type = types[0];
    if (types.size() > 1) r.accept = types[1];
    const std::string body = parts.size() > 2 ? parts[2] : "";
    r.body = body;
    const apiserver::HttpResponse response = api.Handle(r, true);
    Require(response.status >= 100 && response.status < 600, "an answer without a status");
    // Kubernetes 1.10 answers many a bad request with 500 (patches and options of deletions that cannot be read, a
    // resourceVersion that is no number, a binding without a target), and so it is here; but it says why.
    Require(response.status != 500 || absl::StrContains(response.body, "message\":\"") ||
                absl::StrContains(response.body, "message\": \"") || absl::StrContains(response.body, "\nmessage: "),
            absl::StrCat("a request made the server fail: ", text, "\n", response.body).c_str());
  }
}

[[maybe_unused]] const bool kWireRegistered =
    Register({"watch", Watch}) && Register({"list", List}) && Register({"apiserver", Apiserver});

}  // namespace
}  // namespace berth::fuzz
