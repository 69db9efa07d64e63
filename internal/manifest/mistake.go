package manifest

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A mistake in YAML is found by repairing it: a line that makes the document readable when it is changed is the wrong
// one, and the change says what is wrong with it. Parsers notice a mistake only later, and name the line of that.

// mistake is a line with a mistake.
type mistake struct {
	line, column int
	problem, fix string
}

// triedAtMost is how many bytes are parsed to find a mistake.
const triedAtMost = 24 << 20

// before and after are how many lines around the one at which the parser noticed the mistake are tried.
const (
	linesBefore = 12
	linesAfter  = 1
)

// repair is a change of a line that may be the right one.
type repair struct {
	mistake
	text string
}

// findMistake returns the mistake in a document, nil if there is none with a repair, or if that would take too long.
// noticed is the line, from 1, at which the parser noticed it.
func findMistake(text []byte, noticed int) *mistake {
	f := &finder{lines: strings.Split(string(text), "\n"), budget: triedAtMost}
	if m := f.conflict(); m != nil {
		return m
	}
	near := f.near(noticed)
	for _, kind := range []func(int) []repair{f.tab, f.colon, f.quote, f.bracket} {
		if m := f.first(near, kind); m != nil {
			return m
		}
	}
	if m := f.indentation(near, noticed); m != nil {
		return m
	}
	for _, kind := range []func(int) []repair{f.value, f.dash} {
		if m := f.first(near, kind); m != nil {
			return m
		}
	}
	return f.opened(noticed)
}

// finder looks for a mistake in lines, which count from 0.
type finder struct {
	lines  []string
	budget int
}

// near returns the lines to try: that of the parser, those before it, and those after it. Empty lines and comments are
// left out.
func (f *finder) near(noticed int) []int {
	var near []int
	for i := min(noticed-1, len(f.lines)-1); i >= 0 && len(near) < linesBefore; i-- {
		if !isBlank(f.lines[i]) {
			near = append(near, i)
		}
	}
	for i := noticed; i < len(f.lines) && i < noticed+linesAfter; i++ {
		if !isBlank(f.lines[i]) {
			near = append(near, i)
		}
	}
	return near
}

func isBlank(line string) bool {
	line = strings.TrimLeft(line, " \t\r")
	return line == "" || line[0] == '#'
}

// first returns the first repair that makes the document readable.
func (f *finder) first(near []int, kind func(int) []repair) *mistake {
	for _, i := range near {
		for _, r := range kind(i) {
			if f.readable(i, r.text) {
				r.line = i + 1
				return &r.mistake
			}
		}
	}
	return nil
}

// readable reports whether the document is readable with another text of a line.
func (f *finder) readable(i int, text string) bool {
	was := f.lines[i]
	f.lines[i] = text
	data := strings.Join(f.lines, "\n")
	f.lines[i] = was
	if f.budget -= len(data); f.budget < 0 {
		return false
	}
	var node yaml.Node
	return yaml.Unmarshal([]byte(data), &node) == nil
}

// conflict finds what git leaves in a file that it cannot merge.
func (f *finder) conflict() *mistake {
	for i, line := range f.lines {
		if strings.HasPrefix(line, "<<<<<<< ") || strings.HasPrefix(line, ">>>>>>> ") {
			return &mistake{line: i + 1, column: 1, problem: "a merge conflict was not resolved", fix: "choose one of the two versions, and remove the lines with <<<<<<<, ======= and >>>>>>>"}
		}
	}
	return nil
}

// indent returns the spaces and tabs at the start of a line, and the rest.
func indent(line string) (spaces, rest string) {
	rest = strings.TrimLeft(line, " \t")
	return line[:len(line)-len(rest)], rest
}

func (f *finder) tab(i int) []repair {
	spaces, rest := indent(f.lines[i])
	at := strings.IndexByte(spaces, '\t')
	if at < 0 {
		return nil
	}
	var all []repair
	for _, width := range f.widths(i) {
		all = append(all, repair{mistake{column: at + 1, problem: "this line is indented with a tab, but YAML allows only spaces", fix: "replace the tab by spaces"}, strings.Repeat(" ", width) + rest})
	}
	return all
}

var (
	// bareName is a line with the name of a field and no colon, nameAndValue one with a value, too.
	bareName     = regexp.MustCompile(`^(\s*(?:- +)*)([A-Za-z_][\w./-]*)(\s*(?: #.*)?\r?)$`)
	nameAndValue = regexp.MustCompile(`^(\s*(?:- +)*)([A-Za-z_][\w./-]*)( +)([^\s:#].*)$`)
	// noSpace is a field without a space after its colon.
	noSpace = regexp.MustCompile(`^(\s*(?:- +)*)([A-Za-z_][\w-]*):([^\s:/].*)$`)
)

func (f *finder) colon(i int) []repair {
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

// shorten shortens what a fix repeats.
func shorten(text string) string {
	const most = 40
	if runes := []rune(strings.TrimSpace(text)); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return strings.TrimSpace(text)
}

// quotedValue is a value that starts with a quote.
var quotedValue = regexp.MustCompile(`^(\s*(?:- +)*(?:[\w./-]+: +)?)(["'])(.*?)(\s*\r?)$`)

func (f *finder) quote(i int) []repair {
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
		at := strings.LastIndex(line, quote)
		m := mistake{column: at + 1, problem: "a quote (" + quote + ") is not closed", fix: "add the other " + quote + ", or remove this one"}
		for _, closed := range closings(line, quote) {
			all = append(all, repair{m, closed})
		}
	}
	return all
}

