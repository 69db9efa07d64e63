package layout

import (
	"slices"
	"strings"
)

// Line is one line of the screen.
type Line []Span

// Of returns a line of spans.
func Of(spans ...Span) Line { return spans }

// Plainly returns a line of one plain span.
func Plainly(text string) Line { return Line{Text(Plain, text)} }

// String returns the text of the line without its styles.
func (l Line) String() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.text)
	}
	return b.String()
}

// Width returns the number of columns of the line.
func (l Line) Width() int {
	n := 0
	for _, s := range l {
		n += s.width
	}
	return n
}

// With adds attributes to the style of each span.
func (l Line) With(attributes Style) Line {
	out := make(Line, len(l))
	for i, s := range l {
		s.style |= attributes
		out[i] = s
	}
	return out
}

// Cut truncates the line to width columns, and marks that with ellipsis, which may be empty.
func (l Line) Cut(width int, ellipsis string) Line {
	if l.Width() <= width {
		return l
	}
	width = max(0, width)
	room := max(0, width-Width(ellipsis))
	out := make(Line, 0, len(l))
	for _, s := range l {
		if s.width <= room {
			out, room = append(out, s), room-s.width
			continue
		}
		s, _ = s.split(room)
		mark, _ := Text(s.style, ellipsis).split(width)
		return append(out, s, mark)
	}
	return out
}

// CutMiddle is like Cut, but keeps the end of the line as well: half of the available width, or up to two thirds for 12
// columns, the number and the suffix of a pod's name.
func (l Line) CutMiddle(width int, ellipsis string) Line {
	const tail = 12
	all, room := l.Width(), width-Width(ellipsis)
	switch {
	case all <= width:
		return l
	case room < 2:
		return l.Cut(width, ellipsis)
	}
	end := max(room/2, min(tail, room*2/3))
	_, rest := l.splitAt(all - end)
	for from := all - end + 1; rest.Width() > end; from++ {
		_, rest = l.splitAt(from)
	}
	head, _ := l.splitAt(room - rest.Width())
	style := Plain
	if len(head) > 0 {
		style = head[len(head)-1].style
	}
	return append(append(head, Text(style, ellipsis)), rest...)
}

// splitAt splits the line between characters, after at most width columns.
func (l Line) splitAt(width int) (head, rest Line) {
	for i, s := range l {
		if s.width <= width {
			head, width = append(head, s), width-s.width
			continue
		}
		first, second := s.split(width)
		return append(head, first), append(Line{second}, l[i+1:]...)
	}
	return head, nil
}

// Pad appends plain spaces up to width columns. Appending to the result does not change the original line.
func (l Line) Pad(width int) Line {
	l = slices.Clip(l)
	if missing := width - l.Width(); missing > 0 {
		return append(l, Blank(missing))
	}
	return l
}

// Fit truncates or pads the line to exactly width columns.
func (l Line) Fit(width int, ellipsis string) Line { return l.Cut(width, ellipsis).Pad(width) }

// Spread puts left at the left and right at the right end of a line of width columns. If they do not fit, it truncates
// left first, then right.
func Spread(width int, left, right Line, ellipsis string) Line {
	room := width - right.Width()
	if room <= 0 {
		return right.Cut(width, ellipsis)
	}
	return append(left.Fit(room, ellipsis), right...)
}

// Beside puts blocks of lines side by side: left is truncated or padded to leftWidth columns, followed by gap empty
// columns. The lines of right are unchanged.
func Beside(left []Line, leftWidth, gap int, right []Line, ellipsis string) []Line {
	out := make([]Line, max(len(left), len(right)))
	for i := range out {
		var l Line
		if i < len(left) {
			l = left[i].Cut(leftWidth, ellipsis)
		}
		if i < len(right) {
			l = append(l.Pad(leftWidth), Blank(gap))
			l = append(l, right[i]...)
		}
		out[i] = l
	}
	return out
}

// Flow puts items side by side, as many as fit on each line.
func Flow(items []Line, width, gap int) []Line {
	var out []Line
	for _, item := range items {
		last := len(out) - 1
		if last >= 0 && out[last].Width()+gap+item.Width() <= width {
			out[last] = append(append(out[last], Blank(gap)), item...)
			continue
		}
		out = append(out, slices.Clone(item))
	}
	return out
}

// Indentation returns the number of columns before the text.
func (l Line) Indentation() int {
	text := l.String()
	return len(text) - len(strings.TrimLeft(text, " "))
}

// Indent inserts spaces before the line.
func (l Line) Indent(columns int) Line {
	if columns <= 0 {
		return l
	}
	return append(Line{Blank(columns)}, l...)
}

// trimRight removes trailing spaces.
func (l Line) trimRight() Line {
	for i := len(l) - 1; i >= 0; i-- {
		text := strings.TrimRight(l[i].text, " ")
		switch {
		case text == "":
			continue
		case len(text) < len(l[i].text):
			l = slices.Clone(l)
			l[i], _ = l[i].at(len(text))
		}
		return l[:i+1]
	}
	return nil
}
