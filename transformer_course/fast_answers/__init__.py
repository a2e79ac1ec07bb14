"""What lesson 17 builds: the same answers from fewer passes, fewer bits and less memory."""
