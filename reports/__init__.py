"""Tables and figures from the records of the bench."""
