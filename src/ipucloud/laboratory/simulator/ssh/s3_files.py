"""A server's access to S3 buckets: the files of rclone and the AWS tools, and variables of logins.

Our sections of a file carry a mark; everything else in it is the customer's, and a section of theirs keeps its name.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from urllib.parse import urlsplit

from ipucloud.vipu_cli.files import Files
from ipucloud.wire.site import S3Remote

RCLONE = "~/.config/rclone/rclone.conf"
CREDENTIALS = "~/.aws/credentials"
CONFIG = "~/.aws/config"
PATHS = (RCLONE, CREDENTIALS, CONFIG)
AMAZON = (".amazonaws.com", ".amazonaws.com.cn")
MARKS = frozenset({"description = Managed by ipucloud", "# Managed by ipucloud"})


def write(files: Files, buckets: Sequence[S3Remote]) -> None:
    """Let the files have these buckets and no others. Raises OSError."""
    _exchange(files, RCLONE, [_remote(each) for each in buckets])
    _exchange(files, CREDENTIALS, [_credentials(each) for each in buckets])
    _exchange(files, CONFIG, [section for each in buckets for section in (_config(each), _services(each))])


def environment(buckets: Sequence[S3Remote]) -> dict[str, str]:
    """Variables of the AWS tools, which know one access key at a time; several buckets have a profile each."""
    if len(buckets) != 1:
        return {}
    [bucket] = buckets
    return {
        "AWS_ENDPOINT_URL_S3": bucket.endpoint,
        **{f"AWS_{name.upper()}": value for name, value in _checksums(bucket).items()},
        "AWS_REGION": bucket.region,
        "AWS_ACCESS_KEY_ID": bucket.access_key_id,
        "AWS_SECRET_ACCESS_KEY": bucket.secret,
    }


def merged(present: str, ours: Sequence[Sequence[str]]) -> str:
    """The file with these sections in place of our earlier ones. A section is its lines, the heading first."""
    blocks: list[list[str]] = [[]]
    for line in present.splitlines():
        if line.strip().startswith("["):
            blocks.append([])
        blocks[-1].append(line)
    others = [block for block in blocks if not any(line.strip() in MARKS for line in block)]
    headings = {block[0].strip() for block in others if block}
    kept = "\n".join(line for block in others for line in block).rstrip()
    added = ["\n".join(section) for section in ours if section[0] not in headings]
    return "".join(f"{part}\n" for part in ([f"{kept}\n"] if kept and added else [kept] if kept else []) + added)


def _exchange(files: Files, path: str, ours: Sequence[Sequence[str]]) -> None:
    try:
        present = files.read(path).decode(errors="surrogateescape")
    except FileNotFoundError:
        present = ""
    content = merged(present, ours)
    if not content:
        with suppress(FileNotFoundError):
            files.remove(path)
    elif content != present:
        files.write(path, content.encode(errors="surrogateescape"))


def _remote(bucket: S3Remote) -> list[str]:
    return [
        f"[{bucket.name}]",
        "type = s3",
        "provider = Other",
        f"endpoint = {bucket.endpoint}",
        f"region = {bucket.region}",
        f"access_key_id = {bucket.access_key_id}",
        f"secret_access_key = {_in_rclone(bucket.secret)}",
        "no_check_bucket = true",  # the key may not be allowed to create buckets, and the bucket is there
        "description = Managed by ipucloud",
    ]


def _credentials(bucket: S3Remote) -> list[str]:
    return [
        f"[{bucket.name}]",
        "# Managed by ipucloud",
        f"aws_access_key_id = {bucket.access_key_id}",
        f"aws_secret_access_key = {bucket.secret}",
    ]


def _config(bucket: S3Remote) -> list[str]:
    return [
        f"[profile {bucket.name}]",
        "# Managed by ipucloud",
        f"region = {bucket.region}",
        f"services = {bucket.name}",
        *(f"{name} = {value}" for name, value in _checksums(bucket).items()),
    ]


def _services(bucket: S3Remote) -> list[str]:
    """The endpoint of S3 alone: other services of the same account are elsewhere."""
    return [f"[services {bucket.name}]", "# Managed by ipucloud", "s3 =", f"  endpoint_url = {bucket.endpoint}"]


def _checksums(bucket: S3Remote) -> dict[str, str]:
    """Only Amazon's own service surely knows the checksums that its newer tools send of their own accord."""
    if (urlsplit(bucket.endpoint).hostname or "").endswith(AMAZON):
        return {}
    return {"request_checksum_calculation": "when_required", "response_checksum_validation": "when_required"}


def _in_rclone(value: str) -> str:
    """A value that begins with a quote of rclone's is put into its other one, which ends at the last of the line."""
    return f"`{value}`" if value[:1] in {"`", '"'} else value
