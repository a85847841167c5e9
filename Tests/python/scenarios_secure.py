"""Encrypted connections and pairing with services of the command line, and what stands in their place."""

import asyncio
import base64
import json
import os
import random
import signal
import ssl
import struct
import subprocess
import sys

from elemental import (AdmissionRefused, ClosedByPeer, ConnectionFailed, ElementalError, IdentityChanged,
                       InvalidValue, NotAllowed, NotPaired, NotSupported, Pin, ProtocolViolation, Reconnection, SecurityError,
                       Service, ShutDown, State, WillReconnect, WrongCode, connect, pair)
from elemental.state import show_fingerprint
from peers import (HELLO, SHUTDOWN, UDP_IDENTIFIER, Raw, beside, check, frame, hello, raises, until)
from waits import lease, patience

SPECS = ["1:Speed:float:0...1=0.25", "2:Motion:float3:udp:latest", "3:Reset:bool:writers admin", "4:Picture:data",
         "5:Secret:string:readers control=hidden"]


async def published(bed, *, security="paired-to-control", port=0, state="service"):
    service = await beside(bed.publish, "robot", *SPECS, security=security, port=port, state=state)
    return service


async def code_of(service):
    return (await beside(service.event, "pairing"))["code"]


async def admitted(place, state):
    """Connects as soon as a running service has seen that its file has changed."""
    async def attempt():
        try:
            return await connect(place, state=state)
        except AdmissionRefused as error:
            check(error.code == 4, f"{error}")
    return await until(attempt, "admission", every=0.1)


