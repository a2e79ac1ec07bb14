# %% [markdown]
# # Lesson 12 · Beyond language
