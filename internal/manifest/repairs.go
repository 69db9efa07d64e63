package manifest

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// A kind of repair returns replacements of a line, each with the mistake that it would fix.

func (f *finder) fixTab(i int) []repair {
	spaces, rest := indent(f.lines[i])
	at := strings.IndexByte(spaces, '\t')
	if at < 0 {
		return nil
	}
	var all []repair
	for _, width := range append(f.possibleWidths(i), len(spaces)) {
		all = append(all, repair{mistake{column: at + 1, problem: "this line is indented with a tab, but YAML allows only spaces", fix: "replace the tab by spaces"}, strings.Repeat(" ", width) + rest})
	}
	return all
}

var (
	// bareName matches the name of a field without a colon, and nameAndValue a name and a value without a colon.
	bareName     = regexp.MustCompile(`^(\s*(?:- +)*)([A-Za-z_][\w./-]*)(\s*(?: #.*)?\r?)$`)
	nameAndValue = regexp.MustCompile(`^(\s*(?:- +)*)([A-Za-z_][\w./-]*)( +)([^\s:#].*)$`)
	// noSpace matches a field without a space after its colon.
	noSpace = regexp.MustCompile(`^(\s*(?:- +)*)([A-Za-z_][\w./-]*):([^\s:/].*)$`)
)

func (f *finder) fixColon(i int) []repair {
	line := f.lines[i]
	if m := bareName.FindStringSubmatch(line); m != nil {
		return []repair{{mistake{column: len(m[1]+m[2]) + 1, problem: fmt.Sprintf("there is no colon after %q", m[2]), fix: "write " + m[2] + ":"}, m[1] + m[2] + ":" + m[3]}}
	}
	if m := noSpace.FindStringSubmatch(line); m != nil {
		return []repair{{mistake{column: len(m[1]+m[2]) + 2, problem: "there is no space after the colon", fix: "write " + m[2] + ": " + shorten(m[3])}, m[1] + m[2] + ": " + m[3]}}
	}
	if m := nameAndValue.FindStringSubmatch(line); m != nil {
		return []repair{{mistake{column: len(m[1]+m[2]) + 1, problem: fmt.Sprintf("there is no colon after %q", m[2]), fix: "write " + m[2] + ": " + shorten(m[4])}, m[1] + m[2] + ":" + m[3] + m[4]}}
	}
	return nil
}

// shorten shortens a text that is quoted in a fix.
func shorten(text string) string { return wording.Cut(strings.TrimSpace(text), 40) }

// apostrophe matches a quote inside a word.
var apostrophe = regexp.MustCompile(`(\w)'(\w)`)

// quotedValue matches a value that starts with a quote.
var quotedValue = regexp.MustCompile(`^(\s*(?:- +)*(?:[\w./-]+: +)?)(["'])(.*?)(\s*\r?)$`)

func (f *finder) fixQuote(i int) []repair {
	line := f.lines[i]
	var all []repair
	if m := quotedValue.FindStringSubmatchIndex(line); m != nil {
		start, quote, inside, end := line[:m[3]], line[m[4]:m[5]], line[m[6]:m[7]], line[m[8]:m[9]]
		column := m[4] + 1
		all = append(all, repair{mistake{column: column, problem: "the quote (" + quote + ") is not closed", fix: "add " + quote + " at the end"}, start + quote + inside + quote + end})
		if inner, closed := strings.CutSuffix(inside, quote); closed && strings.Contains(inner, quote) {
			escaped, fix := strings.ReplaceAll(inner, "'", "''"), "write '' for each quote inside, or use double quotes"
			if quote == `"` {
				escaped, fix = strings.ReplaceAll(inner, `"`, `\"`), `write \" for each quote inside, or use single quotes`
			}
			all = append(all, repair{mistake{column: column, problem: "a quote (" + quote + ") inside the text ends it", fix: fix}, start + quote + escaped + quote + end})
		}
	}
	for _, quote := range []string{`"`, "'"} {
		if strings.Count(line, quote)%2 == 0 {
			continue
		}
		if quote == "'" && apostrophe.MatchString(line) {
			m := mistake{column: apostrophe.FindStringIndex(line)[0] + 2, problem: "a quote (') inside the text ends it", fix: "write '' for it"}
			all = append(all, repair{m, apostrophe.ReplaceAllString(line, "$1''$2")})
		}
		at := strings.LastIndex(line, quote)
		m := mistake{column: at + 1, problem: "a quote (" + quote + ") is not closed", fix: "add the other " + quote + ", or remove this one"}
		for _, closed := range closeQuote(line, quote) {
			all = append(all, repair{m, closed})
		}
	}
	return all
}

