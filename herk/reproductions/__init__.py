"""Documents reproduced, one folder each: study, experiments, what is printed, errata, figures."""
