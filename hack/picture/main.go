// Command picture converts terminal output to SVG, for README and docs:
//
//	picture 'TITLE' < output > picture.svg
//
// Colors and attributes are those of the SGR sequences in the output; without any, words
// that matter to readers are colored.
package main

import (
	"bufio"
	"fmt"
	"html"
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
	title := strings.Join(os.Args[1:], " ")
	var lines [][]cell
	scanner := bufio.NewScanner(os.Stdin)
	state := look{}
	for scanner.Scan() {
		var line []cell
		line, state = parse(scanner.Text(), state)
		lines = append(lines, line)
	}
	if err := scanner.Err(); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
	if !styled(lines) {
		for i := range lines {
			colorWords(lines[i])
		}
	}
	fmt.Print(render(title, lines))
}

func render(title string, lines [][]cell) string {
	columns := len([]rune(title))
	for _, line := range lines {
		columns = max(columns, len(line))
	}
	width, height := float64(columns)*charWidth+2*margin, titleBar+len(lines)*lineHeight+2*margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" width="%.0f" height="%d" role="img" aria-label="%s">`+"\n", width, height, width, height, html.EscapeString(title))
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", background)
	for i, color := range []string{"#ff5f56", "#ffbd2e", "#27c93f"} {
		fmt.Fprintf(&b, `<circle cx="%d" cy="18" r="5" fill="%s"/>`+"\n", 18+i*16, color)
	}
	fmt.Fprintf(&b, `<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="13" fill="%s">`+"\n", foreground)
	fmt.Fprintf(&b, `<text x="50%%" y="22" text-anchor="middle" fill="#8b949e">%s</text>`+"\n", html.EscapeString(title))
	for i, line := range lines {
		drawLine(&b, line, float64(titleBar+margin+i*lineHeight))
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

// drawLine draws backgrounds and blocks as shapes, so that there are no gaps, and the rest
// as text. Each run of text has its own position, because the widths of fonts differ.
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
		fill, behind = orElse(behind, background), orElse(fill, foreground)
	}
	if behind != "" {
		fmt.Fprintf(b, `<rect x="%.1f" y="%.0f" width="%.1f" height="%d" fill="%s"/>`+"\n", x, top, width, lineHeight, behind)
	}
	switch first.r {
	case '█':
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%d" fill="%s"/>`+"\n", x, top+3, width, lineHeight-6, orElse(fill, foreground))
		return
	case '░', '▒', '▓':
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%d" fill="%s" opacity="0.35"/>`+"\n", x, top+3, width, lineHeight-6, orElse(fill, foreground))
		return
	case '─':
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="1" fill="%s"/>`+"\n", x, top+lineHeight/2, width, orElse(fill, foreground))
		return
	}
	for _, c := range run {
		text += string(c.r)
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	attributes := ""
	if fill != "" {
		attributes += fmt.Sprintf(` fill="%s"`, fill)
	}
	if first.look.bold {
		attributes += ` font-weight="bold"`
	}
	if first.look.faint {
		attributes += ` opacity="0.65"`
	}
	if first.look.underline {
		attributes += ` text-decoration="underline"`
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f"%s>%s</text>`+"\n", x, top+12.5, attributes, html.EscapeString(strings.ReplaceAll(text, " ", noBreak)))
}

// noBreak is a space that no browser collapses; newer ones ignore xml:space.
const noBreak = "\u00a0"

func orElse(color, other string) string {
	if color == "" {
		return other
	}
	return color
}
