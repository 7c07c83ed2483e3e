#!/usr/bin/env python3
"""Writes a day of a market in small: market.py EVENTS [SEED], as event lines.

What the rules look for is put in at known places; what was put in is told on stderr.
"""
import random
import sys

RATE = 100_000  # events a second
SYMBOLS, TRADERS = 500, 2_000


def line(kind: str, nanoseconds: int, **attributes) -> str:
    spelt = ",".join(f'"{name}":{str(value).lower()}' for name, value in attributes.items())
    return f'{{"type":"{kind}","ts":{nanoseconds // 1_000_000}.{nanoseconds % 1_000_000:06d},"attrs":{{{spelt}}}}}\n'


class Market:
    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.prices = [self.random.uniform(10, 500) for _ in range(SYMBOLS)]
        self.orders = 0

    def event(self, at: int) -> str:
        """An order, a cancellation or a trade between two people, near the symbol's price."""
        pick = self.random.random
        symbol = int(pick() * SYMBOLS)
        price = round(self.prices[symbol] * (0.99 + 0.02 * pick()), 2)
        trader, quantity, buy = int(pick() * TRADERS), 1 + int(pick() * 900), pick() < 0.5
        kind = pick()
        if kind < 0.5:
            self.orders += 1
            return line("Placed", at, id=self.orders, trader=trader, symbol=symbol, buy=buy, price=price, quantity=quantity)
        if kind < 0.7:
            return line("Cancelled", at, id=1 + int(pick() * self.orders), trader=trader, symbol=symbol, buy=buy, quantity=quantity)
        other = (trader + 1 + int(pick() * (TRADERS - 1))) % TRADERS
        return line("Traded", at, symbol=symbol, buyer=trader, seller=other, price=price, quantity=quantity)

    def wash(self, at: int) -> list[str]:
        symbol, trader = self.random.randrange(SYMBOLS), self.random.randrange(TRADERS)
        return [line("Traded", at, symbol=symbol, buyer=trader, seller=trader, price=round(self.prices[symbol], 2), quantity=500)]

    def spoofing(self, at: int) -> list[str]:
        symbol, trader = self.random.randrange(SYMBOLS), self.random.randrange(TRADERS)
        self.orders += 1
        own, price = {"trader": trader, "symbol": symbol, "buy": True}, round(self.prices[symbol], 2)
        return [
            line("Placed", at, id=self.orders, **own, price=price, quantity=20_000),
            line("Traded", at + 1_000, symbol=symbol, buyer=(trader + 1) % TRADERS, seller=trader, price=price, quantity=300),
            line("Cancelled", at + 2_000, id=self.orders, **own, quantity=20_000),
        ]

    def spike(self, at: int) -> list[str]:
        symbol, trader = self.random.randrange(SYMBOLS), self.random.randrange(TRADERS)
        price = round(self.prices[symbol] * 1.5, 2)
        return [line("Traded", at, symbol=symbol, buyer=trader, seller=(trader + 1) % TRADERS, price=price, quantity=10)]


def main() -> int:
    events = int(sys.argv[1])
    market = Market(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    step = 1_000_000_000 // RATE
    planted = {"Wash": market.wash, "Spoofing": market.spoofing, "Spike": market.spike}
    told = dict.fromkeys(planted, 0)
    for i in range(events):
        at = i * step
        sys.stdout.write(market.event(at))
        # Once there are trades of every symbol to compare with.
        if i > RATE and i % 10_000 < len(planted):
            kind = list(planted)[i % 10_000]
            sys.stdout.writelines(planted[kind](at + 3_000))
            told[kind] += 1
    for kind, count in told.items():
        print(kind, count, file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
