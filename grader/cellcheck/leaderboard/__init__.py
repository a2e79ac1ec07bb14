"""A class's table of models: each is scored on hidden problems, and those that are no models are refused.

An entry's code runs in the sandbox and nowhere else (`within`, by way of `sitting`). It is shown ids and returns
logits. Which token comes next is decided in this process, with the course's own generation code, one token at a time.
What is counted is what is evaluated: after training, the weights are fetched as plain arrays, and a fresh process that
has seen nothing else gets them (`scoring`). Then the weights are changed, and what the answers do tells a model from a
program that has the answer some other way (`suspicion`).
"""
