"""What the tests need of Debian and PyPI, by the names that --without takes."""

import dataclasses
import functools
import os
import subprocess
import sys


@dataclasses.dataclass(frozen=True)
class Need:
    """Something that is installed before tests can run."""

    name: str
    # What is not tested without it.
    purpose: str
    packages: tuple[str, ...] = ()
    # Environments of Tests/environment.
    environments: tuple[str, ...] = ()
    # Commands that follow the packages.
    commands: tuple[tuple[str, ...], ...] = ()
    # The step of Tests/run --all that needs it; the gate does not.
    step: str | None = None


# Without these nothing builds or runs. Tests/run itself installs python3.
BASE = (
    *("libavahi-compat-libdnssd-dev", "libsodium-dev", "libasound2-dev", "libsqlite3-dev", "python3", "python3-venv"),
    *("avahi-daemon", "avahi-utils", "dbus", "dbus-bin", "iproute2", "jq", "openssl"),
)

UNPACK = "Tests/unpack"
NEEDS = (
    Need("commodore", "the 6502 program of Samples/Commodore", packages=("cc65", "make")),
    Need("py65", "comparing the virtual processor with py65", environments=("py65",)),
    Need(
        "embedded",
        "Embedded Swift and the firmware",
        packages=("gcc-arm-none-eabi", "libnewlib-arm-none-eabi", "qemu-system-arm"),
    ),
    Need("completion", "completion in zsh and fish", packages=("zsh", "fish")),
    Need("wireshark", "the script for Wireshark", packages=("tshark",)),
    Need("zbar", "reading QR codes with zbar", packages=("zbar-tools",)),
    Need("qrcode", "comparing QR codes with another encoder", environments=("qrcode",)),
    Need("mcap", "exchanging recordings with another implementation", environments=("mcap",)),
    Need("security", "attacks by other implementations", environments=("security-peers",)),
    Need(
        "signalr",
        "other implementations of SignalR",
        environments=("signalr-peers/server", "signalr-peers/signalrcore", "signalr-peers/pysignalr"),
        commands=(("Tests/signalr-peers/certificate",),),
    ),
    Need(
        "mqtt",
        "MQTT brokers and clients of others",
        packages=("mosquitto-clients",),
        environments=("mqtt-peers/amqtt",),
        commands=(
            (UNPACK, ".build/mqtt-peers", "mosquitto", "mosquitto", "mosquitto_passwd"),
            (UNPACK, ".build/mqtt-peers", "nats-server", "nats-server"),
        ),
    ),
    Need("browser", "the dashboard's page in a browser", packages=("chromium",), environments=("browser",)),
    Need("python", "Samples/Python", environments=("python",)),
    Need("osc", "other implementations of OSC", packages=("liblo-tools",), environments=("osc",)),
    Need(
        "promtool",
        "checking metrics with Prometheus' own program",
        commands=((UNPACK, ".build/promtool", "prometheus", "promtool"),),
    ),
    Need("package", "the Debian package", packages=("debhelper", "dpkg-dev", "man-db", "systemd")),
    Need(
        "bare-debian",
        "checking the Debian package with lintian and installing it in a bare Debian",
        packages=("lintian", "debootstrap"),
        commands=(("Tests/debian/bare",),),
        step="package",
    ),
    Need(
        "vice",
        "a Commodore in the emulator VICE, which is in Debian's contrib",
        packages=("xvfb", "xdotool"),
        commands=(("Samples/install-packages", "--contrib", "vice"),),
        step="vice",
    ),
    Need("spin", "the model of histories, checked with spin", packages=("spin", "gcc", "libc6-dev"), step="model"),
    Need("valgrind", "counting the files that run for one value", packages=("valgrind",), step="way"),
    Need(
        "swift-6.2",
        "compiling everything with Debian's Swift 6.2.3",
        packages=("debootstrap",),
        commands=(("Tests/swift-6.2", "--install"),),
        step="swift-6.2",
    ),
)
BY_NAME = {need.name: need for need in NEEDS}

# What --without takes besides: what a machine does not allow.
PERMISSIONS = {"root": "what needs root and network namespaces: two hosts, mounts, captured packets"}


def purpose(name: str) -> str:
    """What is not tested with --without NAME."""
    return BY_NAME[name].purpose if name in BY_NAME else PERMISSIONS[name]


@functools.cache
def is_root() -> bool:
    """Whether this process may make network namespaces."""
    return os.geteuid() == 0 and subprocess.run(["unshare", "--net", "true"], capture_output=True).returncode == 0


Command = list[str]


def apt(needs: list[Need]) -> Command:
    """Installs the packages of these needs in one go, which takes a fraction of the time of one after the other."""
    return ["Samples/install-packages", *dict.fromkeys(package for need in needs for package in need.packages)]


def environments(needs: list[Need]) -> Command:
    """Makes the Python environments of these needs."""
    return ["Tests/environment", *(name for need in needs for name in need.environments)]


def commands(needs: list[Need]) -> list[Command]:
    """All that installs some needs."""
    lists = [apt(needs), environments(needs)]
    # One without arguments has nothing to install.
    return [*(command for command in lists if len(command) > 1), *(list(command) for need in needs for command in need.commands)]


def main(names: list[str]) -> None:
    """Tests/install: installs needs by name."""
    unknown = [name for name in names if name not in BY_NAME]
    if not names or unknown:
        is_help = names in (["--help"], ["-h"])
        lines = ["Usage: Tests/install NAME…", "", *(f"  {need.name:<13}{need.purpose}" for need in NEEDS)]
        print("\n".join(lines), file=sys.stdout if is_help else sys.stderr)
        sys.exit(0 if is_help else 64)
    for command in [["Samples/install-packages", "python3-venv"], *commands([BY_NAME[name] for name in names])]:
        if subprocess.run(command).returncode != 0:
            sys.exit(f"Tests/install: '{' '.join(command)}' failed")


def advice(needs: list[Need]) -> str:
    """What to do when something could not be installed."""
    names = [need.name for need in needs]
    lines = ["Check the network and the sources of apt and pip, and run Tests/run again: what is installed is kept."]
    if names:
        lines.append("Or leave out what needs it with --without NAME, where NAME is one of: " + " ".join(names))
    return "\n".join(lines)
