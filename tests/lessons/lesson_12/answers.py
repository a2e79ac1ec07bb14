HONEST = {}
WRONG = {}
