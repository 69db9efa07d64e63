// Command picture converts terminal output to SVG, for README and docs:
//
//	picture 'TITLE' < output > picture.svg
//
// Output of several frames becomes an animation that repeats: each frame begins with a line of a form feed, the number
// of seconds to show it, and optionally a caption.
//
// Colors and attributes come from the SGR sequences in the output.
package main

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"math"
	"os"
	"strings"
)

const (
	charWidth  = 7.8
	lineHeight = 17
	margin     = 16
	titleBar   = 28

	foreground = "#e6edf3"
	background = "#0d1117"
)

func main() {
	if err := draw(os.Stdout, os.Stdin, strings.Join(os.Args[1:], " ")); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func draw(w io.Writer, r io.Reader, title string) error {
	frames, err := readFrames(r)
	if err != nil {
		return err
	}
	if len(frames) == 1 {
		_, err = io.WriteString(w, render(title, frames[0].lines))
	} else {
		_, err = io.WriteString(w, renderFilm(title, frames))
	}
	return err
}

func render(title string, lines [][]cell) string {
	var b strings.Builder
	begin(&b, title, widthOf(title, lines), heightOf(lines))
	for i, line := range lines {
		drawLine(&b, line, float64(titleBar+margin+i*lineHeight))
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

// widthOf returns the width of a picture of the lines.
func widthOf(title string, lines [][]cell) float64 {
	columns := len([]rune(title))
	for _, line := range lines {
		columns = max(columns, len(line))
	}
	return math.Ceil(float64(columns)*charWidth + 2*margin)
}

func heightOf(lines [][]cell) int { return titleBar + len(lines)*lineHeight + 2*margin }

// begin writes the window, and opens the group of its text.
func begin(b *strings.Builder, title string, width float64, height int) {
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" width="%.0f" height="%d" xml:space="preserve" role="img" aria-label="%s">`+"\n", width, height, width, height, html.EscapeString(title))
	fmt.Fprintf(b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", background)
	for i, color := range []string{"#ff5f56", "#ffbd2e", "#27c93f"} {
		fmt.Fprintf(b, `<circle cx="%d" cy="18" r="5" fill="%s"/>`+"\n", 18+i*16, color)
	}
	fmt.Fprintf(b, `<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="13" fill="%s">`+"\n", foreground)
	fmt.Fprintf(b, `<text x="50%%" y="22" text-anchor="middle" fill="#8b949e">%s</text>`+"\n", html.EscapeString(title))
}

// drawLine draws backgrounds and blocks as shapes, so that there are no gaps, and the rest as text. Each run of text
// has its own position, because the widths of fonts differ.
func drawLine(b *strings.Builder, line []cell, top float64) {
	for i := 0; i < len(line); {
		end := i + 1
		for end < len(line) && line[end].joins(line[i]) {
			end++
		}
		drawRun(b, line[i:end], margin+float64(i)*charWidth, top)
		i = end
	}
}

func drawRun(b *strings.Builder, run []cell, x, top float64) {
	first, width := run[0], float64(len(run))*charWidth
	text, fill, behind := "", first.look.fg, first.look.bg
	if first.look.reverse {
		fill, behind = cmp.Or(behind, background), cmp.Or(fill, foreground)
	}
	if behind != "" {
		fmt.Fprintf(b, `<rect x="%.1f" y="%.0f" width="%.1f" height="%d" fill="%s"/>`+"\n", x, top, width, lineHeight, behind)
	}
	switch first.r {
	case '█', '░', '▒', '▓':
		opacity := ""
		if first.r != '█' {
			opacity = ` opacity="0.35"`
		}
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%d" fill="%s"%s/>`+"\n", x, top+3, width, lineHeight-6, cmp.Or(fill, foreground), opacity)
		return
	case '─':
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="1" fill="%s"/>`+"\n", x, top+lineHeight/2, width, cmp.Or(fill, foreground))
		return
	}
	// Some renderers drop spaces at the ends of a text, even if they do not break.
	for len(run) > 0 && run[0].r == ' ' {
		run, x = run[1:], x+charWidth
	}
	for len(run) > 0 && run[len(run)-1].r == ' ' {
		run = run[:len(run)-1]
	}
	if len(run) == 0 {
		return
	}
	for _, c := range run {
		text += string(c.r)
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f"%s>%s</text>`+"\n", x, top+12.5, attributes(run, fill), html.EscapeString(strings.ReplaceAll(text, " ", noBreak)))
}

// attributes returns the attributes of a run of text. A font may lack non-ASCII characters, so the width of a run of
// them is set.
func attributes(run []cell, fill string) (all string) {
	first := run[0]
	if first.r >= 0x80 && len(run) > 1 {
		all = fmt.Sprintf(` textLength="%.1f"`, float64(len(run))*charWidth)
	}
	if fill != "" {
		all += fmt.Sprintf(` fill="%s"`, fill)
	}
	if first.look.bold {
		all += ` font-weight="bold"`
	}
	if first.look.faint {
		all += ` opacity="0.65"`
	}
	if first.look.underline {
		all += ` text-decoration="underline"`
	}
	return all
}

// noBreak is a space that browsers do not collapse; newer ones ignore xml:space, and others heed only that.
const noBreak = "\u00a0"
