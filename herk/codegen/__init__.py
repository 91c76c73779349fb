"""From formulas to machine code without a Python compiler.

Plain text over floats, LLVM's language, functions by address.
"""
