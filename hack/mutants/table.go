package main

import (
	"fmt"
	"strings"
)

// mutant is one bug: text in a file, and its replacement.
type mutant struct {
	// ids are the requirements that the bug breaks, title is its effect.
	ids, title string
	file       string
	old, new   string
	// world is a small world in which make prove finds the bug, outside the reason why no world has it. Each bug has
	// one of the two.
	world, outside string
}

func (m mutant) name() string { return m.ids + ": " + m.title }

// apply plants the bug.
func (m mutant) apply(source string) (string, error) {
	if n := strings.Count(source, m.old); n != 1 {
		return "", fmt.Errorf("%s: %s has the text to replace %d times", m.name(), m.file, n)
	}
	return strings.Replace(source, m.old, m.new, 1), nil
}

// parse parses the table: bugs are separated by empty lines, and lines that begin with # are comments. Each bug has a
// line with its ids and its title, the file, the world in which make prove finds it, or the reason why no world has it,
// the lines to replace, after "-", and their replacement, after "+". (A tab follows both, and is dropped.)
//
//	REG-01: what it does
//	pkg/reconcile/record.go
//	world: one pod fails
//	-	old
//	+	new
func parse(text string) (mutants []mutant, err error) {
	for block := range strings.SplitSeq(text, "\n\n") {
		m, err := parseBlock(block)
		if err != nil {
			return nil, err
		}
		if m.file != "" {
			mutants = append(mutants, m)
		}
	}
	return mutants, nil
}

func parseBlock(block string) (m mutant, err error) {
	var before, after []string
	for line := range strings.Lines(block) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case line == "-", strings.HasPrefix(line, "-\t"):
			before = append(before, strings.TrimPrefix(line[1:], "\t"))
		case line == "+", strings.HasPrefix(line, "+\t"):
			after = append(after, strings.TrimPrefix(line[1:], "\t"))
		case m.ids == "":
			var found bool
			if m.ids, m.title, found = strings.Cut(line, ": "); !found {
				return m, fmt.Errorf("%q: neither ids nor a title", line)
			}
		case m.file == "":
			m.file = line
		case !m.place(line):
			return m, fmt.Errorf("%s: %q is out of place", m.name(), line)
		}
	}
	if m.ids != "" && len(before) == 0 {
		return m, fmt.Errorf("%s: nothing to replace", m.name())
	}
	m.old, m.new = strings.Join(before, "\n"), strings.Join(after, "\n")
	return m, nil
}

// place parses the line with the bug's world, or with the reason why no world has it.
func (m *mutant) place(line string) (taken bool) {
	key, value, _ := strings.Cut(line, ": ")
	switch key {
	case "world":
		m.world = value
	case "outside":
		m.outside = value
	default:
		return false
	}
	return true
}
