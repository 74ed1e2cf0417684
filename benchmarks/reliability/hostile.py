"""Values that readers trip over: numbers at the limits of their types, odd spellings, odd words."""

NUMBERS = (
    *("0", "-1", "1", "2", "3", "-0.0", "0.5", "-1e30", "1e30", "1e308", "1e999", "-1e999", "1e-400", "NaN", "-Infinity"),
    *(str(2**bits + more) for bits in (8, 16, 31, 32, 53, 63, 64) for more in (-1, 0)),
    *("1000000000000", "-9223372036854775808", "9" * 5000, "1" + "0" * 400, "0.1" + "0" * 5000),
)
SPELLINGS = ("1_0", "0x10", "+1", "1.", ".5", "1e", "--1", "1,000", "١", "½", "inf", "nan", "True", "None", "1 2", "")
WORDS = (
    *("<unk>", "<s>", "</s>", "the", "\\data\\", "\\end\\", "ngram", "..", "/etc/passwd", "../../x", "a/b", "{", "[", '"'),
    *("\0", "\t", "\r", "\u2028", "\x85", "\xa0", "\ufeff", "\U0010ffff", "e\u0301" * 300, "x" * 70_000, "-1", "%s", "`x`"),
)
# JSON texts that `json.dumps` would not write.
JSON_TEXTS = (
    *NUMBERS,
    *("null", "true", "false", "[]", "{}", '""', '"\\ud800"', '"\\u0000"', '"a\\nb"', "[[]]", '{"a": {"a": 1}}', "[null]"),
    *('"' + "x" * 70_000 + '"', "[" * 3000 + "]" * 3000, '{"a":' * 3000 + "1" + "}" * 3000, "[" * 100_000, "[0" + ",0" * 9999 + "]"),
)
