package manifest

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
)

// A mistake in YAML is found by repairing it: a line that makes the document readable when it is changed is the wrong
// one, and the change says what is wrong with it. Parsers notice a mistake only later, and name the line of that.

// mistake is a line with a mistake.
type mistake struct {
	line, column int
	problem, fix string
}

const (
	// triedAtMost is how many bytes are parsed to find a mistake.
	triedAtMost = 8 << 20
	// wholeAtMost is the size of a document that is parsed as a whole; of a larger one, the lines around the mistake are.
	wholeAtMost = 64 << 10
)

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
	if len(text) <= wholeAtMost {
		return f.find(noticed)
	}
	first, end := f.window(noticed)
	part := &finder{lines: f.lines[first:end], budget: triedAtMost}
	if len(part.lines) == 0 || part.readable(0, part.lines[0]) { // the mistake is elsewhere
		return nil
	}
	m := part.find(noticed - first)
	if m != nil {
		m.line += first
	}
	return m
}

// window returns the lines around the one of the parser that can be parsed without the others: none of them is indented
// less than the first.
func (f *finder) window(noticed int) (first, end int) {
	const around = 50
	least := len(f.lines[noticed-1])
	first = noticed - 1
	for i := first; i >= 0; i-- {
		if isBlank(f.lines[i]) {
			continue
		}
		if spaces, _ := indent(f.lines[i]); len(spaces) <= least {
			first, least = i, len(spaces)
			if i < noticed-around {
				break
			}
		}
	}
	for end = noticed; end < min(noticed+around, len(f.lines)); end++ {
		if spaces, _ := indent(f.lines[end]); !isBlank(f.lines[end]) && len(spaces) < least {
			break
		}
	}
	return first, end
}

