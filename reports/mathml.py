"""LaTeX to MathML for the formulas that sympy writes.

A page shows mathematics without a network, and every text is escaped.
"""

from __future__ import annotations

import re
from html import escape

TOKEN = re.compile(r"\\(?:[A-Za-z]+|.)|\d+(?:\.\d+)?|[A-Za-z]+|\s+|[^\sA-Za-z\d]", re.DOTALL)
GREEK = {
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "delta": "δ",
    "epsilon": "ϵ",
    "varepsilon": "ε",
    "zeta": "ζ",
    "eta": "η",
    "theta": "θ",
    "vartheta": "ϑ",
    "iota": "ι",
    "kappa": "κ",
    "lambda": "λ",
    "mu": "μ",
    "nu": "ν",
    "xi": "ξ",
    "pi": "π",
    "rho": "ρ",
    "sigma": "σ",
    "tau": "τ",
    "upsilon": "υ",
    "phi": "ϕ",
    "varphi": "φ",
    "chi": "χ",
    "psi": "ψ",
    "omega": "ω",
    "Gamma": "Γ",
    "Delta": "Δ",
    "Theta": "Θ",
    "Lambda": "Λ",
    "Xi": "Ξ",
    "Pi": "Π",
    "Sigma": "Σ",
    "Upsilon": "Υ",
    "Phi": "Φ",
    "Psi": "Ψ",
    "Omega": "Ω",
}
SIGNS = {
    "cdot": "·",
    "times": "×",
    "le": "≤",
    "leq": "≤",
    "ge": "≥",
    "geq": "≥",
    "ne": "≠",
    "neq": "≠",
    "lt": "<",
    "gt": ">",
    "infty": "∞",
    "pm": "±",
    "to": "→",
    "in": "∈",
    "wedge": "∧",
    "vee": "∨",
    "neg": "¬",
    "ldots": "…",
    "dots": "…",
    "partial": "∂",
    "lfloor": "⌊",
    "rfloor": "⌋",
    "lceil": "⌈",
    "rceil": "⌉",
    "langle": "⟨",
    "rangle": "⟩",
    "lvert": "|",
    "rvert": "|",
    "prime": "′",
    "mid": "|",
}
OPERATORS = {"-": "−", "*": "·", "'": "′", "~": " "}
SPACES = {" ", ",", ";", ":", "!", "quad", "qquad", "displaystyle", "limits", "nonumber"}
ACCENTS = {"dot": "˙", "ddot": "¨", "hat": "^", "bar": "¯", "overline": "¯", "tilde": "~", "vec": "→"}
NAMED = {"operatorname", "text", "mathrm", "mathit", "mathbf", "mathtt", "mbox", "textrm"}
PLAIN = {"lam": "λ"} | {
    name: letter
    for name, letter in GREEK.items()
    if name in ("alpha", "beta", "gamma", "omega", "phi", "theta", "tau", "mu")
}
THIN = '<mspace width="0.18em"></mspace>'


def mathml(latex: str) -> str:
    """Return a math element; what is not understood appears as text, nothing is lost."""
    return f'<math displaystyle="true"><mrow>{Reader(latex).whole()}</mrow></math>'


