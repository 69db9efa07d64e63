package page

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// Link is a link to a page, a heading, an image or a URL.
type Link struct {
	Line   int
	Target string
	// Image reports whether the link is an image; Alt is its alternative text.
	Image bool
	Alt   string
}

var (
	inlineCode = regexp.MustCompile("`+[^`]*`+")
	link       = regexp.MustCompile(`(!?)\[([^\[\]]*(?:!?\[[^\[\]]*\]\([^()]*\))?[^\[\]]*)\]\(([^()\s]+)(?:\s+"[^"]*")?\)`)
	reference  = regexp.MustCompile(`(?m)^ {0,3}\[[^\]]+\]:\s+(\S+)`)
	attribute  = regexp.MustCompile(`<(img|a|source)\b[^>]*?\b(?:src|href|srcset)="([^"]*)"[^>]*>`)
	altText    = regexp.MustCompile(`\balt="([^"]*)"`)
)

// Links returns the links in the prose.
func (p *Page) Links() []Link {
	// A code span keeps its length, so that line numbers stay correct.
	prose := inlineCode.ReplaceAllStringFunc(p.Prose, func(code string) string {
		return strings.Map(func(r rune) rune {
			if r == '\n' {
				return r
			}
			return 'x'
		}, code)
	})
	line := func(at int) int { return 1 + strings.Count(prose[:at], "\n") }
	links := find(prose, 0, line)
	for _, m := range reference.FindAllStringSubmatchIndex(prose, -1) {
		links = append(links, Link{Line: line(m[0]), Target: prose[m[2]:m[3]]})
	}
	for _, m := range attribute.FindAllStringSubmatchIndex(prose, -1) {
		l := Link{Line: line(m[0]), Target: prose[m[4]:m[5]], Image: prose[m[2]:m[3]] == "img"}
		if alt := altText.FindStringSubmatch(prose[m[0]:m[1]]); alt != nil {
			l.Alt = alt[1]
		}
		links = append(links, l)
	}
	return links
}

// find returns the inline links in text, which begins at an offset; an image may be the text of a link.
func find(text string, offset int, line func(int) int) (links []Link) {
	for _, m := range link.FindAllStringSubmatchIndex(text, -1) {
		links = append(links, Link{Line: line(offset + m[0]), Target: text[m[6]:m[7]], Image: text[m[2]:m[3]] == "!", Alt: text[m[4]:m[5]]})
		links = append(links, find(text[m[4]:m[5]], offset+m[4], line)...)
	}
	return links
}

// linked matches a link in a heading; its text is kept.
var linked = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)

// Anchors returns the anchors that GitHub generates for the headings.
func (p *Page) Anchors() map[string]bool {
	anchors := map[string]bool{}
	for _, h := range p.Headings {
		base := slug(h)
		name := base
		for n := 1; anchors[name]; n++ {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		anchors[name] = true
	}
	return anchors
}

func slug(heading string) string {
	heading = linked.ReplaceAllString(heading, "$1")
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}
