// Package docgen writes the reference of the command line as Markdown.
//
// It reads only a tree of cobra commands: the same tree gives the same bytes on every machine. Defaults that depend on
// the machine are shown in a general form.
package docgen

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/help"
)

const header = `# Reference

<!-- Written by "make docs" from the commands themselves. Do not edit. -->

`

// machineDefaults are the general forms of defaults that differ between machines.
func machineDefaults() map[string]string {
	return map[string]string{"cache-dir": "$HOME/.kube/cache"}
}

// Reference returns the reference of root and all of its commands.
func Reference(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString(header)
	b.WriteString(prose(root.Long+"\n"+root.Annotations[help.FooterAnnotation]) + "\n")
	writeContents(&b, root)
	shared := map[string]*pflag.Flag{}
	for _, verb := range help.Verbs(root) {
		writeCommand(&b, verb, shared)
		for _, child := range verb.Commands() {
			writeCommand(&b, child, shared)
		}
	}
	b.WriteString("## Connection flags\n\nAll verbs that talk to a cluster have kubectl's flags for it.\n\n")
	writeTable(&b, sorted(shared))
	return b.String()
}

func writeContents(b *strings.Builder, root *cobra.Command) {
	b.WriteString("| verb | |\n|---|---|\n")
	for _, verb := range help.Verbs(root) {
		fmt.Fprintf(b, "| [%s](#%s) | %s |\n", verb.Name(), anchor(title(verb)), inCell(verb.Short))
	}
	b.WriteString("\n")
}

func title(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().CommandPath()+" ")
}

// anchor returns GitHub's link target for a heading.
func anchor(title string) string { return strings.ReplaceAll(strings.ToLower(title), " ", "-") }

// writeCommand writes the section of a command. It adds the connection flags to shared instead of repeating them.
func writeCommand(b *strings.Builder, cmd *cobra.Command, shared map[string]*pflag.Flag) {
	fmt.Fprintf(b, "## %s\n\n%s\n", title(cmd), prose(cmp.Or(cmd.Long, cmd.Short)))
	if details := cmd.Annotations[cmdutil.DetailsAnnotation]; details != "" {
		fmt.Fprintf(b, "%s\n", prose(details))
	}
	usage := cmd.UseLine()
	if cmd.HasAvailableSubCommands() {
		usage = cmd.CommandPath() + " COMMAND"
	}
	fmt.Fprintf(b, "```\n%s\n```\n\n", usage)
	if len(cmd.Aliases) > 0 {
		fmt.Fprintf(b, "Aliases: `%s`\n\n", strings.Join(cmd.Aliases, "`, `"))
	}
	if cmd.HasExample() {
		fmt.Fprintf(b, "### Examples of %s\n\n```sh\n%s\n```\n\n", title(cmd), dedent(cmd.Example))
	}
	groups := map[help.FlagGroup]map[string]*pflag.Flag{help.OwnFlags: {}, help.LoggingFlags: {}, help.KubectlFlags: shared}
	connects := false
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" {
			groups[help.GroupOf(f)][f.Name] = f
			connects = connects || help.GroupOf(f) == help.KubectlFlags
		}
	})
	if own := sorted(groups[help.OwnFlags]); len(own) > 0 {
		fmt.Fprintf(b, "### Flags of %s\n\n", title(cmd))
		writeTable(b, own)
	}
	if logging := sorted(groups[help.LoggingFlags]); len(logging) > 0 {
		fmt.Fprintf(b, "### Logging flags of %s\n\n", title(cmd))
		writeTable(b, logging)
	}
	if connects {
		b.WriteString("And the [connection flags](#connection-flags).\n\n")
	}
}

func sorted(flags map[string]*pflag.Flag) []*pflag.Flag {
	var list []*pflag.Flag
	for _, f := range flags {
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b *pflag.Flag) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func writeTable(b *strings.Builder, flags []*pflag.Flag) {
	b.WriteString("| flag | default | |\n|---|---|---|\n")
	for _, f := range flags {
		_, text := pflag.UnquoteUsage(f)
		value := help.DefaultOf(f)
		if fixed, ok := machineDefaults()[f.Name]; ok {
			value = fixed
		}
		if value != "" {
			value = "`" + value + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", syntax(f), inCell(value), inCell(text))
	}
	b.WriteString("\n")
}

func syntax(f *pflag.Flag) string {
	text := "--" + f.Name
	if f.Shorthand != "" {
		text = "-" + f.Shorthand + ", " + text
	}
	if value := help.ValueOf(f); value != "" {
		text += " " + value
	}
	return text
}

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
