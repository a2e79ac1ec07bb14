# %% [markdown]
# # Lesson 10
