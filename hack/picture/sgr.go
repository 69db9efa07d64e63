package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// look is the style of a cell; colors are "#rrggbb", or "" for the terminal's default.
type look struct {
	fg, bg                          string
	bold, faint, reverse, underline bool
}

// cell is one character cell of the terminal.
type cell struct {
	r    rune
	look look
}

// joins reports whether two cells can be drawn as one run. Non-ASCII cells are drawn
// separately, except for repeated ones.
func (c cell) joins(first cell) bool {
	if c.look != first.look {
		return false
	}
	return c.r < 0x80 && first.r < 0x80 || c.r == first.r
}

var sequence = regexp.MustCompile("\x1b\\[([0-9;:]*)m")

// parse parses a line that begins with a look, and returns the look at its end.
func parse(line string, l look) ([]cell, look) {
	var cells []cell
	put := func(text string) {
		for _, r := range text {
			cells = append(cells, cell{r, l})
		}
	}
	at := 0
	for _, m := range sequence.FindAllStringSubmatchIndex(line, -1) {
		put(line[at:m[0]])
		l = l.apply(line[m[2]:m[3]])
		at = m[1]
	}
	put(line[at:])
	for len(cells) > 0 && cells[len(cells)-1].r == ' ' && !cells[len(cells)-1].look.reverse {
		cells = cells[:len(cells)-1]
	}
	return cells, l
}

func (l look) apply(parameters string) look {
	var codes []int
	for _, p := range strings.FieldsFunc(parameters+";", func(r rune) bool { return r == ';' || r == ':' }) {
		n, _ := strconv.Atoi(p)
		codes = append(codes, n)
	}
	if len(codes) == 0 {
		return look{}
	}
	for i := 0; i < len(codes); i++ {
		c := codes[i]
		if c != 38 && c != 48 {
			l.attribute(c)
			continue
		}
		color, used := extended(codes[i+1:])
		i += used
		if c == 38 {
			l.fg = color
		} else {
			l.bg = color
		}
	}
	return l
}

// attribute applies a single parameter.
func (l *look) attribute(c int) {
	switch {
	case c >= 30 && c <= 37:
		l.fg = basic[c-30]
	case c >= 90 && c <= 97:
		l.fg = basic[c-90+8]
	case c >= 40 && c <= 47:
		l.bg = basic[c-40]
	default:
		l.mode(c)
	}
}

func (l *look) mode(c int) {
	switch c {
	case 0:
		*l = look{}
	case 1:
		l.bold = true
	case 22:
		l.bold, l.faint = false, false
	case 2:
		l.faint = true
	case 4, 24:
		l.underline = c == 4
	case 7, 27:
		l.reverse = c == 7
	case 39:
		l.fg = ""
	case 49:
		l.bg = ""
	}
}

// basic are the 16 basic colors.
var basic = []string{
	"#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4",
	"#6e7681", "#ffa198", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#f0f6fc",
}

// extended parses the parameters of an extended color: 5;n or 2;r;g;b.
func extended(codes []int) (color string, used int) {
	switch {
	case len(codes) >= 4 && codes[0] == 2:
		return fmt.Sprintf("#%02x%02x%02x", codes[1], codes[2], codes[3]), 4
	case len(codes) >= 2 && codes[0] == 5:
		return indexed(codes[1]), 2
	}
	return "", len(codes)
}

func indexed(n int) string {
	switch {
	case n < 16:
		return basic[n]
	case n < 232:
		level := func(v int) int {
			if v == 0 {
				return 0
			}
			return 55 + 40*v
		}
		n -= 16
		return fmt.Sprintf("#%02x%02x%02x", level(n/36), level(n/6%6), level(n%6))
	}
	grey := 8 + 10*(n-232)
	return fmt.Sprintf("#%02x%02x%02x", grey, grey, grey)
}
