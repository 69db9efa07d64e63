package mutations

import (
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Mutation is a manifest with one mistake.
type Mutation struct {
	Manifest string
	// Kind is the kind of mistake, such as "tab".
	Kind string
	// Line is the line number of the mistake, from 1; Was and Is are the line before and after the change.
	Line    int
	Was, Is string
	Text    string
	// Missing reports whether the line was removed, so that lint can only report a neighboring line.
	Missing bool
}

// line is a line of a manifest with a field or an item.
type line struct {
	number int // from 1
	text   string
	// indent is the leading spaces; dash is an item's dash with the spaces after it.
	indent, dash string
	// key is the field's name, "" for an item without one; value is the text after the colon or dash.
	key, value string
	// path is the names of the enclosing fields and of the field itself.
	path []string
}

// in reports whether the line is the field key in the field parent.
func (l line) in(parent, key string) bool {
	return l.key == key && len(l.path) > 1 && l.path[len(l.path)-2] == parent
}

// change returns the line with a mistake; false if the mistake does not apply to the line.
type change struct {
	kind string
	make func(l line) (string, bool)
}

// All returns all mutations of the manifests.
func All(manifests []Manifest) []Mutation {
	var all []Mutation
	for _, m := range manifests {
		lines := strings.Split(m.Text, "\n")
		changes := changes()
		if strings.HasSuffix(m.Name, ".json") {
			changes = jsonChanges()
		}
		for _, l := range linesOf(m.Text) {
			for _, c := range changes {
				if is, applies := c.make(l); applies && is != l.text {
					all = append(all, mutate(m.Name, lines, l, c.kind, is))
				}
			}
		}
	}
	return all
}

func mutate(name string, lines []string, l line, kind, is string) Mutation {
	changed := slices.Clone(lines)
	changed[l.number-1] = is
	m := Mutation{Manifest: name, Kind: kind, Line: l.number, Was: l.text, Is: is}
	if kind == "field missing" {
		changed, m.Missing = slices.Delete(changed, l.number-1, l.number), true
	}
	if kind == "field twice" {
		changed = slices.Insert(changed, l.number, l.text)
		m.Line++
	}
	m.Text = strings.Join(changed, "\n")
	return m
}

var fieldLine = regexp.MustCompile(`^( *)((?:- +)*)(?:([\w./-]+|"[^"]+"): *)?(.*)$`)

// linesOf returns the lines with fields and items: no comments, and no lines of multi-line strings.
func linesOf(text string) []line {
	paths := map[int][]string{}
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for {
		var document yaml.Node
		if decoder.Decode(&document) != nil {
			break
		}
		collect(&document, nil, paths)
	}
	var all []line
	for i, written := range strings.Split(text, "\n") {
		path, starts := paths[i+1]
		if m := fieldLine.FindStringSubmatch(written); starts && m != nil {
			all = append(all, line{number: i + 1, text: written, indent: m[1], dash: m[2], key: strings.Trim(m[3], `"`), value: m[4], path: path})
		}
	}
	return all
}

// collect stores the path of the first node of each line.
func collect(n *yaml.Node, path []string, paths map[int][]string) {
	note := func(at *yaml.Node, path []string) {
		if _, found := paths[at.Line]; !found {
			paths[at.Line] = slices.Clone(path)
		}
	}
	switch n.Kind {
	case yaml.DocumentNode:
		for _, c := range n.Content {
			collect(c, path, paths)
		}
	case yaml.SequenceNode:
		for _, c := range n.Content {
			if c.Kind == yaml.ScalarNode {
				note(c, path)
			}
			collect(c, path, paths)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			inner := append(slices.Clone(path), n.Content[i].Value)
			note(n.Content[i], inner)
			collect(n.Content[i+1], inner, paths)
		}
	}
}
