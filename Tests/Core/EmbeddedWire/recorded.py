"""Prints vectors.json as Swift source, for a program that has no Foundation to read it with."""

import json
import sys


def array(hex_digits):
    return "[" + ", ".join(str(byte) for byte in bytes.fromhex(hex_digits)) + "]"


def value(type_name, recorded):
    if type_name == "string":
        return json.dumps(recorded, ensure_ascii=False)
    if type_name == "data":
        return array(recorded)
    if type_name == "float4x4":
        return f"Matrix4x4({recorded} as [Float])"
    return str(recorded).lower()  # "True" is "true" in Swift


vectors = json.load(open(sys.argv[1], encoding="utf-8"))
datagram = vectors["udpDatagram"]
print("import ElementalWire\n\nenum Recorded {")
print("    typealias Echo = (id: Int8, type: ElementType, value: ElementValue, frame: [UInt8])\n")
print("    static var echoes: [Echo] {\n        [")
for echo in vectors["tcpEchoes"]:
    name = echo["type"]
    print(f"            ({echo['id']}, .{name}, .{name}({value(name, echo['value'])}), {array(echo['frame'])}),")
print("        ]\n    }")
print(f"    static let onAccept: [UInt8] = {array(vectors['onAccept']['serverSends'])}")
print(f"    static let clientHello: [UInt8] = {array(vectors['clientHello']['clientSends'])}")
print(f"    static let datagram: [UInt8] = {array(datagram['datagram'])}")
print(f"    static let datagramID: Int8 = {datagram['id']}")
print(f"    static let datagramIdentifier: UInt8 = {datagram['udpIdentifier']}")
print(f"    static let datagramValue: Double = {datagram['value']}")
print("}")
