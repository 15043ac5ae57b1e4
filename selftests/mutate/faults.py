# SPDX-License-Identifier: GPL-2.0-only
"""The faults that can be planted in a C source: faults_in(text) -> [Fault].

A tokenizer and a parser of statements, no more: kernel style is assumed (one declaration a line, no K&R definitions). A
fault that does not compile costs a compilation and is not counted, so the parser need not know types.

Not planted: memory barriers left out, which no test on x86 could tell; statements that only check or report (QUIET);
independent statements in the other order (independent() says which are).
"""
import re
from collections import namedtuple

# start, end: offsets of the text that is replaced
Fault = namedtuple("Fault", "operator function line start end text")
Token = namedtuple("Token", "kind text start end")
Statement = namedtuple("Statement", "kind first last")  # indices of tokens; last is the ';'

TOKEN = re.compile(r"""
    (?P<skip>\s+|/\*.*?\*/|//[^\n]*|^[ \t]*\#(?:[^\n\\]|\\.)*)
  | (?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
  | (?P<number>(?:0[xX][0-9a-fA-F]+|[0-9]+)[uUlL]*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<op><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
""", re.VERBOSE | re.DOTALL | re.MULTILINE)

QUIET = re.compile(r"WARN_ON|WARN_ON_ONCE|BUILD_BUG_ON|static_assert|lockdep_assert\w*|might_sleep|cond_resched|trace_\w+|"
                   r"GHYVI_EXPORT|GHYVI_IMPORT_NS|MODULE_\w+|smp_(?:mb|rmb|wmb)|barrier|cpu_relax|dev_\w+|pr_\w+|fallthrough$")
TYPES = set("struct union enum unsigned signed int long short char bool void const static u8 u16 u32 u64 s8 s16 s32 s64 "
            "size_t ssize_t ktime_t gfn_t gpa_t hpa_t dma_addr_t typeof __maybe_unused".split())
CONSTANT = re.compile(r"(?!GFP_)[A-Z][A-Z0-9_]{2,}$")
SWAPPED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
OPPOSITE = {"==": "!=", "!=": "==", "&&": "||", "||": "&&", "+=": "-=", "-=": "+=", "++": "--", "--": "++"}
NAMED = {"==": "negate", "!=": "negate", "&&": "logic", "||": "logic", "+=": "sign", "-=": "sign", "++": "sign", "--": "sign"}
ASSIGN = {"=", "+=", "-=", "|=", "&=", "^=", "*=", "/=", "%=", "<<=", ">>=", "++", "--"}
# Additions to counters: they commute, and nothing else between two statements reads a counter.
COUNTS = {"ghyvi_count", "ghyvi_count_add", "atomic_inc", "atomic_dec", "atomic_add", "atomic_sub", "atomic64_inc", "atomic64_dec",
          "atomic64_add", "atomic64_sub"}
OPERATORS = ("negate", "boundary", "off-by-one", "constant", "delete", "logic", "sign", "drop-exit", "swap", "flip")


def tokens_of(text):
    return [Token(m.lastgroup, m.group(), m.start(), m.end()) for m in TOKEN.finditer(text) if m.lastgroup != "skip"]


class Effects:
    """What a statement does, as far as its tokens tell. Kinds: `private`: a value of own variables of the function becomes
    that of another one, and no memory is accessed; `store`: an assignment to a member, or to such a variable what memory
    has; `count`: addition to a counter; `other`: anything, calls above all."""

    def __init__(self, tokens, own):
        texts = [t.text for t in tokens]
        self.names = {t.text for t in tokens if t.kind == "name"}
        self.members = {texts[i + 1] for i in range(len(texts) - 1) if texts[i] in ("->", ".")}
        self.kind, self.target = "other", None
        calls = any(tokens[i].kind == "name" and texts[i + 1] == "(" for i in range(len(texts) - 1))
        if texts[0] in COUNTS and "(" not in texts[2:] and not ASSIGN & set(texts):
            self.kind = "count"
        elif texts[0] == "INIT_LIST_HEAD" and texts[2] == "&" and "(" not in texts[2:] and texts[-3] in ("->", "."):
            self.kind, self.target = "store", texts[-2]
        elif not calls and sum(text in ASSIGN for text in texts) == 1:
            self.assign(texts, own)

    def assign(self, texts, own):
        at = next(i for i, text in enumerate(texts) if text in ASSIGN)
        left = texts[:at] or texts[1:]
        # Indices and dereferences may access what any other expression does.
        memory = {"*", "["} & set(texts)
        if len(left) == 1 and left[0] in own:
            self.target = left[0]
            reads = self.names - {name for name in self.names if CONSTANT.match(name)} - {"true", "false"} - TYPES
            if not memory and not self.members and "&" not in texts and reads <= own:
                self.kind = "private"
            elif not memory:
                self.kind = "store"
        elif not memory and len(left) >= 3 and left[-2] in ("->", "."):
            self.kind, self.target = "store", left[-1]


