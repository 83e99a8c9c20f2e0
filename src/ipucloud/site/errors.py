"""How a call to a site can fail, by what the caller may conclude."""

from __future__ import annotations


class SiteError(Exception):
    """A sentence with the request and the site's response; contains nothing secret."""


class SiteBusy(SiteError):
    """Nothing happened and a repeat may succeed: no connection, too many requests, a conflict."""


class SiteUnknown(SiteError):
    """The call may or may not have taken effect: time-out, broken answer, 5xx. Read back by name, then decide."""


class SiteRefused(SiteError):
    """The site understood the call and refused it; repeating it changes nothing."""
