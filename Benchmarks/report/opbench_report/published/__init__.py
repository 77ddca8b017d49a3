"""Reference results: what `results/` holds, the summary made from it, and the parts of README.md that show it."""
