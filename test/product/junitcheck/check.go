// Package junitcheck checks JUnit reports in tests.
package junitcheck

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// The dialect is what common readers of JUnit reports accept: Jenkins' schema (junit-10.xsd of its xunit plugin, which
// has no attribute "skipped" of testsuites), GitLab's parser and GitHub's actions.
type rule struct {
	required, optional string // attributes
	children           string // in this order; "*" for any number
	text               bool
}

var dialect = map[string]rule{
	"testsuites": {required: "tests failures errors time", optional: "name", children: "testsuite*"},
	"testsuite":  {required: "name tests failures errors skipped time", optional: "timestamp", children: "testcase*"},
	"testcase":   {required: "name classname time", children: "skipped error failure system-out"},
	"skipped":    {required: "message"},
	"error":      {required: "type message", text: true},
	"failure":    {required: "type message", text: true},
	"system-out": {text: true},
}

// values are the formats of attributes; other attributes may have any text.
var values = map[string]*regexp.Regexp{
	"tests": regexp.MustCompile(`^\d+$`), "failures": regexp.MustCompile(`^\d+$`), "errors": regexp.MustCompile(`^\d+$`),
	"skipped": regexp.MustCompile(`^\d+$`), "time": regexp.MustCompile(`^\d+\.\d{3}$`),
	"timestamp": regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$`),
}

// element is an XML element.
type element struct {
	name     string
	attrs    map[string]string
	children []*element
	text     string
}

// Check returns an error for violations of the dialect and for counts that do not add up.
func Check(r io.Reader) error {
	root, err := parse(xml.NewDecoder(r))
	if err != nil {
		return err
	}
	if root == nil || root.name != "testsuites" {
		return errors.New("the root is not testsuites")
	}
	return errors.Join(root.check(), root.checkCounts())
}

func parse(decoder *xml.Decoder) (root *element, err error) {
	var path []*element
	for {
		token, err := decoder.Token()
		switch token := token.(type) {
		case xml.StartElement:
			e := &element{name: token.Name.Local, attrs: map[string]string{}}
			for _, attr := range token.Attr {
				e.attrs[attr.Name.Local] = attr.Value
			}
			if len(path) == 0 {
				root = e
			} else {
				parent := path[len(path)-1]
				parent.children = append(parent.children, e)
			}
			path = append(path, e)
		case xml.EndElement:
			path = path[:len(path)-1]
		case xml.CharData:
			if len(path) > 0 {
				path[len(path)-1].text += string(token)
			}
		}
		if errors.Is(err, io.EOF) {
			return root, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (e *element) check() error {
	rule, known := dialect[e.name]
	if !known {
		return fmt.Errorf("there is no element %s", e.name)
	}
	problems := []error{e.checkAttributes(rule)}
	if !rule.text && strings.TrimSpace(e.text) != "" {
		problems = append(problems, fmt.Errorf("%s has text: %q", e.name, e.text))
	}
	left := strings.Fields(rule.children)
	for _, child := range e.children {
		at := slices.IndexFunc(left, func(allowed string) bool { return strings.TrimSuffix(allowed, "*") == child.name })
		if at < 0 {
			problems = append(problems, fmt.Errorf("%s may not have %s here", e.name, child.name))
			continue
		}
		if left = left[at:]; !strings.HasSuffix(left[0], "*") {
			left = left[1:]
		}
		problems = append(problems, child.check())
	}
	return errors.Join(problems...)
}

func (e *element) checkAttributes(rule rule) error {
	var problems []error
	required := strings.Fields(rule.required)
	for _, name := range required {
		if _, has := e.attrs[name]; !has {
			problems = append(problems, fmt.Errorf("%s lacks the attribute %s", e.name, name))
		}
	}
	for name, value := range e.attrs {
		if !slices.Contains(append(required, strings.Fields(rule.optional)...), name) {
			problems = append(problems, fmt.Errorf("%s has no attribute %s", e.name, name))
		}
		if form := values[name]; form != nil && !form.MatchString(value) {
			problems = append(problems, fmt.Errorf("%s: %s is %q", e.name, name, value))
		}
	}
	return errors.Join(problems...)
}

// checkCounts compares the counts of each suite, and the totals, with the test cases. Names must be unique in a suite.
func (e *element) checkCounts() error {
	var problems []error
	total := map[string]int{}
	for _, suite := range e.children {
		own, names := map[string]int{}, map[string]bool{}
		for _, c := range suite.children {
			own["tests"]++
			outcomes := 0
			for outcome, count := range map[string]string{"failure": "failures", "error": "errors", "skipped": "skipped"} {
				if slices.ContainsFunc(c.children, func(child *element) bool { return child.name == outcome }) {
					own[count]++
					outcomes++
				}
			}
			if name := c.attrs["classname"] + "." + c.attrs["name"]; outcomes > 1 || names[name] {
				problems = append(problems, fmt.Errorf("%s: %d outcomes, or twice", name, outcomes))
			} else {
				names[name] = true
			}
		}
		for _, count := range []string{"tests", "failures", "errors", "skipped"} {
			total[count] += own[count]
			if suite.attrs[count] != fmt.Sprint(own[count]) {
				problems = append(problems, fmt.Errorf("suite %s: %s is %s, not %d", suite.attrs["name"], count, suite.attrs[count], own[count]))
			}
		}
	}
	for _, count := range []string{"tests", "failures", "errors"} {
		if e.attrs[count] != fmt.Sprint(total[count]) {
			problems = append(problems, fmt.Errorf("%s is %s, not %d", count, e.attrs[count], total[count]))
		}
	}
	return errors.Join(problems...)
}
