/// How a routine of the KERNAL ends, and the approximate cycles of a real one.
enum RoutineEnd {
    /// It returns to its caller.
    case returns(cycles: UInt64)
    /// It has set the program counter itself.
    case jumps(cycles: UInt64)
    /// It has to wait and is executed again; interrupts run meanwhile.
    case waits(cycles: UInt64)
    /// The machine stops.
    case stops(StopReason)
}
