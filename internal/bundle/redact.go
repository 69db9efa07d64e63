package bundle

import (
	"cmp"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// secret is a kind of text that is left out. If its pattern has a group, only that is.
type secret struct {
	what    string
	pattern *regexp.Regexp
}

// secrets are known forms of credentials, the more specific ones first.
var secrets = []secret{
	{"private key", regexp.MustCompile(`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$)`)},
	{"JSON web token", regexp.MustCompile(`\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*`)},
	{"AWS access key", regexp.MustCompile(`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`)},
	{"GitHub token", regexp.MustCompile(`\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{22,})`)},
	{"GitLab token", regexp.MustCompile(`\bglpat-[\w-]{20,}`)},
	{"Slack token", regexp.MustCompile(`\bxox[abeoprs]-[\w-]{10,}`)},
	{"Google API key", regexp.MustCompile(`\bAIza[\w-]{35}`)},
	{"password in a URL", regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.-]*://[^\s:/@"']*:([^\s/@"']+)@`)},
	{"authorization header", regexp.MustCompile(`(?i)\bauthorization["']?\s*[:=]\s*["']?(?:(?:basic|bearer|token)\s+)?([^\s"',;]{4,})`)},
	{"bearer token", regexp.MustCompile(`(?i)\bbearer\s+([\w.~+/-]{8,}=*)`)},
	{"named secret", regexp.MustCompile(`(?i)(?:password|passwd|secret|token|api[-_]?key|access[-_]?key|credentials?)["']?\s*[:=]\s*["']?([^\s"',;&\[]{4,})`)},
}

// Values that are left out of objects, whatever they are.
const (
	envValue      = "value of an environment variable"
	lastApplied   = "last-applied annotation"
	lastAppliedBy = "kubectl.kubernetes.io/last-applied-configuration"
)

// redactor leaves out secrets, and counts them.
type redactor struct {
	secrets []secret
	found   map[Removal]int // Count is 0
}

func newRedactor(more []*regexp.Regexp) *redactor {
	r := &redactor{found: map[Removal]int{}, secrets: slices.Clone(secrets)}
	for _, pattern := range more {
		r.secrets = append(r.secrets, secret{"text that matches --redact " + pattern.String(), pattern})
	}
	return r
}

// removals returns what was left out, by file.
func (r *redactor) removals() []Removal {
	var all []Removal
	for removal, count := range r.found {
		removal.Count = count
		all = append(all, removal)
	}
	slices.SortFunc(all, func(a, b Removal) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.What, b.What)) })
	return all
}

func (r *redactor) note(file, what string) string {
	r.found[Removal{What: what, File: file}]++
	return "[removed: " + what + "]"
}

// text leaves secrets out of a text.
func (r *redactor) text(file, text string) string {
	for _, s := range r.secrets {
		var out strings.Builder
		end := 0
		for _, m := range s.pattern.FindAllStringSubmatchIndex(text, -1) {
			from, to := m[0], m[1]
			if len(m) > 2 && m[2] >= 0 {
				from, to = m[2], m[3]
			}
			if from == to || strings.HasPrefix(text[from:], "[removed: ") {
				continue
			}
			out.WriteString(text[end:from])
			out.WriteString(r.note(file, s.what))
			end = to
		}
		if end > 0 {
			text = out.String() + text[end:]
		}
	}
	return text
}

// object leaves secrets out of an object in JSON, and returns it indented.
func (r *redactor) object(file string, object any) ([]byte, error) {
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return nil, err
	}
	return json.MarshalIndent(r.value(file, value), "", " ")
}

func (r *redactor) value(file string, value any) any {
	switch value := value.(type) {
	case string:
		return r.text(file, value)
	case []any:
		for i := range value {
			value[i] = r.value(file, value[i])
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			switch name {
			case lastAppliedBy:
				r.note(file, lastApplied)
				delete(value, name)
			case "env":
				r.env(file, value[name])
				fallthrough
			default:
				value[name] = r.value(file, value[name])
			}
		}
	}
	return value
}

// env leaves out the values of environment variables; where others come from stays.
func (r *redactor) env(file string, list any) {
	all, _ := list.([]any)
	for _, entry := range all {
		if variable, ok := entry.(map[string]any); ok && variable["value"] != nil && variable["value"] != "" {
			variable["value"] = r.note(file, envValue)
		}
	}
}
