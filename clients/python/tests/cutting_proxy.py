"""A proxy that passes each request on and drops the connection in place of the first answers."""

from __future__ import annotations

import http.client
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, List, Optional
from urllib.parse import urlsplit


class CuttingProxy:
    def __init__(self, url: str) -> None:
        target = urlsplit(url)
        proxy = self
        self.cuts = 0
        self.idempotency_keys: List[Optional[str]] = []
        self.user_agents: List[Optional[str]] = []

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _pass_on(self) -> None:
                proxy.idempotency_keys.append(self.headers.get("idempotency-key"))
                proxy.user_agents.append(self.headers.get("user-agent"))
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                upstream = http.client.HTTPConnection(target.hostname or "", target.port or 80, timeout=30)
                headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
                upstream.request(self.command, self.path, body or None, headers)
                response = upstream.getresponse()
                answer = response.read()
                upstream.close()
                if proxy.cuts > 0:
                    proxy.cuts -= 1
                    self.close_connection = True
                    return
                self.send_response_only(response.status)
                for name, value in response.getheaders():
                    if name.lower() not in ("connection", "transfer-encoding", "content-length"):
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            do_GET = do_POST = do_DELETE = _pass_on

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
