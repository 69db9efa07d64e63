// Package help lays out the help of all commands.
package help

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
)

// Width is the terminal width that help has to fit into.
const Width = 80

// FlagGroup is the heading under which help and reference show a flag.
type FlagGroup string

// The groups of flags, in order.
const (
	OwnFlags     FlagGroup = ""           // of the verb itself
	LoggingFlags FlagGroup = "logging"    // of component-base; only the controller has them
	KubectlFlags FlagGroup = "connection" // of kubectl; all verbs that connect to a cluster have them
)

// flagGroupAnnotation marks the flags that are not a verb's own with their group.
const flagGroupAnnotation = "batchjob.dev/flag-group"

// GroupOf returns the group of a flag.
func GroupOf(f *pflag.Flag) FlagGroup {
	if group := f.Annotations[flagGroupAnnotation]; len(group) > 0 {
		return FlagGroup(group[0])
	}
	return OwnFlags
}

// Group is a heading of the root's help, with its verbs in order.
type Group struct {
	Title string
	Verbs []*cobra.Command
}

// FooterAnnotation is the annotation for the end of a command's help.
const FooterAnnotation = "batchjob.dev/footer"

// orderAnnotation is the annotation of a root with the names of its verbs, in the order of the groups.
const orderAnnotation = "batchjob.dev/order"

// Finish adds the groups with their verbs, and sets the layout of all commands' help.
func Finish(root *cobra.Command, groups []Group) {
	for _, group := range groups {
		root.AddGroup(&cobra.Group{ID: group.Title, Title: group.Title})
		for _, verb := range group.Verbs {
			verb.GroupID = group.Title
			root.AddCommand(verb)
			root.Annotations[orderAnnotation] += verb.Name() + " "
		}
	}
	root.InitDefaultHelpCmd()
	describeCompletion(root)
	root.AddCommand(newOptions(root))
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		_, err := io.WriteString(cmd.OutOrStderr(), usageOf(cmd)+cmd.Annotations[FooterAnnotation])
		return err
	})
	foreign, words := LibraryFlags(), FlagTexts()
	EachCommand(root, func(cmd *cobra.Command) {
		cmd.InitDefaultHelpFlag()
		cmd.Flags().Lookup("help").Usage = "Show this help."
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Annotations[cmdutil.OwnFlag] != nil {
				return
			}
			if text, ok := words[f.Name]; ok {
				f.Usage = text
			}
			if group, ok := foreign[f.Name]; ok {
				_ = cmd.Flags().SetAnnotation(f.Name, flagGroupAnnotation, []string{string(group)}) // The flag exists.
			}
		})
		cmdutil.FinishCompletion(cmd)
		acceptSpellings(cmd)
	})
	root.SetFlagErrorFunc(suggestFlag)
}

// EachCommand calls do for cmd and for every command below it.
func EachCommand(cmd *cobra.Command, do func(*cobra.Command)) {
	do(cmd)
	for _, child := range cmd.Commands() {
		EachCommand(child, do)
	}
}

// LibraryFlags returns the names of the flags that libraries define, with their groups.
func LibraryFlags() map[string]FlagGroup {
	groups := map[string]FlagGroup{}
	mark := func(group FlagGroup, add func(*pflag.FlagSet)) {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		add(flags)
		flags.VisitAll(func(f *pflag.Flag) { groups[f.Name] = group })
	}
	mark(LoggingFlags, func(flags *pflag.FlagSet) {
		logs.AddFlags(flags, logs.SkipLoggingConfigurationFlags())
		logsapi.AddFlags(logsapi.NewLoggingConfiguration(), flags)
	})
	mark(KubectlFlags, func(flags *pflag.FlagSet) { cmdutil.NewKubeFlags().AddFlags(flags) })
	return groups
}

// usageOf returns the help after the long description.
func usageOf(cmd *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage:\n")
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND\n", cmd.CommandPath())
	} else {
		fmt.Fprintf(&b, "  %s\n", cmd.UseLine())
	}
	if len(cmd.Aliases) > 0 {
		fmt.Fprintf(&b, "\nAliases: %s\n", strings.Join(cmd.Aliases, ", "))
	}
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		writeCommands(&b, cmd)
		fmt.Fprintf(&b, "\nMore about a command: %s COMMAND --help\n", cmd.CommandPath())
		return b.String()
	}
	writeFlags(&b, cmd)
	return b.String()
}

// writeCommands lists the commands of cmd under the titles of their groups.
func writeCommands(b *strings.Builder, cmd *cobra.Command) {
	groups := slices.Clone(cmd.Groups())
	rest := &cobra.Group{Title: "Commands"}
	if len(groups) > 0 {
		rest.Title = "Other"
	}
	width := 0
	for _, child := range cmd.Commands() {
		width = max(width, len(child.Name()))
	}
	for _, group := range append(groups, rest) {
		fmt.Fprintf(b, "\n%s:\n", group.Title)
		for _, child := range inOrder(cmd) {
			if child.GroupID == group.ID && (child.IsAvailableCommand() || child.Name() == "help") {
				fmt.Fprintf(b, "  %-*s  %s\n", width, child.Name(), child.Short)
			}
		}
	}
}

// inOrder returns the commands of cmd: those of groups last, in the order of Finish, and before them the others by name.
func inOrder(cmd *cobra.Command) []*cobra.Command {
	children, order := slices.Clone(cmd.Commands()), strings.Fields(cmd.Annotations[orderAnnotation])
	slices.SortStableFunc(children, func(a, b *cobra.Command) int {
		return slices.Index(order, a.Name()) - slices.Index(order, b.Name())
	})
	return children
}

// Verbs returns the commands of root in the order of its help, group by group.
func Verbs(root *cobra.Command) (verbs []*cobra.Command) {
	for _, group := range append(root.Groups(), &cobra.Group{}) {
		for _, verb := range inOrder(root) {
			if verb.GroupID == group.ID && verb.IsAvailableCommand() {
				verbs = append(verbs, verb)
			}
		}
	}
	return verbs
}
