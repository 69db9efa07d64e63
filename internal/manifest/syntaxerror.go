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
	before := max(len(bytes.TrimRight(text[:at], " \t\r\n"))-1, 0)
	noticed := text[min(at, len(text)-1)]
	if strings.Contains(problem, "unexpected end") || strings.Contains(problem, "after ") && strings.IndexByte("]}:", noticed) >= 0 {
		if bracket, where := findBracket(text); bracket != "" {
			return bracket, where
		}
	}
	if text[before] == ',' && before < at {
		switch noticed {
		case ']', '}':
			return "there is a comma after the last one", before
		case ',':
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

// bracket is a bracket of JSON outside of text, with the start and the indentation of its line.
type bracket struct{ at, start, indentation int }

// brackets returns all brackets. Text ends with its line at the latest, as a quote may be missing.
func brackets(text []byte) []bracket {
	var all []bracket
	quoted, start, indentation := false, 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n':
			quoted, start = false, i+1
			indentation = len(text[start:]) - len(bytes.TrimLeft(text[start:], " \t"))
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && strings.IndexByte("{}[]", c) >= 0:
			all = append(all, bracket{i, start, indentation})
		}
	}
	return all
}

// findBracket finds a bracket that is not closed, or is missing after a colon, by the indentation of the lines that start with a
// closing bracket; "" if there is none.
func findBracket(text []byte) (problem string, at int) {
	var open []bracket
	for _, b := range brackets(text) {
		if text[b.at] == '{' || text[b.at] == '[' {
			open = append(open, b)
			continue
		}
		isFirst := b.at == b.start+b.indentation
		if len(open) == 0 || isFirst && b.indentation > open[len(open)-1].indentation {
			if colon := lastColon(text[:b.start], b.indentation); colon >= 0 {
				return "a bracket is missing after the colon", colon
			}
		}
		if len(open) == 0 {
			return "", 0
		}
		last := open[len(open)-1]
		if text[b.at] != text[last.at]+2 || isFirst && b.indentation < last.indentation { // '{'+2 is '}', '['+2 is ']'
			break
		}
		open = open[:len(open)-1]
	}
	if len(open) == 0 {
		return "", 0
	}
	last := open[len(open)-1].at
	return fmt.Sprintf("%q is not closed", text[last]), last
}

// lastColon returns the offset of the colon at the end of the last line that is indented no more than this, if it is indented as
// much; otherwise -1.
func lastColon(text []byte, indentation int) int {
	for end := len(text); end > 0; {
		text = bytes.TrimRight(text[:end], " \t\r\n")
		end = bytes.LastIndexByte(text, '\n') + 1
		if has := len(text[end:]) - len(bytes.TrimLeft(text[end:], " \t")); has < indentation || has == indentation && !bytes.HasSuffix(text, []byte(":")) {
			return -1
		} else if has == indentation {
			return len(text) - 1
		}
	}
	return -1
}
