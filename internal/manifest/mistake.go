package manifest

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// A mistake in YAML is found by changing one line at a time: if that makes the document parsable, that line is wrong. Parsers
// detect a mistake only later, and report that later line.

// mistake is a line with a mistake, and its fix.
type mistake struct {
	line, column int
	problem, fix string
}

const (
	// maxTried is how many bytes are parsed to find the mistakes of a file.
	maxTried = 8 << 20
	// parserCost is how many bytes could be parsed in the time that a parser takes to start.
	parserCost = 1 << 10
	// maxWhole is the maximum size of a document whose mistake is searched; of a larger one, the parser's line is reported.
	maxWhole = 64 << 10
)

// linesBefore and linesAfter are how many lines are tried before and after the line that the parser reported.
const (
	linesBefore = 12
	linesAfter  = 1
)

// findMistake returns the mistake in a document, or nil if no change fixes it, or if the search would take too long. reported
// is the line in the error of the parser, counted from 1; budget is how many bytes may be parsed.
func findMistake(text []byte, reported int, budget *int) *mistake {
	f := &finder{lines: strings.Split(string(text), "\n"), budget: budget}
	if m := cmp.Or(f.findConflict(), f.findDedentedText()); m != nil {
		return m
	}
	if len(text) > maxWhole {
		return nil
	}
	return f.find(reported)
}

// find returns the mistake, after which the document has no other.
func (f *finder) find(reported int) *mistake {
	near := f.nearLines(reported, linesBefore)
	if m := f.findSuspect(near, suspects, f.isReadable); m != nil {
		return m
	}
	// A quote or a bracket without the other one is noticed at the next one, or at the end.
	if m := f.findSuspect(f.nearLines(reported, reported), unpaired, f.isReadable); m != nil {
		return m
	}
	if m := f.findIndentation(append(near, f.openingLines(near)...)); m != nil {
		return m
	}
	for _, i := range near {
		if spaces, rest := indent(f.lines[i]); f.isReadable(i, spaces+"- "+rest) {
			return &mistake{line: i + 1, column: len(spaces) + 1, problem: "this line is beside the items of a list, but has no dash", fix: "write - " + wording.Cut(rest, 40)}
		}
	}
	// There is another mistake later.
	return f.findSuspect(near, suspects, func(i int, text string) bool { return f.isLater(i, text, reported) })
}

// findSuspect returns the first mistake of these kinds in a line without which the document is readable, or more of it is.
func (f *finder) findSuspect(lines []int, kinds []suspect, helps func(i int, text string) bool) *mistake {
	tried := map[int]bool{}
	for k := range kinds {
		for _, i := range lines {
			m := kinds[k].in(f.lines[i])
			if m == nil {
				continue
			}
			if _, known := tried[i]; !known {
				tried[i] = slices.ContainsFunc(f.stubs(i), func(text string) bool { return helps(i, text) })
			}
			if tried[i] {
				m.line = i + 1
				return m
			}
		}
	}
	return nil
}

// stubs returns replacements of a line: one, or one for each possible indentation if a tab makes that unclear.
func (f *finder) stubs(i int) []string {
	spaces, rest := indent(f.lines[i])
	if !strings.Contains(spaces, "\t") {
		return []string{stub(f.lines[i])}
	}
	var all []string
	for _, width := range append(f.possibleWidths(i), len(spaces)) {
		all = append(all, stub(strings.Repeat(" ", width)+rest))
	}
	return all
}

// finder searches lines for a mistake; lines count from 0.
type finder struct {
	lines  []string
	budget *int // of the file
}

