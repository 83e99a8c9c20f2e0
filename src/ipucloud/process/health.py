"""`python -m ipucloud.process.health [PATH]`: ask the API process or the worker of this container how it is.

Exits 0 when its internal listener answers GET PATH (`/livez` unless given) with status 200, and 1 otherwise.
"""

from __future__ import annotations

import http.client
import os
import sys

SECONDS = 4.0
LISTENERS = {"IPUCLOUD_INTERNAL_PORT": "8001", "IPUCLOUD_WORKER_INTERNAL_PORT": "8002"}


def answers(port: int, path: str) -> bool:
    """Whether a listener of this machine answers with status 200."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def main() -> None:
    path = sys.argv[1] if len(sys.argv) > 1 else "/livez"
    ports = (int(os.environ.get(name) or usual) for name, usual in LISTENERS.items())
    sys.exit(not any(answers(port, path) for port in ports))


if __name__ == "__main__":
    main()
