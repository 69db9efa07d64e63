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
	words, _ := plainWords(problem)
	found := &mistake{line: line, problem: words}
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

// parserWords are messages of the parsers of YAML and JSON, and words for authors of manifests. isBefore is set if the mistake is
// where the value or name before it ends.
var parserWords = [...]struct {
	parser, plain string
	isBefore      bool
}{
	{"did not find expected key", "this line does not fit the lines before it; check its indentation, and the quotes and brackets before it", false},
	{"did not find expected '-' indicator", "this line does not fit the list before it; check its indentation", false},
	{"mapping values are not allowed in this context", "there is a colon where no field can be; check the indentation, the colon of the line before, and whether the value needs quotes", false},
	{"could not find expected ':'", "there is no colon after the name of a field, here or in the lines before", false},
	{"found character that cannot start any token", "a value cannot start with this character; put it in quotes", false},
	{"found unexpected end of stream", "a quote is not closed", false},
	{"did not find expected ',' or ']'", "a list in brackets has no comma here, or is not closed", false},
	{"did not find expected ',' or '}'", "an object in braces has no comma here, or is not closed", false},
	{"did not find expected node content", "there is no value here; check the brackets and commas", false},
	{"after object key:value pair", "a comma is missing", true},
	{"after array element", "a comma is missing", true},
	{"after object key", "a colon is missing after the name", true},
	{"in string literal", "a quote is not closed", false},
	{"beginning of object key string", "a name must be in double quotes", false},
}

// plainWords translates a message of a parser.
func plainWords(problem string) (words string, isBefore bool) {
	for _, w := range parserWords {
		if strings.Contains(problem, w.parser) {
			return w.plain, w.isBefore
		}
	}
	return problem, false
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
		switch bracket, where := findBracket(text); {
		case bracket != "":
			return bracket, where
		case noticed != ':':
			return "a bracket is not closed, or is of the other kind", before
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
	words, isBefore := plainWords(problem)
	if isBefore {
		at = before
	}
	return words, at
}

// findBracket finds a bracket that is not closed, or is missing after a colon, by the indentation of the lines: a line that ends
// with an opening bracket is closed by the next line that is not indented more. "" if each of them is.
func findBracket(text []byte) (problem string, at int) {
	type line struct {
		width, end int
		last       byte
	}
	var open []line // the lines that the current one is in, and the one before it
	offset := 0
	for written := range strings.Lines(string(text) + "\n-") { // the end of the text closes nothing
		spaces, rest := indent(strings.TrimRight(written, " \t\r\n"))
		for n := 0; rest != "" && len(open) > 0 && open[len(open)-1].width >= len(spaces); n++ {
			before := open[len(open)-1]
			closes := before.width == len(spaces) && strings.IndexByte("]}", rest[0]) >= 0
			opens := before.last == '{' || before.last == '['
			switch {
			case before.last == ':' && closes:
				return "a bracket is missing after the colon", before.end
			case opens && !closes && n == 0: // what is in the bracket is not indented
				return "", 0
			case opens && (!closes || rest[0] != before.last+2): // '{'+2 is '}', '['+2 is ']'
				return fmt.Sprintf("%q is not closed", before.last), before.end
			}
			open = open[:len(open)-1]
		}
		if rest != "" {
			end := len(spaces) + len(rest) - 1
			open = append(open, line{len(spaces), offset + end, rest[len(rest)-1]})
		}
		offset += len(written)
	}
	return "", 0
}
