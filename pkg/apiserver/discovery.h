// Discovery: which groups, versions and resources there are, and the few other fixed pages.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "pkg/apiserver/http.h"

namespace berth::apiserver {

// The answer to a GET of a path that is no resource ("/api", "/apis/apps/v1", "/version", "/healthz"), nullopt when the
// path is none of these. `path` has no trailing slash but for "/".
std::optional<HttpResponse> Discovery(Release release, std::string_view path, std::string_view accept);

// 404 with the paths there are: what an unknown path gets (not a Status).
HttpResponse UnknownPath(Release release);

}  // namespace berth::apiserver
