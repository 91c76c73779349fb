"""The sentences of a page, checked by another way than they were made.

Plain loops over the records, nothing in common with the report.
"""

from reports.proof.page import Proof, contradictions, of_claim, of_folder

__all__ = ["Proof", "contradictions", "of_claim", "of_folder"]
