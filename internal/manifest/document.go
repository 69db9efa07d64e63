package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"go.yaml.in/yaml/v3"
)

// document is one YAML or JSON document of a file.
type document struct {
	file string
	text []byte
	// line and column are the position of text in the file.
	line, column int
	isJSON       bool
	// folder is the folder of the kustomization that generated the document, if any: then file is the name of the object, and
	// lines have no meaning.
	folder string
	// comments are read on demand.
	comments     []Comment
	commentsRead bool
	// root is nil if the document is empty.
	root *yaml.Node
	// flaws are problems of a readable document.
	flaws []*Error
}

// splitDocuments splits a file into documents. If it starts with "{", it is parsed as JSON, one object after the other. If that
// fails, it is parsed as YAML, which may start with "{", too.
func splitDocuments(file string, data []byte) []*document {
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	if bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) {
		if documents := splitJSON(file, data); documents != nil {
			return documents
		}
	}
	return splitYAML(file, data)
}

// splitJSON returns the JSON documents, or nil if the data is not JSON.
func splitJSON(file string, data []byte) []*document {
	var documents []*document
	decoder := json.NewDecoder(bytes.NewReader(data))
	line, lineStart, end := 1, 0, 0 // of the last document, and of the line that it begins in
	for {
		var text json.RawMessage
		err := decoder.Decode(&text)
		if errors.Is(err, io.EOF) {
			return documents
		}
		if err != nil {
			return nil
		}
		begin := int(decoder.InputOffset()) - len(text)
		skipped := data[end:begin]
		line += bytes.Count(skipped, []byte("\n"))
		if last := bytes.LastIndexByte(skipped, '\n'); last >= 0 {
			lineStart = end + last + 1
		}
		documents = append(documents, &document{file: file, text: text, isJSON: true, line: line, column: begin - lineStart + 1})
		end = begin
	}
}

// splitYAML splits at the lines "---" and "...". A line "---" stays with its document, so that the parser sees the rest of
// that line.
func splitYAML(file string, data []byte) []*document {
	var documents []*document
	begin, line, number := 0, 1, 0
	cut := func(end, next int) {
		documents = append(documents, &document{file: file, text: data[begin:end], line: line, column: 1})
		begin, line = next, number
	}
	offset := 0
	for text := range bytes.Lines(data) {
		number++
		switch {
		case isMarker(text, "---"):
			cut(offset, offset)
		case isMarker(text, "..."):
			cut(offset, offset+len(text))
			line++
		}
		offset += len(text)
	}
	cut(len(data), len(data))
	return documents
}

// isMarker reports whether the line separates documents: no scalar can contain one at the start of a line.
func isMarker(line []byte, marker string) bool {
	rest, found := bytes.CutPrefix(line, []byte(marker))
	return found && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0)
}
