"""Merkle trees of texts, as in RFC 6962: a leaf and a node never have the same hash."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256


def leaf(text: str) -> bytes:
    """The hash of one text."""
    return sha256(b"\0" + text.encode()).digest()


def node(left: bytes, right: bytes) -> bytes:
    return sha256(b"\1" + left + right).digest()


class Fold:
    """The root of leaves that come one after the other; memory grows with the tree's height, not with its leaves."""

    def __init__(self) -> None:
        self.count = 0
        self._whole: list[tuple[int, bytes]] = []
        """Roots of full subtrees and the number of their leaves, the largest first."""

    def add(self, hashed: bytes) -> None:
        size, self.count = 1, self.count + 1
        while self._whole and self._whole[-1][0] == size:
            size, hashed = 2 * size, node(self._whole.pop()[1], hashed)
        self._whole.append((size, hashed))

    @property
    def root(self) -> bytes:
        """The root of what was added so far."""
        if not self._whole:
            return sha256().digest()
        root = self._whole[-1][1]
        for _, before in reversed(self._whole[:-1]):
            root = node(before, root)
        return root


def root_of(leaves: Sequence[bytes]) -> bytes:
    """The root over hashes of leaves."""
    fold = Fold()
    for each in leaves:
        fold.add(each)
    return fold.root


def path_to(leaves: Sequence[bytes], place: int) -> list[bytes]:
    """The siblings on the way from the leaf at `place` to the root, from the bottom."""
    path, level = [], list(leaves)
    while len(level) > 1:
        sibling = place ^ 1
        if sibling < len(level):
            path.append(level[sibling])
        level = [node(*level[at : at + 2]) if at + 1 < len(level) else level[at] for at in range(0, len(level), 2)]
        place //= 2
    return path
