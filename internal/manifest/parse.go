package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"golang.org/x/sync/errgroup"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	sigsyaml "sigs.k8s.io/yaml"
)

// maxAliased is how many bytes aliases may add to a file. Without a limit, a few lines can expand to terabytes.
const maxAliased = 4 << 20

// Parse returns the objects of one file, in order, and an *Error for each invalid document.
func Parse(file string, data []byte) ([]*Object, []error) { return parseFor("lint", file, data) }

// parseFor is like Parse; hints in errors name the verb.
func parseFor(verb, file string, data []byte) ([]*Object, []error) {
	if !isText(data) {
		return nil, []error{&Error{Position: Position{File: file}, Problem: "not a text file in UTF-8"}}
	}
	var objects []*Object
	var problems []error
	// Documents are parsed concurrently, as many at a time as there are processors.
	documents := splitDocuments(file, data)
	contents, errs := make([]map[string]any, len(documents)), make([]error, len(documents))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, d := range documents {
		group.Go(func() error {
			contents[i], errs[i] = d.parse()
			return nil
		})
	}
	_ = group.Wait() // each document has its own error
	budget := maxTried
	for i, d := range documents {
		content, err := contents[i], errs[i]
		if (err != nil || templateFile.MatchString(file)) && problems == nil {
			if template := templateError(file, verb, data); template != nil {
				return nil, []error{template}
			}
		}
		if err != nil {
			problems = append(problems, d.explain(err, &budget))
			continue
		}
		strict := verb != "lint" // which also checks what is readable of the object
		for _, flaw := range d.flaws {
			if !strict || !flaw.Accepted {
				problems = append(problems, flaw)
			}
		}
		if content == nil || strict && slices.ContainsFunc(d.flaws, func(e *Error) bool { return !e.Accepted }) {
			continue
		}
		found, bad := flatten(&Object{Content: content, document: d, node: d.root})
		objects, problems = append(objects, found...), append(problems, bad...)
	}
	return objects, problems
}

// parse parses the document, and returns nil if it is empty.
func (d *document) parse() (map[string]any, error) {
	root, err := d.parseNodes()
	switch {
	case err != nil:
		return nil, err
	case root != nil && !isNull(root):
		d.root = root
		// The size with all aliases expanded is limited before they are expanded.
		budget := len(d.text) + maxAliased
		if err := d.checkSize(root, map[*yaml.Node]bool{}, &budget); err != nil {
			return nil, err
		}
		if err := d.checkKeys(root); err != nil {
			return nil, err
		}
	case !d.isJSON:
		return nil, nil
	}
	text := d.text
	if !d.isJSON {
		// Not strict, because a field that overrides a merged one ("<<") would be a duplicate. checkKeys has checked for real
		// duplicates.
		if text, err = sigsyaml.YAMLToJSON(d.text); err != nil {
			if problem := d.findInvalid(root); problem != nil {
				return nil, problem
			}
			return nil, &syntaxError{err}
		}
	}
	var value any
	if err := utiljson.Unmarshal(text, &value); err != nil {
		position := d.positionOf(d.root)
		if wrong, is := errors.AsType[*json.UnmarshalTypeError](err); is && d.isJSON {
			read := d.text[:min(int(wrong.Offset)+1, len(d.text))]
			position = d.positionAt(bytes.LastIndex(read, []byte(strings.TrimPrefix(wrong.Value, "number "))))
			err = errors.New("the " + wrong.Value + " is too large")
		}
		return nil, &Error{Position: position, Problem: "cannot be read: " + err.Error()}
	}
	content, ok := value.(map[string]any)
	if !ok {
		return nil, &Error{Position: d.positionOf(d.root), Problem: "not a Kubernetes object: it must have apiVersion and kind", Content: value}
	}
	return content, nil
}

// parseNodes returns the root node, or nil if the document is empty, or is JSON whose positions are unknown.
func (d *document) parseNodes() (*yaml.Node, error) {
	if d.isJSON {
		root, _, _ := parseYAML(jsonEscape.ReplaceAllFunc(d.text, plainEscape))
		return root, nil
	}
	root, rest, err := parseYAML(d.text)
	if err != nil {
		return nil, &syntaxError{err}
	}
	if rest {
		d.reportRest(root)
	}
	return root, nil
}

// jsonEscape matches the escapes of JSON that the parser of YAML does not know, \/ and halves of characters, and \\, which is none.
var jsonEscape = regexp.MustCompile(`\\(?:\\|/|u[dD][89a-fA-F][0-9a-fA-F]{2})`)

// plainEscape replaces an escape by text of the same length: nodes have the positions of values, which are read as JSON.
func plainEscape(escape []byte) []byte {
	if escape[1] == '\\' {
		return escape
	}
	return bytes.Repeat([]byte("/"), len(escape))
}

// parseYAML returns the root node of a document, nil if it is empty. rest reports whether there is text after it, which YAML
// readers ignore: they end a document at a line that is indented less than its first one.
func parseYAML(text []byte) (root *yaml.Node, rest bool, err error) {
	var top, next yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&top); err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	if len(top.Content) == 1 {
		root = top.Content[0]
	}
	return root, root != nil && !errors.Is(decoder.Decode(&next), io.EOF), nil
}

