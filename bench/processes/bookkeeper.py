"""The books kept in a process of its own until a month is billed: `python -m bench.processes.bookkeeper URL MONTH`.

Says `ready`, and at the end one JSON line: the seconds, and the turns it took.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from datetime import date

import sqlalchemy as sa

from ipucloud.billing.bookkeeping import keep_books
from ipucloud.db.engine import Database
from ipucloud.process import logs

POOL_SIZE = 8
_BILLED = sa.text("SELECT EXISTS (SELECT FROM invoiced_months WHERE month = :month)")


async def main(url: str, month: date) -> None:
    database = Database(url, pool_size=POOL_SIZE)
    print("ready", flush=True)
    started, turns = time.perf_counter(), 0
    while not await _billed(database, month):
        await keep_books(database)
        turns += 1
    print(json.dumps({"seconds": time.perf_counter() - started, "turns": turns}), flush=True)
    sys.stdin.readline()  # until somebody has looked at its memory
    await database.close()


async def _billed(database: Database, month: date) -> bool:
    async with database.read() as connection:
        return bool((await connection.execute(_BILLED, {"month": month})).scalar_one())


if __name__ == "__main__":
    logs.configure("json", "error")
    asyncio.run(main(sys.argv[1], date.fromisoformat(sys.argv[2])))
