"""Clients that are attached and slow, in a process of their own.

`python -m bench.processes.slow_clients PORT` takes one number per line: so many are attached from then on, and the
same number is its answer once the server knows them. A third says nothing, a third sends its header and a third its
body, a byte a second each. Whom the server closes comes back.
"""

from __future__ import annotations

import asyncio
import sys

import uvloop

from bench.servers import HOST

ADDRESSES = 10
"""Of this machine; all of one would reach the limit of an address."""
SECONDS = 1.0
END = b"\r\n\r\n"
BEGINNINGS = (
    b"",
    b"GET /livez HTTP/1.1\r\nHost: x\r\nA: ",
    b"POST /v1/nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n",
)


async def slow_client(number: int, port: int, attached: asyncio.Semaphore) -> None:
    beginning = BEGINNINGS[number % len(BEGINNINGS)]
    while True:
        reader, writer = await asyncio.open_connection(HOST, port, local_addr=(f"127.0.1.{number % ADDRESSES}", 0))
        try:
            writer.write(beginning)
            if beginning.endswith(END):
                await reader.readuntil(END)
            attached.release()
            while not reader.at_eof():
                await asyncio.sleep(SECONDS)
                if beginning:
                    writer.write(b"a")
                    await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


async def settled(port: int) -> None:
    """Wait until the server has seen who came and who left: its answer to a new connection comes after that."""
    reader, writer = await asyncio.open_connection(HOST, port)
    writer.write(b"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    await reader.read()
    writer.close()


async def main(port: int) -> None:
    clients: list[asyncio.Task[None]] = []
    while line := await asyncio.to_thread(sys.stdin.readline):
        for client in clients:
            client.cancel()
        await asyncio.gather(*clients, return_exceptions=True)
        attached = asyncio.Semaphore(0)
        clients = [asyncio.create_task(slow_client(number, port, attached)) for number in range(int(line))]
        for _ in clients:
            await attached.acquire()
        await settled(port)
        print(len(clients), flush=True)


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1])))
