"""`ipucloud-sim`: the command line of the simulated site."""

from __future__ import annotations

import argparse
import os
import re
import socket
import sys
from collections.abc import Callable, Sequence
from ipaddress import IPv4Network
from pathlib import Path
from typing import get_args

import uvloop

from ipucloud import __version__
from ipucloud.laboratory.simulator.hardware import DOMAIN_MACHINES, SLUGS
from ipucloud.laboratory.simulator.parent import die_with_parent
from ipucloud.laboratory.simulator.ports import PORTS, PortTaken, read_ports
from ipucloud.laboratory.simulator.process import FolderTaken, FolderUnusable, run
from ipucloud.laboratory.simulator.settings import (
    ADDRESS_PORT,
    ADDRESSES,
    CONTROL_PLANE,
    DEFAULT_DISK_MIB,
    DEFAULT_MACHINES,
    DEFAULT_POD_SIZE,
    DEFAULT_SERVERS,
    VIPU_VERSION,
    Numbering,
    Settings,
    WallChoice,
)
from ipucloud.laboratory.simulator.site import SizeMismatch
from ipucloud.laboratory.simulator.sources import read_network
from ipucloud.laboratory.simulator.store import replace_file
from ipucloud.process import logs
from ipucloud.process.first import leave_first_process
from ipucloud.process.lines import STANDARD_OUTPUT, LineWriter
from ipucloud.process.signals import stop_signals

TOKEN_VARIABLE = "IPUCLOUD_SITE_TOKEN"
USER_VARIABLE, KEY_VARIABLE = "IPUCLOUD_VIPU_USER", "IPUCLOUD_VIPU_ACCESS_KEY"
ADMINISTRATOR = "ipucloud"

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?", re.ASCII)


def main(argv: Sequence[str] | None = None) -> None:
    """Run a simulated site until a signal stops it. Exits 0 then, 1 when it could not start, 2 on wrong usage."""
    parser = _parser()
    options = parser.parse_args(argv)
    token = options.token or os.environ.get(TOKEN_VARIABLE, "")
    if not token:
        parser.error(f"a site token is needed: --token, or {TOKEN_VARIABLE}")
    administrator = _administrator(options.access_key)
    if options.secure and administrator is None:
        parser.error(f"secure controllers need the key of an administrator: --access-key, or {KEY_VARIABLE}")
    if options.ready_file is not None:
        options.ready_file.unlink(missing_ok=True)
    leave_first_process()
    with stop_signals() as signals:
        if options.die_with_parent:
            die_with_parent()
        logs.configure(options.log_format, "warning")
        out = LineWriter(STANDARD_OUTPUT)
        try:
            uvloop.run(
                run(
                    _settings(options, token, administrator),
                    signals,
                    lambda line: _announce(out, line, options.ready_file),
                )
            )
        except (FolderTaken, FolderUnusable, PortTaken, SizeMismatch) as problem:
            sys.exit(f"ipucloud-sim: {problem}")
        except PermissionError as error:
            sys.exit(
                f"ipucloud-sim: {error.filename}: {error.strerror} for user {os.geteuid()}. Give {options.data} and "
                "everything in it to that user, or choose another folder with --data."
            )
        finally:
            out.close()


def _announce(out: LineWriter, line: str, ready_file: Path | None) -> None:
    if ready_file is not None:
        replace_file(ready_file, f"{line}\n".encode(), fsync=False)
    out.write_line(line)


def _settings(options: argparse.Namespace, token: str, administrator: tuple[str, str] | None) -> Settings:
    return Settings(
        data=options.data.resolve(),
        token=token,
        bind=options.bind,
        advertise=options.advertise,
        http_port=options.http_port,
        machines=options.machines,
        pod_size=options.pod_size,
        hosts=options.machines if options.hosts is None else options.hosts,
        servers=options.servers,
        regions=tuple(options.region),
        disk_mib=options.disk,
        time_scale=options.time_scale,
        machines_on=options.machines_on,
        seed=options.seed,
        secure=options.secure,
        administrator=administrator,
        gateway_topology=options.gateway_topology,
        fsync=options.fsync,
        clients=None if options.clients is None else options.clients.resolve(),
        plaintext=options.plaintext,
        vipu_version=options.vipu_version,
        cluster_test=options.cluster_test,
        numbering=options.numbering,
        pods_per_controller=options.pods_per_controller,
        versions=tuple(options.controller_version),
        wall=options.wall,
        unconfined=options.unconfined,
        insecure_registries=tuple(options.insecure_registry),
        use_engine=options.use_engine,
        ports=options.ports,
        addresses=options.addresses,
        address_port=options.address_port,
        control_plane=tuple(options.control_plane) or CONTROL_PLANE,
    )


