"""Bug reports: from a receipt in which a token moved to a report and a script that shows it."""
