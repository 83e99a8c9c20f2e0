"""Results of commands."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from ipucloud.cli.service.failures import CommandError
from ipucloud.laboratory.keeper.child import end


class Refused(CommandError):
    """A command ended with a status other than 0; `reason` is its last line of output."""

    def __init__(self, what: str, reason: str) -> None:
        super().__init__(f"`{what}` {reason}")
        self.reason = reason


async def finished(process: asyncio.subprocess.Process, what: str, seconds: float, sent: bytes | None = None) -> str:
    """The process's output. Raises Refused if it fails or takes too long."""
    try:
        async with asyncio.timeout(seconds):
            out, err = await _talked(process, sent)
    except TimeoutError:
        raise Refused(what, f"took longer than {seconds:g} seconds") from None
    finally:
        if process.returncode is None:
            await end(process)
    if process.returncode != 0:
        words = (err or out).decode(errors="replace").strip().splitlines()
        raise Refused(what, words[-1] if words else f"ended with status {process.returncode}")
    return out.decode(errors="replace")


async def _talked(process: asyncio.subprocess.Process, sent: bytes | None) -> tuple[bytes, bytes]:
    """Its output and errors. Unless something is `sent`, its input stays open until the program has ended."""
    if sent is not None:
        return await process.communicate(sent)
    out, err = await asyncio.gather(_all(process.stdout), _all(process.stderr))
    await process.wait()
    if process.stdin is not None:
        process.stdin.close()
        with suppress(BrokenPipeError, ConnectionResetError):
            await process.stdin.wait_closed()
    return out, err


async def _all(stream: asyncio.StreamReader | None) -> bytes:
    return await stream.read() if stream is not None else b""
