package jobprinter

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/jsonpath"
)

// cellMissing is kubectl's word for a field that an object does not have.
const cellMissing = "<none>"

// relaxedPath is a JSONPath as kubectl takes it: .metadata.name, metadata.name, or {.metadata.name}.
var relaxedPath = regexp.MustCompile(`^\{\.?([^{}]+)\}$|^\.?([^{}]+)$`)

// parsePath reads the path of a field.
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

// valuesAt are the values that an object has at a path.
func valuesAt(path *jsonpath.JSONPath, object map[string]any) []any {
	results, err := path.FindResults(object)
	if err != nil {
		return nil // The path asks for something that is not there, such as an index of an empty list.
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

// CustomColumns reads the argument of -o custom-columns: HEADER:PATH,…
func CustomColumns(spec string) (Table, error) {
	if spec == "" {
		return Table{}, errors.New("custom-columns format specified but no custom columns given")
	}
	var t Table
	for _, part := range strings.Split(spec, ",") {
		header, path, _ := strings.Cut(part, ":")
		if header == "" || path == "" {
			return Table{}, fmt.Errorf("%q is not a column: use HEADER:PATH, such as NAME:.metadata.name", part)
		}
		if err := t.addCustom(header, path); err != nil {
			return Table{}, err
		}
	}
	return t, nil
}

// CustomColumnsFile reads a file of -o custom-columns-file: a line of headers, and one of paths.
func CustomColumnsFile(name string) (Table, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return Table{}, err
	}
	headerLine, rest, _ := strings.Cut(string(data), "\n")
	pathLine, _, _ := strings.Cut(rest, "\n")
	headers, paths := strings.Fields(headerLine), strings.Fields(pathLine)
	if len(headers) == 0 || len(headers) != len(paths) {
		return Table{}, fmt.Errorf("%s needs a line of headers and a line with as many paths, but has %d and %d", name, len(headers), len(paths))
	}
	var t Table
	for i := range headers {
		if err := t.addCustom(headers[i], paths[i]); err != nil {
			return Table{}, err
		}
	}
	return t, nil
}

func (t *Table) addCustom(header, text string) error {
	path, err := parsePath(text)
	if err != nil {
		return err
	}
	t.custom = append(t.custom, column{header: header, cell: func(v Row) string {
		var texts []string
		for _, value := range valuesAt(path, v.object) {
			texts = append(texts, fmt.Sprint(value))
		}
		return cmp.Or(strings.Join(texts, ","), cellMissing)
	}})
	return nil
}

// SortBy orders Jobs by the field at a path, those without it first. Equal ones keep their order.
type SortBy struct{ path *jsonpath.JSONPath }

// NewSortBy reads the path of --sort-by.
func NewSortBy(text string) (SortBy, error) {
	path, err := parsePath(text)
	return SortBy{path}, err
}

// Sort returns an error if none of the Jobs has the field: its name may be misspelled.
func (s SortBy) Sort(jobs []*unstructured.Unstructured) error {
	values := make(map[*unstructured.Unstructured]any, len(jobs))
	for _, job := range jobs {
		if found := valuesAt(s.path, job.Object); len(found) > 0 {
			values[job] = found[0]
		}
	}
	if len(values) == 0 && len(jobs) > 0 {
		return errors.New("no Job has the field")
	}
	slices.SortStableFunc(jobs, func(a, b *unstructured.Unstructured) int { return compareValues(values[a], values[b]) })
	return nil
}

// compareValues orders numbers by value, and all else by its text, as times are; nil comes first.
func compareValues(a, b any) int {
	if a == nil || b == nil {
		return compareBool(a != nil, b != nil)
	}
	x, isNumber := number(a)
	y, isToo := number(b)
	if isNumber && isToo {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

func number(value any) (float64, bool) {
	switch n := value.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
