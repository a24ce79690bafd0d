// Strings that could be read as something else are written as JSON strings, which are valid YAML.
#include "pkg/apiserver/yaml.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "pkg/api/json.h"
#include "pkg/api/yaml_text.h"

namespace berth::apiserver {
namespace {

std::vector<size_t> SortedOrder(const Value& v) {
  std::vector<size_t> order(v.keys.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return v.keys[a] < v.keys[b]; });
  return order;
}

// `in_list`: the value begins on the line of a "- ", so its first line is not indented.
void AppendYaml(const Value& v, size_t indent, bool in_list, std::string* out) {
  switch (v.type()) {
    case Value::Type::kString:
      if (api::IsPlainYaml(v.text())) {
        out->append(v.text());
      } else {
        api::AppendJsonString(v.text(), out);
      }
      out->push_back('\n');
      return;
    case Value::Type::kArray:
      for (size_t i = 0; i < v.items.size(); ++i) {
        if (i > 0 || !in_list) out->append(indent, ' ');
        out->append("- ");
        const Value& e = v.items[i];
        bool nested = (e.IsObject() || e.IsArray()) && !e.empty();
        AppendYaml(e, indent + 2, nested, out);
      }
      if (v.items.empty()) out->append("[]\n");
      return;
    case Value::Type::kObject: {
      if (v.items.empty()) {
        out->append("{}\n");
        return;
      }
      bool first = true;
      for (size_t i : SortedOrder(v)) {
        if (!first || !in_list) out->append(indent, ' ');
        first = false;
        if (api::IsPlainYaml(v.keys[i])) {
          out->append(v.keys[i]);
        } else {
          api::AppendJsonString(v.keys[i], out);
        }
        out->push_back(':');
        const Value& e = v.items[i];
        if ((e.IsObject() || e.IsArray()) && !e.empty()) {
          out->push_back('\n');
          AppendYaml(e, e.IsArray() ? indent : indent + 2, false, out);
        } else {
          out->push_back(' ');
          AppendYaml(e, indent + 2, false, out);
        }
      }
      return;
    }
    default:
      AppendJson(v, out);
      out->push_back('\n');
  }
}

}  // namespace

std::string ToYaml(const Value& v) {
  std::string out;
  AppendYaml(v, 0, false, &out);
  return out;
}

}  // namespace berth::apiserver
