/// What a page assumes for a command: running services with the names that it uses.
struct Stage {
    let page: String
    /// A text by which the block that needs it is found.
    let mark: String
    let command: String

    static let all = [
        Stage(page: "CommandLine.md", mark: "signalr bridge robot", command: robot),
        Stage(page: "CommandLine.md", mark: "metrics robot", command: robot),
        Stage(page: "CommandLine.md", mark: "watch robot --also lamp", command: robot),
        Stage(
            page: "CommandLine.md", mark: "watch robot --also lamp",
            command: "elemental publish lamp --name Desk --element 1:Brightness:float=0.5"),
        Stage(page: "CommandLine.md", mark: "record robot", command: robot),
        Stage(page: "CommandLine.md", mark: "bench throughput elemental_bench", command: "elemental bench serve"),
        Stage(
            page: "RaspberryPi.md", mark: "describe system_monitor",
            command: "elemental publish system_monitor --name raspberrypi --element '1:CPU temperature:float:ro=48'"
                + " --element '2:CPU load:float:ro=7' --element '3:Sampling interval:double=1'"),
        Stage(
            page: "CommodoreGateway.md", mark: "describe commodore",
            command: "elemental c64 gateway --pty --baud 1200 --name Den"),
        Stage(
            page: "CommodoreGateway.md", mark: "get commodore screen",
            command: "elemental c64 gateway --virtual program.prg --name Den --security open"),
        Stage(page: "CommodoreProgram.md", mark: "--svg screen.svg", command: "make -s -C Samples/Commodore"),
    ]

    private static let robot = "elemental publish robot --name Rover --element 1:Speed:float=0"

    static func commands(for block: Page.Block) -> [ShellCommand] {
        all.filter { $0.page == block.page.name && block.text.contains($0.mark) }
            .map { ShellCommand(text: $0.command, shown: []) }
    }
}
