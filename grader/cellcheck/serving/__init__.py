"""A place to submit: learners hand notebooks in, a queue grades them, and everybody sees what came of it.

One machine, one database, one course of its own lessons. `cellcheck serve` starts it; docs/serving.md shows how.

    settings    what the instructor decides: lessons, due dates, late rules, attempts (class.toml)
    tables      what is kept, and for how long
    people      who somebody is: sign-in links, sessions and tokens, of which only digests are kept
    queue       accepted work: a row per submission and seed, leased to one worker at a time
    rules       what is late, what that costs, and which attempt counts
    worker      a process that grades, behind the engine's walls
    app, pages  what people see
    lti         from Moodle, Canvas and others, and marks back (lti_tables, lti_pages, lti_marks)
"""
