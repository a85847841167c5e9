import Testing

@testable import ElementalBench

struct TripMachineTests {
    @Test
    func eachAnswerSendsTheNext() {
        var machine = Self.machine(warmUpCount: 1, count: 2)
        let first = machine.current
        machine.begin(at: 0)
        #expect(Self.answer(first, 50, &machine) == .send(first.next))
        machine.begin(at: 100)
        #expect(Self.answer(first.next, 1100, &machine) == .send(first.next.next))
        machine.begin(at: 2000)
        #expect(Self.answer(first.next.next, 4000, &machine) == .finish)
        #expect(machine.report.count == 2)
        #expect(machine.report.lost == 0)
        #expect(machine.report.minimum == 1)
        #expect(machine.report.maximum == 2)
        #expect(Self.answer(first.next.next, 5000, &machine) == .wait)
        #expect(Self.look(1_000_000, &machine) == .wait)
    }

    @Test
    func aLossIsCountedAndItsLateAnswerIsNot() {
        var machine = Self.machine(warmUpCount: 0, count: 3)
        let first = machine.current
        machine.begin(at: 0)
        #expect(Self.answer(first, 10, &machine) == .send(first.next))
        machine.begin(at: 10)
        #expect(Self.look(1009, &machine) == .wait)
        #expect(Self.look(1010, &machine) == .send(first.next.next))
        machine.begin(at: 1010)
        #expect(Self.answer(first.next, 1020, &machine) == .wait)
        #expect(Self.answer(first.next.next, 1030, &machine) == .finish)
        #expect(machine.report.count == 2)
        #expect(machine.report.lost == 1)
    }

    @Test
    func lossesOfTheWarmUpDoNotCount() {
        var machine = Self.machine(warmUpCount: 2, count: 1)
        let first = machine.current
        machine.begin(at: 0)
        #expect(Self.look(1000, &machine) == .send(first.next))
        machine.begin(at: 1000)
        #expect(Self.answer(first.next, 1010, &machine) == .send(first.next.next))
        machine.begin(at: 1010)
        #expect(Self.look(3000, &machine) == .finish)
        #expect(machine.report.count == 0)
        #expect(machine.report.lost == 1)
    }

    @Test
    func whoNeverAnswersIsGivenUp() {
        var machine = Self.machine(warmUpCount: 100, count: 100)
        for _ in 0..<2 {
            machine.begin(at: 0)
            #expect(Self.look(1000, &machine) == .send(machine.current))
        }
        #expect(Self.look(1000, &machine) == .giveUp)
    }

    @Test
    func numbersOfAnotherRunAreIgnored() {
        var machine = Self.machine(warmUpCount: 0, count: 1)
        machine.begin(at: 0)
        #expect(Self.answer(MessageNumber(run: 2), 10, &machine) == .wait)
    }

    private static func machine(warmUpCount: Int, count: Int) -> TripMachine {
        TripMachine(
            LatencyReport(transport: .udp, via: .handlers), run: 1, warmUpCount: warmUpCount, count: count,
            timeout: 1000)
    }

    private static func answer(_ number: MessageNumber, _ now: UInt64, _ machine: inout TripMachine)
        -> TripMachine.Action
    {
        machine.answer(number, at: now)
    }

    private static func look(_ now: UInt64, _ machine: inout TripMachine) -> TripMachine.Action {
        machine.look(at: now)
    }
}
