package cli

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// Set by the linker in releases:
//
//	-X github.com/batchjob-dev/kubectl-batchjob/internal/cli.version=v1.2.3
//	-X github.com/batchjob-dev/kubectl-batchjob/internal/cli.gitCommit=<sha>
//
// Without them the build information of the Go toolchain is used.
var (
	version   string
	gitCommit string
)

const unknownVersion = "unknown"

// versionInfo says which build this is. It is also the JSON and YAML output.
type versionInfo struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Version    string `json:"version"`   // v1.2.3, "(devel)" for a local build
	GitCommit  string `json:"gitCommit"` // with "-dirty" for a changed work tree
	GoVersion  string `json:"goVersion"`
	Platform   string `json:"platform"` // GOOS/GOARCH
}

// currentVersion is the version of the running binary.
func currentVersion() versionInfo {
	info, _ := debug.ReadBuildInfo()
	return newVersionInfo(version, gitCommit, info)
}

// newVersionInfo prefers the linker's values; build may be nil.
func newVersionInfo(version, commit string, build *debug.BuildInfo) versionInfo {
	if build == nil {
		build = &debug.BuildInfo{}
	}
	return versionInfo{
		APIVersion: outputAPIVersion,
		Kind:       "Version",
		Version:    cmp.Or(version, build.Main.Version, unknownVersion),
		GitCommit:  cmp.Or(commit, builtFrom(build), unknownVersion),
		GoVersion:  runtime.Version(),
		Platform:   runtime.GOOS + "/" + runtime.GOARCH,
	}
}

func builtFrom(build *debug.BuildInfo) string {
	settings := map[string]string{}
	for _, s := range build.Settings {
		settings[s.Key] = s.Value
	}
	revision := settings["vcs.revision"]
	if revision != "" && settings["vcs.modified"] == "true" {
		revision += "-dirty"
	}
	return revision
}

// userAgent is how requests of this binary show up in the API server's audit log.
func userAgent() string {
	v := currentVersion()
	return fmt.Sprintf("kubectl-batchjob/%s (%s)", strings.Trim(v.Version, "()"), v.Platform)
}

// versionOptions are the flags of the version verb.
type versionOptions struct {
	genericiooptions.IOStreams
	output string
}

func newVersionCommand(streams genericiooptions.IOStreams) *cobra.Command {
	o := &versionOptions{IOStreams: streams}
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Long:  "Print the version of this program, its Git commit, Go version and platform.\nThe cluster is not asked.",
		Example: `  # For a person
  kubectl batchjob version

  # For a script
  kubectl batchjob version -o json`,
		Args:              noArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			if err := o.Validate(); err != nil {
				return err
			}
			return o.Run(currentVersion())
		},
	}
	cmd.Flags().Bool("client", true, "Of this program only. It is always so, and there for those who are used to it.")
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "Output format. One of: (json, yaml).")
	mustCompleteFlag(cmd, "output", cobra.FixedCompletions(versionFormats(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func versionFormats() []string { return []string{"json", "yaml"} }

// noArguments is cobra.NoArgs with words that fit a verb.
func noArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageErrorf("takes no arguments, but got %q", args[0])
	}
	return nil
}

// Validate checks the flags.
func (o *versionOptions) Validate() error {
	switch o.output {
	case "", "json", "yaml":
		return nil
	}
	return unknownOutput(o.output, versionFormats())
}

// Run prints info.
func (o *versionOptions) Run(info versionInfo) error {
	if o.output != "" {
		return writeDocument(o.Out, o.output, info)
	}
	return writeVersion(o.Out, info)
}

func writeVersion(w io.Writer, info versionInfo) error {
	_, err := fmt.Fprintf(w, "Version:    %s\nGit commit: %s\nGo version: %s\nPlatform:   %s\n",
		info.Version, info.GitCommit, info.GoVersion, info.Platform)
	return err
}
