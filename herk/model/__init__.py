"""From equations as written to every form a solver needs: Model, regularize, forms, generated code."""
