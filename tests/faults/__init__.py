"""What happens when something breaks: real processes, the real command line, and no luck needed."""
