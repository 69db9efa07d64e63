package manifests

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/manifest"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lint"
)

// InputFlags choose the manifests that a verb reads, as in kubectl.
type InputFlags struct {
	files     []string
	recursive bool
	kustomize string
	verb      string
}

// AddTo adds the flags and their completion to a command.
func (f *InputFlags) AddTo(cmd *cobra.Command) {
	f.verb = cmd.Name()
	flags := cmd.Flags()
	flags.StringSliceVarP(&f.files, "filename", "f", nil, "File, folder or glob of manifests, - for stdin.\nIt may be repeated.")
	flags.BoolVarP(&f.recursive, "recursive", "R", false, "Also read the folders in a folder.")
	flags.StringVarP(&f.kustomize, "kustomize", "k", "", "Folder with a kustomization to build.\nIt is used instead of -f.")
	if err := cmd.MarkFlagDirname("kustomize"); err != nil {
		panic("completion of --kustomize: " + err.Error())
	}
	if err := cmd.MarkFlagFilename("filename", "json", "yaml", "yml"); err != nil {
		panic("completion of --filename: " + err.Error())
	}
}

// Validate returns a usage error if there are no manifests to read, or if there are arguments.
func (f *InputFlags) Validate(args []string) error {
	switch {
	case len(args) > 0:
		return cmdutil.UsageErrorf("unexpected argument %q; name files with -f", args[0])
	case len(f.files) > 0 && f.kustomize != "":
		return cmdutil.UsageErrorf("only one of -f and -k can be used")
	case f.recursive && f.kustomize != "":
		return cmdutil.UsageErrorf("-R cannot be used with -k, which reads what the kustomization names")
	case len(f.files) == 0 && f.kustomize == "":
		return cmdutil.UsageErrorf("name a file with -f, or - for standard input, or a kustomization with -k")
	}
	given := len(slices.DeleteFunc(slices.Clone(f.files), func(name string) bool { return name != "-" }))
	switch {
	case slices.Contains(f.files, ""):
		return cmdutil.UsageErrorf("-f requires a file name, or - for standard input")
	case given > 1:
		return cmdutil.UsageErrorf("standard input can be read only once, but -f - is given %d times", given)
	}
	return nil
}

// Read returns the objects in the manifests, and an error for each object that cannot be read.
func (f *InputFlags) Read(ctx context.Context, env cmdutil.Env) ([]*manifest.Object, []error) {
	if f.kustomize != "" {
		return manifest.ReadKustomization(ctx, f.kustomize)
	}
	env.LimitMemory(softMemoryLimit)
	return manifest.Read(ctx, manifest.Options{Files: f.files, Recursive: f.recursive, Stdin: env.In, Verb: f.verb})
}

// IsRecursive reports whether the folders in a folder are read, too, which may have files of any program.
func (f *InputFlags) IsRecursive() bool { return f.recursive }

// NoJobsError returns the error for manifests without any object.
func (f *InputFlags) NoJobsError() error {
	if f.kustomize != "" {
		return cmdutil.NewUserError(cmdutil.KindOther, nil, "no Jobs, CronJobs or JobSets in kustomization "+f.kustomize, "check the folder given with -k")
	}
	names := slices.Clone(f.files)
	if i := slices.Index(names, "-"); i >= 0 {
		names[i] = "standard input"
	}
	return cmdutil.NewUserError(cmdutil.KindOther, nil, "no Jobs, CronJobs or JobSets in "+strings.Join(names, ", "), "check the files given with -f")
}

// LintInput returns the part of the manifest that lint checks for this Job.
func LintInput(job *manifest.Job) lint.Input {
	input := lint.Input{Object: job.Object.Content, Written: job.Object.Written, Rendered: job.Object.Source() != ""}
	if job.Object.Kind() == "JobSet" {
		input.Object, input.Path, input.Volumes = job.AsJob(job.LastName()), job.Path, job.Object.ClaimedVolumes()
	}
	return input
}

// softMemoryLimit has the garbage collector work harder before a hostile file makes the process use more than 500 MB. It
// applies to the rest of the process.
const softMemoryLimit = 350 << 20
