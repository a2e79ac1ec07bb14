"""The one room that writes: nbgrader's gradebook, its autograded notebooks, and the feedback pages."""
