// One connection and the exchanges on it. For use within the HTTP client.
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

// The error of a request whose may_send returned false.
inline constexpr std::string_view kNotSent = "not sent: its time is over";

// A request from Do() or Open() to its end.
struct Exchange {
  std::shared_ptr<const Request> request;
  std::function<void(Reply)> done;       // Do
  std::optional<StreamHandlers> stream;  // Open
  absl::Duration idle_timeout;           // Open
  absl::Duration timeout;                // for the error text
  absl::Duration deadline;               // steady clock
  absl::Duration sent_at;                // steady clock; for pipelined requests
  Reply reply;
  std::function<bool(std::string_view)> on_body;
  std::weak_ptr<Connection> connection;
  bool written = false;    // its bytes have been handed to the socket
  bool head_told = false;  // on_head was called
  bool over = false;       // answered, failed or cancelled: no callback is called any more
  int attempts = 0;
  std::list<std::shared_ptr<Exchange>>::iterator live;
};
using ExchangePtr = std::shared_ptr<Exchange>;

// What a connection reports to its pool. The pool decides what happens to exchanges that a connection returns.
class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  virtual const HttpOptions& options() const = 0;
  virtual boost::asio::ssl::context* tls() const = 0;        // null: plain HTTP
  virtual boost::asio::ssl::context* proxy_tls() const = 0;  // null: the proxy, if there is one, is reached without TLS
  virtual std::string_view Headers() = 0;
  virtual absl::Duration Now() const = 0;
  // Runs f on the I/O thread, after the function that runs now.
  virtual void RunNext(std::function<void()> f) = 0;
  virtual void OnHead(const ExchangePtr& e) = 0;
  virtual void OnAnswer(const ExchangePtr& e) = 0;                // the response is complete
  virtual void OnIdle(const std::shared_ptr<Connection>& c) = 0;  // nothing is in flight any more
  // The connection is closed. `lost` is what was in flight, in order. `answered_some`: a part of the response to the
  // first of them had arrived. `refused`: the server had announced that it would process no more requests.
  virtual void OnClosed(const std::shared_ptr<Connection>& c, std::deque<ExchangePtr> lost, const std::string& error,
                        bool reset, bool answered_some, bool refused) = 0;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  enum class Use { kOrdinary, kStream, kPipeline };
  Connection(boost::asio::io_context* io, ConnectionOwner* owner, Use use);

  void Connect();
  // Sends a request after those that are already in flight.
  void Send(ExchangePtr e);
  // Closes the connection and returns what is in flight to the owner with this error.
  void Close(const std::string& error, bool reset = false);
  // Closes the connection without calling the owner, which is about to be destroyed.
  void Abandon();

  size_t in_flight() const { return in_flight_.size(); }
  bool closed() const { return closed_; }
  bool closing() const { return last_answer_; }
  bool used() const { return used_; }
  absl::Duration idle_since = absl::ZeroDuration();
  absl::Duration last_answer_at = -absl::InfiniteDuration();  // for pipelined requests; steady clock
  uint64_t tls_generation = 0;                                // of the certificates that it was opened with
  Use use;

 private:
  using Error = boost::system::error_code;
  void ConnectTo(const std::vector<std::string>& addresses);
  void OnConnected();
  void BehindProxy();
  void OpenTunnel();
  void ReadTunnelAnswer();
  // Adds a layer of TLS to the transport and calls `next` after the handshake.
  void Handshake(boost::asio::ssl::context* context, const TlsOptions& options, const std::string& host,
                 void (Connection::*next)());
  void OnOpen();
  void Flush();
  void FlushNext();
  void FlushWaiting();
  void Read();
  void OnRead(const Error& ec, size_t n);
  void Parse();
  void ReleaseBuffers();  // of a connection that has become idle
  void OnEof();
  void SetSocketOptions();

  boost::asio::io_context* io_;
  ConnectionOwner* owner_;                               // null after Abandon()
  const std::string host_;                               // the value of the Host header
  std::optional<boost::asio::ip::tcp::socket> dialing_;  // set while connecting; then moved into transport_
  std::optional<Lookup> lookup_;
  std::unique_ptr<Transport> transport_;
  boost::asio::steady_timer dial_timer_;
  bool open_ = false, closed_ = false, writing_ = false, last_answer_ = false, used_ = false;
  bool dialing_tls_ = false;
  bool flushes_next_ = false;  // Flush will run after the present function
  std::deque<ExchangePtr> in_flight_;
  std::string out_, sending_;  // sending_ also holds the CONNECT request to a proxy
  std::string in_;
  size_t begin_ = 0, end_ = 0;            // the range of in_ that has been received and not yet used
  std::optional<ResponseParser> parser_;  // for the response to the first exchange in flight
};

}  // namespace berth::http
