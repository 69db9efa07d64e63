package bundle

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

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
	// patterns are those of the user. What they match gets an alias, the same one everywhere: names that match still
	// differ, and are names.
	patterns []*regexp.Regexp
	aliases  map[string]string
	found    map[Removal]int // Count is 0
	// clean are texts without any secret: pods of one Job repeat most of theirs.
	clean map[string]bool
}

// maxClean is how many texts are remembered, of at most maxCleanText bytes.
const (
	maxClean     = 10_000
	maxCleanText = 1000
)

func newRedactor(patterns []*regexp.Regexp) *redactor {
	return &redactor{secrets: secrets, patterns: patterns, aliases: map[string]string{}, found: map[Removal]int{}, clean: map[string]bool{}}
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

// text leaves secrets out of a text, and what the user's patterns match.
func (r *redactor) text(file, text string) string {
	if r.clean[text] {
		return text
	}
	spans := r.known(text)
	for i, pattern := range r.patterns { // It may quote the secret, so that its number has to do.
		for _, m := range pattern.FindAllStringIndex(text, -1) {
			spans = append(spans, span{m[0], m[1], fmt.Sprintf("text that matches --redact, number %d", i+1), true})
		}
	}
	if len(spans) == 0 && len(text) <= maxCleanText && len(r.clean) < maxClean {
		r.clean[text] = true
	}
	return r.without(file, text, spans)
}

// fixed leaves known forms of secrets out of a text that has to stay otherwise, such as a time.
func (r *redactor) fixed(file, text string) string { return r.without(file, text, r.known(text)) }

// known returns where known forms of secrets are.
func (r *redactor) known(text string) (spans []span) {
	lower := strings.ToLower(text)
	for i := range r.secrets {
		spans = append(spans, r.secrets[i].find(text, lower)...)
	}
	if strings.Contains(text, "\n") {
		spans = append(spans, r.wrapped(text)...)
	}
	return spans
}

// without leaves spans out of a text. Of those that overlap, the first in the list says what was left out.
func (r *redactor) without(file, text string, spans []span) string {
	var merged []span
	for _, s := range spans {
		if s.from == s.to {
			continue
		}
		overlaps := func(o span) bool { return o.from < s.to && s.from < o.to }
		for i := slices.IndexFunc(merged, overlaps); i >= 0; i = slices.IndexFunc(merged, overlaps) {
			s = span{min(s.from, merged[i].from), max(s.to, merged[i].to), merged[i].what, merged[i].aliased}
			merged = slices.Delete(merged, i, i+1)
		}
		merged = append(merged, s)
	}
	slices.SortFunc(merged, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var out strings.Builder
	end := 0
	for _, s := range merged {
		out.WriteString(text[end:s.from])
		mark := r.note(file, s.what)
		if s.aliased {
			mark = r.alias(text[s.from:s.to])
		}
		out.WriteString(mark)
		end = s.to
	}
	return out.String() + text[end:]
}

// alias returns what stands for a text, a name that Kubernetes accepts.
func (r *redactor) alias(text string) string {
	if r.aliases[text] == "" {
		r.aliases[text] = fmt.Sprintf("redacted-%d", len(r.aliases)+1)
	}
	return r.aliases[text]
}

// wrapped returns where a text has secrets if the ends of lines are left out.
func (r *redactor) wrapped(text string) (spans []span) {
	joined := strings.ReplaceAll(text, "\n", "")
	lower := strings.ToLower(joined)
	var ends []int // of lines, in joined
	for i := range len(text) {
		if text[i] == '\n' {
			ends = append(ends, i-len(ends))
		}
	}
	for i := range r.secrets {
		if !r.secrets[i].wraps {
			continue
		}
		for _, m := range r.secrets[i].find(joined, lower) {
			first, _ := slices.BinarySearch(ends, m.from+1) // how many lines have ended before it
			last, _ := slices.BinarySearch(ends, m.to)
			if first < last {
				spans = append(spans, span{m.from + first, m.to + last, m.what, false})
			}
		}
	}
	return spans
}

// into leaves secrets out of an object, and stores it in the second one, of the same type.
func (r *redactor) into(file string, object, without any) error {
	data, err := r.object(file, object)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, without)
}

// object leaves secrets out of an object in JSON, and returns it indented.
func (r *redactor) object(file string, object any) ([]byte, error) {
	var out bytes.Buffer
	err := r.indented(&out, file, object, "")
	return out.Bytes(), err
}

// list is object for a list, of which only one element at a time is in memory as JSON values: they take many times as much.
func list[T any](r *redactor, file string, list []T) ([]byte, error) {
	if len(list) == 0 {
		return r.object(file, list)
	}
	var out bytes.Buffer
	for i := range list {
		out.WriteString(map[bool]string{true: "[\n ", false: ",\n "}[i == 0])
		if err := r.indented(&out, file, &list[i], " "); err != nil {
			return nil, err
		}
	}
	out.WriteString("\n]")
	return out.Bytes(), nil
}

// indented writes an object without secrets, as JSON in lines with the prefix.
func (r *redactor) indented(out *bytes.Buffer, file string, object any, prefix string) error {
	data, err := json.Marshal(object)
	if err != nil {
		return err
	}
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return err
	}
	if data, err = json.MarshalIndent(r.value(file, "", value), prefix, " "); err != nil {
		return err
	}
	_, err = out.Write(data)
	return err
}

