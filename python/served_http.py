"""Turnwise's environment protocol over HTTP, version 1 (docs/environment-servers.md)."""

import hmac
import json
import os
import sys
import threading
import time
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from served_sessions import Refusal, Sessions

BODY_LIMIT = 4 * 1024 * 1024


def parsed(body):
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise Refusal(400, "request-invalid", "The body is no JSON object.")
    return value


def handler_of(sessions, key):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def route(self, method, path):
            body = self.body() if method == "POST" else "{}"
            if path == ["health"]:
                return 200, {"status": "healthy"}
            self.admit()
            request = parsed(body)
            if (method, path) == ("GET", ["v1", "environment"]):
                return 200, sessions.describe()
            if path[:2] == ["v1", "sessions"]:
                if method == "POST" and len(path) == 2:
                    return 201, sessions.open(request, self.headers.get("idempotency-key"))
                if method == "POST" and path[3:] == ["step"]:
                    return 200, sessions.step(path[2], request)
                if method == "POST" and path[3:] == ["script"]:
                    return 200, sessions.script(path[2], request)
                if method == "GET" and len(path) == 3:
                    return 200, sessions.read(path[2])
                if method == "DELETE" and len(path) == 3:
                    return 204, sessions.close(path[2])
            raise Refusal(404, "route-unknown", f"There is no route {method} {self.path}.")

        def admit(self):
            # A page in a browser names its origin with whatever could do harm here.
            if self.headers.get("origin") is not None:
                raise Refusal(403, "request-origin", "Pages in a browser cannot use this server.")
            given = self.headers.get("authorization", "").encode()
            if key and not hmac.compare_digest(given, f"Bearer {key}".encode()):
                raise Refusal(401, "request-unauthorized", "The key is missing or wrong.")

        def body(self):
            """Read even where it will be refused: the next request follows on the same connection."""
            length = self.headers.get("content-length", "")
            if not length.isdecimal() or int(length) > BODY_LIMIT:
                self.close_connection = True
                raise Refusal(
                    413, "request-too-large", f"A body has a length, of at most {BODY_LIMIT} bytes."
                )
            return self.rfile.read(int(length))

        def answer(self, method):
            try:
                status, body = self.route(method, self.path.split("?")[0].strip("/").split("/"))
            except Refusal as refusal:
                status, body = refusal.status, {"error": {"code": refusal.code, "message": str(refusal)}}
            except Exception as error:
                traceback.print_exc()
                message = f"{type(error).__name__}: {error}"
                status, body = 500, {"error": {"code": "environment-failed", "message": message}}
            content = b"" if status == 204 else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            if status == 503:
                self.send_header("retry-after", "1")
            if status != 204:
                self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_GET(self):
            self.answer("GET")

        def do_POST(self):
            self.answer("POST")

        def do_DELETE(self):
            self.answer("DELETE")

        def log_message(self, *_):
            pass

    return Handler


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def serve(world, options):
    """Until Ctrl-C."""
    key = os.environ.get("TURNWISE_ENV_KEY")
    if options.host not in ("127.0.0.1", "localhost", "::1") and not key:
        sys.exit("Beyond this machine a server needs a key: set TURNWISE_ENV_KEY, here and for turnwise.")
    sessions = Sessions(world, options.sessions, options.lease, options.form)
    server = Server((options.host, options.port), handler_of(sessions, key))

    def sweep():
        while True:
            time.sleep(min(1, options.lease / 4))
            sessions.sweep()

    threading.Thread(target=sweep, daemon=True).start()
    print(f"{world.name} is served: turnwise:http://{options.host}:{server.server_address[1]}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
