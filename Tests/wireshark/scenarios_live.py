"""Scenarios with real services and clients, whose packets are captured on loopback in a namespace of this process."""

import os
import random
import socket
import ssl
import struct

from packets import Live, frame, hello, text
from shark import fields, info, messages, tshark
from waits import Bed, Failure

# Of each type: its code, what the client sets, how that is shown, what the service sets, how that is shown.
TYPES = {
    "int8": (1, "-128", "-128", "127", "127"),
    "uint8": (2, "255", "255", "0", "0"),
    "int16": (3, "-32768", "-32768", "32767", "32767"),
    "uint16": (4, "65535", "65535", "1", "1"),
    "int32": (5, "-2147483648", "-2147483648", "2147483647", "2147483647"),
    "uint32": (6, "4294967295", "4294967295", "16777217", "16777217"),
    "int64": (7, "-9223372036854775808", "-9223372036854775808", "9223372036854775807", "9223372036854775807"),
    "uint64": (8, "18446744073709551615", "18446744073709551615", "9007199254740993", "9007199254740993"),
    "float": (9, "0.1", "0.1", "-inf", "-inf"),
    "double": (10, "0.1", "0.1", "1.7976931348623157e308", "1.7976931348623157e+308"),
    "string": (11, "hé, \u202e\u001b[2J", "hé, \\u{202E}\\x1b[2J", "日本", "日本"),
    "data": (12, "000102ff", "000102ff", "ff", "ff"),
    "bool": (13, "on", "true", "off", "false"),
    "float2": (14, "1.5,-2", "1.5, -2", "3,4", "3, 4"),
    "float3": (15, "1,2,3.25", "1, 2, 3.25", "0,0,nan", "0, 0, nan"),
    "float4": (16, "1,2,3,4", "1, 2, 3, 4", "0.1,0.2,0.3,0.4", "0.1, 0.2, 0.3, 0.4"),
    "float4x4": (17, ",".join(map(str, range(16))), ", ".join(map(str, range(16))), ",".join(["0.5"] * 16),
                 ", ".join(["0.5"] * 16)),
}
# What Wireshark decodes: a part of something that ends in a later packet is shown there, and what is sent again is not.
PAYLOAD = ("tcp.len > 0 && !tcp.segment_data && !tcp.analysis.retransmission && !tcp.analysis.spurious_retransmission "
           "&& !tcp.analysis.keep_alive")
FIELDS = {"int": "int", "uint": "uint", "float": "float", "double": "float", "string": "string", "data": "data", "bool": "bool"}


def name(type, transport):
    return f"{transport} {type}"


def expect(condition, what, *evidence):
    if not condition:
        raise Failure(f"{what}: {' '.join(map(repr, evidence))[:1500]}")


class Client:
    """A client in a few lines, for what ours does not do."""

    def __init__(self, connection):
        self.connection, self.buffer = connection, b""

    def send(self, *frames):
        self.connection.sendall(b"".join(frames))

    def until(self, *wanted):
        """Reads frames up to one of these identifiers, and returns its value."""
        while True:
            while len(self.buffer) >= 5:
                id, length = struct.unpack_from("<bI", self.buffer)
                if len(self.buffer) < 5 + length:
                    break
                value, self.buffer = self.buffer[5:5 + length], self.buffer[5 + length:]
                if id in wanted:
                    return value
            more = self.connection.recv(65536)
            if not more:
                raise Failure(f"the service closed the connection before {wanted}")
            self.buffer += more


