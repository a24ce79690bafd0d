// The C ABI with any arguments: handles that are closed, made up or of the other kind, numbers out of range, NULL,
// texts that are not JSON. Functions fail with a code and a text; nothing crashes, and a cluster that is opened
// decides.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "pkg/capi/berth.h"
#include "test/fuzz/fuzz.h"

namespace berth::fuzz {
namespace {

constexpr char kObjects[] =
    R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"a","uid":"a"},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"9"}}}
{"apiVersion":"v1","kind":"Node","metadata":{"name":"b","uid":"b"},"status":{"allocatable":{"cpu":"2","memory":"8Gi","pods":"9"}}}
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"n","uid":"p"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}}
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"q","namespace":"n","uid":"q"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"9"}}}]}}
)";

// What a call is made with: handles that exist or not, and buffers that are large enough for whatever is told.
struct Session {
  std::vector<void*> handles = {nullptr, reinterpret_cast<void*>(16), reinterpret_cast<void*>(~uintptr_t{0})};
  std::vector<double> numbers = std::vector<double>(64 * 64);
  std::vector<uint8_t> marks = std::vector<uint8_t>(64);
  std::vector<int32_t> nodes = std::vector<int32_t>(64);
  std::string text;

  template <typename T>
  T* Handle(Choices* c) {
    return static_cast<T*>(handles[static_cast<size_t>(c->Below(static_cast<int>(handles.size())))]);
  }
};

int32_t Rule(void* user, berth_question* q) {
  auto* c = static_cast<Choices*>(user);
  for (size_t n = 0; n < q->nodes; ++n) {
    if (q->scores != nullptr) q->scores[n] = c->Below(4) == 0 ? 1e308 * 10 : c->Byte();
    if (q->scores == nullptr) q->feasible[n] = static_cast<uint8_t>(q->feasible[n] & c->Byte());
  }
  return c->Below(8) == 0 ? 1 : 0;
}

int32_t Open(Session* s, Choices* c) {
  static const char* const kOptions[] = {"", "{\"release\":\"1.29\"}", "{\"ties\":\"random\",\"seed\":7}", "{",
                                         "{\"preempt\":true}"};
  const std::string options = kOptions[c->Below(5)];
  const std::string objects = c->Below(4) == 0 ? s->text : kObjects;
  const berth_input input = {nullptr, objects.data(), objects.size(), c->Flip() ? "fuzz" : nullptr};
  berth_cluster* out = nullptr;
  const int32_t code = berth_open(options.data(), options.size(), &input, 1, c->Below(9) == 0 ? nullptr : &out);
  if (out != nullptr) s->handles.push_back(out);
  return code;
}

int32_t List(Session* s, Choices* c) {
  berth_pods* out = nullptr;
  berth_cluster* cluster = s->Handle<berth_cluster>(c);
  const int32_t code = c->Flip() ? berth_pending(cluster, &out)
                                 : berth_read_pods(cluster, s->text.data(), s->text.size(), nullptr, &out);
  if (out != nullptr) s->handles.push_back(out);
  return code;
}

// A table whose arrays have the lengths that it tells, with any values in them, and some of the arrays missing.
struct Table {
  static constexpr size_t kRows = 3, kColumns = 2;
  std::vector<const char*> names, resources, keys, values, spaces;
  std::vector<double> amounts;
  std::vector<int32_t> labels, selectors, nodes, priorities;
  std::vector<uint8_t> unschedulable;
  berth_table table = {};

