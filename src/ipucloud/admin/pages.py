"""Pages of lists that are ordered by a text key, such as a name: the next page starts behind the last key."""

from __future__ import annotations

from typing import NamedTuple

from ipucloud.db.documents import clauses
from ipucloud.db.rows import Query


class KeyedPage(NamedTuple):
    """A page as a JSON array, and the key of its last item if there is more."""

    items: str
    next_key: str | None


def keyed_page(rows: str, members: str, *, key: str = "key") -> Query[KeyedPage]:
    """The statement for a page of `rows`, a SELECT with a text column `key`.

    `members` are the pairs of each item for json_build_object, over `page`. Parameters: those of `rows`, `:after`, the
    last key of the page before or the empty string, and `:limit`. Only the page's own rows are made into JSON.
    """
    return Query(
        clauses(
            "WITH matches AS (SELECT * FROM (",
            rows,
            ") AS every WHERE",
            key,
            "> :after ORDER BY",
            key,
            "LIMIT CAST(:limit AS integer) + 1), page AS (SELECT row_number() OVER (ORDER BY",
            key,
            ") AS place,",
            key,
            "AS page_key, matches.* FROM matches)",
            "SELECT (SELECT coalesce(json_agg(json_build_object(",
            members,
            ") ORDER BY place), '[]') FROM page WHERE place <= :limit)::text AS items,",
            "(SELECT page_key FROM page WHERE place = :limit AND EXISTS (SELECT FROM page WHERE place > :limit))",
            "AS next_key",
        ),
        KeyedPage,
    )
