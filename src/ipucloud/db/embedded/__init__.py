"""A PostgreSQL server that lives exactly as long as the process that started it.

One law: nothing outlives its starter. However that process ends, the server stops, and the next start on the
same directory finds the data.
"""

from ipucloud.db.embedded.errors import EmbeddedPostgresError
from ipucloud.db.embedded.passwords import SUPERUSER
from ipucloud.db.embedded.prepare import DATABASE, prepare_database
from ipucloud.db.embedded.server import EmbeddedPostgres
from ipucloud.db.embedded.sockets import socket_url

__all__ = [
    "DATABASE",
    "SUPERUSER",
    "EmbeddedPostgres",
    "EmbeddedPostgresError",
    "prepare_database",
    "socket_url",
]
