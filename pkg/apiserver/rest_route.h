// Inside of the REST API: a request that has been routed.
#pragma once
#include <string>
#include <vector>

#include "pkg/apiserver/rest.h"
#include "pkg/apiserver/rest_options.h"

namespace berth::apiserver {

struct Api::Call {
  const HttpRequest* request = nullptr;
  Query query;
  const ResourceInfo* r = nullptr;
  size_t version = 0;
  std::string ns, name, subresource;
  bool watch_prefix = false;    // /api/v1/watch/...
  bool all_namespaces = false;  // a namespaced resource without a namespace in the path
  bool last_try = false;
  Format format = Format::kJson;
  bool table_v1 = false;  // a Table of meta.k8s.io/v1 rather than of v1beta1
  WriteOptions write;
  std::vector<std::string> warnings;  // sent as headers

  GroupResource resource() const { return r->In(version); }
  const GroupVersion& gv() const { return r->versions[version]; }
  const TypeDef& type() const { return r->TypeIn(version); }
};

struct Api::Page {
  std::vector<ObjectPtr> items;
  uint64_t rv = 0;
  std::string next;  // continue token
};

// The media types that a request accepts, in order: "application/json", its parameters after it.
struct MediaType {
  std::string type;                // "application/json", "*/*"
  std::string as, version, group;  // parameters as, v, g
  bool stream_watch = false;       // stream=watch
};
std::vector<MediaType> ParseAccept(std::string_view accept);

// Whether JSON is written with indentation: ?pretty=, or a browser or curl asks.
bool WantsPretty(const HttpRequest& request, const Query& query);

// Continue tokens of 1.10: base64url of {"v":"meta.k8s.io/v1","rv":N,"start":"KEY"}.
std::string EncodeContinue(uint64_t rv, std::string_view start);
// The error is the text behind "invalid continue token: ".
bool DecodeContinue(std::string_view token, uint64_t* rv, std::string* start, std::string* why);

}  // namespace berth::apiserver
