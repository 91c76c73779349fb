"""Which solver for my model? Examine it, agree on a reference, try all that fit, say what was found."""

from herk.bench.recommend.answer import Recommendation
from herk.bench.recommend.inquiry import recommend

__all__ = ["Recommendation", "recommend"]
