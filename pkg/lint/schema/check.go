package schema

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Problem is a field name or a value that the API does not have.
type Problem struct {
	// ID is one of the IDs of package lint: unknown-field, wrong-type, value-unknown, quantity-invalid, quantity-tiny,
	// resource-unknown.
	ID string
	// Path is the path in the object as written, such as spec.template.spec.containers[0].comand.
	Path string
	// Message describes the problem, and Fix is the suggested correction, on one line each.
	Message, Fix string
	// Accepted reports whether the API server accepts the object nevertheless.
	Accepted bool
}

// Input is the content to check.
type Input struct {
	Schema *Schema
	// Content has JSON types, with int64 and float64 for numbers. Check corrects it in place.
	Content map[string]any
	// Prefix is the path of Content in the object, "" for the object itself.
	Prefix string
	// Written returns a scalar as it is written in the manifest, without quotes, or "" if that is unknown. It may be
	// nil.
	Written func(path string) string
}

// Result is the result of Check.
type Result struct {
	Problems []Problem
	// Removed are the paths of wrong values that were removed, so that the caller can ignore findings about missing
	// values there.
	Removed []string
	// Moved maps the new paths of moved fields to their paths as written.
	Moved map[string]string
	// Guesses are corrections that may be wrong; Check does not apply them.
	Guesses []Guess
}

// Guess is a known field that an unknown one may stand for.
type Guess struct {
	to    place
	name  string
	value any
}

// Make applies the correction to the checked content.
func (g Guess) Make() {
	if target := g.to.create(); target != nil {
		add(target, g.name, g.value)
	}
}

// add adds a field to an object, except for parts that exist already, perhaps by another guess.
func add(to map[string]any, name string, value any) {
	inner, isObject := value.(map[string]any)
	there, wasObject := to[name].(map[string]any)
	if isObject && wasObject {
		for _, below := range slices.Sorted(maps.Keys(inner)) {
			add(there, below, inner[below])
		}
		return
	}
	if _, found := to[name]; !found {
		to[name] = value
	}
}

// MaxProblems is the maximum number of problems that Check reports. Paths and comparisons of more of them would make the work
// quadratic.
const MaxProblems = 1000

// Check compares the content with the Schema, and corrects it.
func Check(in Input) Result {
	w := &walk{Input: in, result: Result{Moved: map[string]string{}}}
	w.checkObject(in.Schema, in.Content)
	w.revisits = true
	for len(w.pending) > 0 { // fields that were moved to an object already visited
		p := w.pending[0]
		w.pending = w.pending[1:]
		w.steps = p.steps
		w.checkField(p.schema, p.object, p.name)
	}
	return w.result
}

// walk is the state of a check, at one place of the content.
type walk struct {
	Input
	steps   []step
	pending []visit
	result  Result
	// silent suppresses problems and removals, for a guess.
	silent bool
	// revisits reports whether fields may be visited for a second time.
	revisits bool
}

// step leads from an object or a list to one of its values.
type step struct {
	name  string // of a field; "" for an item
	key   bool   // of a dictionary
	index int
	// schema and object are the start of the step; object is nil for a list.
	schema *Schema
	object map[string]any
}

// visit is a field that remains to be checked.
type visit struct {
	steps  []step
	schema *Schema
	object map[string]any
	name   string
}

// path returns the path of the current place.
func (w *walk) path() string { return pathOf(w.Prefix, w.steps) }

func pathOf(prefix string, steps []step) string {
	var b strings.Builder
	b.WriteString(prefix)
	for _, s := range steps {
		switch {
		case s.name == "":
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case s.key || strings.ContainsAny(s.name, "./"):
			b.WriteString("[" + s.name + "]")
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.name)
		}
	}
	return b.String()
}

