package jobprinter

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/jsonpath"
)

// cellMissing is kubectl's word for a field that an object does not have.
const cellMissing = "<none>"

// relaxedPath matches the forms of a JSONPath that kubectl accepts: .metadata.name, metadata.name, or
// {.metadata.name}.
var relaxedPath = regexp.MustCompile(`^\{\.?([^{}]+)\}$|^\.?([^{}]+)$`)

// parsePath parses the path of a field.
func parsePath(text string) (*jsonpath.JSONPath, error) {
	found := relaxedPath.FindStringSubmatch(text)
	if found == nil {
		return nil, fmt.Errorf("%q is not a JSONPath of a field, such as .metadata.name", text)
	}
	path := jsonpath.New(text).AllowMissingKeys(true)
	if err := path.Parse("{." + found[1] + found[2] + "}"); err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	return path, nil
}

// valuesAt returns the values of an object at a path.
func valuesAt(path *jsonpath.JSONPath, object map[string]any) []any {
	results, err := path.FindResults(object)
	if err != nil {
		return nil // The path does not exist, such as an index into an empty list.
	}
	var values []any
	for _, result := range results {
		for _, value := range result {
			if value.IsValid() && value.CanInterface() && value.Interface() != nil {
				values = append(values, value.Interface())
			}
		}
	}
	return values
}

// CustomColumns parses the argument of -o custom-columns: HEADER:PATH,…
func CustomColumns(spec string) (Table, error) {
	var t Table
	for _, part := range strings.Split(spec, ",") {
		header, path, _ := strings.Cut(part, ":")
		if header == "" || path == "" {
			return Table{}, fmt.Errorf("%q is not a column: use custom-columns=HEADER:PATH,..., such as NAME:.metadata.name", part)
		}
		field, err := parsePath(path)
		if err != nil {
			return Table{}, err
		}
		t.custom = append(t.custom, column{Header: header, Text: func(v *Row) string {
			var texts []string
			for _, value := range valuesAt(field, v.object) {
				texts = append(texts, fmt.Sprint(value))
			}
			return cmp.Or(strings.Join(texts, ","), cellMissing)
		}})
	}
	return t, nil
}

// SortBy orders Jobs by the field at a path, Jobs without the field first. The sort is stable.
type SortBy struct{ path *jsonpath.JSONPath }

// NewSortBy parses the path of --sort-by.
func NewSortBy(text string) (SortBy, error) {
	path, err := parsePath(text)
	return SortBy{path}, err
}

// Sort sorts the Jobs in place. It returns an error if none of them has the field, as the path may be misspelled.
func (s SortBy) Sort(jobs []*unstructured.Unstructured) error {
	keys := make(map[*unstructured.Unstructured]sortKey, len(jobs))
	for _, job := range jobs {
		if found := valuesAt(s.path, job.Object); len(found) > 0 {
			keys[job] = sortKeyOf(found[0])
		}
	}
	if len(keys) == 0 && len(jobs) > 0 {
		return errors.New("no Job has the field")
	}
	slices.SortStableFunc(jobs, func(a, b *unstructured.Unstructured) int {
		x, y := keys[a], keys[b]
		return cmp.Or(cmp.Compare(x.kind, y.kind), cmp.Compare(x.number, y.number), cmp.Compare(x.text, y.text))
	})
	return nil
}

// sortKey orders values: missing ones first, then numbers, then texts, such as times.
type sortKey struct {
	kind   int
	number float64
	text   string
}

func sortKeyOf(value any) sortKey {
	switch v := value.(type) {
	case int64:
		return sortKey{kind: 1, number: float64(v)}
	case float64:
		return sortKey{kind: 1, number: v}
	}
	return sortKey{kind: 2, text: fmt.Sprint(value)}
}