// closeQuote returns copies of the line with a quote added: at the end, and before and after each comma, bracket and space.
func closeQuote(line, quote string) []string {
	all := []string{line + quote}
	for i := len(line) - 1; i > 0 && len(all) < 10; i-- {
		if strings.IndexByte(",]}[{ ", line[i]) >= 0 {
			all = append(all, line[:i]+quote+line[i:], line[:i+1]+quote+line[i+1:])
		}
	}
	return all
}

// fixBracket closes an open bracket, or removes an unmatched closing one.
func (f *finder) fixBracket(i int) []repair {
	line := f.lines[i]
	var all []repair
	for _, pair := range []string{"[]", "{}"} {
		open, closed := pair[:1], pair[1:]
		opened, ended := strings.Count(line, open), strings.Count(line, closed)
		switch {
		case opened > ended:
			m := mistake{column: strings.LastIndex(line, open) + 1, problem: fmt.Sprintf("%q is not closed", open), fix: "add " + closed}
			all = append(all, repair{m, line + closed})
			for at := len(line) - 1; at > 0; at-- {
				if strings.IndexByte("]},", line[at]) >= 0 {
					all = append(all, repair{m, line[:at] + closed + line[at:]})
				}
			}
		case ended > opened:
			at := strings.LastIndex(line, closed)
			all = append(all, repair{mistake{column: at + 1, problem: fmt.Sprintf("%q was not opened", closed), fix: "remove it, or add " + open}, line[:at] + line[at+1:]})
		}
	}
	return all
}

// plainValue matches a field or an item with a value without quotes.
var plainValue = regexp.MustCompile(`^(\s*(?:- +)*(?:[\w./-]+: +)?)([^\s"'\[{|>#].*?)(\s*\r?)$`)

// isField matches the start of a field, which is not a plain value.
var isField = regexp.MustCompile(`^[\w./-]+:(?: |$)`)

// fixValue quotes a value that YAML cannot read without quotes.
func (f *finder) fixValue(i int) []repair {
	m := plainValue.FindStringSubmatch(f.lines[i])
	if m == nil || strings.Trim(m[1], " -") == "" && isField.MatchString(m[2]) {
		return nil
	}
	special := strings.IndexByte("@`%&*!,]}?", m[2][0]) >= 0
	if !special && !strings.Contains(m[2], ": ") {
		return nil
	}
	quoted := "'" + strings.ReplaceAll(m[2], "'", "''") + "'"
	problem := "a value that contains a colon and a space must be in quotes"
	if special {
		problem = fmt.Sprintf("a value that starts with %c must be in quotes", m[2][0])
	}
	return []repair{{mistake{column: len(m[1]) + 1, problem: problem, fix: "write " + shorten(quoted)}, m[1] + quoted + m[3]}}
}

// fixDashSpace adds the missing space after the dash of an item.
func (f *finder) fixDashSpace(i int) []repair {
	spaces, rest := indent(f.lines[i])
	if len(rest) < 2 || rest[0] != '-' || rest[1] == ' ' || rest[1] == '-' {
		return nil
	}
	return []repair{{mistake{column: len(spaces) + 2, problem: "there is no space after the dash of a list item", fix: "write - " + shorten(rest[1:])}, spaces + "- " + rest[1:]}}
}

// fixDash adds the missing dash of an item.
func (f *finder) fixDash(i int) []repair {
	spaces, rest := indent(f.lines[i])
	return []repair{{mistake{column: len(spaces) + 1, problem: "this line is beside the items of a list, but has no dash", fix: "write - " + shorten(rest)}, spaces + "- " + rest}}
}
