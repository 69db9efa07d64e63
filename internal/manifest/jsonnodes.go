package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// jsonNodes builds the nodes that the YAML parser would build from JSON, with lines and columns. That parser does not support
// all JSON escapes, such as \/ and surrogate pairs of \u.
func jsonNodes(text []byte) (*yaml.Node, error) {
	r := &jsonReader{text: text, decoder: json.NewDecoder(bytes.NewReader(text)), line: 1, column: 1}
	r.decoder.UseNumber()
	return r.readValue()
}

// jsonReader reads a text once, from start to end.
type jsonReader struct {
	text    []byte
	decoder *json.Decoder
	// line and column are the position of text[at].
	at, line, column int
}

// readValue reads the next value. The recursion is bounded, because encoding/json has already parsed the text.
func (r *jsonReader) readValue() (*yaml.Node, error) {
	line, column := r.nextPosition()
	token, err := r.decoder.Token()
	if err != nil {
		return nil, err
	}
	node := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Line: line, Column: column}
	switch value := token.(type) {
	case json.Delim:
		return node, r.readContent(node, value)
	case string:
		node.Style, node.Value = yaml.DoubleQuotedStyle, value
	case nil:
		node.Tag, node.Value = "!!null", "null"
	default: // a number or a boolean, as written
		node.Tag, node.Value = "", fmt.Sprint(value)
	}
	return node, nil
}

// readContent reads the content of an object or a list up to its end; keys are read like values.
func (r *jsonReader) readContent(node *yaml.Node, opened json.Delim) error {
	node.Kind, node.Tag = yaml.MappingNode, "!!map"
	if opened == '[' {
		node.Kind, node.Tag = yaml.SequenceNode, "!!seq"
	}
	for r.decoder.More() {
		child, err := r.readValue()
		if err != nil {
			return err
		}
		node.Content = append(node.Content, child)
	}
	_, err := r.decoder.Token()
	return err
}

// nextPosition skips separators and returns the position of the next token.
func (r *jsonReader) nextPosition() (line, column int) {
	end := int(r.decoder.InputOffset())
	for end < len(r.text) && bytes.IndexByte([]byte(" \t\r\n,:"), r.text[end]) >= 0 {
		end++
	}
	for _, c := range r.text[r.at:end] {
		switch {
		case c == '\n':
			r.line, r.column = r.line+1, 1
		case utf8.RuneStart(c): // columns count characters
			r.column++
		}
	}
	r.at = end
	return r.line, r.column
}
