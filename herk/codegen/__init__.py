"""From formulas to machine code without a Python compiler: plain text over floats, LLVM's language, functions by address."""