async def pairing(bed, ok):
    service = await published(bed, port=lease())
    code = await code_of(service)
    folder = os.path.join(bed.folder, "python")
    state = State(folder)
    async with connect(service.place, state=state) as device:
        check(not device.is_encrypted and device["Speed"] == 0.25, "plain clients read")
        check([each.name for each in device.elements] == ["Speed", "Motion", "Reset", "Picture"], "and see what they may")
        await raises(NotAllowed, device.set("Speed", 0.5))
    await raises(NotPaired, connect(service.place, state=state, security="paired")._open())
    check(not os.path.exists(folder), "connecting makes no identity")
    ok("a client that is not paired may read")

    wrong = f"{(int(code) + 1) % 1_000_000:06}"
    await raises(InvalidValue, pair(service.place, "12345", state=state))
    await raises(WrongCode, pair(service.place, wrong, state=state))
    check(state.pins() == [], "nothing is trusted")
    asked = []

    async def ask(offer):
        asked.append(offer)
        await asyncio.sleep(0)
        return f"{code[:3]} {code[3:]}"

    pin = await pair(service.place, ask, state=state, name="Ada's laptop")
    check(asked[0].service == "robot" and asked[0].wants_digits and 0 < asked[0].seconds_left <= 300, f"{asked}")
    check(pin.role == "control" and pin.service == "robot" and state.pins() == [pin], f"{pin}")
    told = await beside(service.event, "paired")
    check(told["client"] == "Ada's laptop" and told["fingerprint"] == show_fingerprint(state.fingerprint()), f"{told}")
    await raises(SecurityError, pair(service.place, code, state=state))
    said = json.loads((await beside(bed.run, "open-pairing", service.place, "--json", state="service")).splitlines()[0])
    other = State(os.path.join(bed.folder, "python-other"))
    error = await raises(AdmissionRefused, pair(service.place, said["code"], state=other, name="Ada's laptop"))
    check(error.code == 12 and other.pins() == [], f"a name that is taken leaves nothing behind: {error}")
    ok("pairing by a code that is asked for; a wrong one costs a try, and the same service is not paired twice")

    sealed = []
    async with connect(service.place, state=state, name="Ada", reconnect=Reconnection((0.1,), forever=True)) as device:
        check(device.is_encrypted and device.role == "control" and device["Secret"] == "hidden", "as one that controls")
        take = device._session.udp._received
        device._session.udp._received = lambda data, address: sealed.append(data) or take(data, address)
        await device.set("Speed", 0.5)
        await device.set("Motion", (1, 2, 3))
        await until(lambda: device["Motion"] == (1, 2, 3), "back in a datagram")
        service.write("Motion=4,5,6")
        await until(lambda: device["Motion"] == (4, 5, 6), "the service's own")
        check(sealed and all(each[0] == 0xF4 for each in sealed), "all datagrams are sealed")
        check(await device.ping("udp") >= 0, "pings in datagrams")
        await raises(NotAllowed, device.set("Reset", True))
        picture = random.Random(2).randbytes(1 << 20)
        await device.set("Picture", picture)
        await until(lambda: device["Picture"] == picture, "a large value")
        # What was sealed before, again, and changed.
        before = device.statistics.malformed
        take(sealed[-1], None)
        take(sealed[-1][:-1] + bytes([sealed[-1][-1] ^ 1]), None)
        take(b"\xf4" + bytes(30), None)
        check(device.statistics.malformed == before + 3, "repeated and forged datagrams count for nothing")
        ok("values both ways over TLS and in sealed datagrams, large ones too; forged datagrams count for nothing")
        events = []
        device.on_event(events.append)
        service.end(signal.SIGKILL)
        await until(lambda: events and isinstance(events[0].reason, ClosedByPeer), "the loss")
        service = await published(bed, port=service.port)
        await until(lambda: device.is_connected and device["Speed"] == 0.25, "it is back")
        check(device.is_encrypted, "and encrypted")
        ok("it is connected again, encrypted")
        await beside(bed.run, "trust", "revoke", "Ada's laptop", state="service")
        await until(lambda: not device.is_connected, "who is revoked is disconnected")
        await until(lambda: any(isinstance(each, WillReconnect) and isinstance(each.error, AdmissionRefused) and each.error.code == 4
                                for each in events), "and not admitted again")
        ok("a client that is revoked")
    async with connect(service.place, state=state, security="open") as device:
        check(not device.is_encrypted, "in plain when that is asked for")
    state.forget(pin)

    # By fingerprints, without a code; and a long secret.
    await beside(bed.run, "trust", "add", show_fingerprint(state.fingerprint()), "--name", "python", "--role", "observe",
                 state="service")
    own = json.loads(await beside(bed.run, "trust", "show", "--json", state="service"))["fingerprint"]
    compact = own.replace("-", "").upper()
    key = base64.b32decode(compact + "=" * (-len(compact) % 8)).hex()
    state.trust(Pin("robot", "", key, "observe", ("127.0.0.1",)))
    async with await admitted(service.place, state) as device:
        check(device.role == "observe", f"{device.role}")
        await raises(NotAllowed, device.set("Speed", 0.5))
        check("Secret" not in [each.name for each in device.elements], "what it may not read is not there")
    ok("trust by fingerprints, and a lesser role")
    other = State(os.path.join(bed.folder, "other"))
    said = json.loads((await beside(bed.run, "open-pairing", service.place, "--secret", "--json", state="service")).splitlines()[0])
    pin = await pair(service.place, said["secret"], state=other, role="observe")
    check(pin.role == "observe", f"{pin}")
    ok("pairing by a long secret, for a lesser role")

    strict = await published(bed, security="paired", state="strict")
    error = await raises(ShutDown, connect(strict.place)._open())
    check("pair" in error.reason, error.reason)
    ok("a service for paired clients only says so")

    # Files.
    trusted = other.trust_file
    os.chmod(trusted, 0o644)
    await raises(SecurityError, connect(service.place, state=other)._open())
    os.chmod(trusted, 0o600)
    content = trusted.read_bytes()
    for bad in (b"", b"{", b"[]", b'{"services": [{}]}', b'{"services": 5}', content.replace(b"robot", b""),
                content.replace(b"observe", b"owner")):
        trusted.write_bytes(bad)
        await raises(SecurityError, connect(service.place, state=other)._open())
    trusted.write_bytes(content)
    os.unlink(other.identity_file)
    await raises(SecurityError, connect(service.place, state=other)._open())
    ok("files that are damaged, open to others or missing are named, and nothing is said in plain")
    await raises(NotSupported, _make_encrypted_service())
    said = subprocess.run(
        [sys.executable, "-B", "-c", "import sys; sys.modules['cryptography'] = sys.modules['zeroconf'] = None\n"
         "import asyncio, elemental, tempfile\n"
         "async def main():\n"
         f"    for what in (elemental.connect('robot'), elemental.pair({service.place!r}, '123456', state=elemental.State("
         "tempfile.mkdtemp()))):\n"
         "        try: await what\n"
         "        except elemental.MissingExtra as error: print(error)\n"
         f"    async with elemental.connect({service.place!r}) as device: print(device['Speed'])\n"
         "    async with elemental.Service('robot', [], address='127.0.0.1') as service: print(service.port > 0)\n"
         "asyncio.run(main())"], capture_output=True, text=True, timeout=patience())
    check("[zeroconf]" in said.stdout and "[encryption]" in said.stdout and "0.25" in said.stdout and "True" in said.stdout,
          said.stdout + said.stderr)
    ok("without the extras it says which one is missing, and the rest works")


