public import Elemental
import PETSCII

#if canImport(FoundationEssentials)
public import struct FoundationEssentials.Data
#else
public import struct Foundation.Data
#endif

/// The elements of a Commodore behind a gateway, for a program that declares no catalogue of its own.
///
/// Clients send writable elements to the machine, and the machine sends readable ones. Only the newest value of a
/// `latest` element is sent, so that a slider moved by hand never waits behind its own old values.
public enum CommodoreElements {
    // MARK: Screen

    private static let colours = ElementChoices(Colour.allCases.map { ($0.rawValue, $0.name) })

    /// The colour of the screen's border.
    public static let border = Element<UInt8>(1, "border", range: 0...15, choices: colours, latest: true)
    /// The colour of the screen's background.
    public static let background = Element<UInt8>(2, "background", range: 0...15, choices: colours, latest: true)
    /// Text to print on the screen.
    public static let print = Element<String>(3, "print", access: .write)
    /// A line that the user has typed.
    public static let line = Element<String>(4, "line", access: .read)

    // MARK: Joysticks

    /// The joystick in port 1: bit 0 up, 1 down, 2 left, 3 right, 4 fire; 1 is pressed.
    public static let joystick1 = Element<UInt8>(5, "joystick1", range: 0...31, access: .read, latest: true)
    /// The joystick in port 2, with the same bits.
    public static let joystick2 = Element<UInt8>(6, "joystick2", range: 0...31, access: .read, latest: true)

    /// Both joysticks of a virtual machine, which clients can move.
    public static let virtualJoysticks = [joystick1, joystick2].map {
        Element<UInt8>(Int($0.id), $0.name, range: 0...31, latest: true)
    }

    // MARK: Sound

    /// The pitch of each voice.
    public static let frequencies = (0..<3).map {
        Element<UInt16>(7 + $0, "frequency\($0 + 1)", unit: "Hz", range: 0...3848, latest: true)
    }
    /// The waveform of each voice.
    public static let waveforms = (0..<3).map {
        Element<UInt8>(
            10 + $0, "waveform\($0 + 1)", range: 0...4,
            choices: [0: "off", 1: "triangle", 2: "sawtooth", 3: "pulse", 4: "noise"], latest: true)
    }
    /// The volume of each voice: the sustain level of its envelope.
    public static let volumes = (0..<3).map { Element<UInt8>(13 + $0, "volume\($0 + 1)", range: 0...15, latest: true) }

    // MARK: Sprite

    /// The sprite's position from the left.
    public static let spriteX = Element<UInt16>(16, "spriteX", unit: "pixels", range: 0...511, latest: true)
    /// The sprite's position from the top.
    public static let spriteY = Element<UInt8>(17, "spriteY", unit: "pixels", range: 0...255, latest: true)

    // MARK: Clock and memory

    /// The clock, in 60ths of a second, 24 bits.
    public static let jiffies = Element<UInt32>(
        18, "jiffies", unit: "1/60 s", range: 0...0xFFFFFF, access: .read, latest: true)
    /// Bytes to write: the address (2 bytes, the low one first), then the bytes.
    public static let memoryWrite = Element<Data>(19, "memoryWrite", access: .write)
    /// Bytes to read: the address (2 bytes, the low one first) and the count, 1 to 248.
    public static let memoryRead = Element<Data>(20, "memoryRead", access: .write)
    /// Bytes that were read: the address, then the bytes.
    public static let memory = Element<Data>(21, "memory", access: .read)

    // MARK: The gateway's own

    /// Whether the machine is connected: the line is plugged in, or the emulator has connected.
    public static let present = Element<Bool>(30, "present", access: .read)
    /// The connected program's name, such as `chat`; empty while no program is connected.
    public static let program = Element<String>(31, "program", access: .read)
    /// Bytes that wait to be sent to the machine.
    public static let queued = Element<UInt32>(32, "queued", unit: "bytes", access: .read, latest: true)
    /// The delay of the last record, from its value's arrival until its last byte was handed to the line.
    public static let delay = Element<UInt32>(33, "delay", unit: "ms", access: .read, latest: true)
    /// Records sent to the machine.
    public static let recordsSent = Element<UInt32>(34, "recordsSent", access: .read, latest: true)
    /// Commands that the machine sent.
    public static let commandsReceived = Element<UInt32>(35, "commandsReceived", access: .read, latest: true)
    /// Values that newer ones replaced before they were sent.
    public static let replaced = Element<UInt32>(36, "replaced", access: .read, latest: true)
    /// Values that were not sent: no program accepted them, or it disconnected before.
    public static let unsent = Element<UInt32>(37, "unsent", access: .read, latest: true)
    /// Bytes from the machine that belonged to no command.
    public static let skipped = Element<UInt32>(38, "skipped", unit: "bytes", access: .read, latest: true)

    /// The sender of the newest message in the chat program.
    public static let name = Element<String>(40, "name", access: .read)
    /// The text of the newest message in the chat program.
    public static let said = Element<String>(41, "said", access: .read)
    /// Text for the chat program to show, under the name of the client that sends it.
    public static let say = Element<String>(42, "say", access: .write)

    /// The screen of a virtual machine with its border, as a PNG file of 384 by 272 points.
    public static let screen = Element<Data>(43, "screen", access: .read, latest: true)
    /// Text to type on a virtual machine's keyboard; a line feed is RETURN, U+0008 and U+007F are DEL.
    public static let keys = Element<String>(44, "keys", access: .write)

    static let ownIdentifiers: ClosedRange<Int8> = 30...47

    /// Whether the element is about the line, rather than sent by a program.
    static func isAboutLine(_ id: Int8) -> Bool { present.id...skipped.id ~= id }

    static func machine(allowsMemory: Bool) -> [any AnyElement] {
        // In steps, because one large expression is slow to type-check.
        var elements: [any AnyElement] = [border, background, print, line, joystick1, joystick2]
        for voice: [any AnyElement] in [frequencies, waveforms, volumes] { elements += voice }
        elements += [spriteX, spriteY, jiffies] as [any AnyElement]
        if allowsMemory { elements += [memoryWrite, memoryRead, memory] as [any AnyElement] }
        return elements
    }

    static let own: [any AnyElement] = [
        present, program, queued, delay, recordsSent, commandsReceived, replaced, unsent, skipped, name, said, say,
    ]
    static let ofVirtualMachine: [any AnyElement] = [screen, keys]

    /// The catalogue of a gateway.
    ///
    /// - Parameters:
    ///   - allowsMemory: whether clients may read and write the machine's memory.
    ///   - isVirtual: whether the machine is a virtual one, with a screen, a keyboard and joysticks for clients.
    public static func catalogue(allowsMemory: Bool = false, isVirtual: Bool = false) -> ElementCatalogue {
        let machine = machine(allowsMemory: allowsMemory)
        return isVirtual
            ? catalogue(of: machine.map { movable($0.definition) }, own + ofVirtualMachine) : catalogue(of: machine)
    }

    /// Returns the element, or for a joystick the one of a virtual machine.
    static func movable(_ element: ElementDefinition) -> ElementDefinition {
        virtualJoysticks.first { $0.id == element.id }?.definition ?? element
    }

    /// Returns the machine's elements followed by the gateway's own. Their identifiers and names differ.
    static func catalogue(of machine: [any AnyElement], _ own: [any AnyElement] = own) -> ElementCatalogue {
        do {
            return try ElementCatalogue(machine + own)
        } catch {
            preconditionFailure(error.message)
        }
    }
}
