// The C ABI with any arguments: handles that are closed, made up or of the other kind, numbers out of range, NULL,
// texts that are not JSON. Functions fail with a code and a text; nothing crashes, and a cluster that is opened
// decides.
#include <algorithm>
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

int32_t Call(Session* s, Choices* c) {
  berth_cluster* cluster = s->Handle<berth_cluster>(c);
  berth_pods* pods = s->Handle<berth_pods>(c);
  const size_t pod = static_cast<size_t>(c->Below(4)), count = static_cast<size_t>(c->Below(5));
  const int32_t node = c->Below(5) - 2;
  const char* text = nullptr;
  size_t size = 0;
  static const char* const kResources[] = {"cpu", "example.com/x", nullptr};
  switch (c->Below(16)) {
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
    berth_close(static_cast<berth_cluster*>(h));
    berth_close_pods(static_cast<berth_pods*>(h));
  }
}

[[maybe_unused]] const bool kCapiRegistered = Register({"capi", Capi});

}  // namespace
}  // namespace berth::fuzz