async def _make_encrypted_service():
    Service("robot", [], security="paired")


async def is_first(service):
    """Connects to a service, and checks that nobody has told it anything before."""
    async with connect(service.place, name="the first"):
        connected = await beside(service.event, "connected")
        check(connected["client"] == "the first", f"{connected['client']} has connected")


async def impostors(bed, ok):
    service = await published(bed, port=lease())
    state = State(os.path.join(bed.folder, "python"))
    pin = await pair(service.place, await code_of(service), state=state)
    port = service.port
    await beside(service.end)

    other = await published(bed, port=port, state="another")
    await raises(IdentityChanged, connect(service.place, state=state)._open())
    await is_first(other)
    await beside(other.end)
    ok("another key in the place of the paired one")

    plain = await beside(bed.publish, "robot", *SPECS[:1], port=port, state="plain")
    await raises(ConnectionFailed, connect(service.place, state=state, timeout=2)._open())
    await is_first(plain)
    await beside(plain.end)
    first = []

    async def listens(reader, writer):
        first.append(await reader.read(6))
        writer.write(frame(UDP_IDENTIFIER, b"\1") + hello(0b110111))
        writer.close()

    server = await asyncio.start_server(listens, "127.0.0.1", 0)
    elsewhere = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    await raises(ConnectionFailed, connect(elsewhere, state=state, timeout=2)._open())
    check(first[0][:2] == b"\x16\x03", f"{first}: the beginning of a ClientHello")
    server.close()
    ok("a plain service in its place, at any port of that host, hears the beginning of TLS and no more")

    # Services with the right key that break the rules.
    own = State(os.path.join(bed.folder, "hostile"))
    own.make_identity()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.set_alpn_protocols(["elemental/1"])
    context.load_cert_chain(own.identity_file)

    async def against(answer, body):
        async def serve(reader, writer):
            raw = Raw(reader, writer)
            try:
                await answer(raw)
                await raw.ended()
            except (ConnectionError, asyncio.TimeoutError):
                pass
            finally:
                writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
        place = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            return await body(place)
        finally:
            server.close()

    state.forget(pin)
    state.trust(Pin("robot", "", own.fingerprint(), "control", ("127.0.0.1",)))

    def admission(kind, *fields):
        return frame(-13, bytes([1, kind]) + b"".join(fields))

    granted = admission(7, b"\2", b"\5robot")
    answers = {
        "another version": (frame(-13, b"\2\7\2\0"), ProtocolViolation),
        "a role that does not exist": (admission(7, b"\4", b"\0"), ProtocolViolation),
        "too many bytes": (admission(7, b"\2", b"\0", b"x"), ProtocolViolation),
        "too few bytes": (admission(7), ProtocolViolation),
        "another message": (admission(3, bytes(30)), ProtocolViolation),
        "a long frame": (struct.pack("<bI", -13, 2000) + bytes(2000), ProtocolViolation),
        "the session before admission": (frame(UDP_IDENTIFIER, b"\1"), ProtocolViolation),
        "a value before admission": (frame(1, bytes(4)), ProtocolViolation),
        "a refusal": (admission(255, b"\5", b"\3no\x07"), AdmissionRefused),
        "a refusal of a code that is not known": (admission(255, b"\x63", b"\0"), AdmissionRefused),
        "a refusal that is cut off": (admission(255, b"\5", b"\7no"), ProtocolViolation),
        "a shutdown": (frame(SHUTDOWN, b"no"), ShutDown),
        "nothing": (b"", ConnectionFailed),
        "noise": (b"abcdefghijklmnopqrstuvwxyz", ProtocolViolation),
        "a second secret": (granted + frame(UDP_IDENTIFIER, b"\1") + frame(-14, b"\1" + bytes(32)) * 2, ProtocolViolation),
        "a secret of another epoch": (granted + frame(UDP_IDENTIFIER, b"\1") + frame(-14, b"\2" + bytes(32)), ProtocolViolation),
        "a secret that is too short": (granted + frame(UDP_IDENTIFIER, b"\1") + frame(-14, b"\1"), ProtocolViolation),
    }
    for what, (data, kind) in answers.items():
        async def answer(raw):
            await raw.frame()
            raw.send(data)

        async def body(place):
            limit = {"timeout": 0.5} if kind is ConnectionFailed else {}
            return await raises(kind, connect(place, state=state, **limit)._open())

        try:
            await against(answer, body)
        except ElementalError as error:
            raise AssertionError(f"{what}: {type(error).__name__}: {error}") from error
    ok(f"{len(answers)} ways of a service with the right key to break the rules of admission")

    state.forget(state.pins()[0])
    offer = admission(3, b"\1", bytes(16), b"\x2c\1", b"\5robot")
    low = {"low order": bytes(32), "one": b"\1" + bytes(31), "another of low order": bytes.fromhex(
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f")}
    responses = {
        **{what: (offer, admission(5, point, b"\2", bytes(32)), ProtocolViolation) for what, point in low.items()},
        "a wrong tag": (offer, admission(5, b"\x09" + bytes(31), b"\2", bytes(32)), WrongCode),
        "more than was asked for": (offer, admission(5, b"\x09" + bytes(31), b"\3", bytes(32)), ProtocolViolation),
        "a short response": (offer, admission(5, b"\x09"), ProtocolViolation),
        "an unknown kind": (admission(3, b"\3", bytes(16), b"\x2c\1", b"\5robot"), b"", ProtocolViolation),
        "an offer that is cut off": (admission(3, b"\1", bytes(16)), b"", ProtocolViolation),
        "an offer without a name": (admission(3, b"\1", bytes(16), b"\x2c\1", b"\0"), b"", ProtocolViolation),
        "a closed window": (admission(255, b"\6", b"\0"), b"", AdmissionRefused),
        "another frame": (frame(HELLO, bytes(7)), b"", ProtocolViolation),
        "a long frame": (struct.pack("<bI", -13, 1 << 30), b"", ProtocolViolation),
    }
    for what, (first, second, kind) in responses.items():
        async def answer(raw):
            await raw.frame()
            raw.send(first)
            await raw.frame()
            raw.send(second)

        async def body(place):
            return await raises(kind, pair(place, "123456", state=state))

        try:
            await against(answer, body)
        except ElementalError as error:
            raise AssertionError(f"{what}: {type(error).__name__}: {error}") from error
        check(state.pins() == [], "nothing is trusted")
    ok(f"{len(responses)} ways to break the rules of pairing: nothing is trusted")
