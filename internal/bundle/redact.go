package bundle

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// secret is a kind of text that is left out. If its pattern has groups, only what the first of them that takes part
// matches is.
type secret struct {
	what    string
	pattern *regexp.Regexp
	// wraps is set if its form is distinctive enough to be found across the end of a line.
	wraps bool
}

// named are words that announce a secret.
const named = `(?:password|passwd|passphrase|[-_]pass|[-_]pwd|secret|token|credentials?|(?:api|access|account|secret|private|encryption|signing)[-_]?key)`

// secrets are known forms of credentials, the more specific ones first.
var secrets = []secret{
	{"private key", regexp.MustCompile(`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$)`), false},
	{"private key", regexp.MustCompile(`(?s)^.*?-----END [A-Z0-9 ]*PRIVATE KEY-----`), false}, // the log begins within it
	{"key or certificate in base64", regexp.MustCompile(`\bLS0tLS1CRUdJTi[A-Za-z0-9+/]{8,}=*`), true},
	{"JSON web token", regexp.MustCompile(`\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*`), true},
	{"AWS access key", regexp.MustCompile(`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`), true},
	{"GitHub token", regexp.MustCompile(`\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{22,})`), true},
	{"GitLab token", regexp.MustCompile(`\bglpat-[\w-]{20,}`), true},
	{"Slack token", regexp.MustCompile(`\bxox[abeoprs]-[\w-]{10,}`), true},
	{"Slack webhook", regexp.MustCompile(`\bhooks\.slack\.com/(?:services|workflows)/([\w/-]{20,})`), true},
	{"Google API key", regexp.MustCompile(`\b(?:AIza[\w-]{35}|ya29\.[\w-]{20,})`), true},
	{"API token", regexp.MustCompile(`\b(?:hf_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{36}|sk-[\w-]{20,}|[rs]k_live_\w{20,}|hvs\.[\w-]{20,}|dckr_pat_[\w-]{20,})`), true},
	{"password in a URL", regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.-]*://(?:[^\s:/@"']*:([^\s/"']+)|([^\s:/@"']{20,}))@`), false},
	{"signature in a URL", regexp.MustCompile(`(?i)[?&](?:sig|signature|x-amz-signature)=([^\s&"']{8,})`), false},
	{"authorization header", regexp.MustCompile(`(?i)\bauthorization\\*["']?\s*[:=]\s*\\*["']?(?:(?:basic|bearer|token)\s+)?([^\s"',;\\\[]{4,})`), false},
	{"bearer token", regexp.MustCompile(`(?i)\bbearer\s+([\w.~+/-]{8,}=*)`), false},
	{"named secret", regexp.MustCompile(`(?i)` + named + `\\*["']?\s*[:=]\s*(?:"([^"\[][^"]{3,})"|'([^'\[][^']{3,})'|\\*["']?((?:[^\s"',;&\\\[]|\\[^"'])(?:[^\s"',;&\\]|\\[^"']){3,}))`), false},
	{"named secret", regexp.MustCompile(`(?i)(?:^|\s)--?[a-z-]*` + named + `\s+([^\s"'\[-][^\s"']{3,})`), false},
}

// namedSecret is the name of a field, or the flag before an argument, whose value is a secret.
var namedSecret = regexp.MustCompile(`(?i)` + named + `$`)

// Values that are left out of objects, whatever they are.
const (
	envValue      = "value of an environment variable or a header"
	lastApplied   = "last-applied annotation"
	namedValue    = "named secret"
	lastAppliedBy = "kubectl.kubernetes.io/last-applied-configuration"
)

// redactor leaves out secrets, and counts them.
type redactor struct {
	secrets []secret
	found   map[Removal]int // Count is 0
}

func newRedactor(more []*regexp.Regexp) *redactor {
	r := &redactor{found: map[Removal]int{}, secrets: slices.Clone(secrets)}
	for i, pattern := range more { // It may quote the secret, so that its number has to do.
		r.secrets = append(r.secrets, secret{fmt.Sprintf("text that matches --redact, number %d", i+1), pattern, false})
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
		text = r.without(&s, file, text, s.pattern.FindAllStringSubmatchIndex(text, -1))
	}
	for _, s := range r.secrets {
		if s.wraps && strings.Contains(text, "\n") {
			text = r.without(&s, file, text, wrapped(s.pattern, text))
		}
	}
	return text
}

// without leaves the matches of a secret out of a text.
func (r *redactor) without(s *secret, file, text string, matches [][]int) string {
	var out strings.Builder
	end := 0
	for _, m := range matches {
		from, to := m[0], m[1]
		for g := 2; g < len(m); g += 2 {
			if m[g] >= 0 {
				from, to = m[g], m[g+1]
				break
			}
		}
		if from == to || strings.HasPrefix(text[from:], "[removed: ") {
			continue
		}
		out.WriteString(text[end:from])
		out.WriteString(r.note(file, s.what))
		end = to
	}
	return out.String() + text[end:]
}

// wrapped returns what a pattern matches only if some ends of lines are left out.
func wrapped(pattern *regexp.Regexp, text string) (matches [][]int) {
	joined := strings.ReplaceAll(text, "\n", "")
	var ends []int // of lines, in joined
	for i := range len(text) {
		if text[i] == '\n' {
			ends = append(ends, i-len(ends))
		}
	}
	for _, m := range pattern.FindAllStringSubmatchIndex(joined, -1) {
		first, _ := slices.BinarySearch(ends, m[0]+1) // how many lines have ended before it
		last, _ := slices.BinarySearch(ends, m[1])
		if first < last {
			matches = append(matches, []int{m[0] + first, m[1] + last})
		}
	}
	return matches
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
			if flag, _ := value[max(i-1, 0)].(string); i > 0 && strings.HasPrefix(flag, "-") && namedSecret.MatchString(flag) {
				value[i] = r.note(file, namedValue)
			}
			value[i] = r.value(file, value[i])
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			r.field(file, value, name)
		}
	}
	return value
}

// field leaves secrets out of a field of an object.
func (r *redactor) field(file string, object map[string]any, name string) {
	text, isText := object[name].(string)
	switch {
	case name == lastAppliedBy:
		r.note(file, lastApplied)
		delete(object, name)
		return
	case isText && text != "" && namedSecret.MatchString(name):
		object[name] = r.note(file, namedValue)
	case name == "env", name == "httpHeaders":
		r.values(file, object[name])
	}
	object[name] = r.value(file, object[name])
}

// values leaves out the values of environment variables and headers; where others come from stays.
func (r *redactor) values(file string, list any) {
	all, _ := list.([]any)
	for _, entry := range all {
		if variable, ok := entry.(map[string]any); ok && variable["value"] != nil && variable["value"] != "" {
			variable["value"] = r.note(file, envValue)
		}
	}
}
