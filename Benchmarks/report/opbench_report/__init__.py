"""Pictures and one HTML page from the results of opbench."""
