// A request that has been routed. For use within the REST API.
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
  bool table_v1 = false;  // a Table of meta.k8s.io/v1 instead of v1beta1
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

// One of the media types that a request accepts, with its parameters.
struct MediaType {
  std::string type;                // "application/json", "*/*"
  std::string as, version, group;  // parameters as, v, g
  bool stream_watch = false;       // stream=watch
};
std::vector<MediaType> ParseAccept(std::string_view accept);

// Returns whether JSON is indented: if ?pretty= says so, or if the client is a browser or curl.
bool WantsPretty(const HttpRequest& request, const Query& query);

// Returns a JSON text as YAML with the members of all objects in order of their names. A text that is not JSON stays.
std::string SortedYaml(std::string_view json);

// Encodes a continue token in 1.10's form: base64url of {"v":"meta.k8s.io/v1","rv":N,"start":"KEY"}.
std::string EncodeContinue(uint64_t rv, std::string_view start);
// Decodes a continue token. On failure returns false and sets `*why` to the text after "invalid continue token: ".
bool DecodeContinue(std::string_view token, uint64_t* rv, std::string* start, std::string* why);

}  // namespace berth::apiserver
