"""Sums longer than any in training: places, hints, offsets and windows, and an adder made of them (lesson 14)."""
