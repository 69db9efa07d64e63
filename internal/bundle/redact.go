package bundle

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/secrets"
)

// Kinds of values that are removed from objects whatever their content.
const (
	envValue      = "value of an environment variable or a header"
	lastApplied   = "last-applied annotation"
	namedValue    = "named secret"
	lastAppliedBy = "kubectl.kubernetes.io/last-applied-configuration"
)

// redactor removes secrets and counts them.
type redactor struct {
	// patterns are the user's patterns. Each text that they match is replaced by an alias, the same one everywhere, so that
	// different names stay different and remain valid names.
	patterns []*regexp.Regexp
	aliases  map[string]string
	found    map[Removal]int // number of removals; the keys have Count 0
	// clean caches texts without secrets, because the pods of a Job have most of their texts in common.
	clean map[string]bool
}

// maxClean is how many texts clean holds, of at most maxCleanText bytes each.
const (
	maxClean     = 10_000
	maxCleanText = 1000
)

func newRedactor(patterns []*regexp.Regexp) *redactor {
	return &redactor{patterns: patterns, aliases: map[string]string{}, found: map[Removal]int{}, clean: map[string]bool{}}
}

// removals returns the removals, sorted by file.
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
	return secrets.Mark(what)
}

// text removes known secrets from a text, and replaces matches of the user's patterns.
func (r *redactor) text(file, text string) string {
	if r.clean[text] {
		return text
	}
	spans := secrets.In(text)
	for i, pattern := range r.patterns { // The pattern may quote the secret, so only its number is shown.
		for _, m := range pattern.FindAllStringIndex(text, -1) {
			spans = append(spans, secrets.Span{From: m[0], To: m[1], What: fmt.Sprintf("text that matches --redact, number %d", i+1), Aliased: true})
		}
	}
	if len(spans) == 0 && len(text) <= maxCleanText && len(r.clean) < maxClean {
		r.clean[text] = true
	}
	return r.without(file, text, spans)
}

// fixed removes known forms of secrets from a text that must not change otherwise, such as a time.
func (r *redactor) fixed(file, text string) string { return r.without(file, text, secrets.In(text)) }

// without replaces spans of a text by their descriptions.
func (r *redactor) without(file, text string, spans []secrets.Span) string {
	return secrets.Replace(text, spans, func(s secrets.Span) string {
		mark := r.note(file, s.What)
		if s.Aliased {
			return r.alias(text[s.From:s.To])
		}
		return mark
	})
}

// alias returns the replacement for a text: a name that Kubernetes accepts.
func (r *redactor) alias(text string) string {
	if r.aliases[text] == "" {
		r.aliases[text] = fmt.Sprintf("redacted-%d", len(r.aliases)+1)
	}
	return r.aliases[text]
}

// object returns an object or a list without secrets as indented JSON. Only one element of a list at a time is decoded into
// JSON values, which use many times its memory.
func (r *redactor) object(file string, object any) ([]byte, error) {
	list := reflect.ValueOf(object)
	if list.Kind() != reflect.Slice || list.Len() == 0 {
		return r.indented(file, object, "")
	}
	var out bytes.Buffer
	for i := range list.Len() {
		data, err := r.indented(file, list.Index(i).Addr().Interface(), " ")
		if err != nil {
			return nil, err
		}
		out.WriteString(map[bool]string{true: "[\n ", false: ",\n "}[i == 0])
		out.Write(data)
	}
	out.WriteString("\n]")
	return out.Bytes(), nil
}

// indented returns an object without secrets as indented JSON; prefix starts each line after the first.
func (r *redactor) indented(file string, object any, prefix string) ([]byte, error) {
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return nil, err
	}
	return json.MarshalIndent(r.value(file, "", value), prefix, " ")
}

// value removes secrets from the value of a field.
func (r *redactor) value(file, name string, value any) any {
	switch value := value.(type) {
	case string:
		return r.text(file, value)
	case []any:
		for i := range value {
			value[i] = r.element(file, name, value, i)
		}
	case map[string]any:
		r.arguments(file, value)
		for _, key := range slices.Sorted(maps.Keys(value)) {
			r.field(file, name, value, key)
		}
	}
	return value
}

// element removes secrets from an element of the list in a field.
func (r *redactor) element(file, name string, list []any, i int) any {
	text, isText := list[i].(string)
	flag, _ := list[max(i-1, 0)].(string)
	switch {
	case isText && i > 0 && strings.HasPrefix(flag, "-") && secrets.Named.MatchString(flag):
		return r.note(file, namedValue)
	case isText && isFixed("", name, text):
		return r.fixed(file, text)
	case isText:
		variable, value, ok := strings.Cut(text, "=")
		isScript := strings.HasPrefix(flag, "-") && strings.HasSuffix(flag, "c") // as in sh -c
		if ok && !isScript && wholeName.MatchString(variable) && secrets.Named.MatchString(variable) && !secrets.IsHarmless(variable+"=", value, "") {
			return variable + "=" + r.note(file, namedValue)
		}
	}
	return r.value(file, name, list[i])
}