// value leaves secrets out of the value of a field.
func (r *redactor) value(file, name string, value any) any {
	switch value := value.(type) {
	case string:
		return r.text(file, value)
	case []any:
		for i := range value {
			value[i] = r.element(file, name, value, i)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			r.field(file, name, value, key)
		}
	}
	return value
}

// element leaves secrets out of an element of the list that a field has.
func (r *redactor) element(file, name string, list []any, i int) any {
	text, isText := list[i].(string)
	flag, _ := list[max(i-1, 0)].(string)
	switch {
	case isText && i > 0 && strings.HasPrefix(flag, "-") && namedSecret.MatchString(flag):
		return r.note(file, namedValue)
	case isText && isFixed("", name, text):
		return r.fixed(file, text)
	}
	return r.value(file, name, list[i])
}

// field leaves secrets out of a field of an object, which is the value of the field parent.
func (r *redactor) field(file, parent string, object map[string]any, name string) {
	text, isText := object[name].(string)
	value := object[name]
	switch {
	case name == lastAppliedBy:
		r.note(file, lastApplied)
		delete(object, name)
		return
	case isText && text != "" && namedSecret.MatchString(name):
		value = r.note(file, namedValue)
	case isText && isFixed(parent, name, text):
		value = r.fixed(file, text)
	case name == "fieldsV1":
		value = keptFields(value)
	case name == "env", name == "httpHeaders":
		r.values(file, value)
		value = r.value(file, name, value)
	default:
		value = r.value(file, name, value)
	}
	if !isData(parent, name) {
		object[name] = value
		return
	}
	delete(object, name)
	key := r.text(file, name)
	for n := 2; object[key] != nil; n++ { // Two keys with nothing but secrets differ.
		key = fmt.Sprintf("%s-%d", r.text(file, name), n)
	}
	object[key] = value
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

// What the user's patterns leave alone, by the names of fields: without it, a bundle could not be read, or its report
// would be wrong.
var (
	// quantities are fields with quantities of resources, and their names as keys.
	quantities = []string{"limits", "requests", "capacity", "allocatable", "overhead", "allocatedResources"}
	// maps are other fields whose keys are data.
	dataMaps = []string{"labels", "annotations", "matchLabels", "nodeSelector", "volumeAttributes", "goneNodes"}
	// enums are fields with a value of a few, with versions, with identities, or with the names of controllers.
	enums = []string{
		"action", "apiVersion", "client", "completionMode", "component", "concurrencyPolicy", "dnsPolicy", "effect", "imagePullPolicy", "kind", "managedBy", "manager", "mountPropagation",
		"operation", "operator", "phase", "podReplacementPolicy", "podRestartPolicy", "preemptionPolicy", "protocol", "qosClass", "reason", "reportingComponent", "reportingController",
		"resource", "resourceVersion", "restartPolicy", "server", "status", "subresource", "terminationMessagePolicy", "type", "uid", "verb", "what", "whenUnsatisfiable",
	}
	// enum is the form of their values: a sentence is none.
	enum = lazyregexp.New(`^[\w./+:=-]{0,253}( \w+)?$`)
	// indexes is the form of counts, of sets of indexes, and of UIDs, which are values of annotations and labels of controllers.
	indexes = lazyregexp.New(`^[0-9a-f,-]*$`)
)

// keptFields is what explanations read of the fields in an entry of managedFields: whether it owns spec.suspend. The others
// repeat keys of labels and names of resources and containers, in forms that a pattern may not match.
func keptFields(fields any) any {
	all, _ := fields.(map[string]any)
	spec, _ := all["f:spec"].(map[string]any)
	if spec["f:suspend"] == nil {
		return map[string]any{}
	}
	return map[string]any{"f:spec": map[string]any{"f:suspend": map[string]any{}}}
}

// isFixed reports whether the user's patterns leave the text in a field alone.
func isFixed(parent, name, text string) bool {
	if _, err := time.Parse(time.RFC3339, text); err == nil {
		return true
	}
	switch {
	case slices.Contains(dataMaps, parent): // A user may choose any name, such as "type".
		return isOwn(name) && indexes.MatchString(text) || ofController(name) && ofController(text) && enum.MatchString(text)
	case slices.Contains(quantities, parent), name == "divisor", name == "sizeLimit":
		_, err := resource.ParseQuantity(text)
		return err == nil
	case slices.Contains(enums, name), ofController(text): // such as a finalizer
		return enum.MatchString(text)
	case strings.HasSuffix(name, "Indexes"):
		return indexes.MatchString(text)
	}
	return false
}

// isData reports whether the name of a field is chosen by a user, rather than by the API.
func isData(parent, name string) bool {
	return (slices.Contains(quantities, parent) || slices.Contains(dataMaps, parent)) && !isOwn(name)
}

// isOwn reports whether a label or an annotation is one of those that Job controllers set.
func isOwn(name string) bool {
	return ofController(name) || name == "controller-uid" || name == "job-name"
}

// ofController reports whether a label, an annotation or a finalizer is one of those of Job controllers.
func ofController(name string) bool {
	return strings.HasPrefix(name, "batch.kubernetes.io/") || strings.HasPrefix(name, "batchjob.dev/")
}
