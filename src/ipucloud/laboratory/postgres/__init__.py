"""A PostgreSQL server that lives exactly as long as the process that started it.

One law: nothing outlives its starter. However that process ends, the server stops, and the next start on the
same directory finds the data.
"""

from ipucloud.laboratory.postgres.errors import EmbeddedPostgresError
from ipucloud.laboratory.postgres.passwords import SUPERUSER
from ipucloud.laboratory.postgres.prepare import DATABASE, prepare_database
from ipucloud.laboratory.postgres.server import EmbeddedPostgres
from ipucloud.laboratory.postgres.sockets import socket_url

__all__ = [
    "DATABASE",
    "SUPERUSER",
    "EmbeddedPostgres",
    "EmbeddedPostgresError",
    "prepare_database",
    "socket_url",
]
