package sanitize

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/measure"
)

func TestControlCharactersAreEscaped(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"plain", `job-1 "ok" 100% \x`, `job-1 "ok" 100% \x`},
		{"letters of many scripts", "Grüße, 日本語　テスト, שלום, héllo, 👍🏽", "Grüße, 日本語　テスト, שלום, héllo, 👍🏽"},
		{"escape sequence", "\x1b[2Jgone", `\x1b[2Jgone`},
		{"window title", "\x1b]0;pwned\x07", `\x1b]0;pwned\x07`},
		{"carriage return", "ok\rno", `ok\rno`},
		{"newline and tab", "a\nb\tc", `a\nb\tc`},
		{"NUL, backspace, DEL", "\x00\x08\x7f", `\x00\x08\x7f`},
		{"C1 as runes", "\u009b31m\u0085", `\u009b31m\u0085`},
		{"C1 as raw bytes", "a\x9b31m", `a\x9b31m`},
		{"truncated UTF-8", "a\xe2\x80", `a\xe2\x80`},
		{"encoded surrogate", "\xed\xa0\x80", `\xed\xa0\x80`},
		{"replacement character is text", "\ufffd", "\ufffd"},
		{"bidi override", "a\u202eb\u202c", `a\u202eb\u202c`},
		{"bidi isolates and marks", "\u2066\u2069\u200e\u200f\u061c", `\u2066\u2069\u200e\u200f\u061c`},
		{"separators", "a\u2028b\u2029", `a\u2028b\u2029`},
		{"zero width", "pro\u200bd\u200c\u200d\u2060\ufeff", `pro\u200bd\u200c\u200d\u2060\ufeff`},
		{"filler and soft hyphen", "\u3164\u00ad", `\u3164\u00ad`},
		{"tag characters", "a\U000e0041", `a\U000e0041`},
		{"variation selector supplement", "a\U000e0101", `a\U000e0101`},
		{"visible format rune", "\u0600", "\u0600"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := Line(tc.in)
			assert.Equalf(t, got, tc.want, "Line(%q)", tc.in)
			if again := Line(got); again != got {
				t.Errorf("not idempotent: %q became %q", got, again)
			}
		})
	}
}

func TestTextKeepsLines(t *testing.T) {
	in, want := "a\tb\r\nc\x1b[0m\n", "a\tb\\r\nc\\x1b[0m\n"
	assert.Equalf(t, Text(in), want, "Text(%q)", in)
}

func TestOnlyColorCodesAreRemoved(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "\x1b[1;31mFATAL\x1b[0m\tno\x1b[K": "FATAL\tno", "\x1b[m": "", "\x1b[2J\x1b[31": "\x1b[2J\x1b[31", "\x1b]0;a\x07": "\x1b]0;a\x07",
		"\x1b[3\x1b[1m1m": "\x1b[31m", // what is left is escaped
	} {
		assert.Equal(t, Uncolored(in), want, in)
	}
}

func TestFileNamesStayBelowTheirFolder(t *testing.T) {
	for name, want := range map[string]string{
		"train-0-x7.y": "train-0-x7.y", "": "_", ".": "_", "..": "_", "../a": ".._a", "/etc": "_etc", "a\x1b[0m\n": "a__0m_", "Ünï": "_n_",
	} {
		assert.Equal(t, FileName(name), want, name)
	}
}

func TestCleanTextIsNotCopied(t *testing.T) {
	in := strings.Repeat("日本語 plain ", 50)
	assert.Equal(t, unsafe.StringData(Line(in)), unsafe.StringData(in), "Line returns a copy of clean text")
	measure.CheckAllocations(t, 0, func() { _ = Line(in) })
}

func FuzzLine(f *testing.F) {
	for _, seed := range []string{"", "plain", "\x1b[31m", "\xff\u009b\u202e\u2028", "a\nb\tc\rd", "\u200d\U000e0041"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		line, text := Line(s), Text(s)
		checkSafe(t, line, "")
		checkSafe(t, text, "\n\t")
		if Line(line) != line || Text(text) != text {
			t.Errorf("not idempotent for %q", s)
		}
		assert.Equalf(t, Line(text), line, "Line(Text(%q))", s)
		if printable(s) && line != s {
			t.Errorf("printable %q became %q", s, line)
		}
	})
}

// checkSafe checks the guarantee independently of the implementation: by code point, not by its tables.
func checkSafe(t *testing.T, s, allowed string) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Errorf("invalid UTF-8: %q", s)
	}
	for _, r := range s {
		if strings.ContainsRune(allowed, r) {
			continue
		}
		switch {
		case r < 0x20, r >= 0x7f && r <= 0x9f, r == 0x61c, r >= 0x200b && r <= 0x200f,
			r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x2069, r == 0xfeff, r >= 0xe0000 && r <= 0xe0fff:
			t.Errorf("forbidden %U in %q", r, s)
		}
	}
}

func printable(s string) bool {
	for _, r := range s {
		if !unicode.IsPrint(r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || r >= 0xe0100 && r <= 0xe01ef {
			return false
		}
	}
	return utf8.ValidString(s)
}