// closings returns the line with a quote added: at its end, and before and after each comma and bracket.
func closings(line, quote string) []string {
	all := []string{line + quote}
	for i := len(line) - 1; i > 0 && len(all) < 10; i-- {
		if strings.IndexByte(",]}[{ ", line[i]) >= 0 {
			all = append(all, line[:i]+quote+line[i:], line[:i+1]+quote+line[i+1:])
		}
	}
	return all
}

// bracket adds or removes one bracket.
func (f *finder) bracket(i int) []repair {
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

// widths returns the indentations that a line may have: those of the lines before it and of the next one, and one
// level more than the line before.
func (f *finder) widths(i int) []int {
	var all []int
	add := func(width int) {
		if width >= 0 && !slices.Contains(all, width) {
			all = append(all, width)
		}
	}
	around := func(j int) {
		spaces, rest := indent(f.lines[j])
		add(len(spaces))
		for strings.HasPrefix(rest, "- ") { // the fields of an item
			spaces, rest = indent(rest[1:])
			add(len(f.lines[j]) - len(rest))
		}
		_ = spaces
	}
	for j, seen := i-1, 0; j >= 0 && seen < linesBefore; j-- {
		if isBlank(f.lines[j]) {
			continue
		}
		around(j)
		if seen++; seen == 1 {
			spaces, _ := indent(f.lines[j])
			add(len(spaces) + 2)
			add(len(spaces) + 4)
		}
	}
	for j := i + 1; j < len(f.lines); j++ {
		if !isBlank(f.lines[j]) {
			around(j)
			break
		}
	}
	add(0)
	return all
}

// indentation finds the line whose indentation does not fit. If several would be readable with another one, it is the
// one that has no level of the document, or else the one where the parser noticed it.
func (f *finder) indentation(near []int, noticed int) *mistake {
	var best *mistake
	for _, i := range near {
		spaces, rest := indent(f.lines[i])
		widths := f.widths(i)
		slices.SortStableFunc(widths, func(a, b int) int { return distance(a, len(spaces)) - distance(b, len(spaces)) })
		for _, width := range widths {
			if width == len(spaces) || !f.readable(i, strings.Repeat(" ", width)+rest) {
				continue
			}
			m := indentationMistake(i, len(spaces), width)
			if !f.usual(i) {
				return m
			}
			if best == nil {
				best = m
			}
			break
		}
	}
	return best
}

func indentationMistake(i, has, needs int) *mistake {
	word := "more"
	if has < needs {
		word = "less"
	}
	return &mistake{
		line: i + 1, column: has + 1, fix: fmt.Sprintf("indent it by %d spaces", needs),
		problem: fmt.Sprintf("this line is indented by %d spaces, %d %s than the lines that it belongs to", has, distance(has, needs), word),
	}
}

func distance(a, b int) int { return max(a-b, b-a) }

// usual reports whether the indentation of a line is a level that other lines have, too.
func (f *finder) usual(i int) bool {
	spaces, _ := indent(f.lines[i])
	odd, all := 0, 0
	for j, line := range f.lines {
		if other, _ := indent(line); j != i && !isBlank(line) {
			all++
			odd += len(other) % 2
		}
	}
	return len(spaces)%2 == 0 || odd*4 > all
}

// plainValue is a field or an item with a value that has no quotes.
var plainValue = regexp.MustCompile(`^(\s*(?:- +)*(?:[\w./-]+: +)?)([^\s"'\[{|>#].*?)(\s*\r?)$`)

// value puts a value in quotes that YAML does not read without them.
func (f *finder) value(i int) []repair {
	m := plainValue.FindStringSubmatch(f.lines[i])
	if m == nil || m[1] == f.lines[i] {
		return nil
	}
	quoted := "'" + strings.ReplaceAll(m[2], "'", "''") + "'"
	problem := "a value that contains a colon and a space must be in quotes"
	if strings.IndexByte("@`%&*!,]}?", m[2][0]) >= 0 {
		problem = fmt.Sprintf("a value that starts with %c must be in quotes", m[2][0])
	}
	return []repair{{mistake{column: len(m[1]) + 1, problem: problem, fix: "write " + shorten(quoted)}, m[1] + quoted + m[3]}}
}

// dash adds the space after the dash of an item, or the dash.
func (f *finder) dash(i int) []repair {
	spaces, rest := indent(f.lines[i])
	if len(rest) > 1 && rest[0] == '-' && rest[1] != ' ' && rest[1] != '-' {
		return []repair{{mistake{column: len(spaces) + 2, problem: "there is no space after the dash of a list item", fix: "write - " + shorten(rest[1:])}, spaces + "- " + rest[1:]}}
	}
	return []repair{{mistake{column: len(spaces) + 1, problem: "this line is beside the items of a list, but has no dash", fix: "write - " + shorten(rest)}, spaces + "- " + rest}}
}

// opened finds a quote or a bracket that was opened, but is closed nowhere or much later: the first line with one that
// makes the document readable once it is closed there.
func (f *finder) opened(noticed int) *mistake {
	for i := 0; i < min(noticed, len(f.lines)); i++ {
		line := f.lines[i]
		if isBlank(line) || !bytes.ContainsAny([]byte(line), `"'[{`) {
			continue
		}
		for _, r := range append(f.quote(i), f.bracket(i)...) {
			if f.budget <= 0 {
				return nil
			}
			if f.readable(i, r.text) {
				r.line = i + 1
				return &r.mistake
			}
		}
	}
	return nil
}