def independent(one, other):
    """Do two statements do the same in the other order? True only if that follows from their tokens."""
    if "private" in (one.kind, other.kind):
        private, second = (one, other) if one.kind == "private" else (other, one)
        if second.kind == "other":  # perhaps a macro, which can assign to its arguments
            return not private.names & second.names
        return private.target not in second.names and second.target not in private.names
    if one.kind == other.kind == "count":
        return True
    if "other" in (one.kind, other.kind):
        return False
    if "count" in (one.kind, other.kind):
        count, second = (one, other) if one.kind == "count" else (other, one)
        return not count.names & second.members
    # No order of plain stores to different members is promised to another thread. A member of the same name may be the same,
    # and one of the names may be that of a structure that has the other.
    return one.target not in other.names and other.target not in one.names


class Source:
    def __init__(self, text):
        self.text = text
        self.own = set()
        self.tokens = tokens_of(text)
        self.faults = []
        self.function = ""
        self.constants = sorted({t.text for t in self.tokens if t.kind == "name" and CONSTANT.match(t.text) and
                                 not self.is_called(t)} - {"NULL"})

    def is_called(self, token):
        return self.text[token.end:token.end + 1] == "("

    def at(self, i):
        return self.tokens[i].text if i < len(self.tokens) else ""

    def plant(self, operator, start, end, text):
        """Tokens start..end, inclusive, become text."""
        first, last = self.tokens[start].start, self.tokens[end].end
        line = self.text.count("\n", 0, first) + 1
        self.faults.append(Fault(operator, self.function, line, first, last, text))

    def raw(self, start, end):
        return self.text[self.tokens[start].start:self.tokens[end].end]

    def close(self, i):
        """The token that closes what token i opens."""
        depth = 0
        while i < len(self.tokens):
            depth += (self.at(i) in ("(", "[", "{")) - (self.at(i) in (")", "]", "}"))
            if not depth:
                return i
            i += 1
        raise ValueError("unbalanced")

    # ---- the file ----

    def parse(self):
        i, name, start = 0, "", 0
        while i < len(self.tokens):
            text = self.at(i)
            if text == "(":
                if self.tokens[i - 1].kind == "name" and not self.tokens[i - 1].text.startswith("__"):
                    name, start = self.tokens[i - 1].text, i
                i = self.close(i)
            elif text == "{":
                end = self.close(i)
                if self.at(i - 1) == "=":
                    self.parse_table(i, end)
                elif self.at(i - 1) == ")" and name:
                    self.function = name
                    self.own = self.own_variables(start, i, end)
                    self.parse_block(i)
                    self.function = ""
                i, name = end, ""
            i += 1
        return self.faults

    def own_variables(self, start, first, last):
        """The parameters and variables of a function that only statements which name them can access: their address is not
        taken, and they are neither static nor arrays."""
        found, taken, declares = set(), set(), False
        for i in range(start, last):
            token, before, after = self.tokens[i], self.at(i - 1), self.at(i + 1)
            if i < first:
                declares = True
            elif before in ("{", "}", ";") and i > first:
                declares = self.is_declaration(i) and token.text != "static"
            if token.kind == "name" and (before == "&" or before == "(" and self.at(i - 2) == "&"):
                taken.add(token.text)
            if declares and token.kind == "name" and after in ("=", ",", ";", ")") and before not in (".", "->", "=", "(") and \
                    (self.tokens[i - 1].kind == "name" or before in ("*", ",")):
                found.add(token.text)
        for i in range(start, last):  # a second declaration of the name, of something else
            if self.at(i) in found and (self.at(i + 1) == "[" and self.tokens[i - 1].kind == "name" or self.at(i - 1) == "goto"):
                taken.add(self.at(i))
        return found - taken - TYPES

    def parse_table(self, first, last):
        """An initializer at file scope: its constants only."""
        for i in range(first, -1, -1):
            if self.tokens[i].kind == "name":
                self.function = self.at(i)
                break
        self.parse_expression(first, last)
        self.function = ""

    # ---- statements ----

    def parse_block(self, i):
        """From its '{'; returns what comes after its '}'."""
        before = None
        i += 1
        while self.at(i) != "}":
            i, statement = self.parse_statement(i)
            if statement and before and statement.kind == before.kind == "simple":
                texts = self.raw(before.first, before.last), self.raw(statement.first, statement.last)
                if texts[0] != texts[1] and self.order_matters(before, statement):
                    between = self.text[self.tokens[before.last].end:self.tokens[statement.first].start]
                    self.plant("swap", before.first, statement.last, texts[1] + between + texts[0])
            before = statement
        return i + 1

    def order_matters(self, one, other):
        effects = [Effects(self.tokens[each.first:each.last], self.own) for each in (one, other)]
        return not independent(*effects)

    def parse_body(self, i):
        return self.parse_statement(i)[0]

    def parse_statement(self, i):
        text = self.at(i)
        if text == "{":
            return self.parse_block(i), None
        if text == ";":
            return i + 1, None
        if text in ("if", "while", "switch"):
            end = self.close(i + 1)
            if text != "switch":
                self.plant("negate", i + 1, end, f"(!{self.raw(i + 1, end)})")
            self.parse_expression(i + 2, end - 1)
            i = self.parse_body(end + 1)
            if text == "if" and self.at(i) == "else":
                i = self.parse_body(i + 1)
            return i, None
        if text == "for":
            end = self.close(i + 1)
            self.parse_expression(i + 2, end - 1)
            return self.parse_body(end + 1), None
        if text == "do":
            i = self.parse_body(i + 1)
            end = self.close(i + 1)
            self.plant("negate", i + 1, end, f"(!{self.raw(i + 1, end)})")
            self.parse_expression(i + 2, end - 1)
            return end + 2, None
        if text in ("case", "default"):
            while self.at(i) != ":":
                i += 1
            return i + 1, None
        if self.tokens[i].kind == "name" and self.at(i + 1) == ":":
            return i + 2, None
        if self.tokens[i].kind == "name" and text != "return" and self.at(i + 1) == "(":
            end = self.close(i + 1)
            if self.at(end + 1) == "{" or self.tokens[end + 1].kind == "name":  # a loop made by a macro
                self.parse_expression(i + 2, end - 1)
                return self.parse_body(end + 1), None
        return self.parse_simple(i)

    def parse_simple(self, first):
        last = first
        while self.tokens[last].text != ";":  # IndexError where this is no C of ours
            last = (self.close(last) if self.at(last) in ("(", "[", "{") else last) + 1
        text = self.at(first)
        if QUIET.match(text):
            return last + 1, None
        if text in ("return", "goto", "break", "continue"):
            self.plant("drop-exit", first, last, ";")
            if text == "return":
                self.parse_expression(first + 1, last - 1)
            return last + 1, None
        if self.is_declaration(first):
            self.parse_expression(first, last - 1)
            return last + 1, None
        self.plant("delete", first, last, ";")
        self.parse_expression(first, last - 1)
        return last + 1, Statement("simple", first, last)

    def is_declaration(self, i):
        if self.at(i) in TYPES:
            return True
        if self.tokens[i].kind != "name":
            return False
        after = self.tokens[i + 1]
        return after.kind == "name" or (after.text == "*" and self.tokens[i + 2].kind == "name" and
                                        self.at(i + 3) in ("=", ";", ","))

    # ---- expressions ----

    def parse_expression(self, first, last):
        i = first
        while i <= last:
            token = self.tokens[i]
            if token.kind == "name" and QUIET.match(token.text) and self.at(i + 1) == "(":
                i = self.close(i + 1) + 1
                continue
            if token.kind == "name" and token.text == "sizeof" and self.at(i + 1) == "(":
                i = self.close(i + 1) + 1
                continue
            self.parse_token(i, token)
            i += 1

    def parse_token(self, i, token):
        text = token.text
        before = self.tokens[i - 1]
        operand = before.kind in ("name", "number") and before.text != "return" or before.text in (")", "]")
        if text in SWAPPED:
            self.plant("boundary", i, i, SWAPPED[text])
        elif text in OPPOSITE:
            self.plant(NAMED[text], i, i, OPPOSITE[text])
        elif text in ("+", "-") and operand:
            self.plant("sign", i, i, "-" if text == "+" else "+")
        elif text == "!" and self.at(i + 1) != "!" and before.text != "!":
            self.plant("negate", i, i, "")
        elif text in ("true", "false"):
            self.plant("flip", i, i, "false" if text == "true" else "true")
        elif token.kind == "number":
            digits = re.sub("[uUlL]+$", "", text)
            value = int(digits, 8 if re.fullmatch("0[0-7]+", digits) else 0)
            self.plant("off-by-one", i, i, f"{value + 1}")
            if value:
                self.plant("off-by-one", i, i, f"{value - 1}")
                if value > 1:
                    self.plant("constant", i, i, "0")
        elif token.kind == "name" and CONSTANT.match(text) and text != "NULL" and self.at(i + 1) != "(" and \
                before.text not in (".", "->"):
            self.plant("off-by-one", i, i, f"({text} + 1)")
            self.plant("off-by-one", i, i, f"({text} - 1)")
            relatives = [c for c in self.constants if self.family(c) == self.family(text)]
            other = relatives[(relatives.index(text) + 1) % len(relatives)]
            if other != text:
                self.plant("constant", i, i, other)

    @staticmethod
    def family(constant):
        """What may stand in its place: constants with the same beginning, errnos for errnos."""
        return "E" if constant[0] == "E" and "_" not in constant else constant.split("_")[0]


def faults_in(text):
    return Source(text).parse()


def described(text, fault):
    """The lines it touches before and after, spaces aside: what `explained` names it by."""
    start = text.rfind("\n", 0, fault.start) + 1
    end = text.find("\n", fault.end)
    end = len(text) if end < 0 else end
    before, after = text[start:end], text[start:fault.start] + fault.text + text[fault.end:end]
    return " ".join(before.split()), " ".join(after.split())
