/// How a routine of the KERNAL ends, and the cycles it took; those of a real one, roughly.
enum RoutineEnd {
    /// It returns to its caller.
    case returns(cycles: UInt64)
    /// It has set the program counter itself.
    case jumps(cycles: UInt64)
    /// It has to wait, and is carried out again; interrupts run meanwhile.
    case waits(cycles: UInt64)
    /// The machine stops.
    case stops(StopReason)
}
