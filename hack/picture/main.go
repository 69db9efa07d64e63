// Command picture turns what a command printed into an SVG of a terminal, for the
// README: picture 'TITLE' < output > picture.svg
package main

import (
	"bufio"
	"fmt"
	"html"
	"os"
	"regexp"
	"strings"
)

const (
	charWidth  = 7.8
	lineHeight = 18
	margin     = 16
	titleBar   = 28
)

// colours of words that a reader looks for.
var colours = []struct {
	words  *regexp.Regexp
	colour string
}{
	{regexp.MustCompile(`^(\$|kubectl) .*`), "#79c0ff"},
	{regexp.MustCompile(`\b(Complete|CompletionsReached|SuccessCriteriaMet)\b`), "#7ee787"},
	{regexp.MustCompile(`\b(Failed|FailureTarget|BackoffLimitExceeded|Error)\b`), "#ff7b72"},
	{regexp.MustCompile(`\b(Running)\b`), "#e3b341"},
	{regexp.MustCompile(`^NAME .*`), "#8b949e"},
}

func main() {
	title := strings.Join(os.Args[1:], " ")
	var lines []string
	scanner := bufio.NewScanner(os.Stdin)
	for scanner.Scan() {
		lines = append(lines, strings.TrimRight(scanner.Text(), " "))
	}
	if err := scanner.Err(); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
	fmt.Print(render(title, lines))
}

func render(title string, lines []string) string {
	longest := len(title)
	for _, line := range lines {
		longest = max(longest, len([]rune(line)))
	}
	width, height := float64(longest)*charWidth+2*margin, titleBar+len(lines)*lineHeight+2*margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" role="img" aria-label="%s">`+"\n", width, height, html.EscapeString(title))
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="#0d1117"/>`+"\n")
	for i, colour := range []string{"#ff5f56", "#ffbd2e", "#27c93f"} {
		fmt.Fprintf(&b, `<circle cx="%d" cy="18" r="5" fill="%s"/>`+"\n", 18+i*16, colour)
	}
	fmt.Fprintf(&b, `<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="13" fill="#e6edf3">`+"\n")
	fmt.Fprintf(&b, `<text x="50%%" y="22" text-anchor="middle" fill="#8b949e">%s</text>`+"\n", html.EscapeString(title))
	for i, line := range lines {
		fmt.Fprintf(&b, `<text xml:space="preserve" x="%d" y="%d">%s</text>`+"\n", margin, titleBar+margin+(i+1)*lineHeight-6, colour(line))
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

// colour marks up the first kind of words that the line holds, wherever they are.
func colour(line string) string {
	for _, c := range colours {
		if !c.words.MatchString(line) {
			continue
		}
		var b strings.Builder
		rest := line
		for {
			at := c.words.FindStringIndex(rest)
			if at == nil || at[1] == 0 {
				break
			}
			b.WriteString(html.EscapeString(rest[:at[0]]))
			fmt.Fprintf(&b, `<tspan fill="%s">%s</tspan>`, c.colour, html.EscapeString(rest[at[0]:at[1]]))
			rest = rest[at[1]:]
		}
		b.WriteString(html.EscapeString(rest))
		return b.String()
	}
	return html.EscapeString(line)
}
