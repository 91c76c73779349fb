"""Radau IIA on the overdetermined form: selected equations E y' = f beside all constraints g = 0."""
