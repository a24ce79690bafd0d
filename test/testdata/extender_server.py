#!/usr/bin/env python3
"""An extender to test with: what it does is in the URL's first part.

usage: extender_server.py [CERT KEY [CLIENT_CA]]

Prints its port, serves until its standard input ends.
  /pass      lets every node pass            /echo    answers with the request as the error text
  /even      lets every second node pass     /refuse  answers 500
  /lie       also names nodes nobody has     /hang    never answers
  /once      closes the connection behind the answer without saying so
  /drop      closes the connection instead of answering
  /garbage   answers text that is not JSON   /huge    says that a very long answer follows
  /authorization  answers with that header as the error text
  /count     answers with the number of connections so far as the error text
"""
import http.server, json, socket, ssl, sys, threading

connections = 0


class Extender(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        global connections
        connections += 1
        super().setup()

    def log_message(self, *args):
        pass

    def answer(self, value, code=200):
        text = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_CONNECT(self):
        """As a proxy: joins the client with 127.0.0.1 at the port it names."""
        upstream = socket.create_connection(("127.0.0.1", int(self.path.rsplit(":", 1)[1])))
        self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        self.close_connection = True

        def copy(source, sink):
            try:
                while data := source.recv(1 << 16):
                    sink.sendall(data)
                sink.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # the other side is gone already

        back = threading.Thread(target=copy, args=(upstream, self.connection), daemon=True)
        back.start()
        copy(self.connection, upstream)
        back.join()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        what, verb = self.path.strip("/").split("/")[-2:]  # a proxy is sent whole URLs
        if what == "refuse":
            return self.answer({"Error": "not today"}, 500)
        if what == "hang":
            self.rfile.read(1)
            self.close_connection = True
            return
        if what == "drop":
            self.close_connection = True
            return
        if what == "garbage":
            return self.answer(b"<html>%s %d</html>")
        if what == "huge":
            self.send_response(200)
            self.send_header("Content-Length", str(1 << 40))
            self.end_headers()
            self.close_connection = True
            return
        if what == "echo":
            text = "%s %s %s" % (self.path, self.headers["Content-Type"], body.decode())
            return self.answer({"error": text})
        if what == "authorization":
            return self.answer({"error": str(self.headers["Authorization"])})
        if what == "count":
            return self.answer({"error": str(connections)})
        request = json.loads(body)
        if verb == "bind":
            return self.answer({"Error": ""})
        names = request["NodeNames"]
        if names is None:
            names = [n["metadata"]["name"] for n in request["Nodes"]["items"]]
        if verb == "prioritize":
            return self.answer([{"host": n, "score": i} for i, n in enumerate(names)])
        kept = names[::2] if what == "even" else names
        if what == "lie":
            kept = ["no-such-node"] + kept + kept[:1]
        out = {"failedNodes": {n: "odd one out" for n in names if n not in kept}}
        if request["NodeNames"] is None:
            out["nodes"] = {"items": [{"metadata": {"name": n}} for n in kept]}
        else:
            out["nodenames"] = kept
        self.answer(out)
        if what == "once":
            self.close_connection = True


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, address):
        pass  # clients that break off or fail the handshake are what the tests are about


server = Server(("127.0.0.1", 0), Extender)
server.daemon_threads = True
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    if len(sys.argv) > 3:
        context.load_verify_locations(sys.argv[3])
        context.verify_mode = ssl.CERT_REQUIRED
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.read()
