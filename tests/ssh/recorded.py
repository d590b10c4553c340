"""A server that answers what was recorded: `python launch_server.py --port N ANSWERS.json`.

ANSWERS maps `GET /path` to [status, body]; everything else is 404, and every question is logged.
"""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT, ANSWERS = int(sys.argv[-2]), sys.argv[-1]


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        asked = f"GET {self.path.partition('?')[0]}"
        with open(ANSWERS) as file:
            status, body = json.load(file).get(asked, [404, "{}"])
        print(f"asked {asked}", file=sys.stderr, flush=True)
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


print("The server is fired up and ready to roll!", file=sys.stderr, flush=True)
ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
