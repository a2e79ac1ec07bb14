"""From observations to a verdict, and from a verdict to a card that teaches."""