// nearLines returns the lines to try: the reported line, so many lines before it, and lines after it, without empty lines and
// comments.
func (f *finder) nearLines(reported, before int) []int {
	var near []int
	for i := min(reported-1, len(f.lines)-1); i >= 0 && len(near) < before; i-- {
		if !isBlank(f.lines[i]) {
			near = append(near, i)
		}
	}
	for i := reported; i < len(f.lines) && i < reported+linesAfter; i++ {
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

// replaceLine returns the document with line i replaced by text, or nil if the budget for parsing is spent.
func (f *finder) replaceLine(i int, text string) []byte {
	if *f.budget <= 0 {
		return nil
	}
	lines := slices.Clone(f.lines)
	lines[i] = text
	data := []byte(strings.Join(lines, "\n"))
	*f.budget -= len(data) + parserCost
	return data
}

// isReadable reports whether the document is parsable with line i replaced by text.
func (f *finder) isReadable(i int, text string) bool { return f.parse(i, text) != nil }

// isLater reports whether, with line i replaced by text, the parser reports no mistake, or one some lines later.
func (f *finder) isLater(i int, text string, reported int) bool {
	const some = 2
	data := f.replaceLine(i, text)
	_, err := sigsyaml.YAMLToJSON(data)
	if err == nil {
		return data != nil
	}
	line, _ := locate(data, err)
	return line >= reported+some
}

// parse returns the document with line i replaced by text, or nil if it is not parsable.
func (f *finder) parse(i int, text string) *yaml.Node {
	root, rest, err := parseYAML(f.replaceLine(i, text))
	if rest || err != nil {
		return nil
	}
	return root
}

// emptyFields returns the number of fields with nothing after the colon.
func emptyFields(root *yaml.Node) int {
	empty := 0
	for n := range nodesIn(root) {
		if n.Kind == yaml.ScalarNode && n.Value == "" && n.Style == 0 {
			empty++
		}
	}
	return empty
}

// findConflict finds the markers of an unresolved merge conflict of git.
func (f *finder) findConflict() *mistake {
	for i, line := range f.lines {
		if strings.HasPrefix(line, "<<<<<<< ") || strings.HasPrefix(line, ">>>>>>> ") {
			return &mistake{line: i + 1, column: 1, problem: "a merge conflict was not resolved", fix: "choose one of the two versions, and remove the lines with <<<<<<<, ======= and >>>>>>>"}
		}
	}
	return nil
}

var (
	// textStart matches a line at whose end a multi-line text starts.
	textStart = regexp.MustCompile(`(?:^|[:-] +)[|>][-+0-9]*(?: +#.*)?\s*$`)
	// hereDocument matches the start of a here-document, up to the word at its end.
	hereDocument = regexp.MustCompile(`<<-?\s*["'\\]?(\w+)`)
	// anyField matches the start of a field at the top level, perhaps without its colon, or of the next document.
	anyField = regexp.MustCompile(`^(?:["']?[\w./-]+["']?\s*(?::|$)|(?:apiVersion|kind)\b|---|\.\.\.|- )`)
)

// findDedentedText finds the first line of a multi-line text that is not indented like the text, as authors of here-documents
// write them. The parser notices it later, at the first line that is not a field.
func (f *finder) findDedentedText() *mistake {
	for i := 0; i < len(f.lines); i++ {
		if !textStart.MatchString(f.lines[i]) || isBlank(f.lines[i]) {
			continue
		}
		width, until := 0, "" // the indentation of the text, and the end of the here-document that is open
		for j := i + 1; j < len(f.lines); j++ {
			spaces, rest := indent(strings.TrimRight(f.lines[j], "\r"))
			if rest == "" {
				continue
			}
			if width == 0 {
				width = len(spaces)
			}
			if len(spaces) < width || width == 0 {
				isEnd := func(line string) bool { return strings.TrimSpace(line) == until }
				if until != "" && slices.ContainsFunc(f.lines[j:], isEnd) || until == "" && len(spaces) == 0 && !isBlank(rest) && !anyField.MatchString(rest) {
					return &mistake{line: j + 1, column: len(spaces) + 1, fix: fmt.Sprintf("indent it, and the lines that belong to it, by %d spaces", max(width, 2)),
						problem: fmt.Sprintf("this line belongs to the text that starts in line %d, but is indented less", i+1)}
				}
				i = j - 1
				break
			}
			if m := hereDocument.FindStringSubmatch(rest); m != nil {
				until = m[1]
			} else if rest == until {
				until = ""
			}
		}
	}
	return nil
}
