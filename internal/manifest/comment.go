package manifest

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Comment is a comment of a manifest in YAML.
type Comment struct {
	// Position is the position of its "#".
	Position Position
	// Content is the comment without "#" and surrounding spaces.
	Content string
	// Line is the line that the comment is about: its own, or the next line that has more than a comment; 0 for the last
	// comments of a document.
	Line int
	// Head is set if the comment precedes the first field of its document.
	Head bool
}

// Comments returns the comments of the object's document, which may contain several objects; JSON has none. Text that looks
// like a comment in a multi-line string is included.
func (o *Object) Comments() []Comment {
	if !o.document.commentsRead {
		o.document.comments, o.document.commentsRead = o.document.readComments(), true
	}
	return o.document.comments
}

// Source returns the path of the Helm template of the object, which helm template writes above each object; "" if there is
// none.
func (o *Object) Source() string {
	for _, c := range o.Comments() {
		if source, found := strings.CutPrefix(c.Content, "Source: "); found && c.Head {
			return source
		}
	}
	return ""
}

// commentStart matches the start of a line with a comment alone, or the space and the "#" that start one.
var commentStart = regexp.MustCompile(`(?:^|[ \t])#`)

func (d *document) readComments() []Comment {
	if d.isJSON {
		return nil
	}
	var comments []Comment
	waiting, head, number := 0, true, d.line-1 // waiting comments have no line yet
	for line := range bytes.Lines(d.text) {
		number++
		text := strings.TrimRight(string(line), " \t\r\n")
		at, end := commentStart.FindStringIndex(text), len(text)
		if at != nil {
			end = at[1] - 1
		}
		alone := strings.TrimSpace(strings.TrimPrefix(text[:end], "---")) == "" // "--- # comment" is at the head
		head = head && alone
		if at != nil {
			position := Position{File: d.file, Line: number, Column: utf8.RuneCountInString(text[:end]) + 1}
			comments = append(comments, Comment{Position: position, Content: strings.TrimSpace(text[at[1]:]), Head: head})
			waiting++
		}
		if !alone {
			for i := len(comments) - waiting; i < len(comments); i++ {
				comments[i].Line = number
			}
			waiting = 0
		}
	}
	return comments
}