// find returns the mistake that a repair shows.
func (f *finder) find(noticed int) *mistake {
	near := f.near(noticed)
	for _, kind := range []func(int) []repair{f.tab, f.colon, f.quote, f.value, f.bracket, f.dashSpace} {
		if m := f.first(near, kind, f.readable); m != nil {
			return m
		}
	}
	if m := f.indentation(append(near, f.openers(near)...)); m != nil {
		return m
	}
	if m := f.first(near, f.dash, f.readable); m != nil {
		return m
	}
	if m := f.opened(noticed); m != nil {
		return m
	}
	// There is another mistake later. A quote or a bracket that is added may hide it.
	later := func(i int, text string) bool { return f.noticedLater(i, text, noticed) }
	for _, kind := range []func(int) []repair{f.tab, f.dashSpace, f.colon, f.value} {
		if m := f.first(near, kind, later); m != nil {
			return m
		}
	}
	return nil
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

// first returns the first repair that helps.
func (f *finder) first(near []int, kind func(int) []repair, helps func(i int, text string) bool) *mistake {
	for _, i := range near {
		for _, r := range kind(i) {
			if helps(i, r.text) {
				r.line = i + 1
				return &r.mistake
			}
		}
	}
	return nil
}

// readable reports whether the document is readable with another text of a line.
func (f *finder) readable(i int, text string) bool {
	_, readable := f.parsed(i, text)
	return readable
}

// noticedLater reports whether a parser notices a mistake only some lines later, with another text of a line.
func (f *finder) noticedLater(i int, text string, noticedAt int) bool {
	const some = 2
	was := f.lines[i]
	f.lines[i] = text
	data := []byte(strings.Join(f.lines, "\n"))
	f.lines[i] = was
	if f.budget -= len(data); f.budget < 0 {
		return false
	}
	_, err := sigsyaml.YAMLToJSON(data)
	if err == nil {
		return true
	}
	line, _ := noticed(data, err)
	return line >= noticedAt+some
}

// parsed also returns how many fields of the document have no value.
func (f *finder) parsed(i int, text string) (empty int, readable bool) {
	was := f.lines[i]
	f.lines[i] = text
	data := strings.Join(f.lines, "\n")
	f.lines[i] = was
	if f.budget -= len(data); f.budget < 0 {
		return 0, false
	}
	var node yaml.Node
	if yaml.Unmarshal([]byte(data), &node) != nil {
		return 0, false
	}
	return emptyFields(&node), true
}

// emptyFields counts the fields with nothing after the colon.
func emptyFields(n *yaml.Node) int {
	empty := 0
	if n.Kind == yaml.ScalarNode && n.Value == "" && n.Style == 0 {
		empty++
	}
	for _, c := range n.Content {
		empty += emptyFields(c)
	}
	return empty
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
	for _, width := range append(f.widths(i), len(spaces)) {
		all = append(all, repair{mistake{column: at + 1, problem: "this line is indented with a tab, but YAML allows only spaces", fix: "replace the tab by spaces"}, strings.Repeat(" ", width) + rest})
	}
	return all
}

var (
	// bareName is a line with the name of a field and no colon, nameAndValue one with a value, too.
	bareName     = regexp.MustCompile(`^(\s*(?:- +)*)([A-Za-z_][\w./-]*)(\s*(?: #.*)?\r?)$`)
	nameAndValue = regexp.MustCompile(`^(\s*(?:- +)*)([A-Za-z_][\w./-]*)( +)([^\s:#].*)$`)
	// noSpace is a field without a space after its colon.
	noSpace = regexp.MustCompile(`^(\s*(?:- +)*)([A-Za-z_][\w./-]*):([^\s:/].*)$`)
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
		if apostrophe := regexp.MustCompile(`(\w)` + quote + `(\w)`); quote == "'" && apostrophe.MatchString(line) {
			m := mistake{column: apostrophe.FindStringIndex(line)[0] + 2, problem: "a quote (') inside the text ends it", fix: "write '' for it"}
			all = append(all, repair{m, apostrophe.ReplaceAllString(line, "$1''$2")})
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

// openers returns lines before the others that begin an object or a list: their indentation may be wrong, too.
func (f *finder) openers(near []int) []int {
	var all []int
	for i := slices.Min(append(near, len(f.lines))) - 1; i >= 0 && len(all) < linesBefore; i-- {
		if !isBlank(f.lines[i]) && strings.HasSuffix(strings.TrimRight(f.lines[i], " \r"), ":") {
			all = append(all, i)
		}
	}
	return all
}

// levels returns the indentation of a line, and those of the fields after its dashes.
func levels(line string) []int {
	spaces, rest := indent(line)
	all := []int{len(spaces)}
	for strings.HasPrefix(rest, "- ") {
		_, rest = indent(rest[1:])
		all = append(all, len(line)-len(rest))
	}
	return all
}

// widths returns the indentations that a line may have: those of the lines before it and of the next one, and one
// level more than the line before.
func (f *finder) widths(i int) []int {
	var all []int
	seen := 0
	for j := i - 1; j >= 0 && seen < linesBefore; j-- {
		if isBlank(f.lines[j]) {
			continue
		}
		before := levels(f.lines[j])
		all = append(all, before...)
		if seen++; seen == 1 {
			all = append(all, before[0]+2, before[0]+4)
		}
	}
	own := levels(f.lines[i])
	for j := i + 1; j < len(f.lines); j++ {
		if !isBlank(f.lines[j]) {
			next := levels(f.lines[j])[0]
			all = append(all, next, next-(own[len(own)-1]-own[0])) // its fields are where those after the dash are
			break
		}
	}
	all = append(all, 0)
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(width int) bool { return width < 0 || width == own[0] })
}

// indentation finds the line whose indentation does not fit: the one that leaves the document in the best order when
// it has another one.
func (f *finder) indentation(lines []int) *mistake {
	var best *mistake
	least := 0
	unit := f.unit()
	for _, i := range lines {
		spaces, rest := indent(f.lines[i])
		for _, width := range f.widths(i) {
			text := strings.Repeat(" ", width) + rest
			empty, readable := f.parsed(i, text)
			if !readable {
				continue
			}
			disorder := 10*empty + f.disorder(i, text, unit)
			if len(spaces) == 0 { // few people indent less than nothing by mistake
				disorder++
			}
			if best == nil || disorder < least || disorder == least && i+1 < best.line {
				best, least = indentationMistake(i, len(spaces), width), disorder
			}
		}
	}
	return best
}

// unit returns how many spaces a level has: the most frequent one.
func (f *finder) unit() int {
	times, unit := map[int]int{}, 2
	last := 0
	for _, line := range f.lines {
		if isBlank(line) {
			continue
		}
		all := levels(line)
		if by := all[0] - last; by > 0 {
			times[by]++
		}
		last = all[len(all)-1]
	}
	for by, n := range times {
		if n > times[unit] || n == times[unit] && by < unit {
			unit = by
		}
	}
	return unit
}

// disorder is how often the indentation changes, with one line replaced, and how often by another number of spaces than
// a level has.
func (f *finder) disorder(changed int, text string, unit int) int {
	n, last := 0, 0
	var lists [2]int // how many lists are indented less and more than their field
	for i, line := range f.lines {
		if i == changed {
			line = text
		}
		if isBlank(line) {
			continue
		}
		all := levels(line)
		by := all[0] - last
		if by != 0 {
			n++
		}
		if by > 0 && by != unit {
			n += 3
		}
		if len(all) > 1 && by >= 0 {
			lists[min(by, 1)]++
		}
		last = all[len(all)-1]
	}
	return n + min(lists[0], lists[1])
}

func indentationMistake(i, has, needs int) *mistake {
	word := "more"
	if has < needs {
		word = "less"
	}
	return &mistake{
		line: i + 1, column: has + 1, fix: "indent it by " + wording.Plural(int64(needs), "space", "spaces"),
		problem: fmt.Sprintf("this line is indented by %s, %d %s than the lines that it belongs to", wording.Plural(int64(has), "space", "spaces"), max(has-needs, needs-has), word),
	}
}

// plainValue is a field or an item with a value that has no quotes.
var plainValue = regexp.MustCompile(`^(\s*(?:- +)*(?:[\w./-]+: +)?)([^\s"'\[{|>#].*?)(\s*\r?)$`)

// isField is the start of a field, which is no value.
var isField = regexp.MustCompile(`^[\w./-]+:(?: |$)`)

// value puts a value in quotes that YAML does not read without them.
func (f *finder) value(i int) []repair {
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

// dashSpace adds the space after the dash of an item.
func (f *finder) dashSpace(i int) []repair {
	spaces, rest := indent(f.lines[i])
	if len(rest) < 2 || rest[0] != '-' || rest[1] == ' ' || rest[1] == '-' {
		return nil
	}
	return []repair{{mistake{column: len(spaces) + 2, problem: "there is no space after the dash of a list item", fix: "write - " + shorten(rest[1:])}, spaces + "- " + rest[1:]}}
}

// dash adds the dash of an item.
func (f *finder) dash(i int) []repair {
	spaces, rest := indent(f.lines[i])
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
