package manifest

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Position is a position in the input. Lines and columns count from 1, columns in characters; 0 means unknown.
type Position struct {
	File   string // as given, or Stdin; for an object of a kustomization, its name
	Line   int
	Column int
	// Folder is the folder of the kustomization that generated the object; "" for objects of files.
	Folder string
}

// String returns file:line:column without unknown parts, in the format of compilers.
func (p Position) String() string {
	switch {
	case p.Line <= 0:
		return p.File
	case p.Column <= 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Error is a problem in the input.
type Error struct {
	Position Position
	Problem  string
	// Fix is how to fix the problem; "" if the problem says it already.
	Fix string
	// ID is the kind of lint's finding; "" for a document that cannot be read.
	ID string
	// Accepted is set if the API server ignores the problem.
	Accepted bool
	// Content is a readable document that is not a Kubernetes object, such as a kustomization; nil for other problems.
	Content any
}

// Error implements error.
func (e *Error) Error() string {
	text := e.Position.String() + ": " + e.Problem
	if e.Fix != "" {
		text += "; " + e.Fix
	}
	return text
}

// positionOf converts the line and column of a node in this document to a position in the file.
func (d *document) positionOf(n *yaml.Node) Position {
	if d.folder != "" {
		return Position{File: d.file, Folder: d.folder}
	}
	p := Position{File: d.file, Line: d.line}
	if n == nil || n.Line == 0 {
		return p
	}
	p.Line, p.Column = d.line+n.Line-1, n.Column
	if n.Line == 1 {
		p.Column += d.column - 1
	}
	return p
}

// positionAt returns the position of an offset in the text.
func (d *document) positionAt(offset int) Position {
	before := d.text[:min(max(offset, 0), len(d.text))]
	line := 1 + bytes.Count(before, []byte("\n"))
	return d.positionOf(&yaml.Node{Line: line, Column: 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])})
}

// Position returns the position of the field at path, such as spec.podFailurePolicy.rules[0].action or
// metadata.annotations[example.com/key]. It is the position of the value, or of the name if the value has fields or items.
// For a missing field, it is the position of the nearest existing parent.
func (o *Object) Position(path string) Position {
	at, _ := o.find(path)
	return o.document.positionOf(at)
}

// find returns the value of the field at path, nil if it is missing, and the node at which it is.
func (o *Object) find(path string) (at, node *yaml.Node) {
	at, node = o.node, resolve(o.node)
	for _, step := range splitPath(path) {
		key, value := findChild(node, step)
		if value == nil {
			return at, nil
		}
		at, node = value, resolve(value)
		if key != nil && node.Kind != yaml.ScalarNode {
			at = key
		}
	}
	return at, node
}

// Written returns the scalar at path as written, without quotes: "yes" if Content has true. It returns "" for anything else.
func (o *Object) Written(path string) string {
	if _, node := o.find(path); node != nil && node.Kind == yaml.ScalarNode {
		return node.Value
	}
	return ""
}

// pathStep matches a step of a path. Text in brackets is one step, whatever characters it contains.
var pathStep = regexp.MustCompile(`\[([^\]]*)\]?|([^.\[]+)`)

func splitPath(path string) []string {
	var all []string
	for _, step := range pathStep.FindAllStringSubmatch(path, -1) {
		all = append(all, step[1]+step[2])
	}
	return all
}

// findChild returns the field or item of a node, with the key of a field; nil if it does not exist.
func findChild(node *yaml.Node, step string) (key, value *yaml.Node) {
	if node = resolve(node); node == nil {
		return nil, nil
	}
	switch node.Kind {
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(node.Content) {
			return nil, node.Content[i]
		}
	case yaml.MappingNode:
		return findField(node, step)
	}
	return nil, nil
}

func findField(node *yaml.Node, name string) (key, value *yaml.Node) {
	var merged []*yaml.Node
	for i := len(node.Content) - 2; i >= 0; i -= 2 { // of duplicate fields, the last one counts
		if node.Content[i].Value == name {
			return node.Content[i], node.Content[i+1]
		}
		if isMerge(node.Content[i]) {
			merged = append(merged, mergeSources(node.Content[i+1])...)
		}
	}
	for _, source := range merged {
		if key, value = findChild(source, name); value != nil {
			return key, value
		}
	}
	return nil, nil
}

func isMerge(key *yaml.Node) bool {
	return key.Value == "<<" && key.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0
}

// mergeSources returns the mappings of a merge key, whose value is one mapping or a list of them.
func mergeSources(node *yaml.Node) []*yaml.Node {
	if node = resolve(node); node != nil && node.Kind == yaml.SequenceNode {
		return node.Content
	}
	return []*yaml.Node{node}
}

// resolve follows an alias, whose target is never an alias.
func resolve(node *yaml.Node) *yaml.Node {
	if node != nil && node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}
