package manifest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	sigsyaml "sigs.k8s.io/yaml"
)

// yamlProblem extracts the line from an error of the YAML parsers.
var yamlProblem = regexp.MustCompile(`line (\d+): (.*)`)

// syntaxError is an error of a YAML parser. Explaining it is slow, so that is done only if it is reported.
type syntaxError struct{ err error }

func (u *syntaxError) Error() string { return u.err.Error() }

// explain returns the error for users: that of a YAML parser in plain words, with the line of the mistake if it is found.
// budget is how many bytes may be parsed to find the mistakes of the file.
func (d *document) explain(err error, budget *int) error {
	bad, is := errors.AsType[*syntaxError](err)
	if !is {
		return err
	}
	if problem := d.jsonError(); problem != nil {
		return problem
	}
	line, problem := locate(d.text, bad.err)
	found := &mistake{line: line, problem: plainWords(problem)}
	if *budget > 0 {
		found = cmp.Or(findMistake(d.text, line, budget), found)
	}
	if name := unknownAnchor.FindStringSubmatch(problem); name != nil {
		position := d.positionOf(nil)
		if at := regexp.MustCompile(`\*` + regexp.QuoteMeta(name[1]) + `(?:[\s,\]}]|$)`).FindIndex(d.text); at != nil {
			position = d.positionAt(at[0])
		}
		return &Error{Position: position, Problem: fmt.Sprintf("*%s refers to the anchor &%s, which is not defined before it", name[1], name[1])}
	}
	position := d.positionOf(nil)
	position.Line = d.line + found.line - 1
	if found.column > 0 {
		position.Column = found.column
	}
	return &Error{Position: position, Problem: "not readable as YAML: " + found.problem, Fix: found.fix}
}

// locate returns the line at which the parser detected a mistake, and the parser's message. It uses kubectl's parser,
// because the other one reports the line at which the surrounding block starts.
func locate(text []byte, err error) (line int, problem string) {
	if _, other := sigsyaml.YAMLToJSON(text); other != nil {
		err = other
	}
	problem = strings.ReplaceAll(strings.TrimPrefix(err.Error(), "yaml: "), "\n", " ")
	problem = strings.TrimPrefix(problem, "error converting YAML to JSON: yaml: ")
	line = 1
	if found := yamlProblem.FindStringSubmatch(problem); found != nil {
		line, _ = strconv.Atoi(found[1])
		problem = found[2]
		if tokenError.MatchString(problem) { // these errors count lines from 0
			line++
		}
	}
	return max(min(line, bytes.Count(text, []byte("\n"))+1), 1), problem
}

// tokenError matches errors about tokens, unlike errors about characters.
var tokenError = regexp.MustCompile(`^(did not find expected|found duplicate %|found undefined tag|found incompatible)`)

