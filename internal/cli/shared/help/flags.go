package help

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagGap is the number of spaces between a flag and its description.
const flagGap = 2

// flagLayout is the layout of a list of flags.
type flagLayout struct {
	// column is the maximum column at which descriptions begin.
	column int
	// brief prints one line for each flag: the first line of its description, right behind the flag if the flag is
	// long. The reference has the rest.
	brief bool
}

func oneLineEach() flagLayout { return flagLayout{column: 28, brief: true} }
func inFull() flagLayout      { return flagLayout{column: 30} }

// writeFlags lists the flags of the verb itself. The command options lists those that most verbs have. The flags of a
// server, which has flags for logging, are described in full, as it is not for everyday use.
func writeFlags(b *strings.Builder, cmd *cobra.Command) {
	groups := map[FlagGroup][]*pflag.Flag{}
	global := false
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		switch {
		case f.Hidden || f.Name == "help":
		case isGlobal(f):
			global = true
		default:
			groups[GroupOf(f)] = append(groups[GroupOf(f)], f)
		}
	})
	layout := oneLineEach()
	if len(groups[LoggingFlags]) > 0 {
		layout = inFull()
	}
	layout.write(b, "Flags", groups[OwnFlags])
	layout.write(b, "Logging flags", groups[LoggingFlags])
	if global {
		fmt.Fprintf(b, "\nUse %q for global flags.\n", cmd.Root().CommandPath()+" "+optionsName)
	}
}

func (l flagLayout) write(b *strings.Builder, title string, flags []*pflag.Flag) {
	if len(flags) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n", title)
	column := 0
	for _, f := range flags {
		column = max(column, min(len(flagSyntax(f))+flagGap, l.column))
	}
	for _, f := range flags {
		fmt.Fprintln(b, l.flag(f, column))
	}
}

// flag returns the description of one flag, in lines of at most Width.
func (l flagLayout) flag(f *pflag.Flag, column int) string {
	syntax, text := flagSyntax(f), l.text(f)
	lines := wrapText(text, column)
	switch line := syntax + strings.Repeat(" ", flagGap) + text; {
	case len(syntax)+flagGap <= column:
		lines[0] = syntax + lines[0][len(syntax):]
	case l.brief && len(line) <= Width:
		return line
	default:
		lines = slices.Insert(lines, 0, syntax)
	}
	return strings.Join(lines, "\n")
}

// text returns the description of a flag, with its default.
func (l flagLayout) text(f *pflag.Flag) string {
	_, text := pflag.UnquoteUsage(f)
	if l.brief {
		text, _, _ = strings.Cut(text, "\n")
	}
	if value := DefaultOf(f); value != "" {
		text += " (default " + value + ")"
	}
	return text
}

// flagSyntax returns the syntax of a flag.
func flagSyntax(f *pflag.Flag) string {
	syntax := "      --" + f.Name
	if f.Shorthand != "" && f.ShorthandDeprecated == "" {
		syntax = "  -" + f.Shorthand + ", --" + f.Name
	}
	if value := ValueOf(f); value != "" {
		syntax += " " + value
	}
	return syntax
}

// ValueOf returns the placeholder for the value of a flag, in capitals; "" for a switch.
func ValueOf(f *pflag.Flag) string {
	name, _ := pflag.UnquoteUsage(f)
	switch {
	case f.Value.Type() == "bool":
		return ""
	case name == "stringToString":
		return "NAME=VALUE,..."
	case name == "strings" || name == "stringArray":
		return "STRING,..."
	case name == "mapStringBool":
		return "NAME=BOOL,..."
	case name == "int", name == "int32", name == "float32", name == "Level":
		return "NUMBER"
	}
	return strings.ToUpper(name)
}

// DefaultOf returns the default of a flag as help shows it, "" for a default that is obvious.
func DefaultOf(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "false", "0", "0s", "[]", "<nil>":
		return ""
	}
	return f.DefValue
}

// wrapText breaks text into lines of at most Width, indented by indent spaces. It keeps newlines in text.
func wrapText(text string, indent int) (lines []string) {
	margin := strings.Repeat(" ", indent)
	for paragraph := range strings.Lines(text) {
		line := margin
		for _, word := range strings.Fields(paragraph) {
			if line != margin && len(line)+1+len(word) > Width {
				lines = append(lines, line)
				line = margin
			}
			if line != margin {
				line += " "
			}
			line += word
		}
		lines = append(lines, line)
	}
	return lines
}