class Reader:
    """Reads one formula from left to right."""

    def __init__(self, latex: str) -> None:
        self.tokens = TOKEN.findall(latex)
        self.at = 0

    def peek(self) -> str | None:
        """Return the next token without taking it.

        Commands without their backslash, except the line break.
        """
        if self.at >= len(self.tokens):
            return None
        token = self.tokens[self.at]
        return token[1:] if token.startswith("\\") and len(token) > 1 else token

    def command(self) -> bool:
        """Tell whether the next token is a command."""
        return self.at < len(self.tokens) and self.tokens[self.at].startswith("\\")

    def take(self) -> str:
        """Return the next token and go on."""
        token = self.peek() or ""
        self.at += 1
        return token

    def whole(self) -> str:
        """Return everything, stray closing signs as text."""
        parts = [self.row()]
        while self.peek() is not None:
            parts += [f"<mtext>{escape(self.take())}</mtext>", self.row()]
        return "".join(parts)

    def row(self) -> str:
        """Return items until something ends the group; a thin space stands between factors."""
        parts: list[str] = []
        gap = False
        while not self.ended():
            token, is_command = self.peek() or "", self.command()
            if token.isspace() or (is_command and token in SPACES):
                self.take()
                gap = True
                continue
            item = self.item()
            if gap and parts and not parts[-1].startswith("<mo") and not item.startswith("<mo"):
                parts.append(THIN)
            parts.append(item)
            gap = False
        return "".join(parts)

    def ended(self) -> bool:
        """Tell whether a group ends here."""
        token = self.peek()
        if token is None or (token in ("}", "&") and not self.command()):
            return True
        return self.command() and token in ("right", "end", "\\")

    def item(self) -> str:
        """Return an atom with what stands above and below it."""
        base = self.atom()
        scripts: dict[str, str] = {}
        while self.peek() in ("^", "_") and not self.command():
            place = self.take()
            scripts[place] = self.argument()
        if set(scripts) == {"^", "_"}:
            return f"<msubsup>{base}{scripts['_']}{scripts['^']}</msubsup>"
        if scripts:
            tag = "msup" if "^" in scripts else "msub"
            return f"<{tag}>{base}{next(iter(scripts.values()))}</{tag}>"
        return base

    def argument(self) -> str:
        """Return the next group, or the next single item."""
        while (self.peek() or "x").isspace():
            self.take()
        if self.peek() == "{" and not self.command():
            return self.group()
        return "<mrow></mrow>" if self.ended() else self.atom()

    def group(self) -> str:
        """Return what stands in braces."""
        self.take()
        inside = self.row()
        if self.peek() == "}":
            self.take()
        return f"<mrow>{inside}</mrow>"

    def words(self) -> str:
        """Return what stands in braces as plain text."""
        if self.peek() != "{":
            return ""
        self.take()
        parts = []
        while self.peek() not in ("}", None):
            parts.append(self.take())
        self.take()
        return "".join(parts)

    def atom(self) -> str:
        """Return the next thing that can stand alone."""
        if self.command():
            return self.special(self.take())
        if self.peek() == "{":
            return self.group()
        token = self.take()
        if token[0].isdigit():
            return f"<mn>{token}</mn>"
        if token.isalpha():
            return f"<mi>{escape(PLAIN.get(token, token))}</mi>"
        return f"<mo>{escape(OPERATORS.get(token, token))}</mo>"

    def special(self, name: str) -> str:
        """Return a command with its arguments."""
        if name in ("frac", "dfrac", "tfrac"):
            return f"<mfrac>{self.argument()}{self.argument()}</mfrac>"
        if name == "sqrt":
            return self.root()
        if name == "left":
            return self.fence()
        if name == "begin":
            return self.table(self.words())
        if name in ACCENTS:
            return f"<mover>{self.argument()}<mo>{ACCENTS[name]}</mo></mover>"
        if name in NAMED:
            tag = "mi" if name == "operatorname" else "mtext"
            return f"<{tag}>{escape(self.words())}</{tag}>"
        if name in GREEK:
            return f"<mi>{GREEK[name]}</mi>"
        if name in SIGNS:
            return f"<mo>{escape(SIGNS[name])}</mo>"
        return f"<mi>{escape(name)}</mi>" if name.isalpha() else f"<mo>{escape(name)}</mo>"

    def root(self) -> str:
        """Return a square root, or another one with its degree in brackets."""
        if self.peek() != "[":
            return f"<msqrt>{self.argument()}</msqrt>"
        self.take()
        degree = self.atom()
        self.take()
        return f"<mroot>{self.argument()}{degree}</mroot>"

    def fence(self) -> str:
        """Return what stands between left and right, with its brackets."""
        opening = self.bracket()
        inside = self.row()
        closing = ""
        if self.command() and self.peek() == "right":
            self.take()
            closing = self.bracket()
        return f"<mrow>{opening}{inside}{closing}</mrow>"

    def bracket(self) -> str:
        """Return the sign after left or right; a dot is none."""
        sign = self.take()
        return "" if sign in (".", "") else f"<mo>{escape(SIGNS.get(sign, sign))}</mo>"

    def table(self, name: str) -> str:
        """Return cases or a matrix."""
        if name == "array":
            self.words()
        rows = [["<mtd>" + self.row() + "</mtd>"]]
        while self.peek() is not None and not (self.command() and self.peek() == "end"):
            if self.take() == "&":
                rows[-1].append("<mtd>" + self.row() + "</mtd>")
            else:
                rows.append(["<mtd>" + self.row() + "</mtd>"])
        self.take()
        self.words()
        inside = "<mtable>" + "".join(f"<mtr>{''.join(row)}</mtr>" for row in rows) + "</mtable>"
        return f"<mrow><mo>{{</mo>{inside}</mrow>" if name == "cases" else inside