// unknownAnchor matches the error about an alias without an anchor, which has no line.
var unknownAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced`)

// plainWords translates a message of the parser for authors of manifests.
func plainWords(problem string) string {
	for _, w := range [...]struct{ parser, plain string }{
		{"did not find expected key", "this line does not fit the lines before it; check its indentation, and the quotes and brackets before it"},
		{"did not find expected '-' indicator", "this line does not fit the list before it; check its indentation"},
		{"mapping values are not allowed in this context", "there is a colon where no field can be; check the indentation, the colon of the line before, and whether the value needs quotes"},
		{"could not find expected ':'", "there is no colon after the name of a field, here or in the lines before"},
		{"found character that cannot start any token", "a value cannot start with this character; put it in quotes"},
		{"found unexpected end of stream", "a quote is not closed"},
		{"did not find expected ',' or ']'", "a list in brackets has no comma here, or is not closed"},
		{"did not find expected ',' or '}'", "an object in braces has no comma here, or is not closed"},
		{"did not find expected node content", "there is no value here; check the brackets and commas"},
	} {
		if strings.Contains(problem, w.parser) {
			return w.plain
		}
	}
	return problem
}

// jsonStart matches the start of JSON that is unusual in YAML.
var jsonStart = regexp.MustCompile(`^\s*[{\[]\s*["{]`)

// jsonError returns the syntax error of a text that is meant to be JSON, or nil if it is not JSON.
func (d *document) jsonError() error {
	var value any
	var wrong *json.SyntaxError
	if !jsonStart.Match(d.text) || !errors.As(json.Unmarshal(d.text, &value), &wrong) {
		return nil
	}
	at := max(int(wrong.Offset)-1, 0)
	problem, at := explainJSON(d.text, at, wrong.Error())
	return &Error{Position: d.positionAt(at), Problem: "not readable as JSON: " + problem}
}

// explainJSON returns the problem in plain words, and its offset; text[at] is where the parser detected it.
func explainJSON(text []byte, at int, problem string) (string, int) {
	read := text[:min(at+1, len(text))]
	before := max(len(bytes.TrimRight(text[:at], " \t\r\n"))-1, 0)
	noticed := read[max(len(read)-1, 0):]
	closing := len(noticed) > 0 && bytes.ContainsAny(noticed, "]}")
	if missing := findUnopened(read); missing >= 0 {
		return "a bracket is missing after the colon", missing
	}
	if strings.Contains(problem, "unexpected end") || closing && strings.Contains(problem, "after ") {
		if open := findUnclosed(read); open >= 0 {
			return fmt.Sprintf("%q is not closed", text[open]), open
		}
	}
	if text[before] == ',' && before < at {
		switch {
		case closing:
			return "there is a comma after the last one", before
		case bytes.Equal(noticed, []byte(",")):
			return "there are two commas", at
		}
	}
	return jsonWords(problem, before, at)
}

// jsonWords translates a message of the parser; before is the offset at which the value or name before the mistake ends.
func jsonWords(problem string, before, at int) (string, int) {
	for _, w := range [...]struct {
		parser, plain string
		at            int
	}{
		{"after object key:value pair", "a comma is missing", before},
		{"after array element", "a comma is missing", before},
		{"after object key", "a colon is missing after the name", before},
		{"in string literal", "a quote is not closed", at},
		{"beginning of object key string", "a name must be in double quotes", at},
	} {
		if strings.Contains(problem, w.parser) {
			return w.plain, w.at
		}
	}
	return problem, at
}

// findUnopened returns the offset of a colon that lacks an opening bracket: either its value is a name followed by a colon, or
// an unmatched closing bracket has the same indentation as the line of the colon. It returns -1 if there is none.
func findUnopened(text []byte) int {
	last := len(text) - 1
	if last < 0 {
		return -1
	}
	switch text[last] {
	case ':':
		name := bytes.LastIndexByte(bytes.TrimRight(text[:last], "\" \t\r\n"), '"')
		if before := len(bytes.TrimRight(text[:max(name, 0)], " \t\r\n")) - 1; before >= 0 && text[before] == ':' {
			return before
		}
	case '}', ']':
		lines := bytes.Split(text[:last], []byte("\n"))
		closing := lines[len(lines)-1]
		at := last - len(closing)
		for i := len(lines) - 2; i >= 0 && len(bytes.TrimSpace(closing)) == 0; i-- {
			line := bytes.TrimRight(lines[i], " \t\r")
			at -= len(lines[i]) + 1
			if indentation := len(line) - len(bytes.TrimLeft(line, " \t")); len(line) > 0 && indentation <= len(closing) {
				if indentation == len(closing) && line[len(line)-1] == ':' {
					return at + len(line)
				}
				break
			}
		}
	}
	return -1
}

// bracket is an open bracket, with the indentation of its line.
type bracket struct{ at, indentation int }

// brackets finds an unclosed bracket in one pass over a text.
type brackets struct {
	text []byte
	open []bracket
	// start and indentation are the start and the indentation of the current line.
	start, indentation int
}

// findUnclosed returns the offset of an unclosed bracket: the innermost one whose line is indented more than a line that starts
// with the closing of another bracket, or the last open one. It returns -1 if there is none.
func findUnclosed(text []byte) int {
	b := &brackets{text: text}
	quoted := false
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			quoted = !quoted
		case '\n':
			quoted = false
			b.start = i + 1
			b.indentation = len(text[b.start:]) - len(bytes.TrimLeft(text[b.start:], " \t"))
		default:
			if !quoted && b.process(i) {
				return b.open[len(b.open)-1].at
			}
		}
	}
	if len(b.open) == 0 {
		return -1
	}
	return b.open[len(b.open)-1].at
}

// process processes one character, and reports whether it closes a bracket other than the last open one.
func (b *brackets) process(i int) bool {
	switch c := b.text[i]; c {
	case '{', '[':
		b.open = append(b.open, bracket{i, b.indentation})
	case '}', ']':
		if len(b.open) == 0 {
			return false
		}
		last := b.open[len(b.open)-1]
		if c != b.text[last.at]+2 || i == b.start+b.indentation && b.indentation < last.indentation { // '{'+2 is '}', '['+2 is ']'
			return true
		}
		b.open = b.open[:len(b.open)-1]
	}
	return false
}
