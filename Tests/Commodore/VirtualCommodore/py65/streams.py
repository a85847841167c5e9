"""Runs random 6502 instruction streams on py65 and writes down what each instruction did, for the tests to compare.

Usage: streams.py FIRST_SEED STREAMS STEPS

A line each, numbers in hexadecimal:
  T seed                          a new stream; memory is filled from the seed (see fill)
  R pc a x y sp p                 the registers are set
  P address value                 a byte is put into memory
  I  /  N                         an interrupt, a non-maskable one
  S pc a x y sp p cycles writes   the state after an instruction or interrupt; writes are address=value
  M checksum                      of the whole memory, at the end of a stream
"""

import random
import sys

from py65.devices.mpu6502 import MPU

JSR = 0x20
NOP = 0xEA
DEC_ABSOLUTE = 0xCE


class Memory:
    """64 KiB that note what is written."""

    def __init__(self, cells):
        self.cells = cells
        self.writes = {}

    def __getitem__(self, address):
        return self.cells[address & 0xFFFF]

    def __setitem__(self, address, value):
        self.cells[address & 0xFFFF] = value
        self.writes[address & 0xFFFF] = value


def fill(seed):
    """Bytes from Marsaglia's xorshift with the shifts 13, 17 and 5."""
    state = seed
    cells = []
    for _ in range(0x10000):
        state ^= state << 13 & 0xFFFFFFFF
        state ^= state >> 17
        state ^= state << 5 & 0xFFFFFFFF
        cells.append(state >> 24)
    return cells


def checksum(cells):
    value = 0
    for cell in cells:
        value = (value * 31 + cell) & 0xFFFFFFFF
    return value


def stream(seed, steps, out):
    chance = random.Random(seed)
    memory = Memory(fill(seed))
    cpu = MPU(memory=memory)
    documented = [code for code in range(256) if MPU.disassemble[code][0] != "???"]
    assert len(documented) == 151
    out.write("T %x\n" % seed)

    def poke(address, value):
        memory.cells[address] = value
        out.write("P %x %x\n" % (address, value))

    for step in range(steps):
        # Now and then elsewhere, so that a loop of a few instructions does not take the whole stream.
        if step % 200 == 0:
            cpu.pc = chance.randrange(0x10000)
            cpu.a, cpu.x, cpu.y, cpu.sp, cpu.p = (chance.randrange(256) for _ in range(5))
            out.write("R %x %x %x %x %x %x\n" % (cpu.pc, cpu.a, cpu.x, cpu.y, cpu.sp, cpu.p))
        memory.writes = {}
        event = chance.random()
        if event < 0.01:
            before = cpu.processorCycles
            out.write("I\n")
            cpu.irq()
        elif event < 0.015:
            before = cpu.processorCycles
            out.write("N\n")
            cpu.nmi()
        else:
            code = memory[cpu.pc]
            if code not in documented:
                code = chance.choice(documented)
                poke(cpu.pc, code)
            # py65 reads both bytes of the address after it has pushed, a real one the first before. That shows only
            # where the instruction lies in the stack.
            if code == JSR and 0x00FE <= cpu.pc <= 0x01FF:
                code = NOP
                poke(cpu.pc, code)
            before = cpu.processorCycles
            cpu.step()
            if code == DEC_ABSOLUTE:
                before -= 3  # py65 1.2.0 counts 3 cycles; it takes 6.
        writes = " ".join("%x=%x" % pair for pair in memory.writes.items())
        state = (cpu.pc, cpu.a, cpu.x, cpu.y, cpu.sp, cpu.p, cpu.processorCycles - before)
        out.write("S %x %x %x %x %x %x %x %s\n" % (*state, writes))
    out.write("M %x\n" % checksum(memory.cells))


first, count, steps = (int(argument) for argument in sys.argv[1:4])
for seed in range(first, first + count):
    stream(seed, steps, sys.stdout)
