// An HttpClient for tests. It keeps the requests, and the test decides when and how each is answered. No time passes.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "pkg/client/http.h"

namespace berth::client {

class FakeApi final : public HttpClient {
 public:
  struct Call {
    Request request;
    StreamOptions options;
    std::function<void(Reply)> done;
    std::shared_ptr<StreamHandlers> handlers;
    bool streamed = false, cancelled = false, over = false;
  };

  void Do(Request request, std::function<void(Reply)> done) override {
    auto c = std::make_shared<Call>();
    c->request = std::move(request);
    c->done = std::move(done);
    calls.push_back(c);
  }
  std::unique_ptr<Stream> Open(Request request, StreamOptions options, StreamHandlers handlers) override {
    auto c = std::make_shared<Call>();
    c->request = std::move(request);
    c->options = options;
    c->handlers = std::make_shared<StreamHandlers>(std::move(handlers));
    c->streamed = true;
    calls.push_back(c);
    struct FakeStream final : Stream {
      explicit FakeStream(std::shared_ptr<Call> x) : call(std::move(x)) {}
      ~FakeStream() override {
        if (!call->over) call->cancelled = true;
      }
      std::shared_ptr<Call> call;
    };
    return std::make_unique<FakeStream>(c);
  }

  // ---- For the test. The methods refer to the last call unless another is given. ----
  Call& last() { return *calls.back(); }
  const std::string& target() const { return calls.back()->request.target; }
  void Answer(int status, const std::string& body = "{}", std::shared_ptr<Call> c = nullptr) {
    Reply r;
    r.status = status;
    r.body = body;
    r.content_type = "application/json";
    Finish(std::move(r), std::move(c));
  }
  void Break(const std::string& error, bool maybe_done = true, std::shared_ptr<Call> c = nullptr) {
    Reply r;
    r.error = error;
    r.maybe_done = maybe_done;
    Finish(std::move(r), std::move(c));
  }
  void Head(int status, const std::string& body = "", std::shared_ptr<Call> c = nullptr,
            std::optional<int> retry_after = {}) {
    Reply r;
    r.status = status;
    r.body = body;
    r.retry_after = retry_after;
    r.content_type = "application/json";
    if (c == nullptr) c = calls.back();
    if (!c->cancelled && c->handlers->on_head) c->handlers->on_head(r);
  }
  void Data(const std::string& data, std::shared_ptr<Call> c = nullptr) {
    if (c == nullptr) c = calls.back();
    if (!c->cancelled && c->handlers->on_data) c->handlers->on_data(data);
  }
  void End(const std::string& error = "", std::shared_ptr<Call> c = nullptr) {
    if (c == nullptr) c = calls.back();
    if (c->cancelled || c->over) return;
    c->over = true;
    if (c->handlers->on_end) c->handlers->on_end(error);
  }
  // Delivers a whole streamed response: head, body and end.
  void Serve(int status, const std::string& body) {
    auto c = calls.back();
    Head(status, status >= 300 ? body : "", c);
    if (status < 300) Data(body, c);
    End("", c);
  }

  std::vector<std::shared_ptr<Call>> calls;

 private:
  void Finish(Reply r, std::shared_ptr<Call> c) {
    if (c == nullptr) c = calls.back();
    c->over = true;
    c->done(std::move(r));
  }
};

}  // namespace berth::client