// wholeName matches the name of a flag or of a variable.
var wholeName = lazyregexp.New(`^[\w.-]+$`)

// arguments removes the secrets of known programs from the command and the arguments of a container.
func (r *redactor) arguments(file string, container map[string]any) {
	var c secrets.Command
	for _, name := range []string{"command", "args"} {
		words, _ := container[name].([]any)
		for i := range words {
			word, isText := words[i].(string)
			if from, to := c.Next(word); isText && from < to && !secrets.IsHarmless("", word[from:to], "") {
				words[i] = word[:from] + r.note(file, secrets.OfCommand) + word[to:]
			}
		}
	}
}

// field removes secrets from a field of an object; parent is the name of the field that holds the object.
func (r *redactor) field(file, parent string, object map[string]any, name string) {
	text, isText := object[name].(string)
	value := object[name]
	switch {
	case name == lastAppliedBy:
		r.note(file, lastApplied)
		delete(object, name)
		return
	case isText && text != "" && secrets.Named.MatchString(name):
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
	for n := 2; object[key] != nil; n++ { // Keys that consist only of secrets must stay distinct.
		key = fmt.Sprintf("%s-%d", r.text(file, name), n)
	}
	object[key] = value
}

// values removes the values of environment variables and headers; valueFrom stays.
func (r *redactor) values(file string, list any) {
	all, _ := list.([]any)
	for _, entry := range all {
		if variable, ok := entry.(map[string]any); ok && variable["value"] != nil && variable["value"] != "" {
			variable["value"] = r.note(file, envValue)
		}
	}
}

// Fields that the user's patterns do not change, by name: otherwise, a bundle could not be read, or its report would be
// wrong.
var (
	// quantities are fields that map names of resources to quantities.
	quantities = []string{"limits", "requests", "capacity", "allocatable", "overhead", "allocatedResources"}
	// dataMaps are other fields whose keys are data.
	dataMaps = []string{"labels", "annotations", "matchLabels", "nodeSelector", "volumeAttributes", "goneNodes"}
	// enums are fields whose values are enums, versions, identities, or names of controllers.
	enums = []string{
		"action", "apiVersion", "client", "completionMode", "component", "concurrencyPolicy", "dnsPolicy", "effect", "imagePullPolicy", "kind", "managedBy", "manager", "mountPropagation",
		"operation", "operator", "phase", "podReplacementPolicy", "podRestartPolicy", "preemptionPolicy", "protocol", "qosClass", "reason", "reportingComponent", "reportingController",
		"resource", "resourceVersion", "restartPolicy", "server", "status", "subresource", "terminationMessagePolicy", "type", "uid", "verb", "what", "whenUnsatisfiable",
	}
	// enum matches values of enums; sentences do not match.
	enum = lazyregexp.New(`^[\w./+:=-]{0,253}( \w+)?$`)
	// indexes matches counts, sets of indexes, and UIDs, which are the values of annotations and labels of controllers.
	indexes = lazyregexp.New(`^[0-9a-f,-]*$`)
)

// keptFields returns the part of a managedFields entry that explanations read: whether it owns spec.suspend. The other parts
// repeat keys of labels and names of resources and containers, in forms that a pattern may not match.
func keptFields(fields any) any {
	all, _ := fields.(map[string]any)
	spec, _ := all["f:spec"].(map[string]any)
	if spec["f:suspend"] == nil {
		return map[string]any{}
	}
	return map[string]any{"f:spec": map[string]any{"f:suspend": map[string]any{}}}
}

// isFixed reports whether the user's patterns do not apply to the text in a field.
func isFixed(parent, name, text string) bool {
	if _, err := time.Parse(time.RFC3339, text); err == nil {
		return true
	}
	switch {
	case slices.Contains(dataMaps, parent): // Users may choose any name, such as "type".
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

// isOwn reports whether a label or an annotation is set by Job controllers.
func isOwn(name string) bool {
	return ofController(name) || name == "controller-uid" || name == "job-name"
}

// ofController reports whether a label, an annotation or a finalizer belongs to Job controllers.
func ofController(name string) bool {
	return strings.HasPrefix(name, "batch.kubernetes.io/") || strings.HasPrefix(name, "batchjob.dev/")
}