// subject returns the current path, with the name of the container, variable or volume that it belongs to.
func (w *walk) subject() string {
	for i := len(w.steps) - 1; i >= 0; i-- {
		name, isText := w.steps[i].object["name"].(string)
		if i > 0 && w.steps[i-1].name == "" && isText && name != "" && w.steps[i].name != "name" {
			return w.path() + " (" + name + ")"
		}
	}
	return w.path()
}

func (w *walk) report(p Problem) {
	if !w.silent && !w.isFull() && (!w.revisits || !slices.Contains(w.result.Problems, p)) {
		w.result.Problems = append(w.result.Problems, p)
	}
}

func (w *walk) isFull() bool { return len(w.result.Problems) >= MaxProblems }

func (w *walk) checkObject(s *Schema, content map[string]any) {
	w.checkEmpty(s, content)
	for _, name := range slices.Sorted(maps.Keys(content)) {
		if s.fields[name] == nil {
			w.checkUnknown(s, content, name)
		}
	}
	for _, name := range s.names {
		if _, found := content[name]; found {
			w.checkField(s, content, name)
		}
	}
}

// checkField checks a field of an object, or a key of a dictionary.
func (w *walk) checkField(s *Schema, content map[string]any, name string) {
	of, key := s.elem, true
	if s.kind == object {
		of, key = s.fields[name], false
	}
	w.steps = append(w.steps, step{name: name, key: key, schema: s, object: content})
	defer func() { w.steps = w.steps[:len(w.steps)-1] }()
	if value, keep := w.checkValue(of, content[name]); keep {
		content[name] = value
	} else {
		delete(content, name)
	}
}

// checkValue checks a value, and returns its replacement; false if it is to be removed.
func (w *walk) checkValue(s *Schema, value any) (any, bool) {
	if value == nil {
		return nil, true
	}
	switch s.kind {
	case object, dictionary:
		return w.checkFields(s, value)
	case list:
		return w.checkItems(s, value)
	case text:
		if written, isText := value.(string); isText {
			return w.checkText(s, written)
		}
	case quantity:
		return w.checkQuantity(s, value)
	default:
		if corrected, fits := s.fits(value); fits {
			return corrected, true
		}
	}
	return w.wrongType(s, value)
}

func (w *walk) checkFields(s *Schema, value any) (any, bool) {
	content, isObject := value.(map[string]any)
	switch {
	case !isObject:
		return w.wrongType(s, value)
	case s.kind == object:
		w.checkObject(s, content)
	default:
		for _, key := range slices.Sorted(maps.Keys(content)) {
			w.checkField(s, content, key)
		}
	}
	return content, true
}

func (w *walk) checkItems(s *Schema, value any) (any, bool) {
	items, isList := value.([]any)
	if !isList {
		return w.wrongType(s, value)
	}
	for i := range items {
		w.steps = append(w.steps, step{index: i, schema: s})
		corrected, keep := w.checkValue(s.elem, items[i])
		if items[i] = corrected; !keep { // the items after it keep their indexes
			items[i] = nil
		}
		w.steps = w.steps[:len(w.steps)-1]
	}
	return items, true
}

// checkText checks a text whose values the API enumerates. In most fields, an empty text is accepted, because a default
// replaces it, or another check reports it as missing.
func (w *walk) checkText(s *Schema, value string) (any, bool) {
	if value == "" && !s.strict || s.allowed == nil || slices.Contains(s.allowed, value) {
		return value, true
	}
	fix := "use " + wording.Enumerate(s.allowed, "or")
	corrected, keep := any(nil), false
	for _, allowed := range s.allowed {
		if strings.EqualFold(allowed, value) {
			fix, corrected, keep = "write "+allowed, allowed, true
		}
	}
	w.report(Problem{ID: s.id, Path: w.path(), Fix: fix, Message: w.subject() + " is " + quoted(value) + ", which the API does not know"})
	if !keep {
		w.remove()
	}
	return corrected, keep
}

// remove records that the value at the current place is removed.
func (w *walk) remove() {
	if !w.silent && !w.isFull() {
		w.result.Removed = append(w.result.Removed, w.path())
	}
}
