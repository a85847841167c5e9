import ArgumentParser
import Support
import VirtualCommodore

struct C64CPUTestCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "cpu-test",
        abstract: "Run a program that tests a 6502 on the virtual Commodore's processor alone.",
        discussion: """
            The processor gets 64 KiB of RAM with the file in it, no other chips and no KERNAL. Such a program ends by \
            jumping to itself: at --success if all tests passed, elsewhere at a failed test. The status is 0 only in the \
            first case.

            Klaus Dormann's functional test, assembled as it is published (github.com/Klaus2m5/6502_65C02_functional_tests), \
            takes about half a minute:

              $ elemental c64 cpu-test 6502_functional_test.bin --load 0 --start 0x400 \\
                  --success 0x3469

            Addresses are decimal, 0x and hexadecimal digits, or $ and hexadecimal digits (in quotes, for the shell).
            """)

    @Argument(help: ArgumentHelp("The program: bytes only, no address before them.", valueName: "file"))
    var path: String

    @Option(help: ArgumentHelp("The address of the file's first byte.", valueName: "address"))
    var load: MachineAddress

    @Option(help: ArgumentHelp("Where the program starts.", valueName: "address"))
    var start: MachineAddress

    @Option(help: ArgumentHelp("The address of the jump to itself that means success.", valueName: "address"))
    var success: MachineAddress

    @Option(help: "The maximum number of cycles that the program may take.")
    var cycles = 10_000_000_000

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard cycles > 0 else { throw ValidationError("--cycles takes a number from 1, not \(cycles)") }
    }

    func perform(_ console: Console) async throws {
        let machine = FlatMachine()
        machine.load(try await Program.read(path, at: load.value, timeout: output.limit))
        let outcome = machine.runTest(from: start.value, success: success.value, atMost: cycles)
        guard case .success(let cycles) = outcome else { throw CommandFailure("testFailed", "\(outcome)") }
        await console.emit(.cpuTest(cycles: cycles))
    }
}

/// A 16-bit address from the command line.
struct MachineAddress: ExpressibleByArgument, Sendable {
    let value: UInt16

    init?(argument: String) {
        let digits = argument.lowercased()
        let prefix = ["0x", "$"].first { digits.hasPrefix($0) } ?? ""
        let number = digits.dropFirst(prefix.count)
        // The integer's initializer would also accept a sign.
        guard number.first != "+", number.first != "-", let value = UInt16(number, radix: prefix.isEmpty ? 10 : 16)
        else { return nil }
        self.value = value
    }
}
