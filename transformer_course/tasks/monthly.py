"""Two series of one value a month: airline passengers, and carbon dioxide in the air above Hawaii."""

import csv

import torch

from transformer_course.data import data_file
from transformer_course.downloads import downloaded

PERIOD = 12
"""Months in a year."""
FIRST_COMPLETE = "196405"
"""May 1964: from here on, the carbon dioxide was measured in every month."""


def passengers() -> torch.Tensor:
    """Airline passengers of each month from January 1949 to December 1960, in
    thousands: (144,), float32.

    The series is from Box and Jenkins, "Time Series Analysis", 1970. It is downloaded
    once; see `transformer_course.downloads`.

    Raises:
        transformer_course.downloads.NotAvailable: when the file isn't here and can't be downloaded;
            the message says what to do.
    """
    with downloaded("flights/flights.csv").open(encoding="utf-8", newline="") as file:
        return torch.tensor([float(row["passengers"]) for row in csv.DictReader(file)])


def carbon_dioxide() -> torch.Tensor:
    """Carbon dioxide at Mauna Loa, the mean of each month from May 1964 to December
    2001, in parts per million: (452,), float32.

    The file has weekly means since 1958. Before May 1964, whole months are missing. To
    fill them in, one would have to look at what came later.

    >>> carbon_dioxide().shape
    torch.Size([452])
    """
    weeks: dict[str, list[float]] = {}
    with data_file("co2.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            month = row["date"][:6]
            if month >= FIRST_COMPLETE and row["co2"]:
                weeks.setdefault(month, []).append(float(row["co2"]))
    return torch.tensor([sum(values) / len(values) for values in weeks.values()])
