package cmdutil

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/manifest"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lint"
)

// ManifestFlags choose the manifests that a verb reads, as in kubectl.
type ManifestFlags struct {
	files     []string
	recursive bool
	kustomize string
	verb      string
}

// AddTo adds the flags and their completion to a command.
func (f *ManifestFlags) AddTo(cmd *cobra.Command) {
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
func (f *ManifestFlags) Validate(args []string) error {
	switch {
	case len(args) > 0:
		return UsageErrorf("unexpected argument %q; name files with -f", args[0])
	case len(f.files) > 0 && f.kustomize != "":
		return UsageErrorf("only one of -f and -k can be used")
	case f.recursive && f.kustomize != "":
		return UsageErrorf("-R cannot be used with -k, which reads what the kustomization names")
	case len(f.files) == 0 && f.kustomize == "":
		return UsageErrorf("name a file with -f, or - for standard input, or a kustomization with -k")
	}
	given := 0
	for _, name := range f.files {
		if name == "" {
			return UsageErrorf("-f requires a file name, or - for standard input")
		}
		if name == "-" {
			given++
		}
	}
	if given > 1 {
		return UsageErrorf("standard input can be read only once, but -f - is given %d times", given)
	}
	return nil
}

// Read returns the objects in the manifests, and an error for each object that cannot be read.
func (f *ManifestFlags) Read(ctx context.Context, stdin io.Reader) ([]*manifest.Object, []error) {
	if f.kustomize != "" {
		return manifest.ReadKustomization(ctx, f.kustomize)
	}
	return manifest.Read(ctx, manifest.Options{Files: f.files, Recursive: f.recursive, Stdin: stdin, Verb: f.verb})
}

// NoJobsError returns the error for manifests without any object.
func (f *ManifestFlags) NoJobsError() error {
	if f.kustomize != "" {
		return NewUserError(KindOther, nil, "no Jobs, CronJobs or JobSets in kustomization "+f.kustomize, "check the folder given with -k")
	}
	names := slices.Clone(f.files)
	for i := range names {
		if names[i] == "-" {
			names[i] = "standard input"
		}
	}
	return NewUserError(KindOther, nil, "no Jobs, CronJobs or JobSets in "+strings.Join(names, ", "), "check the files given with -f")
}

// IsBatch reports whether the object is a Job, CronJob or JobSet, or is meant to be one: its API version may be gone
// or wrong, its group may be another one of Kubernetes, and its kind may be in lower case.
func IsBatch(object *manifest.Object) bool {
	kind := BatchKind(object)
	group, _, found := strings.Cut(object.APIVersion(), "/")
	switch {
	case kind == "":
		return false
	case kind != jobSetKind && (group == "apps" || group == "extensions"):
		return true
	}
	return strings.EqualFold(group, groupOf(kind)) || !found && group == "v1"
}

// AsServed returns the object with the API version and kind that it is meant to have, and whether it had others.
func AsServed(object *manifest.Object) (*manifest.Object, bool) {
	kind, version := BatchKind(object), batchv1.SchemeGroupVersion.String()
	if kind == jobSetKind {
		version = manifest.JobSetVersion
		if manifest.IsJobSetVersion(object.APIVersion()) {
			version = object.APIVersion()
		}
	}
	return object.As(version, kind), object.Kind() != kind || object.APIVersion() != version
}

const jobSetKind = "JobSet"

// BatchKind returns the kind Job, CronJob or JobSet that the object is meant to have, "" for other objects.
func BatchKind(object *manifest.Object) string {
	for _, kind := range [...]string{"Job", "CronJob", jobSetKind} {
		if strings.EqualFold(object.Kind(), kind) {
			return kind
		}
	}
	return ""
}

func groupOf(kind string) string {
	if kind == jobSetKind {
		return manifest.JobSetGroup
	}
	return batchv1.GroupName
}

// WhyNoJob explains why an object that satisfies IsBatch contains no Job: the field, the problem and its fix.
func WhyNoJob(object *manifest.Object) (path, problem, fix string) {
	version, kind, wanted := object.APIVersion(), BatchKind(object), batchv1.SchemeGroupVersion.String()
	if kind == jobSetKind {
		wanted = manifest.JobSetVersion
		if manifest.IsJobSetVersion(version) {
			wanted = version
		}
	}
	switch fix = "write apiVersion: " + wanted + ", kind: " + kind; {
	case object.Kind() != kind:
		return "kind", "there is no kind " + object.Kind() + " in " + wanted, fix
	case version == "batch/v1beta1" || version == "batch/v2alpha1":
		return "apiVersion", version + " is no longer served", fix
	case version != wanted:
		return "apiVersion", fmt.Sprintf("there is no %s in %s", kind, version), fix
	case kind == jobSetKind:
		return "spec.replicatedJobs", "a JobSet needs spec.replicatedJobs", "add it, a list with the templates of the Jobs"
	}
	return "spec.jobTemplate", "a CronJob needs spec.jobTemplate", "add it, with the spec of the Jobs"
}

// LintInput returns the part of the manifest that lint checks for this Job.
func LintInput(job *manifest.Job) lint.Input {
	if BatchKind(job.Object) == jobSetKind {
		return lint.Input{Object: job.AsJob(job.LastName()), Path: job.Path, Written: job.Object.Written, Volumes: job.Object.ClaimedVolumes()}
	}
	return lint.Input{Object: job.Object.Content, Written: job.Object.Written}
}
