"""What pairing derives, as Samples/Python has it: a second implementation, after the page Wire.md and the standards."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Samples/Python"))

from elemental.cpace import Exchange, x25519  # noqa: E402

__all__ = ["Exchange", "x25519"]
