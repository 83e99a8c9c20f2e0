"""The least that an application can be, so that what is measured is the server; twice.

`bench.peers.hello:app` is for plain uvicorn; `python -m bench.peers.hello PORT` serves it as the API is served.
"""

from __future__ import annotations

import sys

import uvicorn
import uvloop
from starlette.types import ASGIApp, Receive, Scope, Send

from bench.servers import HOST
from ipucloud.http.gate import Gate
from ipucloud.http.limits import Limits
from ipucloud.http.listeners import listener
from ipucloud.http.server import server_config

BODY = b"hello"


def app() -> ASGIApp:
    async def hello(_scope: Scope, _receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"text/plain"), (b"content-length", b"%d" % len(BODY))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": BODY})

    return hello


async def main(port: int) -> None:
    config = server_config(app(), Gate("public", Limits()), lifespan="off")
    await uvicorn.Server(config).serve(sockets=[listener(HOST, port)])


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1])))
