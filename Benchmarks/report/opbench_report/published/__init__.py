"""Reference results: what `results/` holds, the summary made from it, and the part of README.md that shows it."""
