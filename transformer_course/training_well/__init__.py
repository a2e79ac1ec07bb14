"""Training well: a schedule, clipped and accumulated gradients, dropout, early stopping, and what saves memory."""
