"""What the patterns of fields say, in words: an error shows nobody a regular expression."""

from __future__ import annotations

from ipucloud.contract.fields import NAME_PATTERN

_LINE = "It must be one line without control characters."

IN_WORDS = {
    NAME_PATTERN: "It must have lower-case letters, digits and hyphens, at most 63, begin with a letter and not end"
    " with a hyphen.",
    r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$": "It must have lower-case letters, digits and hyphens, at most 63, and no"
    " hyphen at its ends.",
    r"^[a-z0-9]([a-z0-9.-]{0,126}[a-z0-9])?$": "It must have lower-case letters, digits, dots and hyphens, with a"
    " letter or digit at its ends.",
    r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$": "It must have 3 to 63 lower-case letters, digits, dots and hyphens, with a"
    " letter or digit at its ends.",
    r"^[A-Za-z0-9]([A-Za-z0-9._:/-]{0,61}[A-Za-z0-9])?$": "It must have letters, digits and . _ : / -, at most 63, with"
    " a letter or digit at its ends.",
    r"^[^\x00-\x1f\x7f]+$": _LINE,
    r"^[^\x00-\x1f\x7f]*$": _LINE,
    r"^[^\x00-\x09\x0b-\x1f\x7f]+$": "It must have no control characters.",
    r"^[^\x00]*$": "It must not have the character NUL.",
    r"^[^\x00]+$": "It must not have the character NUL.",
    r"^[!-~]+$": "It must have printable ASCII characters, without spaces.",
    r"^/[!-~]*$": "It must be a path that begins with /, without spaces.",
    r"^[A-Za-z_][A-Za-z0-9_]{0,254}$": "It must have letters, digits and underscores, and not begin with a digit.",
    r"^20[0-9]{2}-(0[1-9]|1[0-2])$": "It must be a month, such as 2026-05.",
    r"^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$": "It must be a day, such as 2026-05-31.",
    r"^([01][0-9]|2[0-3]):[0-5][0-9]$": "It must be a time of day, such as 08:00.",
    r"^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$": "It must be a time of day, such as 18:00, at most 24:00.",
    r"^[A-Z]{2}$": "It must be the two letters of a country, such as LU.",
}
"""Of the patterns that people meet; of any other it is said that the value has not the form that the field needs."""
