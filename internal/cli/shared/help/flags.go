package help

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// flagGap is the number of spaces between a flag and its description.
const flagGap = 2

// writeFlags lists the flags of the verb itself. The command options lists those that most verbs have. The flags of a
// server, which has flags for logging, are described in full, as it is not for everyday use.
func writeFlags(b *strings.Builder, cmd *cobra.Command) {
	own, logging := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	global, only := false, map[string][]string{}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		switch {
		case f.Hidden || f.Name == "help":
		case isGlobal(f):
			global = true
		case GroupOf(f) == LoggingFlags:
			logging.AddFlag(f)
		case f.Annotations[cmdutil.OnlyWith] != nil:
			with := f.Annotations[cmdutil.OnlyWith][0]
			only[with] = append(only[with], "--"+f.Name)
		default:
			own.AddFlag(f)
		}
	})
	writeFlagList(b, "Flags", own, !logging.HasFlags())
	writeFlagList(b, "Logging flags", logging, false)
	for _, with := range slices.Sorted(maps.Keys(only)) {
		fmt.Fprintln(b)
		for _, line := range layout.Wrap(layout.Plainly("With --"+with+", also: "+strings.Join(only[with], ", ")), Width, 0) {
			fmt.Fprintln(b, line)
		}
	}
	if global {
		fmt.Fprintf(b, "\nUse %q for global flags.\n", cmd.Root().CommandPath()+" "+optionsName)
	}
}

// writeFlagList lists flags under a title, in lines of at most Width. If brief, there is one line for each flag: the first
// line of its description, right behind the flag if the flag is long. The reference has the rest.
func writeFlagList(b *strings.Builder, title string, flags *pflag.FlagSet, brief bool) {
	if !flags.HasFlags() {
		return
	}
	fmt.Fprintf(b, "\n%s:\n", title)
	maxColumn, column := 30, 0
	if brief {
		maxColumn = 28
	}
	flags.VisitAll(func(f *pflag.Flag) { column = max(column, min(len(flagSyntax(f))+flagGap, maxColumn)) })
	flags.VisitAll(func(f *pflag.Flag) {
		syntax := flagSyntax(f)
		_, text := pflag.UnquoteUsage(f)
		if brief {
			text, _, _ = strings.Cut(text, "\n")
		}
		if value := DefaultOf(f); value != "" {
			text += " (default " + value + ")"
		}
		if len(syntax)+flagGap > column {
			if brief && len(syntax)+flagGap+len(text) <= Width {
				fmt.Fprintf(b, "%s%*s%s\n", syntax, flagGap, "", text)
				return
			}
			fmt.Fprintln(b, syntax)
			syntax = ""
		}
		for paragraph := range strings.Lines(text) {
			for _, line := range layout.Wrap(layout.Plainly(strings.TrimSpace(paragraph)), Width-column, 0) {
				fmt.Fprintf(b, "%-*s%s\n", column, syntax, line)
				syntax = ""
			}
		}
	})
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