def _administrator(key: str) -> tuple[str, str] | None:
    """Whom secure controllers know from the start; the control plane is configured by the same variables."""
    key = key or os.environ.get(KEY_VARIABLE, "")
    return (os.environ.get(USER_VARIABLE) or ADMINISTRATOR, key) if key else None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ipucloud-sim", description="A simulated site for ipucloud.")
    add = parser.add_argument
    add("--version", action="version", version=__version__)
    add("--data", type=Path, required=True, metavar="DIR", help="folder of the site's state")
    add("--bind", type=_address, default="127.0.0.1", metavar="ADDRESS", help="address to listen on (%(default)s)")
    add("--advertise", default="", metavar="ADDRESS", help="address that others reach it by (that of --bind)")
    add("--http-port", type=_count(0, 65535), default=0, metavar="PORT", help="0 (default): choose one and keep it")
    add("--ports", type=_ports, default=PORTS, metavar="FIRST-LAST", help="to choose from (20000-32000)")
    add("--addresses", type=_network, default=ADDRESSES, metavar="NETWORK", help="of public addresses (%(default)s)")
    add("--address-port", type=_count(1, 65535), default=ADDRESS_PORT, metavar="PORT", help="of theirs (%(default)s)")
    add(
        "--control-plane",
        type=_source,
        action="append",
        default=[],
        metavar="NETWORK",
        help="from which the control plane logs in, whatever sources customers allow; repeatable (this machine)",
    )
    add("--machines", type=_count(1, 16384), default=DEFAULT_MACHINES, metavar="N", help="IPU machines per region")
    add("--pod-size", type=_count(1, DOMAIN_MACHINES), default=DEFAULT_POD_SIZE, metavar="N", help="machines per pod")
    add("--hosts", type=_count(0, 16384), metavar="N", help="hosts per region (as many as machines)")
    add("--servers", type=_count(0, 250), default=DEFAULT_SERVERS, metavar="N", help="C600 and DSS 8440 servers, each")
    add("--region", type=_region, action="append", default=[], metavar="SLUG:TYPE", help="one more, and its machines")
    add("--disk", type=_count(1, 1 << 20), default=DEFAULT_DISK_MIB, metavar="MIB", help="disk of a Poplar server")
    add("--time-scale", type=_scale, default=1.0, metavar="X", help="45: 15 minutes take 20 s; 0: no time at all")
    add("--token", default="", help=f"site token (else {TOKEN_VARIABLE})")
    add("--ready-file", type=Path, metavar="FILE", help="write the ready line here too")
    add("--die-with-parent", action="store_true", help="stop when the process that started this one ends (Linux)")
    add("--machines-on", action="store_true", help="machines start switched on (else off, as clean-up leaves them)")
    add("--seed", type=int, default=0, help="seed of the fault rules' probabilities")
    add("--clients", type=Path, metavar="DIR", help="folder for the control plane's certificates (DIR/clients)")
    add("--plaintext", action="store_true", help="V-IPU controllers without TLS")
    add("--secure", action="store_true", help="V-IPU controllers ask their callers for access keys")
    add("--access-key", default="", help=f"key of the user who sees everything (else {KEY_VARIABLE})")
    add("--vipu-version", default=VIPU_VERSION, metavar="VERSION", help="what V-IPU controllers run (%(default)s)")
    add("--pods-per-controller", type=_count(1, 16), default=0, metavar="N", help="several per region (one for all)")
    add("--controller-version", type=_version, action="append", default=[], metavar="NAME:VERSION", help="of one")
    add("--no-cluster-test", dest="cluster_test", action="store_false", help="V-IPU controllers test no clusters")
    add("--numbering", choices=get_args(Numbering), default="by-machine", help="how they count a domain's IPUs")
    add(
        "--wall",
        choices=get_args(WallChoice),
        default="auto",
        help="around servers' programs (auto: what there is)",
    )
    add("--unconfined", action="store_true", help="run servers' programs without a wall where there is none")
    add(
        "--insecure-registry", type=_registry, action="append", default=[], metavar="HOST:PORT", help="images over HTTP"
    )
    add("--no-engine", dest="use_engine", action="store_false", help="take no images from Docker or Podman here")
    add("--gateway-topology", choices=["looped", "switched"], default="looped", help="how GW-Links are cabled")
    add("--log-format", choices=get_args(logs.Format), default="json", help="of the log (%(default)s)")
    add("--no-fsync", dest="fsync", action="store_false", help="faster; state survives a kill, not a loss of power")
    return parser


def _count(least: int, most: int) -> Callable[[str], int]:
    def count(text: str) -> int:
        value = int(text)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{value} is not between {least} and {most}")
        return value

    return count


def _ports(text: str) -> range:
    try:
        return read_ports(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _network(text: str) -> IPv4Network:
    try:
        network = IPv4Network(text)
    except ValueError:
        network = IPv4Network("0.0.0.0/32")
    if network.num_addresses < 4:
        raise argparse.ArgumentTypeError(f"{text!r} is no network of addresses, as in {ADDRESSES}")
    return network


def _source(text: str) -> str:
    try:
        return str(read_network(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _address(text: str) -> str:
    try:
        socket.getaddrinfo(text, None)
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no address: {error.strerror}") from None
    return text


def _registry(text: str) -> str:
    host, _, port = text.rpartition(":")
    if not host or not port.isascii() or not port.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is no registry and its port, as in 127.0.0.1:5000")
    return text.lower()


def _region(text: str) -> tuple[str, str]:
    slug, _, machine_type = text.partition(":")
    if not all(_NAME.fullmatch(name) for name in (slug, machine_type)) or slug in SLUGS:
        raise argparse.ArgumentTypeError(f"{text} is not a new region and a machine type, as in frankfurt-1:m2000")
    return slug, machine_type


def _version(text: str) -> tuple[str, str]:
    name, _, version = text.partition(":")
    if not (name and version):
        raise argparse.ArgumentTypeError(f"{text} is not a controller and a version, as in luxembourg-2-c1:1.18.0")
    return name, version


def _scale(text: str) -> float:
    value = float(text)
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError("a time scale is 0 or more")
    return value


if __name__ == "__main__":
    main()