// reportRest reports the first line that YAML readers ignore.
func (d *document) reportRest(root *yaml.Node) {
	lines := strings.Split(string(d.text), "\n")
	for i := root.Line; i < len(lines); i++ {
		if spaces, _ := indent(lines[i]); !isBlank(lines[i]) && len(spaces) < root.Column-1 {
			d.flaws = append(d.flaws, &Error{
				Position: d.positionOf(&yaml.Node{Line: i + 1, Column: len(spaces) + 1}), ID: "lines-ignored", Accepted: true,
				Problem: "from here on, this document is ignored: the line is indented less than the first field, which ends the object", Fix: "indent all fields alike",
			})
			return
		}
	}
}

func isNull(node *yaml.Node) bool { return node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null" }

// findInvalid returns the error for the first node that YAML allows and JSON cannot represent, or nil if there is none.
func (d *document) findInvalid(root *yaml.Node) *Error {
	const quoteFix = "put it in quotes if it is text"
	for n := range nodesIn(root) {
		isValid := func() bool { // on its own
			_, err := sigsyaml.YAMLToJSON([]byte(n.Tag + " " + strconv.Quote(n.Value)))
			return err == nil
		}
		switch number := strings.ToLower(n.Value); {
		case n.Kind != yaml.ScalarNode:
		case n.ShortTag() == "!!float" && (strings.HasSuffix(number, ".inf") || number == ".nan"):
			return &Error{Position: d.positionOf(n), Problem: n.Value + " is a number in YAML that JSON and Kubernetes do not have", Fix: quoteFix}
		case n.Style&yaml.TaggedStyle != 0 && !isValid():
			return &Error{Position: d.positionOf(n), Problem: fmt.Sprintf("%q is not a value of the type %s", n.Value, n.ShortTag()), Fix: "correct it, or remove the type"}
		}
		for key, value := range fieldsIn(n) {
			isObject := func(source *yaml.Node) bool {
				source = resolve(source)
				return source != nil && source.Kind == yaml.MappingNode
			}
			switch {
			case resolve(key).Kind != yaml.ScalarNode, isNull(resolve(key)), key.ShortTag() == "!!binary":
				return &Error{Position: d.positionOf(key), Problem: "the name of a field must be text", Fix: quoteFix}
			case isMerge(key) && !slices.ContainsFunc(mergeSources(value), isObject):
				return &Error{Position: d.positionOf(key), Problem: "<< must have an object, or a list of objects, to merge"}
			}
		}
	}
	return nil
}

// checkSize subtracts the size of a node in bytes, with all aliases expanded, from the budget, and returns an error if that is
// spent. inside are the anchors around the node.
func (d *document) checkSize(n *yaml.Node, inside map[*yaml.Node]bool, budget *int) error {
	if n.Kind == yaml.AliasNode {
		if inside[n.Alias] {
			return &Error{Position: d.positionOf(n), Problem: fmt.Sprintf("the anchor %q contains itself", n.Value)}
		}
		inside[n.Alias] = true
		defer delete(inside, n.Alias)
		return d.checkSize(n.Alias, inside, budget)
	}
	if *budget -= 1 + len(n.Value); *budget < 0 {
		return &Error{Position: d.positionOf(n), Problem: "aliases (*name) expand it too far"}
	}
	for _, c := range n.Content {
		if err := d.checkSize(c, inside, budget); err != nil {
			return err
		}
	}
	return nil
}

// nodesIn yields a node and all nodes in it, without the ones that aliases refer to.
func nodesIn(n *yaml.Node) iter.Seq[*yaml.Node] {
	return func(yield func(*yaml.Node) bool) { yieldNodes(n, yield) }
}

func yieldNodes(n *yaml.Node, yield func(*yaml.Node) bool) bool {
	return yield(n) && !slices.ContainsFunc(n.Content, func(c *yaml.Node) bool { return !yieldNodes(c, yield) })
}

// fieldsIn yields the keys and values of a mapping.
func fieldsIn(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], n.Content[i+1]) {
				return
			}
		}
	}
}

// checkKeys finds duplicate fields, of which only the last one would be used. It returns an error if the reason is another
// mistake.
func (d *document) checkKeys(root *yaml.Node) error {
	for n := range nodesIn(root) {
		lines := map[string]int{}
		var empty *yaml.Node // the last field without a value
		for key, value := range fieldsIn(n) {
			if isNull(value) && value.Value == "" {
				empty = key
			}
			if key.Kind != yaml.ScalarNode || isMerge(key) {
				continue
			}
			if first, again := lines[key.Value]; again {
				if empty != nil && d.positionOf(empty).Line > first {
					return &Error{Position: d.positionOf(empty), Problem: fmt.Sprintf("%q is empty, but there is a second %q beside it", empty.Value, key.Value), Fix: "indent what belongs to " + empty.Value + " more than it"}
				}
				d.flaws = append(d.flaws, &Error{Position: d.positionOf(key), ID: "field-twice", Fix: "remove one of them", Problem: fmt.Sprintf("duplicate field %q, first used in line %d", key.Value, first)})
				if len(d.flaws) > maxFlaws {
					return d.flaws[maxFlaws]
				}
			}
			lines[key.Value] = d.positionOf(key).Line
		}
	}
	return nil
}

// maxFlaws is the maximum number of duplicate fields that are reported without giving up the document.
const maxFlaws = 100
