package help

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const (
	// maxFlagColumn is where descriptions begin at most; a longer flag has a line of its own.
	maxFlagColumn = 30
	// flagGap is between a flag and its description.
	flagGap = 2
)

// connectionFlags are those of kubectl that each verb's help explains; the others it only names.
func connectionFlags() []string { return []string{"namespace", "context", "kubeconfig"} }

func writeFlags(b *strings.Builder, cmd *cobra.Command) {
	groups := map[FlagGroup][]*pflag.Flag{}
	var named []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		group := GroupOf(f)
		switch {
		case f.Hidden:
		case group == KubectlFlags && !slices.Contains(connectionFlags(), f.Name):
			named = append(named, "--"+f.Name)
		default:
			groups[group] = append(groups[group], f)
		}
	})
	writeFlagGroup(b, "Flags", groups[OwnFlags])
	writeFlagGroup(b, "Logging flags", groups[LoggingFlags])
	writeFlagGroup(b, "Connection flags", groups[KubectlFlags])
	if len(named) > 0 {
		fmt.Fprintf(b, "  and these, as in kubectl (see: kubectl options):\n%s\n", strings.Join(wrapText(strings.Join(named, " "), 6), "\n"))
	}
}

func writeFlagGroup(b *strings.Builder, title string, flags []*pflag.Flag) {
	if len(flags) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n", title)
	column := 0
	for _, f := range flags {
		column = max(column, min(len(flagSyntax(f))+flagGap, maxFlagColumn))
	}
	for _, f := range flags {
		syntax := flagSyntax(f)
		lines := wrapText(flagText(f), column)
		if len(syntax)+flagGap <= column {
			lines[0] = syntax + lines[0][len(syntax):]
		} else {
			lines = slices.Insert(lines, 0, syntax)
		}
		fmt.Fprintln(b, strings.Join(lines, "\n"))
	}
}

// flagSyntax is how a flag is written.
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

// ValueOf names the value of a flag, in capitals; a switch has none.
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

// DefaultOf is the default of a flag as help shows it, empty for one that goes without saying.
func DefaultOf(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "false", "0", "0s", "[]", "<nil>":
		return ""
	}
	return f.DefValue
}

func flagText(f *pflag.Flag) string {
	_, text := pflag.UnquoteUsage(f)
	if value := DefaultOf(f); value != "" {
		text += " (default " + value + ")"
	}
	return text
}

// wrapText breaks text into lines of Width that begin with so many spaces. A newline in text stays one.
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
