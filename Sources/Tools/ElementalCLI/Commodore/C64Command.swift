import ArgumentParser

struct C64Command: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "c64",
        abstract: "Make a Commodore 64 one more device: real, emulated or virtual.",
        discussion: """
            The gateway takes the place of the machine's modem and publishes a service; the terminal takes the place of \
            the machine, for people who write programs or firmware. The virtual machine runs programs in this terminal.

              $ elemental c64 gateway --serial /dev/ttyUSB0 --baud 1200 --name Den
              $ elemental c64 gateway --listen 127.0.0.1:25232
              $ elemental set commodore border=blue 'print=Hello'
              $ elemental c64 terminal 127.0.0.1:25232
              $ elemental c64 run game.prg --joystick 2
            """,
        subcommands: [
            C64GatewayCommand.self, C64TerminalCommand.self, C64RunCommand.self, C64CPUTestCommand.self,
        ])
}