def values(folder, elemental, ok):
    path = os.path.join(folder, "values.pcap")
    elements = [f"{code + first}:{name(type, transport)}:{type}{':udp' if transport == 'udp' else ''}:unit u{code}"
                for transport, first in (("tcp", 0), ("udp", 20)) for type, (code, *_) in TYPES.items()]
    elements += ["50:Picture:data", "51:Speed:float:0...1:unit m/s=0.5", "52:Mode:uint8:choices 0 off,1 on,7 far out=off",
                 "53:Load:double:ro:unit %=1.5"]
    picture = random.Random(1).randbytes(300_000)
    with open(os.path.join(folder, "picture"), "wb") as file:
        file.write(picture)
    with Bed(elemental) as bed, Live(path):
        service = bed.publish("lab", *elements)
        watch = bed.start("watch", service.place, "--json", "--name", "watcher", state="client")
        # The values at the beginning come in the order of the elements.
        watch.value("Load")
        for transport in ("tcp", "udp"):
            bed.set(service.place, *(f"{name(type, transport)}={TYPES[type][1]}" for type in TYPES))
            for type in TYPES:
                watch.value(name(type, transport))
            for type in TYPES:
                service.write(f"{name(type, transport)}={TYPES[type][3]}")
            for type in TYPES:
                watch.value(name(type, transport))
        bed.set(service.place, f"Picture=@{folder}/picture", "Mode=far out")
        watch.value("Picture")
        raw = Client(socket.create_connection(("127.0.0.1", service.port)))
        raw.send(frame(-2, b"raw"), hello())
        raw.until(-5)
        raw.send(frame(51, struct.pack("<f", 9)), frame(52, b"\x09"), frame(53, struct.pack("<d", 1)), frame(99, b"x"),
                 frame(1, b"ab"), frame(-6, b"12345678"))
        raw.until(-7)
        raw.connection.close()
        # A value after all others, so that they have been sent.
        service.write("Speed=0.25")
        watch.value("Speed", lambda value: value == 0.25)
        service.end()
        watch.event("disconnected")

    found = messages(path)
    for transport in ("tcp", "udp"):
        for type, (code, _, set_by_client, _, set_by_service) in TYPES.items():
            each = [message for message in found if message.get("name") == name(type, transport) and "system" not in message]
            expect(all((message["type"], message["unit"]) == (str(code), f"u{code}") for message in each), f"type and unit of {type}", each)
            # The newest values come over TCP when a client connects.
            each = [message for message in each if ("udp_identifier" in message) == (transport == "udp")]
            for from_service, shown in (("0", set_by_client), ("1", set_by_client), ("1", set_by_service)):
                expect(any(message["from_service"] == from_service and message.get("value") == shown
                           and _number(type, message) == _wanted(type, shown) for message in each),
                       f"{name(type, transport)} = {shown}, from the service: {from_service}", each)
    ok("all types, both ways, over TCP and UDP, with names, types, units and values")

    whole = [message for message in found if "reassembled" in message]
    expect({message["from_service"] for message in whole} == {"0", "1"}, "a picture each way", len(whole))
    expect(all(message["name"] == "Picture" and bytes.fromhex(message["value.data"].replace(":", "")) == picture for message in whole),
           "the picture's bytes", [message["id"] for message in whole])
    taken = [int(message["pieces_taken"]) for message in found if "pieces_taken" in message]
    expect(taken.count(len(picture)) >= 2, "both ends took the whole picture", taken)
    lines = info(path)
    expect(sum("Picture=300000 bytes (put together from pieces)" in line for line in lines) == len(whole),
           "the picture in the packet list", lines)
    ok("pieces are put together")

    catalogues = [message for message in found if message.get("system") == "catalogue"]
    # Of the watcher, of each `set`, and of the client that is written here.
    expect(len(catalogues) == 5 and catalogues[0]["catalogue.count"] == str(len(elements)), "catalogues", len(catalogues))
    expect(any(message.get("client") == "watcher" for message in found), "the client's name", found[:3])
    expect(any(message.get("choice") == "far out" and message["value.uint"] == "7" for message in found), "a choice's name", "")
    expect(any(message.get("shutdown") for message in found), "the reason of a shutdown", "")
    ok("catalogue, name, choices, shutdown")

    refused = [(message["refused.element"], message["refused.reason"], message.get("name")) for message in found
               if message.get("system") == "refused"]
    expect(sorted(refused) == [("51", "1", "Speed"), ("52", "2", "Mode"), ("53", "3", "Load")], "refused values", refused)
    bad = [message for message in found if message["complaints"] and message["from_service"] == "0"]
    expect([(message["id"], message["complaints"]) for message in bad] == [
        ("51", ["out_of_range"]), ("52", ["not_a_choice"]), ("53", ["not_allowed"]), ("99", ["unknown"]), ("1", ["wrong_length"])],
        "what is wrong with the client's values", bad)
    expect(not [message for message in found if message["complaints"] not in ([], ["refused"]) and message["from_service"] == "1"],
           "nothing is wrong with what the service sends", "")
    ok("refused values, and what is wrong with them")

    pongs = [message for message in found if message.get("system") == "pong"]
    expect(pongs and all(int(message["ping.answer_to"]) < message["frame"] and float(message["ping.time"]) > 0 for message in pongs),
           "pongs belong to pings", pongs)
    ok("pings and pongs")

    # Nothing that is sent to the two ends was left out.
    left = fields(path, "frame.number", "_ws.col.Info", filter=f"({PAYLOAD} || udp) && !elemental")
    expect(not left, "packets that are not taken for elemental's", left)
    filtered = [int(row[0][0]) for row in fields(
        path, "frame.number", filter='elemental.name == "Speed" && elemental.value.float > 0.3 && elemental.id == 51')]
    wanted = {message["frame"] for message in found if message["id"] == "51" and message.get("value") in ("0.5", "0.25", "9")}
    expect(filtered and set(filtered) <= wanted, "a filter by name and value", filtered, wanted)
    ok("filters")


