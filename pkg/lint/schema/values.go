package schema

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// fits returns the value as it is decoded; false if its type is wrong. It does not handle objects, lists, quantities
// and texts.
func (s *Schema) fits(value any) (any, bool) {
	switch s.kind {
	case anything:
		return value, true
	case integer:
		return s.integer(value)
	case number:
		switch value.(type) {
		case int64, float64:
			return value, true
		}
	case boolean:
		_, isBool := value.(bool)
		return value, isBool
	case intOrText:
		if _, isText := value.(string); isText {
			return value, true
		}
		return (&Schema{kind: integer, bits: 32}).integer(value)
	case moment:
		written, isText := value.(string)
		_, err := time.Parse(time.RFC3339, written)
		return value, isText && err == nil
	}
	return nil, false
}

// integer also accepts 3.0, which is sent as 3.
func (s *Schema) integer(value any) (any, bool) {
	switch v := value.(type) {
	case int64:
		return v, s.bits != 32 || v >= math.MinInt32 && v <= math.MaxInt32
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<31 {
			return int64(v), true
		}
	}
	return nil, false
}

// wrongType reports a value of a wrong type. It returns the intended value if that is certain.
func (w *walk) wrongType(s *Schema, value any) (any, bool) {
	path, written := w.path(), w.written()
	meant, fix := s.intended(value, written)
	if fix == "" {
		fix = w.rewriteFix(s, value)
	}
	message := fmt.Sprintf("%s is %s, but the API expects %s", w.subject(), describe(value, written), s)
	if v, isInteger := value.(int64); isInteger && s.kind == integer {
		message = fmt.Sprintf("%s is the number %d, but the API allows at most %d", w.subject(), v, math.MaxInt32)
		if v < 0 {
			message = fmt.Sprintf("%s is the number %d, but the API allows no less than %d", w.subject(), v, math.MinInt32)
		}
	}
	w.report(Problem{ID: "wrong-type", Path: path, Fix: fix, Message: message})
	if meant == nil {
		w.remove()
	}
	return meant, meant != nil
}

// written returns the scalar at the current place as it is written, "" if that is unknown or is not reported anyway.
func (w *walk) written() string {
	if w.Written == nil || w.isFull() {
		return ""
	}
	return w.Written(w.path())
}

// intended returns the intended value if it is certain, and how to write it; otherwise nil and "".
func (s *Schema) intended(value any, written string) (any, string) {
	if s.kind == text {
		if literal := scalar(value, written); literal != "" {
			return literal, "write " + strconv.Quote(literal)
		}
		return nil, ""
	}
	literal, isText := value.(string)
	literal = strings.TrimSpace(literal)
	switch {
	case isText && s.kind == integer:
		if n, err := strconv.ParseInt(literal, 10, s.bits); err == nil {
			return n, fmt.Sprintf("write %d without quotes", n)
		}
	case isText && s.kind == boolean:
		switch strings.ToLower(literal) {
		case "true", "yes", "on":
			return true, "write true without quotes"
		case "false", "no", "off":
			return false, "write false without quotes"
		}
	}
	return nil, ""
}

// scalar returns a number or a boolean as it is written in the manifest; "" for anything else.
func scalar(value any, written string) string {
	switch value.(type) {
	case int64, float64, bool:
		if written != "" {
			return written
		}
		return fmt.Sprint(value)
	}
	return ""
}

// rewriteFix returns how to replace a value whose intended meaning is uncertain.
func (w *walk) rewriteFix(s *Schema, value any) string {
	given, isText := value.(string)
	switch s.kind {
	case integer:
		if d, err := time.ParseDuration(strings.ReplaceAll(given, " ", "")); isText && err == nil && d%time.Second == 0 && w.isInSeconds() {
			return fmt.Sprintf("write %d, the number of seconds", d/time.Second)
		}
	case boolean:
		switch value {
		case int64(0):
			return "write false"
		case int64(1):
			return "write true"
		}
	case list:
		return w.listFix(s, value)
	}
	return "write " + s.String()
}

