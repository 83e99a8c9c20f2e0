"""Where `vipu` finds its controller when no option and no variable says it: the file that an installation has."""

from __future__ import annotations

from ipucloud.vipu_cli.configured import endpoint_of
from ipucloud.vipu_cli.files import LocalFiles
from ipucloud.vipu_cli.run import parse


class Installed(LocalFiles):
    """A machine with the vendor's configuration file."""

    def read(self, path: str) -> bytes:
        assert path == "/etc/vipu/vipu-cli.hcl"
        return b'api-host="10.3.7.150"\n'


def test_the_installed_file_names_the_controller_whose_port_is_8090() -> None:
    line = ["list", "partitions"]
    assert endpoint_of(parse(line, "vipu"), {}, Installed()).address == "10.3.7.150:8090"
    environment = {"VIPU_CLI_API_HOST": "10.5.1.1", "VIPU_CLI_API_PORT": "9000"}
    assert endpoint_of(parse(line, "vipu"), environment, Installed()).address == "10.5.1.1:9000"
    options = ["-H", "vipu.example", "-P", "8091", *line]
    assert endpoint_of(parse(options, "vipu"), environment, Installed()).address == "vipu.example:8091"
