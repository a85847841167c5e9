/// A command on a page that the test does not run, with the reason.
struct Omission: Sendable {
    let page: String
    let command: String
    let reason: String

    static let all: [Omission] =
        left(out: "it is this test's caller, or takes as long", of: "README.md", ["Samples/quickstart", "Tests/run"])
        + left(
            out: "it changes the machine that it runs on", of: "RaspberryPi.md",
            [
                #"curl -O "https://download.swift.org/swiftly/linux/swiftly-$(uname -m).tar.gz""#,
                #"tar -zxf "swiftly-$(uname -m).tar.gz""#, "./swiftly init", "Samples/quickstart",
                "sudo Samples/make-deb --architecture arm64 .build",
                "scp .build/elemental_*_arm64.deb pi@raspberrypi.local:",
                "sudo apt install ./elemental_*_arm64.deb", "elemental doctor",
                "sudo systemctl enable --now elemental-system-monitor", "journalctl -u elemental-system-monitor -f",
                "sudo -u elemental elemental open-pairing system_monitor",
            ])
        + left(
            out: "it changes the machine that it runs on; PackageTests do so in a bare Debian", of: "Install.md",
            [
                "Samples/make-deb .build", "sudo apt install ./.build/elemental_*.deb",
                "sudo systemctl enable --now elemental-system-monitor",
                "sudo cp /usr/share/doc/elemental/examples/lamp.elements /etc/elemental/",
                "sudo systemctl enable --now elemental-publish@lamp",
                "sudo -u elemental elemental open-pairing lamp", "sudo apt purge elemental",
                "sudo touch /etc/elemental/serial@board_E6614103E7452D2F.conf",
            ])
        + left(
            out: "the page's Pi shows the code: CommandLineTests.PairCommandTests", of: "RaspberryPi.md",
            ["elemental pair system_monitor"])
        + left(
            out: "Benchmarks/compare builds for release and measures for an hour", of: "Performance.md",
            [
                "Benchmarks/compare", "Benchmarks/compare --only roundtrip --rounds 5",
                "Benchmarks/compare --json figures.json --svg figures.svg",
            ])
        + left(
            out: "it builds for release; Tests/osc/play_synth.py plays the synthesizer for Tests/run", of: "Osc.md",
            [
                "Samples/install-packages libasound2-dev libavahi-compat-libdnssd-dev libsodium-dev avahi-daemon"
                    + " liblo-tools curl",
                "Samples/build-release --package-path Samples --scratch-path .build --product SynthServer",
                "Samples/build-release --package-path Samples --scratch-path .build --product elemental",
                ".build/release/SynthServer --address 127.0.0.1 --security open"
                    + " --device file:FILE=/tmp/synth.wav,FORMAT=wav",
                ".build/release/elemental osc synth --control --feedback 127.0.0.1:9000",
                "curl -s 'http://127.0.0.1:8000/Synth/Cutoff'", "oscsend 127.0.0.1 8000 /Synth/Note ff 57 0.8",
                "oscsend 127.0.0.1 8000 /Synth/Cutoff f 200", "oscsend 127.0.0.1 8000 /Synth/Cutoff f 9000",
                "oscsend 127.0.0.1 8000 /Synth/Note ff 57 0",
            ])
        + left(
            out: "it needs PyPI; PythonTests installs from the same folder without it", of: "Python.md",
            ["python3 -m pip install './Samples/Python[all]'"])
        + left(
            out: "11,000 round trips at 120 Hz take a minute and a half", of: "Performance.md",
            ["elemental bench latency robot --rate 120"])
        + left(
            out: "11,000 round trips at 120 Hz take a minute and a half", of: "CommandLine.md",
            ["elemental bench latency robot --rate 120"])
        + left(
            out: "its service has to go and to come back: CommandLineTests.ReconnectOptionTests", of: "CommandLine.md",
            ["elemental watch robot --reconnect >> robot.log"])
        + left(
            out: "a person reads the code and types it: CommandLineTests.PairCommandTests", of: "CommandLine.md",
            ["elemental pair robot/Rover", "echo 483291 | elemental pair 192.168.1.7:5000 --json"])
        + left(
            out: "these are for two machines and a person: CommandLineTests.PairCommandTests", of: "README.md",
            [
                "elemental publish lamp --element 1:Brightness:float=0.5", "elemental pair lamp",
                "elemental set lamp Brightness=0.8",
            ])
        + left(
            out: "Tests/run does it with the samples' tests", of: "Cluster.md",
            [
                "Samples/try-cluster", ".build/release/ClusterNode --allow shout='/usr/bin/tr a-z A-Z'",
                ".build/release/ClusterClient table",
                ".build/release/ClusterClient run --command shout --input 'job %' --count 20",
                ".build/release/ClusterClient run --primes 2000000 --count 20",
            ])
        + left(
            out: "Tests/run does it with the samples' tests", of: "Robot.md",
            [
                "Samples/try-robot", ".build/release/RobotServer --name Rover",
                ".build/release/RobotClient --name Rover --figure eight",
            ])
        + left(
            out: "the samples' tests bridge a service to a file", of: "ElementalFollowing.md",
            [
                "swift run --package-path Samples ReadingsToSQLite house.db --service lamp --every 60",
                "sqlite3 house.db \"SELECT * FROM readings\"",
                "sqlite3 house.db \"INSERT INTO wishes VALUES ('lamp', 'Desk lamp', 'Brightness', 0.5, NULL)\"",
            ])
        + left(
            out: "Tests/run does it with the samples' tests", of: "Synth.md",
            [
                "Samples/try-synth", ".build/release/SynthServer --device default", ".build/release/SynthPlayer",
                ".build/release/SynthServer --device file:FILE=/tmp/synth.wav,FORMAT=wav",
            ])
        + left(
            out: "it needs a Pi with these sensors; SensorsTests read folders like the kernel's", of: "Sensors.md",
            [
                "Samples/build-release --product SystemMonitor",
                ".build/release/SystemMonitor --i2c tmp102=i2c-1/0x48 --input Door=gpiochip0/17"
                    + " --output Pump=gpiochip0/27",
            ])
        + left(
            out: "it needs a serial adapter", of: "CommodoreGateway.md",
            [
                "elemental c64 gateway --serial /dev/ttyUSB0 --baud 1200 --name Den", "sudo adduser $USER dialout",
                "elemental c64 gateway --serial /dev/serial/by-id/usb-… --baud 600 --name Den",
                "elemental c64 gateway --serial /dev/ttyUSB0 --acia --name Den",
            ])
        + left(
            out: "CartridgeTests make it", of: "CommodoreGateway.md", ["make -C Samples/Commodore cartridge"])
        + left(
            out: "Samples/try-chat does it, with an aiosignalr that is pinned", of: "Chat.md",
            [
                "python3 -m venv /tmp/chat && /tmp/chat/bin/pip install aiosignalr",
                "/tmp/chat/bin/python Samples/Chat/hub --port 5000 &",
                "swift run --package-path Samples ChatClient http://127.0.0.1:5000/chat --name Ada",
                "elemental c64 gateway --virtual Samples/Commodore/build/commodore.prg &",
                "swift run --package-path Samples ChatClient http://127.0.0.1:5000/chat --name Commodore --device commodore",
            ])
        + left(
            out: "Samples/try-vice does what can be done without a machine's ROMs", of: "CommodoreGateway.md",
            [
                "x64sc -acia1 -acia1mode 1 -myaciadev 0 -rsdev1 127.0.0.1:25232 +rsdev1ip232"
                    + " -cartcrt Samples/Commodore/build/commodore.crt",
                "x64sc -userportdevice 2 -rsuserdev 0 -rsuserbaud 1200 -rsdev1 127.0.0.1:25232 +rsdev1ip232 program.prg",
                "x64sc -userportdevice 2 -rsuserdev 0 -rsuserbaud 1200 -rsdev1 /tmp/c64 +rsdev1ip232 program.prg",
            ])
        + left(
            out: "Klaus Dormann's program is not part of this package", of: "VirtualCommodore.md",
            ["elemental c64 cpu-test 6502_functional_test.bin --load 0 --start 0x400 --success 0x3469"])
        + left(
            out: "the capture is the reader's: WiresharkTests", of: "Wireshark.md",
            [
                "tshark -X lua_script:Samples/Wireshark/elemental.lua -r capture.pcapng -Y elemental",
                "sudo tshark -l -i any -X lua_script:Samples/Wireshark/elemental.lua -Y elemental",
                "tshark -X lua_script:Samples/Wireshark/elemental.lua -r capture.pcapng"
                    + #" -Y 'elemental.name == "Speed"' -T fields -e frame.time_epoch -e elemental.value.float"#,
            ])
        + left(
            out: "Tests/run builds and runs the firmware", of: "Microcontroller.md",
            [
                "Samples/Microcontroller/build",
                "qemu-system-arm -M mps2-an386 -nographic -monitor none -serial"
                    + " tcp:127.0.0.1:7001,server=on,wait=off,nodelay=on -kernel .build/microcontroller/firmware.elf",
            ])
        + left(
            out: "it needs the emulated board: SerialTests keep the values of another", of: "Microcontroller.md",
            ["elemental serial --dial 127.0.0.1:7001 --keep 24h", "elemental watch thermostat --since 2h"])
        + left(
            out: "it needs a hub on the Internet", of: "SignalRBridge.md",
            ["elemental signalr bridge robot --hub 'https://example.org/robots?name=Rover' --token @token.txt"])
        + left(
            out: "it writes into the package; Tests/embedded does the same elsewhere", of: "ElementalWire.md",
            [
                #"""
                swiftc -enable-experimental-feature Embedded -swift-version 6 -wmo -Osize -target armv7em-none-none-eabi \
                    -Xcc -mfloat-abi=soft -parse-as-library -package-name elemental -module-name ElementalWire \
                    -emit-module -emit-module-path ElementalWire.swiftmodule -c Sources/Core/ElementalWire/*.swift -o ElementalWire.o
                """#
            ])

    private static func left(out reason: String, of page: String, _ commands: [String]) -> [Omission] {
        commands.map { Omission(page: page, command: $0, reason: reason) }
    }
}
