"""The synchronous client."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

import httpx

from ipucloud.client.call import Call, Ref, Tagged
from ipucloud.client.exchange import (
    Effect,
    Exchange,
    Flow,
    Lost,
    Outcome,
    Pause,
    Progress,
    Received,
    configured,
)
from ipucloud.client.models import Page
from ipucloud.client.retry import Retry
from ipucloud.client.streaming import Resumed
from ipucloud.client.transport import is_stream, lost, options, received

if TYPE_CHECKING:
    from ipucloud.client.models import Operation

Result = TypeVar("Result")


class Client:
    """Runs calls against one service, as one token.

    ```python
    from ipucloud.client import Client, NewCluster, clusters, images

    with Client() as client:
        newest = max(client.items(images.list(region="luxembourg-2")), key=lambda image: image.release)
        bert = NewCluster("bert", region="luxembourg-2", flavor="m2000-pod16", image=newest.name, ssh_keys=["laptop"])
        operation = client.run(clusters.create(bert))
        client.wait(operation, on_progress=lambda now: print(now.stage, now.progress))
        for cluster in client.items(clusters.list(state="active")):
            print(cluster.name, cluster.billing.cost)
    ```

    `url`, `token` and `project` default to `IPUCLOUD_URL`, `IPUCLOUD_TOKEN` and `IPUCLOUD_PROJECT`, then to the profile
    stored by `ipucloud login`; the project, an id, number or slug, then to the token's own. `timeout`: seconds for one
    response. Raises UsageError for a missing or invalid URL or token.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        project: str | None = None,
        retry: Retry | None = None,
        timeout: float = 30.0,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._exchange = Exchange(*configured(url, token, project), retry or Retry(), timeout, clock)
        self._sleep = sleep
        self._http = httpx.Client(transport=transport, **options(self.url))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def url(self) -> str:
        """URL of the service, without a trailing slash."""
        return self._exchange.url

    def close(self) -> None:
        self._http.close()

    def run(self, call: Call[Result]) -> Result:
        """Run `call`. Raises ApiError, UnreachableError or UnexpectedAnswerError."""
        return self._drive(self._exchange.run(call))

    def run_tagged(self, call: Call[Result]) -> Tagged[Result]:
        """As `run`, with the entity tag for `if_match` of a change."""
        return self._drive(self._exchange.tagged(call))

    def send(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
        hold: float = 0.0,
        repeat: bool = True,
    ) -> Received:
        """Send a request to a path of the service with its query, and return the response, whatever its status.

        `{project}` in the path is the client's project. `hold`: seconds that the service may wait. `repeat`: whether
        it is sent again as calls are, which has no second effect with an idempotency key. Raises UnreachableError;
        UsageError for what is no path of the service, and for headers that decide who gets the token.
        """
        return self._drive(self._exchange.send(method, path, headers or {}, content, hold=hold, repeat=repeat))

    def items(self, call: Call[Page[Result]]) -> Iterator[Result]:
        """Every item of a list, fetched page by page."""
        while True:
            page = self.run(call)
            yield from page.items
            if page.next_cursor is None:
                return
            call = call.after(page.next_cursor)

    def wait(
        self,
        operation: Operation | Ref,
        on_progress: Progress | None = None,
        *,
        patience: float | None = None,
        hold: int = 20,
        project: str | None = None,
    ) -> Operation:
        """Wait until the operation has succeeded and return it; `on_progress` gets every version read on the way.

        Raises OperationFailedError if it failed or was cancelled, WaitTimeoutError after `patience` seconds; then the
        operation continues. The service holds each request for up to `hold` seconds.
        """
        return self._drive(self._exchange.wait(operation, on_progress, patience, hold, project))

    def until(
        self,
        call: Call[Result],
        done: Callable[[Result], bool],
        on_progress: Callable[[Result], None] | None = None,
        *,
        patience: float | None = None,
        pause: float = 1.0,
    ) -> Result:
        """Run `call`, which reads an object, every `pause` seconds until `done` of it; return it then.

        `settled` is such a `done`. `on_progress` gets every version. Raises StateTimeoutError after `patience` seconds.
        """
        return self._drive(self._exchange.until(call, done, on_progress, patience, pause))

    def stream(self, call: Call[Result], on_gap: Callable[[], None] | None = None) -> Iterator[Result]:
        """Items of a stream, such as `events.stream()`, as they come; without end, over restarts of the service.

        None is missing and none comes twice. If the service cannot continue after the last one, `on_gap` is called:
        read everything again; without it, EventGapError is raised. Otherwise raises as `run`.
        """
        resumed = Resumed(self._exchange, self._drive(self._exchange.request(call)), call, on_gap)
        while True:
            request = resumed.request()
            outcome: Received | Lost | None = None
            try:
                with self._http.stream(
                    request.method, request.url, headers=request.headers, timeout=request.timeout
                ) as response:
                    if is_stream(response):
                        for piece in response.iter_bytes():
                            yield from resumed.items(piece)
                    else:
                        response.read()
                        outcome = received(response)
            except httpx.TransportError as error:
                outcome = lost(error)
            self._sleep(resumed.pause(outcome))

    def _drive(self, flow: Flow[Result]) -> Result:
        outcome: Outcome = None
        try:
            while True:
                outcome = self._perform(flow.send(outcome))
        except StopIteration as end:
            result: Result = end.value
            return result

    def _perform(self, effect: Effect) -> Outcome:
        if isinstance(effect, Pause):
            self._sleep(effect.seconds)
            return None
        try:
            return received(
                self._http.request(
                    effect.method, effect.url, headers=effect.headers, content=effect.content, timeout=effect.timeout
                )
            )
        except httpx.TransportError as error:
            return lost(error)