  Table(Choices* c, const char* first) {
    static const char* const kTexts[] = {"a", "b", "cpu", "memory", "pods", "", "\xff", "example.com/x", nullptr};
    auto text = [&](const char* usual) { return c->Below(8) == 0 ? kTexts[c->Below(9)] : usual; };
    names = {text(first), text("y"), text("z")};
    resources = {text("cpu"), text("pods")};
    keys = {text("kind"), text("zone")};
    values = {text("one"), text("two")};
    spaces = {text("n"), text("n"), text("m")};
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
    static constexpr double kAmounts[] = {1000, 4, 0, -1, 0.5, 1e300, kNothing, kInfinity};
    for (size_t i = 0; i < kRows * kColumns; ++i) {
      amounts.push_back(c->Below(6) == 0 ? kAmounts[c->Below(8)] : 2000);
      labels.push_back(c->Below(6) == 0 ? c->Byte() - 128 : c->Below(3) - 1);
      selectors.push_back(c->Below(6) == 0 ? c->Byte() - 128 : c->Below(3) - 1);
    }
    for (size_t i = 0; i < kRows; ++i) {
      nodes.push_back(c->Below(6) == 0 ? c->Byte() - 128 : c->Below(4) - 1);
      priorities.push_back(c->Byte());
      unschedulable.push_back(c->Byte());
    }
    auto maybe = [&](auto& list, int often) { return c->Below(often) == 0 ? nullptr : list.data(); };
    table = {.rows = static_cast<size_t>(c->Below(kRows + 1)),
             .names = maybe(names, 20),
             .resources = maybe(resources, 20),
             .resources_count = static_cast<size_t>(c->Below(kColumns + 1)),
             .amounts = maybe(amounts, 20),
             .keys = maybe(keys, 20),
             .keys_count = static_cast<size_t>(c->Below(kColumns + 1)),
             .values = maybe(values, 20),
             .values_count = 2,
             .labels = maybe(labels, 20),
             .unschedulable = maybe(unschedulable, 2),
             .spaces = maybe(spaces, 2),
             .selectors = maybe(selectors, 2),
             .nodes = maybe(nodes, 2),
             .priorities = maybe(priorities, 2)};
  }
};

int32_t OpenTables(Session* s, Choices* c) {
  const Table nodes(c, "x"), pods(c, "p");
  berth_cluster* out = nullptr;
  const int32_t code = berth_open_tables(nullptr, 0, c->Below(9) == 0 ? nullptr : &nodes.table,
                                         c->Flip() ? nullptr : &pods.table, c->Below(9) == 0 ? nullptr : &out);
  if (out != nullptr) s->handles.push_back(out);
  return code;
}

// Opens what a cluster writes, as it is, cut off, or with a byte changed; or any text.
int32_t Restore(Session* s, Choices* c) {
  const char* text = nullptr;
  size_t size = 0;
  const int32_t written = berth_snapshot(s->Handle<berth_cluster>(c), &text, &size);
  if (written != 0 && c->Flip()) return written;
  std::string copy = written == 0 ? std::string(text, size) : s->text;
  if (c->Below(3) == 0 && !copy.empty()) copy.resize(copy.size() * static_cast<size_t>(c->Byte()) / 256);
  if (c->Below(3) == 0 && !copy.empty()) {
    copy[copy.size() * static_cast<size_t>(c->Byte()) / 256] = static_cast<char>(c->Byte());
  }
  berth_cluster* out = nullptr;
  const int32_t code = berth_restore(copy.data(), copy.size(), c->Below(9) == 0 ? nullptr : &out);
  if (out != nullptr) s->handles.push_back(out);
  return code;
}

// Begins an episode, or goes on with one, with arrays that are large enough for the clusters of this target.
int32_t Episode(Session* s, Choices* c) {
  static const char* const kResources[] = {"cpu", "pods"};
  static const char* const kOptions[] = {"", "{\"generate\":[\"count=3,for=1m,duration=5s,cpu=1\"]}",
                                         "{\"until\":\"9s\"}", "{\"arrivals\":7}", "["};
  berth_episode* episode = s->Handle<berth_episode>(c);
  const char* text = nullptr;
  size_t size = 0;
  switch (c->Below(4)) {
    case 0: {
      const std::string options = kOptions[c->Below(5)];
      const double times[64] = {0, static_cast<double>(c->Byte()), c->Flip() ? -1.0 : 0.5};
      berth_pods* pods = s->Handle<berth_pods>(c);
      size_t listed = 0;  // the arrays have a time for each pod, or are not given
      const bool enough = berth_pods_count(pods, &listed) == 0 && listed <= 64;
      berth_episode* out = nullptr;
      const int32_t code =
          berth_begin(s->Handle<berth_cluster>(c), pods, enough && c->Flip() ? times : nullptr,
                      enough && c->Flip() ? times : nullptr, options.data(), options.size(), kResources,
                      static_cast<size_t>(c->Below(3)), static_cast<size_t>(c->Below(4)), s->numbers.data() + 128,
                      c->Below(9) == 0 ? nullptr : s->numbers.data() + 256, c->Below(9) == 0 ? nullptr : &out);
      if (out != nullptr) s->handles.push_back(out);
      return code;
    }
    case 1:
      return berth_outcome(episode, &text, c->Below(9) == 0 ? nullptr : &size);
    case 2:
      if (c->Below(4) == 0) return berth_end(episode);
      [[fallthrough]];
    default:
      return berth_next(episode, c->Below(4) - 1, static_cast<size_t>(c->Below(4)), c->Below(9) == 0 ? nullptr : &text,
                        s->marks.data(), s->numbers.data(), nullptr);
  }
}

