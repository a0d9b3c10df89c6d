#!/usr/bin/env python3
"""The table of base/decimal_powers.c and the logarithms of base/decimal.c, checked with exact integers."""
import re
from fractions import Fraction

FIRST, LAST = -292, 324
PAIR = re.compile(r"\{0x([0-9a-f]{16}), 0x([0-9a-f]{16})\}")


def at_most(low, two, k):
    """low * 2^two <= 10^k, without fractions."""
    left, right = low * 2 ** max(two, 0), 2 ** max(-two, 0)
    return left * 10 ** max(-k, 0) <= right * 10 ** max(k, 0)


def floor_log2_of_pow10(k):
    two = k * 913124641741 >> 38
    assert at_most(1, two, k) and not at_most(1, two + 1, k), f"log2(10^{k})"
    return two


def main():
    with open("base/decimal_powers.c", encoding="ascii") as file:
        table = [(int(high, 16), int(low, 16)) for high, low in PAIR.findall(file.read())]
    assert len(table) == LAST - FIRST + 1, len(table)
    for k, (high, low) in zip(range(FIRST, LAST + 1), table):
        g = (high << 63) + low
        r = floor_log2_of_pow10(k) - 125
        assert low < 2**63 and 2**125 <= g <= 2**126, f"10^{k} is not normalised"
        assert at_most(g - 1, r, k) and not at_most(g, r, k), f"10^{k} is not floor + 1"
    for q in range(-1074, 972):
        k, three_quarters = q * 661971961083 >> 41, (q * 661971961083 - 274743187321) >> 41
        two = Fraction(2) ** q
        assert Fraction(10) ** k <= two < Fraction(10) ** (k + 1), f"log10(2^{q})"
        assert Fraction(10) ** three_quarters <= two * 3 / 4 < Fraction(10) ** (three_quarters + 1), f"log10(3/4 2^{q})"
    print(f"{len(table)} powers of ten")


if __name__ == "__main__":
    main()
