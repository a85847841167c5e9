"""Prints the modules of QR codes as the package qrcode makes them, to compare with ours: for each line of the file with
the version, the error correction, the mask and the bytes in hexadecimal, a line with 0 and 1, row by row."""

import sys

import qrcode
from qrcode.util import MODE_8BIT_BYTE, QRData

LEVELS = {"l": qrcode.constants.ERROR_CORRECT_L, "m": qrcode.constants.ERROR_CORRECT_M}

for line in open(sys.argv[1], encoding="ascii"):
    version, error, mask, content = line.split()
    code = qrcode.QRCode(version=int(version), error_correction=LEVELS[error], border=0, mask_pattern=int(mask))
    code.add_data(QRData(bytes.fromhex(content), mode=MODE_8BIT_BYTE))
    code.make(fit=False)
    print("".join("01"[bool(module)] for row in code.modules for module in row))