int32_t Look(Session* s, Choices* c) {
  berth_cluster* cluster = s->Handle<berth_cluster>(c);
  const char* text = nullptr;
  size_t size = 0;
  int32_t index = 0;
  switch (c->Below(6)) {
    case 0:
      return berth_node_name(cluster, static_cast<size_t>(c->Below(5)), &text);
    case 1:
      return berth_node_index(cluster, c->Flip() ? "a" : nullptr, &index);
    case 2:
      return berth_amounts(cluster, c->Flip() ? "cpu" : nullptr, 2, s->numbers.data(), nullptr);
    case 3:
      return berth_node_label(cluster, static_cast<size_t>(c->Below(5)), "kind", &text);
    case 4:
      return berth_resources(cluster, &text, &size);
    default:
      return berth_warnings(cluster, &text, c->Flip() ? &size : nullptr);
  }
}

int32_t Call(Session* s, Choices* c) {
  berth_cluster* cluster = s->Handle<berth_cluster>(c);
  berth_pods* pods = s->Handle<berth_pods>(c);
  const size_t pod = static_cast<size_t>(c->Below(4)), count = static_cast<size_t>(c->Below(5));
  const int32_t node = c->Below(5) - 2;
  const char* text = nullptr;
  size_t size = 0;
  static const char* const kResources[] = {"cpu", "example.com/x", nullptr};
  switch (c->Below(21)) {
    case 0:
      return Open(s, c);
    case 1:
      return List(s, c);
    case 2:
      return berth_schedule(cluster, pods, pod, count, c->Below(9) == 0 ? nullptr : s->nodes.data());
    case 3:
      return berth_scores(cluster, pods, pod, count, s->marks.data(), s->numbers.data());
    case 4:
      return berth_rule_scores(cluster, pods, pod, count * 2, 2, s->numbers.data());
    case 5:
      return berth_explain(cluster, pods, pod, &text, &size);
    case 6:
      return berth_assume(cluster, pods, pod, node);
    case 7:
      return berth_forget(cluster, pods, pod);
    case 8:
      return berth_bind(cluster, pods, pod, node);
    case 9:
      return berth_delete_pod(cluster, c->Flip() ? "n/p" : nullptr);
    case 10:
      return c->Flip() ? berth_close(cluster) : berth_close_pods(pods);
    case 11:
      return berth_apply(cluster, s->text.data(), s->text.size(), nullptr, &size);
    case 12:
      return berth_use_columns(cluster, kResources, count / 2, 2, s->numbers.data(), s->numbers.data() + 64);
    case 13:
      return berth_step(cluster, pods, pod, node, count, 2, s->marks.data(), nullptr);
    case 14:
      return berth_preempt(cluster, pods, pod, c->Below(2), &text, &size);
    case 15:
      return OpenTables(s, c);
    case 16:
      return Restore(s, c);
    case 17:
      return Look(s, c);
    case 18:
    case 19:
      return Episode(s, c);
    default:
      return c->Flip() ? berth_remove_node(cluster, "a") : berth_copy(cluster, nullptr);
  }
}

void Capi(std::string_view input) {
  Choices c(input);
  Session s;
  s.text = std::string(input.substr(std::min<size_t>(input.size(), 64)));
  Choices answers(input);
  Open(&s, &c);
  if (s.handles.size() > 3 && c.Flip()) {
    auto* cluster = static_cast<berth_cluster*>(s.handles.back());
    berth_add_priority(cluster, "first", 1 + c.Below(3), Rule, &answers);
    if (c.Flip()) berth_add_predicate(cluster, "second", Rule, &answers);
  }
  for (int i = 0; i < 40 && !c.done(); ++i) {
    const int32_t code = Call(&s, &c);
    Require(code <= 0 && code > BERTH_INTERNAL, "a call returned a code that is not one of an argument");
    Require(code == 0 || berth_last_error()[0] != '\0', "a call failed without saying why");
  }
  for (void* h : s.handles) {
    berth_end(static_cast<berth_episode*>(h));
    berth_close(static_cast<berth_cluster*>(h));
    berth_close_pods(static_cast<berth_pods*>(h));
  }
}

[[maybe_unused]] const bool kCapiRegistered = Register({"capi", Capi});

}  // namespace
}  // namespace berth::fuzz
