// Nearly all pages are made once for each release and then only copied.
#include "pkg/apiserver/discovery.h"

#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <algorithm>

#include "pkg/api/validation/per_release.h"
#include "pkg/store/api_types.h"
#include "pkg/store/git_version.h"
#include "pkg/util/status.h"

namespace berth::apiserver {
namespace {

Value GroupVersionValue(const std::string& group, const std::string& version) {
  return Value::Object({{"groupVersion", absl::StrCat(group, "/", version)}, {"version", version}});
}

Value GroupValue(const Group& g) {
  Value v = Value::Object();
  v.Set("name", Value::String(g.name));
  Value& versions = v.Set("versions", Value::Array());
  for (const std::string& version : g.versions) versions.Append(GroupVersionValue(g.name, version));
  v.Set("preferredVersion", GroupVersionValue(g.name, g.versions[0]));
  v.Set("serverAddressByClientCIDRs", Value());
  return v;
}

Value Strings(std::initializer_list<std::string_view> list) {
  Value v = Value::Array();
  for (std::string_view s : list) v.Append(Value::String(s));
  return v;
}

Value Entry(std::string_view name, bool namespaced, std::string_view kind, Value verbs) {
  Value v = Value::Object({{"name", name}, {"singularName", ""}, {"namespaced", namespaced}, {"kind", kind}});
  v.Set("verbs", std::move(verbs));
  return v;
}

std::string ResourceList(const Catalog& catalog, const GroupVersion& gv) {
  Value list = Value::Object();
  list.Set("kind", Value::String("APIResourceList"));
  // The two oldest groups are served without an apiVersion, as the first clients expect.
  if (!gv.group.empty() && gv.group != "extensions") list.Set("apiVersion", Value::String("v1"));
  list.Set("groupVersion", Value::String(gv.Text()));
  Value& out = list.Set("resources", Value::Array());
  if (gv.group.empty()) out.Append(Entry("bindings", true, "Binding", Strings({"create"})));
  for (const ResourceInfo& r : catalog.resources()) {
    if (r.VersionIndex(gv.group, gv.version) < 0) continue;
    bool collection = r.kind != "Namespace" && r.kind != "Service";
    Value entry =
        Entry(r.resource, r.namespaced, r.kind,
              collection ? Strings({"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"})
                         : Strings({"create", "delete", "get", "list", "patch", "update", "watch"}));
    // A short name is listed in one group only, so that it is unambiguous for kubectl.
    if (gv.group != "extensions") {
      if (!r.short_names.empty()) {
        Value& names = entry.Set("shortNames", Value::Array());
        for (const std::string& s : r.short_names) names.Append(Value::String(s));
      }
      if (r.in_all) entry.Set("categories", Strings({"all"}));
    }
    out.Append(std::move(entry));
    for (const std::string& sub : r.subresources) {
      std::string name = absl::StrCat(r.resource, "/", sub);
      if (sub == "eviction") {
        Value eviction = Entry(name, true, "Eviction", Strings({"create"}));
        eviction.SetAll(
            {{"group", "policy"}, {"version", validation::kEvictionsV1.Has(catalog.release()) ? "v1" : "v1beta1"}});
        out.Append(std::move(eviction));
      } else if (sub == "binding") {
        out.Append(Entry(name, true, "Binding", Strings({"create"})));
      } else if (sub == "finalize") {
        out.Append(Entry(name, r.namespaced, r.kind, Strings({"update"})));
      } else if (sub == "scale") {
        Value scale = Entry(name, true, "Scale", Strings({"get", "patch", "update"}));
        scale.SetAll({{"group", "autoscaling"}, {"version", "v1"}});
        out.Append(std::move(scale));
      } else {
        out.Append(Entry(name, r.namespaced, r.kind, Strings({"get", "patch", "update"})));
      }
    }
  }
  if (gv.group == "authentication.k8s.io") {
    out.Append(Entry("selfsubjectreviews", false, "SelfSubjectReview", Strings({"create"})));
  }
  if (gv.group == "authorization.k8s.io") {
    out.Append(Entry("selfsubjectaccessreviews", false, "SelfSubjectAccessReview", Strings({"create"})));
    out.Append(Entry("selfsubjectrulesreviews", false, "SelfSubjectRulesReview", Strings({"create"})));
  }
  return ToJson(list) + "\n";
}

std::string GroupList(const Catalog& catalog) {
  Value v = Value::Object({{"kind", "APIGroupList"}, {"apiVersion", "v1"}});
  Value& groups = v.Set("groups", Value::Array());
  for (const Group& g : catalog.groups()) groups.Append(GroupValue(g));
  return ToJson(v) + "\n";
}

std::string OneGroup(const Group& g) {
  Value v = Value::Object({{"kind", "APIGroup"}, {"apiVersion", "v1"}});
  Value group = GroupValue(g);
  for (size_t i = 0; i < group.keys.size(); ++i) v.Set(group.keys[i], std::move(group.items[i]));
  return ToJson(v) + "\n";
}

// Returns the version page, which kubectl and other clients read: a version of Kubernetes that they know.
std::string VersionPage(Version release) {
  Value v = Value::Object();
  const std::pair<std::string, std::string> numbers = absl::StrSplit(release::NameOf(release), '.');
  v.SetAll({{"major", numbers.first},
            {"minor", numbers.second},
            {"gitVersion", GitVersion(release)},
            {"gitCommit", ""},
            {"gitTreeState", "clean"},
            {"buildDate", "1970-01-01T00:00:00Z"},
            {"goVersion", ""},
            {"compiler", "g++"},
            {"platform", "linux/amd64"}});
  return ToIndentedJson(v);
}

using PageMap = absl::flat_hash_map<std::string, HttpResponse>;

// Returns all fixed pages of a release by path.
PageMap MakePages(const Catalog& catalog) {
  PageMap all;
  auto json = [&](std::string path, std::string body) { all[std::move(path)].body = std::move(body); };
  std::vector<std::string> paths = {"/api", "/api/v1", "/apis"};
  json("/api",
       "{\"kind\":\"APIVersions\",\"versions\":[\"v1\"],\"serverAddressByClientCIDRs\":[{\"clientCIDR\":\"0.0.0.0/0\","
       "\"serverAddress\":\"127.0.0.1\"}]}\n");
  json("/apis", GroupList(catalog));
  json("/api/v1", ResourceList(catalog, {"", "v1"}));
  for (const Group& g : catalog.groups()) {
    paths.push_back("/apis/" + g.name);
    json(paths.back(), OneGroup(g));
    for (const std::string& version : g.versions) {
      paths.push_back(absl::StrCat("/apis/", g.name, "/", version));
      json(paths.back(), ResourceList(catalog, {g.name, version}));
    }
  }
  json("/version", VersionPage(catalog.release()));
  std::vector<std::string_view> healths = {"/healthz", "/healthz/ping"};
  if (validation::kLivez.Has(catalog.release())) healths.insert(healths.end(), {"/livez", "/readyz"});
  for (std::string_view health : healths) {
    HttpResponse& page = all[std::string(health)];
    page.content_type = "text/plain; charset=utf-8";
    page.body = "ok";
    paths.emplace_back(health);
  }
  paths.emplace_back("/metrics");
  // `kubectl create` reads this before it validates. An empty document of version 2.0 makes it accept everything.
  for (std::string_view api : {"/openapi/v2", "/swagger-2.0.0.pb-v1"}) {
    HttpResponse& page = all[std::string(api)];
    page.content_type = "application/octet-stream";
    page.body =
        "\x0a\x03"
        "2.0";
    paths.emplace_back(api);
  }
  paths.emplace_back("/version");
  Value list = Value::Object();
  Value& names = list.Set("paths", Value::Array());
  for (const std::string& p : paths) names.Append(Value::String(p));
  json("/", ToIndentedJson(list));
  return all;
}

const PageMap& Pages(Version release) {
  struct All {
    explicit All(Version version) : map(MakePages(Catalog::Of(version))) {}
    PageMap map;
  };
  static const auto* pages = new validation::PerRelease<All>;
  return pages->Of(release).map;
}

}  // namespace

std::optional<HttpResponse> Discovery(Version release, std::string_view path, std::string_view accept) {
  auto it = Pages(release).find(std::string(path));
  if (it == Pages(release).end()) return std::nullopt;
  if (path == "/openapi/v2" && accept.find("json") != std::string_view::npos &&
      accept.find("protobuf") == std::string_view::npos) {
    HttpResponse page;
    const std::string version = absl::StrCat("v", release::NameOf(release), ".0");
    page.body =
        absl::StrCat(R"({"swagger":"2.0","info":{"title":"Kubernetes","version":")", version, R"("},"paths":{}})");
    return page;
  }
  return it->second;
}

HttpResponse UnknownPath(Version release) {
  HttpResponse r;
  r.status = 404;
  r.body = Pages(release).find("/")->second.body;
  return r;
}

}  // namespace berth::apiserver
