"""Zeroconf: services of either end are found by the other, through a real avahi-daemon."""

import asyncio
import json
import os
import shutil
import subprocess
import sys

from elemental import (AmbiguousService, Element, InvalidElement, Service, ServiceNotFound, browse, connect)
from peers import beside, check, raises, until
from waits import Failure

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SPEED = Element(1, "Speed", "float")


async def found(bed, ok):
    """Runs `found_here` in a network namespace in which our responder and avahi-daemon hear each other."""
    inside = ["unshare", "--net", "sh", "-c", "PATH=$PATH:/sbin:/usr/sbin; ip link set lo up multicast on && ip route add 224.0.0.0/4 dev lo && "
              'exec "$@"', "sh"]
    allowed = os.geteuid() == 0 and shutil.which("unshare") and (
        await beside(subprocess.run, [*inside, "true"], capture_output=True)).returncode == 0
    if not allowed:
        print("left out found: not root, or no network namespaces here", flush=True)
        return
    process = await asyncio.create_subprocess_exec(
        *inside, os.path.join(ROOT, "Samples/private-avahi"), "--same-network", "--", sys.executable, "-B",
        os.path.join(ROOT, "Tests/python/check.py"), "--elemental", bed.elemental, "foundhere",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.terminate()
    for line in output.decode().splitlines():
        if line.startswith("ok "):
            print(line, flush=True)
    if process.returncode:
        raise Failure(output.decode())


async def _ambiguous():
    """Connects until both are seen: answers of sockets on one host may be late, as another socket gets the first ones."""
    while True:
        try:
            await (await connect("robot")).close()
        except AmbiguousService as error:
            return error


async def found_here(bed, ok):
    lamp = bed.start("publish", "lamp", "--name", "Küche 2.0", "--element", "1:Light:bool=on", "--address", "127.0.0.1",
                     "--stay", "--json", "--security", "open", state="lamp")
    found, gone = [], []

    async def follow(service, list_of):
        async for each in browse(service):
            (found if each.is_there else gone).append((list_of, each.place.service, each.place.name))

    browsing = [asyncio.ensure_future(follow(None, "all")), asyncio.ensure_future(follow("robot", "robots"))]
    async with Service("robot", [SPEED], name="Rover", address="127.0.0.1", txt={"colour": "blue"}) as ours:
        ours["Speed"] = 0.25
        check(await ours.published() == "Rover", "the name")
        await beside(lamp.event, "published")
        await until(lambda: {("all", "lamp", "Küche 2.0"), ("all", "robot", "Rover"), ("robots", "robot", "Rover")} <= set(found),
                    "both are found")
        ok("services of both kinds in the common listing, whose claims are checked")
        listed = bed.start("browse", "--json", state="browser")
        entry = await beside(listed.event, "found", service="robot")
        check(entry["instance"] == "Rover" and entry["port"] == ours.port and entry["txt"] == {"colour": "blue"}, f"{entry}")
        check(json.loads(await beside(bed.run, "get", "robot", "Speed", "--json"))["value"] == 0.25, "by its name")
        await beside(bed.run, "set", "robot/Rover", "Speed=0.5")
        check(ours["Speed"] == 0.5, "by its instance's")
        ok("the command line finds our service, reads and sets it")
        async with connect("lamp") as device:
            check(device["Light"] is True and device.name == "Küche 2.0", f"{device}")
        async with connect("lamp/Küche 2.0") as device:
            await device.set("Light", False)
        ok("our client finds the command line's, also under a name with a dot")
        async with connect("robot/Rover", reconnect=True) as device:
            check(device["Speed"] == 0.5, "ours finds ours")
            async with Service("robot", [SPEED], name="Rover", address="127.0.0.1") as second:
                check(await second.published() == "Rover (2)", "another name")
                error = await _ambiguous()
                check("robot/Rover (2)" in str(error), str(error))
            await until(lambda: ("all", "robot", "Rover (2)") in gone, "it is withdrawn")
            ok("a name that is taken, and a service that is withdrawn")
            # The same service at another port.
            await ours.stop()
            async with Service("robot", [SPEED], name="Rover", address="127.0.0.1") as again:
                again["Speed"] = 0.75
                await until(lambda: device.is_connected and device["Speed"] == 0.75, "found at its new port")
            ok("a device by its name is found again at another port")
    await until(lambda: [each["event"] for each in listed.events() if each.get("instance") == "Rover"][-1] == "gone",
                "the command line sees it go")
    error = await raises(ServiceNotFound, connect("nothing", timeout=0.5)._open())
    await raises(ServiceNotFound, connect("robot/Nobody", timeout=0.5)._open())
    try:
        Service("robot", [], name="a.b")
    except InvalidElement:
        pass
    else:
        check(False, "a name with a dot was taken")
    for each in browsing:
        each.cancel()
    await asyncio.gather(*browsing, return_exceptions=True)
    ok(f"what is not there: {error}")
