// Frames are shared by all watchers that need the same text. Those in the first version live as long as their event,
// since most watchers use them; those in other versions only as long as somebody is still sending them.
#include "pkg/apiserver/watch.h"

#include <absl/strings/str_cat.h>

#include "pkg/store/status.h"

namespace berth::apiserver {
namespace {

enum Form : size_t { kAsAdded, kAsModified, kAsDeleted, kAsLeft };
constexpr std::string_view kFrameNames[] = {"ADDED", "MODIFIED", "DELETED", "DELETED"};

// Returns the frame at `place`, and makes it if no watcher holds it any more. Watchers that wait for the same frame
// share it.
template <typename Make>
Frame Shared(std::vector<std::weak_ptr<const std::string>>* frames, size_t place, Make make) {
  if (frames->size() <= place) frames->resize(place + 1);
  Frame frame = (*frames)[place].lock();
  if (frame == nullptr) (*frames)[place] = frame = make();
  return frame;
}

Frame AddedFrame(const ResourceInfo& r, size_t version, const Object& o) {
  return Shared(&o.added_frames, version, [&] {
    std::string text;
    AppendObject(r, version, o, "", &text);
    return MakeFrame(kFrameNames[kAsAdded], text);
  });
}

Frame Render(const ResourceInfo& r, size_t version, const Event& e, Form form) {
  if (form == kAsAdded) return AddedFrame(r, version, *e.object);
  std::string object;
  if (form == kAsLeft) {
    AppendObject(r, version, *WithResourceVersion(*e.old, e.rv), "", &object);
  } else {
    AppendObject(r, version, *e.object, "", &object);
  }
  return MakeFrame(kFrameNames[form], object);
}

Frame FrameOf(const ResourceInfo& r, size_t version, const Event& e, Form form) {
  if (version != 0) {
    size_t place = (version - 1) * std::size(e.frames) + form;
    return Shared(&e.other_frames, place, [&] { return Render(r, version, e, form); });
  }
  Frame& kept = e.frames[form];
  if (kept == nullptr) kept = Render(r, 0, e, form);
  return kept;
}

}  // namespace

Frame MakeFrame(std::string_view type, std::string_view object_json) {
  constexpr size_t kAround = 64;
  std::string line;
  line.reserve(object_json.size() + kAround);
  if (object_json.ends_with('\n')) object_json.remove_suffix(1);
  line.append("{\"type\":\"").append(type).append("\",\"object\":").append(object_json).append("}\n");
  auto frame = std::make_shared<std::string>(absl::StrCat(absl::Hex(line.size()), "\r\n"));
  frame->reserve(frame->size() + line.size() + 2);
  frame->append(line).append("\r\n");
  return frame;
}

std::string_view FramePayload(const std::string& frame) {
  std::string_view s = frame;
  s.remove_prefix(s.find('\n') + 1);
  s.remove_suffix(2);
  return s;
}

Watch::Watch(Store* store, const ResourceInfo* r, size_t version, ObjectSelector selector, WatchSink* sink)
    : store_(store), r_(r), version_(version), selector_(std::move(selector)), sink_(sink) {}

Watch::~Watch() {
  if (listening_) store_->RemoveListener(*r_, this);
}

bool Watch::Start(const From& from) {
  if (from.synthetic) {
    store_->Scan(*r_, selector_.ns(), "", [&](const ObjectPtr& o) {
      if (selector_.Matches(*o)) sink_->Send(AddedFrame(*r_, version_, *o));
      return true;
    });
    after_ = store_->rv();
  } else if (from.rv < store_->Floor(*r_)) {
    if (r_->kind != "Event") {
      ApiError gone = Gone(absl::StrCat("too old resource version: ", from.rv, " (", store_->Floor(*r_), ")"));
      sink_->Send(MakeFrame("ERROR", gone.ToJson()));
    }
    sink_->Finish();
    return false;
  } else {
    after_ = from.rv;
    for (const EventPtr& e : store_->Window(*r_)) OnEvent(e);
  }
  store_->AddListener(*r_, this);
  listening_ = true;
  bookmarks_ = from.bookmarks;
  bookmarked_ = after_;
  if (from.marks_end && bookmarks_) SendBookmark(after_, true);
  return true;
}

void Watch::SendBookmark(uint64_t rv, bool end) {
  Value object = Value::Object();
  Value& meta = object.Child("metadata");
  meta.Set("resourceVersion", Value::String(std::to_string(rv)));
  if (end) meta.Child("annotations").Set("k8s.io/initial-events-end", Value::String("true"));
  const std::string api_version = r_->versions[version_].Text();
  sink_->Send(MakeFrame("BOOKMARK", EncodeTyped(r_->kind, api_version, object, r_->TypeIn(version_))));
}

void Watch::OnTick(absl::Duration now) {
  constexpr absl::Duration kBetweenBookmarks = absl::Minutes(1);
  if (!bookmarks_) return;
  if (next_bookmark_ == absl::InfiniteDuration()) next_bookmark_ = now + kBetweenBookmarks;
  if (now < next_bookmark_) return;
  next_bookmark_ = now + kBetweenBookmarks;
  uint64_t reached = store_->LastRv(*r_);
  if (reached <= bookmarked_) return;
  bookmarked_ = reached;
  SendBookmark(reached, false);
}

// The type depends on whether the old and the new state match the selector, not only on what happened to the object.
void Watch::OnEvent(const EventPtr& e) {
  if (e->rv <= after_) return;
  bool now = e->type != EventType::kDeleted && selector_.Matches(*e->object);
  bool before = e->old != nullptr && selector_.Matches(*e->old);
  if (!now && !before) return;
  Form form;
  if (now) {
    form = before ? kAsModified : kAsAdded;
  } else {
    form = e->type == EventType::kDeleted ? kAsDeleted : kAsLeft;
  }
  sink_->Send(FrameOf(*r_, version_, *e, form));
}

}  // namespace berth::apiserver
