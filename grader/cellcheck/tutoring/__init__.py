"""A tutor that knows what is wrong: what an assistant may ask about a learner's work, and a benchmark for tutors.

`desk` has what can be asked, `server` serves it over the Model Context Protocol, and `withheld` sees to it that no
reply holds a line of an answer. `scoring` measures tutors, ours and others.
"""
