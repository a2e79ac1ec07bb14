"""The repository is an nbgrader course: every nbgrader command works in this folder."""

c = get_config()  # noqa: F821

c.CourseDirectory.course_id = "transformers-cell-by-cell"
# nbgrader's "source" is the executed solution; its "release" is what learners open.
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "notebooks"
# The release is committed. Without force, generate_assignment would skip it, and grading would find no assignment.
c.GenerateAssignment.force = True
# Experiments earn no marks, so they are not run for them. Does not change what a mark is.
c.Execute.skip_cells_with_tag = "experiment"
# The first check of a session imports PyTorch; 30 seconds are tight on a busy machine.
c.Execute.timeout = 120
