// One connection and the exchanges on it (inside the HTTP client only).
#pragma once
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "pkg/http/client.h"
#include "pkg/http/lookup.h"
#include "pkg/http/response_parser.h"
#include "pkg/http/transport.h"

namespace berth::http {

class Connection;

// The error of a request whose may_send said no.
inline constexpr std::string_view kNotSent = "not sent: its time is over";

// A request on its way, from Do() or Open() to its end.
struct Exchange {
  Request request;
  std::function<void(Reply)> done;       // Do
  std::optional<StreamHandlers> stream;  // Open
  absl::Duration idle_timeout;           // Open
  absl::Duration timeout;                // for the error text
  absl::Duration deadline;               // steady clock
  absl::Duration sent_at;                // steady clock; of pipelined requests
  Reply reply;
  std::function<bool(std::string_view)> on_body;
  std::weak_ptr<Connection> connection;
  bool written = false;    // handed to the socket
  bool head_told = false;  // on_head was called
  bool over = false;       // answered, failed or cancelled: nothing is called any more
  int attempts = 0;
  std::list<std::shared_ptr<Exchange>>::iterator live;
};
using ExchangePtr = std::shared_ptr<Exchange>;

// What a connection tells its pool. Exchanges are given back for the pool to decide on.
class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  virtual const HttpOptions& options() const = 0;
  virtual boost::asio::ssl::context* tls() const = 0;        // null: plain HTTP
  virtual boost::asio::ssl::context* proxy_tls() const = 0;  // null: the proxy, if there is one, is reached without TLS
  virtual std::string_view Headers() = 0;
  virtual absl::Duration Now() const = 0;
  virtual void OnHead(const ExchangePtr& e) = 0;
  virtual void OnAnswer(const ExchangePtr& e) = 0;                // the whole answer is there
  virtual void OnIdle(const std::shared_ptr<Connection>& c) = 0;  // nothing in flight any more
  // The connection is closed. `lost`: what was in flight, in order; `answered_some`: bytes of an answer to the first
  // of them had come; `refused`: the server said before that it would process no more.
  virtual void OnClosed(const std::shared_ptr<Connection>& c, std::deque<ExchangePtr> lost, const std::string& error,
                        bool reset, bool answered_some, bool refused) = 0;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  enum class Use { kOrdinary, kStream, kPipeline };
  Connection(boost::asio::io_context* io, ConnectionOwner* owner, Use use);

  void Connect();
  // Sends a request behind those already in flight.
  void Send(ExchangePtr e);
  // Closes; what is in flight goes back to the owner with this error.
  void Close(const std::string& error, bool reset = false);
  // The owner is gone: closes without a word.
  void Abandon();

  size_t in_flight() const { return in_flight_.size(); }
  bool closed() const { return closed_; }
  bool closing() const { return last_answer_; }
  bool used() const { return used_; }
  absl::Duration idle_since = absl::ZeroDuration();
  absl::Duration last_answer_at = -absl::InfiniteDuration();  // of pipelined requests; steady clock
  uint64_t tls_generation = 0;                                // of the certificates it was opened with
  Use use;

 private:
  using Error = boost::system::error_code;
  void ConnectTo(const std::vector<boost::asio::ip::tcp::endpoint>& endpoints);
  void OnConnected();
  void BehindProxy();
  void OpenTunnel();
  void ReadTunnelAnswer();
  // Puts TLS on what there is and calls `next` when that stands.
  void ShakeHands(boost::asio::ssl::context* context, const TlsOptions& options, const std::string& host,
                  void (Connection::*next)());
  void OnOpen();
  void Flush();
  void FlushWaiting();
  void Read();
  void OnRead(const Error& ec, size_t n);
  void Parse();
  void OnEof();
  void SetSocketOptions();

  boost::asio::io_context* io_;
  ConnectionOwner* owner_;                               // null once abandoned
  std::optional<boost::asio::ip::tcp::socket> dialing_;  // until it is connected, then part of transport_
  std::optional<Lookup> lookup_;
  std::unique_ptr<Transport> transport_;
  boost::asio::steady_timer dial_timer_;
  bool open_ = false, closed_ = false, writing_ = false, last_answer_ = false, used_ = false;
  bool dialing_tls_ = false;
  std::deque<ExchangePtr> in_flight_;
  std::string out_, sending_;  // sending_: also what the proxy answers before there is a tunnel
  std::string in_;
  size_t begin_ = 0, end_ = 0;            // the bytes of in_ that were received and not used yet
  std::optional<ResponseParser> parser_;  // of the answer to the first in flight
};

}  // namespace berth::http
