package monitoring

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// query is a parsed PromQL expression, as far as these tests need it. promtool checks whether it is valid PromQL.
type query struct {
	selectors []selector
	// labels are the labels by which the expression groups or matches.
	labels []string
}

type selector struct {
	metric   string
	matchers []string
}

var (
	tokens    = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\[[^\]]*\]|[A-Za-z_:][A-Za-z0-9_:]*|[0-9.]+|=~|!~|!=|==|>=|<=|\S`)
	word      = regexp.MustCompile(`^[A-Za-z_:]`)
	modifiers = []string{"by", "without", "on", "ignoring", "group_left", "group_right"}
	words     = []string{"and", "or", "unless", "sum", "max", "min", "count", "rate", "increase", "absent", "max_over_time", "histogram_quantile", "label_values", "sort_desc"}
)

// parse returns the selectors and labels of an expression.
func parse(expression string) (q query, err error) {
	all := tokens.FindAllString(expression, -1)
	for i := 0; i < len(all); i++ {
		token := all[i]
		next := append(all[i+1:], "")[0]
		switch {
		case !word.MatchString(token), slices.Contains(words, token):
		case slices.Contains(modifiers, token) && next == "(":
			end := i + slices.Index(all[i:], ")")
			for _, label := range all[i+2 : end] {
				if word.MatchString(label) {
					q.labels = append(q.labels, label)
				}
			}
			i = end
		case next == "{":
			end := i + slices.Index(all[i:], "}")
			s := selector{metric: token}
			for j := i + 2; j < end; j++ {
				if word.MatchString(all[j]) {
					s.matchers = append(s.matchers, all[j])
				}
			}
			q.selectors = append(q.selectors, s)
			i = end
		default:
			return q, fmt.Errorf("%q is no word that this test knows, and no selector with braces", token)
		}
	}
	return q, nil
}

// templated returns the queries made by the template of an annotation, with a fixed text for the inserted values.
func templated(text string) (queries []string) {
	for _, literal := range regexp.MustCompile(`printf ("(?:[^"\\]|\\.)*")[^|}]*\| query`).FindAllStringSubmatch(text, -1) {
		queries = append(queries, strings.ReplaceAll(strings.Trim(literal[1], `"`), "%q", "'x'"))
	}
	return queries
}

// templateLabels returns the labels of the alert that a template prints.
func templateLabels(text string) (labels []string) {
	for _, label := range regexp.MustCompile(`\$labels\.([a-z_]+)`).FindAllStringSubmatch(text, -1) {
		labels = append(labels, label[1])
	}
	return labels
}
