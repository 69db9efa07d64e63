package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	sigsyaml "sigs.k8s.io/yaml"
)

// yamlProblem separates the line from an error of the YAML parsers.
var yamlProblem = regexp.MustCompile(`line (\d+): (.*)`)

// yamlError explains an error of a YAML parser: with the line of the mistake, if that is found, and in plain words.
func (d *document) yamlError(err error) error {
	if problem := d.jsonError(); problem != nil {
		return problem
	}
	line, text := noticed(d.text, err)
	position := d.place(nil)
	if found := findMistake(d.text, line); found != nil {
		position.Line, position.Column = d.line+found.line-1, found.column
		return &Error{Position: position, Problem: "not readable as YAML: " + found.problem, Fix: found.fix}
	}
	position.Line = d.line + line - 1
	return &Error{Position: position, Problem: "not readable as YAML: " + plainWords(text)}
}

// noticed returns the line at which the parser noticed a mistake, and its text. The parser of kubectl is asked: the
// other one names the line at which the surrounding block begins.
func noticed(text []byte, err error) (line int, problem string) {
	if _, other := sigsyaml.YAMLToJSON(text); other != nil {
		err = other
	}
	problem = strings.ReplaceAll(strings.TrimPrefix(err.Error(), "yaml: "), "\n", " ")
	problem = strings.TrimPrefix(problem, "error converting YAML to JSON: yaml: ")
	line = 1
	if found := yamlProblem.FindStringSubmatch(problem); found != nil {
		line, _ = strconv.Atoi(found[1])
		problem = found[2]
		if ofParser.MatchString(problem) { // it counts from 0 in these
			line++
		}
	}
	return max(min(line, bytes.Count(text, []byte("\n"))+1), 1), problem
}

// ofParser are the errors about tokens, unlike those about characters.
var ofParser = regexp.MustCompile(`^(did not find expected|found duplicate %|found undefined tag|found incompatible)`)

// plainWords says what the parser's words mean for people who write manifests.
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

// jsonStart is how JSON starts that nobody writes in YAML.
var jsonStart = regexp.MustCompile(`^\s*[{\[]\s*["{]`)

// jsonError returns the syntax error of a text that is meant to be JSON, or nil if it is not.
func (d *document) jsonError() error {
	var value any
	var wrong *json.SyntaxError
	if !jsonStart.Match(d.text) || !errors.As(json.Unmarshal(d.text, &value), &wrong) {
		return nil
	}
	at := max(int(wrong.Offset)-1, 0)
	problem, at := explainJSON(d.text, at, wrong.Error())
	position, before := d.place(nil), d.text[:at]
	position.Line = d.line + bytes.Count(before, []byte("\n"))
	position.Column = len(before) - bytes.LastIndexByte(before, '\n')
	return &Error{Position: position, Problem: "not readable as JSON: " + problem}
}

// explainJSON returns what is wrong in plain words, and where; text[at] is where the parser noticed it.
func explainJSON(text []byte, at int, problem string) (string, int) {
	before := max(len(bytes.TrimRight(text[:at], " \t\r\n"))-1, 0)
	if missing := unopened(text[:min(at+1, len(text))]); missing >= 0 {
		return "a bracket is missing after the colon", missing
	}
	closing := at < len(text) && (text[at] == '}' || text[at] == ']')
	switch {
	case strings.Contains(problem, "unexpected end"), closing && strings.Contains(problem, "after "):
		if open := unclosed(text[:min(at+1, len(text))]); open >= 0 {
			return fmt.Sprintf("%q is not closed", text[open]), open
		}
	case closing && text[before] == ',':
		return "there is a comma after the last one", before
	case strings.Contains(problem, "after object key:value pair"), strings.Contains(problem, "after array element"):
		return "a comma is missing", before
	case strings.Contains(problem, "after object key"):
		return "a colon is missing after the name", before
	case strings.Contains(problem, "in string literal"):
		return "a quote is not closed", at
	case at < len(text) && text[at] == ',' && text[before] == ',':
		return "there are two commas", at
	case strings.Contains(problem, "beginning of object key string"):
		return "a name must be in double quotes", at
	}
	return problem, at
}

// unopened returns where a colon is after which the bracket is missing: the value is a name with a colon after it, or
// there is a bracket that ends nothing, and closes the line of the colon by its indentation. It is -1 if there is none.
func unopened(text []byte) int {
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

// unclosed returns where a bracket is that is not closed: the innermost one whose line is indented more than the one
// where another bracket is closed, or the last one.
func unclosed(text []byte) int {
	type bracket struct{ at, indentation int }
	var open []bracket
	lineStart, indentation, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case c == '\n':
			lineStart, quoted = i+1, false
			indentation = len(text[lineStart:]) - len(bytes.TrimLeft(text[lineStart:], " \t"))
		case quoted:
		case c == '{' || c == '[':
			open = append(open, bracket{i, indentation})
		case (c == '}' || c == ']') && len(open) > 0:
			last := open[len(open)-1]
			first := i == lineStart+indentation
			if c != text[last.at]+2 || first && indentation < last.indentation { // '{'+2 is '}', '['+2 is ']'
				return last.at
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) == 0 {
		return -1
	}
	return open[len(open)-1].at
}
