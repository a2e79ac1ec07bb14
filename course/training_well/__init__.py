"""Training well: the schedule, the clipped and the accumulated gradient, dropout, early stopping, and what saves memory."""
