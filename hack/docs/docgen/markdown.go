package docgen

import "strings"

// prose converts the description of a command to Markdown: indented lines become code blocks, the rest text.
func prose(long string) string {
	var b strings.Builder
	inBlock := false
	fence := func(begin bool) {
		if begin != inBlock {
			b.WriteString("```\n")
			inBlock = begin
		}
	}
	lines := strings.Split(strings.Trim(long, "\n"), "\n")
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "  "):
			if !inBlock && i > 0 && lines[i-1] != "" {
				b.WriteString("\n")
			}
			fence(true)
			b.WriteString(line[2:] + "\n")
			continue
		case line == "" && inBlock && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "  "):
			b.WriteString("\n") // The block continues.
			continue
		}
		fence(false)
		b.WriteString(escape(line) + "\n")
	}
	fence(false)
	return b.String()
}

// escape escapes Markdown syntax in text.
func escape(text string) string {
	return strings.NewReplacer("<", "&lt;", "*", `\*`, "[", `\[`, "`", "\\`").Replace(text)
}

// inCell returns text for a cell of a table.
func inCell(text string) string {
	if strings.HasPrefix(text, "`") {
		return strings.ReplaceAll(text, "|", `\|`)
	}
	text = strings.ReplaceAll(escape(text), "|", `\|`)
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", "<br>")
}

// dedent removes the two spaces with which lines of examples begin in help.
func dedent(example string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.Trim(example, "\n")) {
		b.WriteString(strings.TrimPrefix(line, "  "))
	}
	return b.String()
}
