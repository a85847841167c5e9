import MachineReadings
import Testing

@Suite struct ParserTests {
    @Test func loadAverage() throws {
        let load = try #require(LoadAverage("0.20 0.18 12.05 1/80 11206\n"))
        #expect(load.oneMinute == 0.2)
        #expect(load.fiveMinutes == 0.18)
        #expect(load.fifteenMinutes == 12.05)
    }

    @Test(arguments: ["", "0.1 0.2", "a b c", "0.1 nan 0.3 1/2 3", "-1 0 0 1/2 3"])
    func loadAverageRefuses(_ text: String) { #expect(LoadAverage(text) == nil) }

    @Test func memory() throws {
        let memory = try #require(
            Memory("MemTotal:        1000 kB\nMemFree:  100 kB\nMemAvailable:     600 kB\nHugePages_Total:  0\n"))
        #expect(memory.total == 1_024_000)
        #expect(memory.used == 409_600)
    }

    @Test func memoryOfAnOldKernel() throws {
        let memory = try #require(Memory("MemTotal: 1000 kB\nMemFree: 100 kB\nBuffers: 50 kB\nCached: 250 kB\n"))
        #expect(memory.available == 400 * 1024)
    }

    @Test(arguments: ["", "MemTotal: 10 kB\n", "MemTotal 10\nMemAvailable: x kB", "MemTotal: 18446744073709551615 kB"])
    func memoryRefuses(_ text: String) { #expect(Memory(text) == nil) }

    @Test func moreAvailableThanThereIs() throws {
        #expect(try #require(Memory("MemTotal: 10 kB\nMemAvailable: 20 kB\n")).used == 0)
    }

    @Test func uptime() {
        #expect(Uptime("350735.47 234388.90\n")?.seconds == 350735.47)
        #expect(Uptime("") == nil)
        #expect(Uptime("soon 1") == nil)
    }

    @Test func temperature() {
        #expect(ThermalZone.celsius("48312\n") == 48.312)
        #expect(ThermalZone.celsius("-5000") == -5)
        #expect(ThermalZone.celsius("") == nil)
        #expect(ThermalZone.celsius("2147483647") == nil)
    }
}
