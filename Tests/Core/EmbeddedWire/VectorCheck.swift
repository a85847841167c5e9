import ElementalWire

/// The recorded frames in Embedded Swift. Tests/embedded makes `Recorded` of vectors.json.
struct VectorCheck {
    private var checked = 0
    private var failed = 0

    /// Whether all is as recorded.
    mutating func run() -> Bool {
        for recorded in Recorded.echoes { echo(recorded) }
        systemFrames()
        datagram()
        pieces()
        catalogue()
        choices()
        texts()
        print("\(failed == 0 ? "PASS" : "FAIL"): \(checked) checks of the wire in Embedded Swift, \(failed) failed")
        return failed == 0
    }

    private mutating func expect(_ isAsExpected: Bool, _ what: String) {
        checked += 1
        guard !isAsExpected else { return }
        failed += 1
        print("not as recorded: \(what)")
    }

    /// The frames of a stream that comes in two parts.
    private func frames(_ bytes: [UInt8], splitAt split: Int) -> [(id: Int8, value: [UInt8])] {
        var decoder = StreamDecoder(maximumValueByteCount: 1000)
        var frames: [(id: Int8, value: [UInt8])] = []
        for part in [bytes[..<split], bytes[split...]] {
            Array(part).withUnsafeBytes { part in
                do throws(WireError) {
                    try decoder.decode(part) { id, value in
                        frames.append((id, Array(value.bytes)))
                        return .next
                    }
                } catch {
                    frames.removeAll()
                }
            }
        }
        return frames
    }

    private mutating func echo(_ echo: Recorded.Echo) {
        for split in 0...echo.frame.count {
            let frames = frames(echo.frame, splitAt: split)
            guard frames.count == 1 else {
                expect(false, "\(echo.type), split at \(split), is \(frames.count) frames")
                continue
            }
            expect(frames[0].id == echo.id, "the identifier of \(echo.type)")
            let value = frames[0].value.withUnsafeBytes { ElementValue(wireBytes: $0, type: echo.type) }
            expect(value == echo.value, "the value of \(echo.type), split at \(split)")
        }
        var frame = Device.header(echo.id, echo.value.wireByteCount)
        frame += [UInt8](repeating: 0, count: echo.value.wireByteCount)
        frame.withUnsafeMutableBytes { frame in
            _ = echo.value.write(to: UnsafeMutableRawBufferPointer(rebasing: frame[Envelope.streamByteCount...]))
        }
        expect(frame == echo.frame, "the frame of \(echo.type)")
        expect(echo.value.type == echo.type, "the type of \(echo.type)")
    }

    private mutating func systemFrames() {
        let accept = frames(Recorded.onAccept, splitAt: 0)
        expect(accept.count == 1 && accept[0].id == SystemElement.udpIdentifier.rawValue, "the frame on accept")
        let name = frames(Recorded.clientHello, splitAt: 7)
        expect(name.count == 1 && name[0].id == SystemElement.deviceName.rawValue, "the frame with the name")
        expect(name[0].value.withUnsafeBytes { String(wireBytes: $0) } == "fake client", "the client's name")
        let hello = Hello(features: [.ping, .wantsCatalogue], udpPort: 54321)
        expect(hello.wireBytes.withUnsafeBytes { Hello(wireBytes: $0) } == hello, "a hello")
    }

    private mutating func datagram() {
        var isRight = false
        let result = Recorded.datagram.withUnsafeBytes { bytes in
            DatagramDecoder.decode(bytes) { id, identifier, value in
                isRight =
                    id == Recorded.datagramID && identifier == Recorded.datagramIdentifier
                    && Double(wireBytes: value) == Recorded.datagramValue
            }
        }
        expect(result == .complete && isRight, "the datagram")
    }