def _number(type, message):
    key = FIELDS.get(type.rstrip("0123456789x"), "float")
    return message.get("value." + ("float" if "float" in type else key))


def _wanted(type, shown):
    """What the field of the type has for a value that is shown so."""
    if type == "string":
        # JSON has the text itself.
        return {"hé, \\u{202E}\\x1b[2J": "hé, \u202e\x1b[2J"}.get(shown, shown)
    if type == "data":
        return ":".join(shown[index:index + 2] for index in range(0, len(shown), 2))
    if type == "bool":
        return "1" if shown == "true" else "0"
    if type in ("double",) or "float" in type:
        numbers = [float(part) if type == "double" else struct.unpack("<f", struct.pack("<f", float(part)))[0] for part in shown.split(",")]
        parts = [f"{number:.15g}" for number in numbers]
        return parts[0] if len(parts) == 1 else parts
    return shown


def encrypted(folder, elemental, ok):
    path, keyed, keys = (os.path.join(folder, each) for each in ("sealed.pcap", "keyed.pcap", "keys"))
    elements = ["1:Speed:float:0...1:unit m/s=0.5", "2:Arm:float3:udp=1,2,3", "3:Secret word:string=open sesame"]
    with Bed(elemental) as bed:
        service = bed.publish("lab", *elements, name="Vault", security="paired")
        with Live(path):
            watch = bed.start("watch", service.place, "--json", "--security", "paired", state="service")
            watch.value("Arm")
            bed.run("set", service.place, "Speed=0.75", "Arm=4,5,6", "--security", "paired", state="service")
            watch.value("Arm", lambda value: value == [4, 5, 6])
        with Live(keyed):
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            context.set_alpn_protocols(["elemental/1"])
            context.load_cert_chain(os.path.join(bed.folder, "service", "identity.pem"))
            context.keylog_filename = keys
            tls = Client(context.wrap_socket(socket.create_connection(("127.0.0.1", service.port))))
            tls.send(frame(-13, b"\1\1" + text("") + b"\2" + text("python")))
            tls.until(-13)
            tls.send(frame(-2, b"python"), frame(-14, b"\1" + bytes(range(32))), hello())
            tls.until(3)
            tls.send(frame(1, struct.pack("<f", 0.125)), frame(-6, b"ping"))
            tls.until(-7)
            tls.connection.close()

    columns = ("elemental.tls", "tcp.reassembled_in", "elemental.value", "elemental.name", "elemental.sealed")
    rows = fields(path, *columns, filter=PAYLOAD)
    expect(not any(value or name or sealed for _, _, value, name, sealed in rows), "nothing of TCP is shown", rows)
    # A record may come in several segments, of which the last is told as encrypted.
    expect(rows and all(tls == ["1"] or later for tls, later, *_ in rows), "all of TCP is told as encrypted", rows)
    lines = info(path)
    expect(any("ELEMENTAL/TLS" in line and "Client Hello" in line for line in lines), "TLS in the packet list", lines)
    datagrams = [message for message in messages(path, "udp")]
    expect({message["from_service"] for message in datagrams} == {"0", "1"}, "sealed datagrams both ways", datagrams)
    expect(all("sealed" in message and int(message["counter"]) >= 1 and "value" not in message for message in datagrams), "sealed", datagrams)
    whole = tshark(path, "-V")
    expect(not any(word in whole for word in ("open sesame", "Secret word", "Speed", "Vault")), "no name or value is shown", "")
    ok("TLS and sealed datagrams are told as such")

    found = messages(keyed, options=("-o", f"tls.keylog_file:{keys}"))
    kinds = [message.get("system") for message in found]
    for kind in ("admission", "UDP identifier", "device name", "hello", "catalogue", "datagram secret", "ping", "pong"):
        expect(kind in kinds, f"{kind} inside TLS", kinds)
    expect([message["admission.message"] for message in found if "admission.message" in message] == ["1", "7"], "admission", found)
    expect(not [message for message in found if message["complaints"]], "no complaints", found)
    speeds = [(message["from_service"], message["value"]) for message in found if message.get("name") == "Speed"]
    expect({("1", "0.75"), ("0", "0.125")} <= set(speeds), "values inside TLS", speeds)
    expect(any(message.get("value.string") == "open sesame" for message in found), "a text inside TLS", found)
    ok("with the keys of a client that logs them, what is inside is shown")