// listFix returns how to replace a value by a list.
func (w *walk) listFix(s *Schema, value any) string {
	if _, isObject := value.(map[string]any); !isObject && s.elem.kind == text {
		return w.textsFix(fmt.Sprint(value))
	}
	if _, named := s.elem.fields["name"]; named {
		return `write a list of objects, each with a name: start each with "- "`
	}
	return `write a list: start each item with "- "`
}

var (
	// script matches sh -c and its script, or the script and -c as arguments of sh.
	script  = regexp.MustCompile(`(?s)^(?:(\S*\b(?:ba|da|z|k)?sh)\s+)?(-[a-z]*c)\s+(.+?)\s*$`)
	shell   = regexp.MustCompile(`\b(?:ba|da|z|k)?sh$`)
	optionC = regexp.MustCompile(`^-[a-z]*c$`)
)

// textsFix returns how to replace one text by a list of texts. A command becomes its arguments, or a script of the shell that
// runs it, if it uses shell syntax. It is the same program as the user wrote: args are added to command.
func (w *walk) textsFix(given string) string {
	list := func(items ...string) string {
		for i := range items {
			items[i] = quoted(items[i])
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	here := w.steps[len(w.steps)-1]
	if here.name != "command" && here.name != "args" {
		return "write a list: " + list(given)
	}
	var before []string // the words that precede args
	if here.name == "args" {
		before = wordsOf(here.object["command"])
	}
	last := ""
	if len(before) > 0 {
		last = before[len(before)-1]
	}
	found := script.FindStringSubmatch(given)
	switch isScript := strings.ContainsAny(given, "|&;<>$`'\"\\*\n"); {
	case optionC.MatchString(last):
		return "write a list: " + list(given)
	case found != nil && found[1] != "" && last == "":
		return "write a list: " + list(found[1], found[2], unquote(found[3]))
	case found != nil && found[1] == "" && shell.MatchString(last):
		return "write a list: " + list(found[2], unquote(found[3]))
	case !isScript:
		return "write a list: " + list(strings.Fields(given)...)
	case shell.MatchString(last):
		return "write a list: " + list("-c", given)
	case here.name == "command":
		return "write a list: " + list("sh", "-c", given)
	case last == "":
		return `write a list with an item for each argument; for a script, add command: ["sh", "-c"] and write args: ` + list(given)
	}
	return "write a list with an item for each argument"
}

// wordsOf returns the words of a command, which may be a text by mistake.
func wordsOf(command any) []string {
	if written, isText := command.(string); isText {
		return strings.Fields(written)
	}
	items, _ := command.([]any)
	var words []string
	for _, item := range items {
		words = append(words, fmt.Sprint(item))
	}
	return words
}

// unquote removes quotes around a script.
func unquote(text string) string {
	if inner := strings.Trim(text, text[:1]); strings.ContainsAny(text[:1], `'"`) && !strings.Contains(inner, text[:1]) {
		return inner
	}
	return text
}

// isInSeconds reports whether the field at the current place is measured in seconds.
func (w *walk) isInSeconds() bool {
	return len(w.steps) > 0 && strings.Contains(w.steps[len(w.steps)-1].name, "Seconds")
}

// describe returns a value of a wrong type in words for users.
func describe(value any, written string) string {
	switch v := value.(type) {
	case string:
		return "the text " + quoted(v)
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	case bool:
		if literal := fmt.Sprint(v); written == "" || strings.EqualFold(written, literal) {
			return "the boolean " + literal
		}
		return fmt.Sprintf("%s, which YAML reads as the boolean %t", written, v)
	}
	return "the number " + scalar(value, written)
}

// quoted quotes and shortens a text.
func quoted(text string) string { return strconv.Quote(wording.Cut(text, 60)) }
