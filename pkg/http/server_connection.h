// One connection of the server, from accept to close. For use within the HTTP server.
//
// States: the connection reads until a request is complete; the handler has the request (answering_); the response is
// written; or a response is streamed (stream_). A client may send further requests early; they are processed in order,
// each when the response before it is complete. The connection lives as long as an operation or a Responder holds it.
#pragma once
#include <boost/asio/ip/tcp.hpp>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pkg/http/request_parser.h"
#include "pkg/http/server.h"
#include "pkg/http/transport.h"

namespace berth::http {

// The state that the connections of a server share.
struct Server::Shared {
  Shared(boost::asio::io_context* i, std::string n, ServerOptions o) : io(i), name(std::move(n)), options(o) {}

  boost::asio::io_context* io;
  const std::string name;
  const ServerOptions options;
  ServerStats stats;
  // Connections that are closed when they make no progress, ordered by their last progress, oldest first.
  std::list<ServerConnection*> watched;

  // Returns "Date: ...\r\n"; formatted at most once a second.
  const std::string& DateLine();
  int64_t date_second = 0;
  std::string date;
};

class ServerConnection final : public std::enable_shared_from_this<ServerConnection>, public StreamWriter {
 public:
  ServerConnection(boost::asio::ip::tcp::socket socket, std::shared_ptr<Server::Shared> shared,
                   std::shared_ptr<const ServerHandler> handler, bool local);
  ~ServerConnection() override;

  void Start(boost::asio::ssl::context* tls);
  void Answer(uint64_t request, ServerResponse response);
  void Close();

  void Send(const Chunk& chunk) override;
  void Finish() override;

  // Returns whether no request is being answered and nothing is being written.
  bool idle() const { return !answering_ && !writing_ && out_.empty(); }
  bool local() const { return local_; }
  absl::Time progress() const { return progress_; }

 private:
  using Error = boost::system::error_code;
  bool Streaming() const { return stream_ != nullptr || finished_; }
  std::string Peer();
  void Begin();
  void NewRequest();
  void Read();
  void OnRead(const Error& ec, size_t n);
  void Process();
  bool Parse();
  void Refuse(int status, std::string_view text);
  void Malformed(const Error& ec);
  void Handle();
  void Answered();
  void AppendHead(const ServerResponse& response);
  void StartStream(std::shared_ptr<StreamSource> source);
  void FlushLater();
  void Write();
  void Written();
  // Notes progress: the connection becomes the last one to be closed for idleness.
  void Touch();
  void Unwatch();

  std::shared_ptr<Server::Shared> shared_;
  std::shared_ptr<const ServerHandler> handler_;
  std::unique_ptr<Transport> transport_;
  const bool local_;  // the client is on this host
  bool loopback_ = false;
  absl::Time progress_;
  std::optional<std::list<ServerConnection*>::iterator> watched_;

  std::string in_;
  size_t begin_ = 0, end_ = 0;  // the range of in_ that has been received and not yet used
  ServerRequest request_;
  std::optional<Subject> certificate_;
  std::optional<RequestParser> parser_;
  uint64_t number_ = 0;  // number of the current request
  bool keep_alive_ = false;
  bool reading_ = false, writing_ = false, answering_ = false, in_handler_ = false, closed_ = false;
  bool peer_closed_ = false, continued_ = false, close_after_write_ = false;

  std::string out_, writing_text_;  // responses that are to be written, and that are being written
  std::shared_ptr<StreamSource> stream_;
  std::deque<Chunk> queue_;
  std::vector<Chunk> writing_chunks_;
  size_t queued_bytes_ = 0;  // bytes in queue_ and writing_chunks_
  size_t allowed_bytes_ = SIZE_MAX;
  bool unchunked_ = false, close_after_stream_ = false, finished_ = false, flush_posted_ = false;
};

}  // namespace berth::http
