"""The letters of places, for sums with index hints."""

import string

HINTS = (
    string.ascii_lowercase
    + string.ascii_uppercase
    + "".join(map(chr, (*range(0xE0, 0xF7), *range(0xF8, 0x100))))  # à to ÿ
    + "".join(map(chr, (*range(0xC0, 0xD7), *range(0xD8, 0xDF))))  # À to Þ
)
"""The 113 letters of the places: a to z, A to Z, then lower-case and upper-case letters with accents."""
