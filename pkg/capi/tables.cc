// Clusters out of tables: columns of amounts, and labels as codes.
#include <absl/strings/str_cat.h>

#include <cmath>
#include <string>
#include <utility>

#include "pkg/api/json_writer.h"
#include "pkg/capi/berth.h"
#include "pkg/capi/calls.h"
#include "pkg/capi/cluster.h"
#include "pkg/util/status.h"

namespace berth::capi {
namespace {

using api::JsonWriter;

// The largest whole number that every smaller one is a double of.
constexpr double kMostExact = 9007199254740992.0;

absl::Status Check(const berth_table& t, const char* what) {
  const auto null = [&](const char* column) {
    return util::InvalidArgument(absl::StrCat(what, ": ", column, " is NULL"));
  };
  const auto texts = [&](const char* const* of, size_t count, const char* column) {
    if (of == nullptr && count > 0) return null(column);
    for (size_t i = 0; i < count; ++i) {
      if (of[i] == nullptr) return null(absl::StrCat(column, "[", i, "]").c_str());
    }
    return absl::OkStatus();
  };
  BERTH_RETURN_IF_ERROR(texts(t.names, t.rows, "names"));
  if (t.spaces != nullptr) BERTH_RETURN_IF_ERROR(texts(t.spaces, t.rows, "spaces"));
  BERTH_RETURN_IF_ERROR(texts(t.resources, t.resources_count, "resources"));
  BERTH_RETURN_IF_ERROR(texts(t.keys, t.keys_count, "keys"));
  BERTH_RETURN_IF_ERROR(texts(t.values, t.values_count, "values"));
  if (t.rows > 0 && t.resources_count > 0 && t.amounts == nullptr) return null("amounts");
  if (t.rows > 0 && t.keys_count > 0 && t.labels == nullptr) return null("labels");
  return absl::OkStatus();
}

// Writes the amounts of a row as quantities. A NaN is none.
absl::Status WriteAmounts(const berth_table& t, size_t row, const char* what, bool extended_only, JsonWriter* w) {
  w->Object();
  for (size_t i = 0; i < t.resources_count; ++i) {
    const double amount = t.amounts[row * t.resources_count + i];
    const std::string_view name = t.resources[i];
    if (std::isnan(amount) || (extended_only && name.find('/') == std::string_view::npos)) continue;
    if (amount < 0 || amount > kMostExact || amount != std::floor(amount)) {
      return util::InvalidArgument(absl::StrCat(what, " \"", t.names[row], "\": ", t.resources[i], ": ", amount,
                                                ": must be a whole number from 0 to 2^53, or NaN for none"));
    }
    w->Member(name, absl::StrCat(static_cast<int64_t>(amount), name == "cpu" ? "m" : ""));
  }
  w->End();
  return absl::OkStatus();
}

// Writes labels; `codes` may be null.
absl::Status WriteLabels(const berth_table& t, const int32_t* codes, size_t row, const char* what, JsonWriter* w) {
  for (size_t i = 0; codes != nullptr && i < t.keys_count; ++i) {
    const int32_t code = codes[row * t.keys_count + i];
    if (code == -1) continue;
    if (code < -1 || static_cast<size_t>(code) >= t.values_count) {
      return util::InvalidArgument(absl::StrCat(what, " \"", t.names[row], "\": ", t.keys[i], ": code ", code,
                                                " out of range (size ", t.values_count, ")"));
    }
    w->Member(t.keys[i], t.values[code]);
  }
  return absl::OkStatus();
}

bool HasHostname(const berth_table& t, size_t row) {
  for (size_t i = 0; i < t.keys_count; ++i) {
    if (std::string_view(t.keys[i]) == "kubernetes.io/hostname" && t.labels[row * t.keys_count + i] != -1) return true;
  }
  return false;
}

absl::Status WriteNode(const berth_table& t, size_t row, JsonWriter* w) {
  const std::string_view name = t.names[row];
  w->Object().Member("apiVersion", "v1").Member("kind", "Node").Key("metadata").Object();
  w->Member("name", name).Member("uid", absl::StrCat("node-", t.names[row])).Key("labels").Object();
  if (!HasHostname(t, row)) w->Member("kubernetes.io/hostname", name);
  BERTH_RETURN_IF_ERROR(WriteLabels(t, t.labels, row, "node", w));
  w->End().End().Key("spec").Object();
  if (t.unschedulable != nullptr && t.unschedulable[row] != 0) w->Member("unschedulable", true);
  w->End().Key("status").Object();
  for (const char* of : {"capacity", "allocatable"}) {
    w->Key(of);
    BERTH_RETURN_IF_ERROR(WriteAmounts(t, row, "node", false, w));
  }
  w->Key("conditions").Array().Object().Member("type", "Ready").Member("status", "True").End().End().End().End();
  return absl::OkStatus();
}

absl::Status WritePod(const berth_table& t, const berth_table& nodes, size_t row, JsonWriter* w) {
  const std::string ns = t.spaces == nullptr ? "default" : t.spaces[row];
  w->Object().Member("apiVersion", "v1").Member("kind", "Pod").Key("metadata").Object();
  w->Member("name", std::string_view(t.names[row])).Member("namespace", ns);
  w->Member("uid", absl::StrCat("pod-", ns, "/", t.names[row])).Key("labels").Object();
  BERTH_RETURN_IF_ERROR(WriteLabels(t, t.labels, row, "pod", w));
  w->End().End().Key("spec").Object().Key("containers").Array().Object();
  w->Member("name", "main").Member("image", "none").Key("resources").Object().Key("requests");
  BERTH_RETURN_IF_ERROR(WriteAmounts(t, row, "pod", false, w));
  w->Key("limits");
  BERTH_RETURN_IF_ERROR(WriteAmounts(t, row, "pod", true, w));
  w->End().End().End();
  if (t.selectors != nullptr) {
    w->Key("nodeSelector").Object();
    BERTH_RETURN_IF_ERROR(WriteLabels(t, t.selectors, row, "pod", w));
    w->End();
  }
  if (t.nodes != nullptr && t.nodes[row] != -1) {
    if (t.nodes[row] < 0 || static_cast<size_t>(t.nodes[row]) >= nodes.rows) {
      return util::InvalidArgument(absl::StrCat("pod \"", t.names[row], "\": node index ", t.nodes[row],
                                                " out of range (size ", nodes.rows, "; -1: no node)"));
    }
    w->Member("nodeName", std::string_view(nodes.names[t.nodes[row]]));
  }
  if (t.priorities != nullptr) w->Member("priority", static_cast<int64_t>(t.priorities[row]));
  w->End().Key("status").Object().Member("phase", "Pending").End().End();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> ObjectsOf(const berth_table& nodes, const berth_table* pods) {
  BERTH_RETURN_IF_ERROR(Check(nodes, "nodes"));
  if (pods != nullptr) BERTH_RETURN_IF_ERROR(Check(*pods, "pods"));
  JsonWriter w(JsonWriter::Layout::kIndented);
  w.Object().Member("apiVersion", "v1").Member("kind", "List").Key("items").Array();
  for (size_t i = 0; i < nodes.rows; ++i) BERTH_RETURN_IF_ERROR(WriteNode(nodes, i, &w));
  for (size_t i = 0; pods != nullptr && i < pods->rows; ++i) BERTH_RETURN_IF_ERROR(WritePod(*pods, nodes, i, &w));
  w.End().End();
  return w.Finish();
}

}  // namespace berth::capi

using namespace berth::capi;  // NOLINT: the rest of this file defines functions of C

extern "C" int32_t berth_open_tables(const char* options, size_t options_size, const berth_table* nodes,
                                     const berth_table* pods, berth_cluster** out) {
  return Guarded([&] {
    if (out == nullptr) return Null("out");
    if (nodes == nullptr) return Null("nodes");
    if (options == nullptr && options_size > 0) return Null("options");
    auto text = ObjectsOf(*nodes, pods);
    if (!text.ok()) return Fail(text.status());
    auto made = OpenCluster(options == nullptr ? std::string_view() : std::string_view(options, options_size),
                            {{"the tables", std::make_shared<const std::string>(std::move(*text))}});
    if (!made.ok()) return Fail(made.status());
    *out = static_cast<berth_cluster*>(Enter(std::move(*made)));
    return int32_t{BERTH_OK};
  });
}
