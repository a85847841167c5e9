import ArgumentParser

/// The Commodore 64: a virtual one.
struct C64Command: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "c64",
        abstract: "A virtual Commodore 64.",
        discussion: """
              $ elemental c64 run game.prg --joystick 2
              $ elemental c64 cpu-test 6502_functional_test.bin --load 0 --start 0x400 --success 0x3469
            """,
        subcommands: [C64RunCommand.self, C64CPUTestCommand.self])
}