    /// A value of three pieces comes whole.
    private mutating func pieces() {
        let value = (0..<150).map { UInt8($0) }
        var assembler = PieceAssembler(maximumValueByteCount: 1000)
        var whole: [UInt8] = []
        for offset in stride(from: 0, to: value.count, by: 50) {
            var piece = [UInt8](repeating: 0, count: Envelope.streamByteCount + Piece.headerByteCount)
            piece.withUnsafeMutableBytes { piece in
                guard let base = piece.baseAddress else { return }
                Piece.writeHeader(id: 4, total: value.count, offset: offset, byteCount: 50, to: base)
            }
            piece = Array(piece[Envelope.streamByteCount...]) + value[offset..<offset + 50]
            piece.withUnsafeBytes { piece in
                do throws(WireError) {
                    try assembler.take(piece, progress: { _ in }) { _, bytes in whole = Array(bytes.bytes) }
                } catch {
                    print(error.message)
                }
            }
        }
        expect(whole == value, "a value in pieces")
    }

    private mutating func catalogue() {
        let bytes = Lamp.all.wireBytes
        var read: ElementCatalogue?
        var cuts = 0
        for count in 0...bytes.count {
            Array(bytes[..<count]).withUnsafeBytes { bytes in
                do throws(WireError) { read = try ElementCatalogue(wireBytes: bytes) } catch { cuts += 1 }
            }
        }
        expect(read == Lamp.all && cuts == bytes.count, "the catalogue")
        expect(Lamp.all[id: 2]?.transport == .udp && Lamp.all[id: 3] == nil, "an element by its identifier")
        let reset = Lamp.brightness.readable(by: .control).writable(by: .admin)
        let restricted: ElementCatalogue = [reset, Lamp.motion]
        expect(restricted.wireBytes == bytes && restricted != Lamp.all && reset.writers == .admin, "least roles")
        expect(Lamp.all["MOTION"]?.id == 2 && Lamp.all["Motio"] == nil, "an element by its name")
        expect(Lamp.brightness.allows(1) && !Lamp.brightness.allows(1.5), "a range")
        var message = ""
        do throws(WireError) { _ = try ElementCatalogue([Lamp.motion, Lamp.motion]) } catch { message = error.message }
        expect(message == "elements 'Motion' and 'Motion' share the identifier 2; give each its own", "a double")
    }

    private enum Switch: UInt8, CaseIterable, ElementRepresentable, CustomStringConvertible {
        case off, on

        var description: String { self == .off ? "off" : "on" }
    }

    private mutating func choices() {
        let mode = Element<Int16>(1, "Mode", choices: [-1: "down", 300: "up"])
        let speed = Element<String>(2, "Speed", choices: ["slow", "fast"])
        expect(mode.allows(-1) && mode.allows(300) && !mode.allows(44), "the choices of a number")
        expect(speed.allows("fast") && !speed.allows("faster") && !speed.allows("fasT"), "the choices of a text")
        let lamp = Element<Switch>(3, "Lamp")
        expect(lamp.allows(.on) && lamp.choices.count == 2 && lamp.choices[1].name == "on", "the cases of an enum")
        let all: ElementCatalogue = [mode, speed, lamp]
        let read = all.wireBytes.withUnsafeBytes { bytes -> ElementCatalogue? in
            do throws(WireError) { return try ElementCatalogue(wireBytes: bytes) } catch { return nil }
        }
        expect(read == all && read?[id: 1]?.choices.count == 2, "choices in a catalogue")
    }

    private mutating func texts() {
        for wrong in [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80]] as [[UInt8]] {
            expect(wrong.withUnsafeBytes { String(wireBytes: $0) } == nil, "bytes that are no UTF-8")
        }
        expect([2].withUnsafeBytes { Bool(wireBytes: $0) } == nil, "a byte that is no truth value")
    }
}

/// The program. `@main` has no exit status.
@_cdecl("main")
func main() -> Int32 {
    var check = VectorCheck()
    return check.run() ? 0 : 1
}
