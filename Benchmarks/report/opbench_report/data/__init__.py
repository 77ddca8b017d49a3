"""Results as opbench itself reads them: rows, statistics, comparisons."""
