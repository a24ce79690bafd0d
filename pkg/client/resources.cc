#include "pkg/client/resources.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <string>
#include <utility>
#include <vector>

namespace berth::client {

Resource ResourceOf(const api::KindDescription& kind, const api::Dialect& dialect) {
  const std::vector<std::string> all = absl::StrSplit(std::string(kind.versions), ' ');
  // The version that is tried first, and the one to fall back to.
  std::vector<std::string> versions = {all.front()};
  if (all.size() > 1) versions.push_back(all.back());
  const auto beta = [](const std::string& v) { return absl::StrContains(v, "beta"); };
  if (kind.stable.Has(dialect.version) && beta(versions.front()) && !beta(versions.back())) {
    std::swap(versions.front(), versions.back());
  }
  const std::string plural(kind.plural);
  Resource r;
  const std::vector<std::string> first = absl::StrSplit(versions.front(), '/');
  r.name = first.size() == 1 ? plural : absl::StrCat(plural, ".", first[0]);
  r.type = absl::StrCat("*", first.back(), ".", std::string(kind.kind));
  for (const std::string& v : versions) {
    r.paths.push_back(absl::StrCat(absl::StrContains(v, "/") ? "/apis/" : "/api/", v, "/", plural));
  }
  if (kind.followed.HasBeginning() && kind.stable.HasBeginning()) {
    r.served_since = release::NameOf(kind.stable.since);
  }
  r.bookmarks = dialect.bookmarks;
  r.streams_lists = dialect.streams_lists;
  if (plural == "pods") {
    r.field_selector =
        r.bookmarks ? "status.phase!=Succeeded,status.phase!=Failed" : "status.phase!=Failed,status.phase!=Succeeded";
  }
  return r;
}

}  // namespace berth::client
