"""Durations and quantities as a person reads them at a glance."""


def duration(seconds: float) -> str:
    """`75` -> `1:15`, `3675` -> `1:01:15`."""
    minutes, rest = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def quantity(value: float) -> str:
    """`950`, `12.3 k`, `4.0 M`, `1.6 G`."""
    for factor, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= factor:
            return f"{value / factor:.1f}{letter}"
    return f"{value:.0f}"
