package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/batchjob-dev/kubectl-batchjob/internal/manifest"
)

// manifestFlags say which manifests a verb reads, as kubectl's do.
type manifestFlags struct {
	files     []string
	recursive bool
}

func (f *manifestFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVarP(&f.files, "filename", "f", nil, "File, folder or glob with manifests, or - for standard input; may be repeated.")
	flags.BoolVarP(&f.recursive, "recursive", "R", false, "Read the folders of a folder, too.")
	if err := cmd.MarkFlagFilename("filename", "json", "yaml", "yml"); err != nil {
		panic("completion of --filename: " + err.Error())
	}
}

// validate checks that there is something to read, and no argument beside it.
func (f *manifestFlags) validate(args []string) error {
	switch {
	case len(args) > 0:
		return usageErrorf("unexpected argument %q; name files with -f", args[0])
	case len(f.files) == 0:
		return usageErrorf("name a file with -f, or - for standard input")
	}
	given := 0
	for _, name := range f.files {
		if name == "" {
			return usageErrorf("-f needs the name of a file, or - for standard input")
		}
		if name == "-" {
			given++
		}
	}
	if given > 1 {
		return usageErrorf("standard input can be read only once, but -f - is there %d times", given)
	}
	return nil
}

func (f *manifestFlags) read(ctx context.Context, stdin io.Reader) ([]*manifest.Object, []error) {
	return manifest.Read(ctx, manifest.Options{Files: f.files, Recursive: f.recursive, Stdin: stdin})
}

// nothing is the error for input without any Job.
func (f *manifestFlags) nothing() error {
	return newUserError(kindOther, nil, "no Jobs or CronJobs in "+strings.Join(f.files, ", "), "check what -f names")
}

// isBatch says that the object is one that these verbs are for, if perhaps of an API version that is gone.
func isBatch(object *manifest.Object) bool {
	group, _, _ := strings.Cut(object.APIVersion(), "/")
	return group == "batch" && (object.Kind() == "Job" || object.Kind() == "CronJob")
}

// noJob says what is wrong with an object of isBatch that has no Job.
func noJob(object *manifest.Object) (path, problem string) {
	if object.APIVersion() != "batch/v1" {
		return "apiVersion", fmt.Sprintf("%s is not served any more; write batch/v1", object.APIVersion())
	}
	return "spec.jobTemplate", "a CronJob needs spec.jobTemplate"
}
