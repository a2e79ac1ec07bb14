"""The library that the learner builds, one lesson at a time.

What stands between `### BEGIN SOLUTION` and `### END SOLUTION` is what the learner writes.
"""

from transformer_course.libraries import keep_tensorflow_apart

keep_tensorflow_apart()
