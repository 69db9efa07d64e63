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
	// Kind is the mistake, such as "tab".
	Kind string
	// Line is where it is, from 1; Was and Is are that line before and after.
	Line    int
	Was, Is string
	Text    string
	// Missing reports whether the line was removed, so that lint can only report one around it.
	Missing bool
}

// line is a line of a manifest that has a field or an item.
type line struct {
	number int // from 1
	text   string
	// indent are the spaces before it; dash is the one of an item, with the spaces after it.
	indent, dash string
	// key is the name of the field, "" for an item that has none; value is what follows the colon or the dash.
	key, value string
	// path are the names of the fields around it, and its own.
	path []string
}

// in reports whether the line is a field with this name, in one with the other name.
func (l line) in(parent, key string) bool {
	return l.key == key && len(l.path) > 1 && l.path[len(l.path)-2] == parent
}

// change returns the line after a mistake; "" and false if the mistake is none here.
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

// linesOf returns the lines of the documents' fields and items: no comments, and no lines of texts.
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

// collect notes the path of the first node of each line.
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
