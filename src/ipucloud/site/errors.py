"""The ways a call to a site can end badly, by what the caller may conclude."""

from __future__ import annotations


class SiteError(Exception):
    """Says in one sentence what the site was asked and how it answered; holds nothing secret."""


class SiteBusy(SiteError):
    """Nothing happened and the same call may succeed later: no connection, too many requests, something in the way."""


class SiteUnknown(SiteError):
    """The call may or may not have had its effect: time-out, broken answer, 5xx. Read back by name, then decide."""


class SiteRefused(SiteError):
    """The site understood and refused; repeating the same call changes nothing."""
