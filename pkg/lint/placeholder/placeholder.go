// Package placeholder finds text that should have been replaced before a manifest is applied: variables, words such as
// CHANGEME, and actions of templates. It ignores fields in which Kubernetes or a shell replaces variables: commands,
// arguments and the values of environment variables.
package placeholder

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Placeholder is a value with a placeholder.
type Placeholder struct {
	// Path is the path of the value, such as metadata.labels[app].
	Path string
	// Text is the placeholder, such as ${IMAGE}.
	Text string
	Kind Kind
}

// Kind is the kind of a placeholder.
type Kind int

const (
	// Variable is ${NAME} or $NAME, as in a shell.
	Variable Kind = iota
	// Reference is $(NAME), which Kubernetes replaces only in other fields.
	Reference
	// Word is a word for the user to replace, such as CHANGEME or <your-image>.
	Word
	// Action is an action {{ … }} of a template.
	Action
)

var kinds = []struct {
	kind    Kind
	pattern *regexp.Regexp
}{
	{Action, regexp.MustCompile(`\{\{.*?\}\}|\{%.*?%\}|<%.*?%>`)},
	{Variable, regexp.MustCompile(`\$\{[^}]*\}`)},
	{Reference, regexp.MustCompile(`\$\([A-Za-z_][\w.-]*\)`)},
	{Variable, regexp.MustCompile(`\$[A-Za-z_]\w*`)},
	{Word, regexp.MustCompile(`<[A-Za-z][\w .:/-]*>|\b(?i:your)[-_][A-Za-z][\w-]*|\bREPLACE[-_][A-Z][\w-]*|\b(?i:change|replace)[-_]?(?i:me)\b|\bTODO\b|__[A-Z][A-Z0-9_]*__|@[A-Z][A-Z0-9_]*@`)},
}

// Find returns the values with a placeholder, in the order of their paths, each with its first placeholder.
func Find(content map[string]any) []Placeholder {
	var all []Placeholder
	findInFields(content, "", &all)
	return all
}

// expanded are fields in which variables are replaced later, or which may contain any text.
var expanded = []string{"command", "args", "annotations", "subPathExpr", "managedFields", "status", "httpHeaders"}

// dictionaries are fields with any keys.
var dictionaries = []string{"labels", "matchLabels", "nodeSelector", "limits", "requests"}

func findInFields(content map[string]any, path string, all *[]Placeholder) {
	for _, name := range slices.Sorted(maps.Keys(content)) {
		of := path[strings.LastIndexByte(path, '.')+1:]
		inner := path + "." + name
		switch {
		case slices.Contains(expanded, name), strings.HasPrefix(of, "env[") && name == "value":
			continue
		case slices.Contains(dictionaries, of):
			inner = path + "[" + name + "]"
		case path == "":
			inner = name
		}
		findInValue(content[name], inner, all)
	}
}

func findInValue(v any, path string, all *[]Placeholder) {
	switch v := v.(type) {
	case map[string]any:
		findInFields(v, path, all)
	case []any:
		for i := range v {
			findInValue(v[i], path+"["+strconv.Itoa(i)+"]", all)
		}
	case string:
		for _, k := range kinds {
			if found := k.pattern.FindString(v); found != "" {
				*all = append(*all, Placeholder{Path: path, Text: found, Kind: k.kind})
				return
			}
		}
	}
}
