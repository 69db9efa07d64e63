package manifest

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"

	sigsyaml "sigs.k8s.io/yaml"
)

// templates are template languages, with the syntax by which they are recognized.
var templates = []struct {
	name string
	// has matches any syntax of the language, and known syntax that only this language has.
	has, known *regexp.Regexp
	command    string
}{
	{"a Helm template", regexp.MustCompile(`\{\{`), regexp.MustCompile(`\{\{-?[^}]*(\.Values|\.Release|\.Chart|\.Capabilities|\.Files|\binclude\b|\btoYaml\b|\bnindent\b|\btpl\b)`), "helm template CHART"},
	{"a Backstage template or a workflow of GitHub", regexp.MustCompile(`\$\{\{`), regexp.MustCompile(`\$\{\{`), ""},
	{"a Go template", regexp.MustCompile(`\{\{`), regexp.MustCompile(`\{\{-? *(\.|\$|(?:if|else|end|range|with|define|template|block)\b)`), ""},
	{"a Jinja template", regexp.MustCompile(`\{\{|\{%`), regexp.MustCompile(`\{%|\{\{-? *[a-z_]\w*( *\||\.\w| *-?\}\})`), ""},
	{"a Go template", regexp.MustCompile(`\{\{`), regexp.MustCompile(`\{\{`), ""},
	{"an ERB template", regexp.MustCompile(`<%`), regexp.MustCompile(`<%`), ""},
	{"a Terraform template", regexp.MustCompile(`%\{`), regexp.MustCompile(`%\{ *(if|for|else|end)`), ""},
}

var (
	// action matches an action of a template, and controlLine a line that contains only an action.
	action      = regexp.MustCompile(`(?s)\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}|<%.*?%>|%\{.*?\}`)
	controlLine = regexp.MustCompile(`(?m)^[ \t]*(\{\{.*\}\}|\{%.*%\}|\{#.*#\}|<%.*%>|%\{.*\})[ \t]*\r?$`)
	// plainAction matches a value that is an action without quotes, which is not valid YAML.
	plainAction = regexp.MustCompile(`(?m)^[^#"'\n]*(: |- )(\{\{|\{%|<%)`)
)

// templateFile matches the names of templates, which may be readable as they are.
var templateFile = regexp.MustCompile(`\.(?:erb|j2|jinja2?|tpl|tmpl|gotmpl)$`)

// templateError returns the error for a file that is not readable because it is a template; nil if it is not a template.
func templateError(file, verb string, data []byte) *Error {
	for _, t := range templates {
		if !t.has.Match(data) || !t.known.Match(data) {
			continue
		}
		if !templateFile.MatchString(file) && !controlLine.Match(data) && !plainAction.Match(data) && !isReadableWithoutActions(data) {
			return nil // another mistake, in a file with text that looks like an action
		}
		at := t.has.FindIndex(data)[0]
		return &Error{
			Position: Position{File: file, Line: 1 + bytes.Count(data[:at], []byte("\n")), Column: at - bytes.LastIndexByte(data[:at], '\n')},
			ID:       "template", Problem: "this is " + t.name + ", not a manifest", Fix: renderFix(t.command, file, verb),
		}
	}
	return nil
}

// TemplateOf returns the language of a value in a template, such as "a Helm template", and the fix for the file.
func TemplateOf(value, file, verb string) (name, fix string) {
	for _, t := range templates {
		if t.known.MatchString(value) {
			return t.name, renderFix(t.command, file, verb)
		}
	}
	return "a template", renderFix("", file, verb)
}

// isReadableWithoutActions reports whether the text is valid YAML after replacing the actions by words.
func isReadableWithoutActions(data []byte) bool {
	for _, d := range splitYAML("", action.ReplaceAll(data, []byte("x"))) {
		if _, err := sigsyaml.YAMLToJSON(d.text); err != nil {
			return false
		}
	}
	return true
}

// renderFix returns the fix: how to check the output of a template. The chart of a Helm template is the parent of its
// folder templates.
func renderFix(command, file, verb string) string {
	if command == "" {
		return "render it first, and pass the result: kubectl batchjob " + verb + " -f -"
	}
	if chart, _, found := strings.Cut(filepath.ToSlash(file), "/templates/"); found {
		command = strings.Replace(command, "CHART", chart, 1)
	}
	return "render it first: " + command + " | kubectl batchjob " + verb + " -f -"
}
