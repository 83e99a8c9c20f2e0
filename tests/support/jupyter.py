"""A stand-in for JupyterLab: a program that answers to its token, and a `pip` that installs it."""

from __future__ import annotations

PIP = """
import pathlib, sys
assert sys.argv[1:] == ["install", "-q", "--user", "jupyterlab"], sys.argv
program = pathlib.Path.home() / ".local" / "bin" / "jupyter"
program.parent.mkdir(parents=True, exist_ok=True)
program.write_text((pathlib.Path.home() / "jupyter.py").read_text())
program.chmod(0o755)
"""
"""As `pip.py` where it is started, this is what `python3 -m pip` runs."""

JUPYTER = """#!/usr/bin/env python3
import http.server, os, pathlib, sys, urllib.parse
if sys.argv[1:] == ["lab", "--version"]:
    print("4.0.0")
    sys.exit()
broken = pathlib.Path.home() / "broken"
how = broken.read_text() if broken.exists() else ""
options = dict(each.removeprefix("--").partition("=")[::2] for each in sys.argv[2:])
token = pathlib.Path(os.environ["JUPYTER_TOKEN_FILE"]).read_text()

class Lab(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        given = query.get("token") or [self.headers.get("Authorization", "").removeprefix("token ")]
        known = given == [token] and not how
        self.send_response(200 if known else 403)
        self.end_headers()
        self.wfile.write(os.uname().nodename.encode() if known else b"")

    def log_message(self, *_):
        pass  # it would have the token, which JupyterLab keeps out

if how == "exit":
    sys.exit("it is broken")
http.server.ThreadingHTTPServer((options["ip"], int(options["port"])), Lab).serve_forever()
"""
