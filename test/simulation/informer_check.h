// Holds what one informer shows against what it has shown before: an object never becomes older, and one that is gone
// does not come back. Kubernetes promises this to nobody, but client-go of release 1.29 takes care of it, and so does
// pkg/client: a scheduler that is shown the past forgets what it has bound.
#pragma once
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <cstdint>
#include <map>
#include <string>
#include <variant>

#include "pkg/client/informer.h"
#include "pkg/util/status.h"

namespace berth::simulation {

class InformerCheck {
 public:
  // Takes note of one event of an informer. Returns what is wrong with it, or "".
  template <typename T>
  std::string Shows(const client::InformerEvent<T>& e) {
    using Kind = typename client::InformerEvent<T>::Kind;
    const api::ObjectMeta& meta = e.object->meta;
    uint64_t version = 0;
    if (!absl::SimpleAtoi(util::ToAbsl(meta.resource_version), &version)) {
      return absl::StrCat(meta.name, " is shown without a version");
    }
    Seen& seen = seen_[meta.uid];
    const Seen before = seen;
    seen.version = std::max(seen.version, version);
    seen.gone = e.kind == Kind::kDeleted;
    // A deletion that was missed, and shows only in that a list lacks the object, has the version of before.
    if (version < before.version) {
      return absl::StrCat(meta.name, " (", meta.uid, ") is shown as of version ", version, " and was shown as of ",
                          before.version, " before");
    }
    if (before.gone && e.kind != Kind::kDeleted) {
      return absl::StrCat(meta.name, " (", meta.uid, ") is shown again as of version ", version,
                          " and was shown as deleted before");
    }
    return "";
  }

 private:
  struct Seen {
    uint64_t version = 0;
    bool gone = false;
  };
  std::map<std::string, Seen> seen_;  // by uid, which no two objects have in common
};

}  // namespace berth::simulation
