"""The files of a server's S3 access, as rclone and Python's reader of the AWS tools' files read them."""

from __future__ import annotations

import configparser
import json
import subprocess
from pathlib import Path

import pytest

from ipucloud.laboratory.simulator.ssh import s3_files
from ipucloud.wire.site import S3Remote
from tests.support.s3 import rclone


def remote(**more: str) -> S3Remote:
    usual = {"name": "lake", "endpoint": "https://minio.example.com:9000", "region": "us-east-1", "bucket": "data"}
    return S3Remote.model_validate(usual | {"prefix": "", "access_key_id": "AKIA", "secret": "s3cret"} | more)


@pytest.mark.parametrize(
    "secret",
    ["plain/+=", "`tick", "`two`ticks", "'both'", '"quote', '"""three', "a`b", "#hash", ";semi", "%x", "[x]"],
)
def test_every_secret_is_read_as_it_is(tmp_path: Path, secret: str) -> None:
    lines = s3_files.merged("", [s3_files._remote(remote(secret=secret))])
    file = tmp_path / "rclone.conf"
    file.write_text(lines)
    dump = subprocess.run([rclone(), "--config", str(file), "config", "dump"], capture_output=True, check=True)
    read = json.loads(dump.stdout)["lake"]
    assert (read["secret_access_key"], read["no_check_bucket"]) == (secret, "true")
    aws = configparser.RawConfigParser()
    aws.read_string(s3_files.merged("", [s3_files._credentials(remote(secret=secret))]))
    assert aws["lake"]["aws_secret_access_key"] == secret


@pytest.mark.parametrize(
    ("endpoint", "amazon"),
    [
        ("https://minio.example.com:9000", False),
        ("https://s3.eu-central-1.amazonaws.com", True),
        ("https://s3.amazonaws.com.example.org", False),
    ],
)
def test_checksums_are_for_amazon_and_the_endpoint_for_s3_alone(endpoint: str, *, amazon: bool) -> None:
    bucket = remote(endpoint=endpoint)
    variables = s3_files.environment([bucket])
    assert variables["AWS_ENDPOINT_URL_S3"] == endpoint
    assert "AWS_ENDPOINT_URL" not in variables
    config = configparser.RawConfigParser()
    config.read_string(s3_files.merged("", [s3_files._config(bucket), s3_files._services(bucket)]))
    assert config["services lake"]["s3"] == f"\nendpoint_url = {endpoint}"
    assert "endpoint_url" not in config["profile lake"]
    for name in ("request_checksum_calculation", "response_checksum_validation"):
        assert config["profile lake"].get(name) == (None if amazon else "when_required")
        assert variables.get(f"AWS_{name.upper()}") == (None if amazon else "when_required")
