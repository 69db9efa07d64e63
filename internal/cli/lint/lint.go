package lint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/manifest"
	"github.com/batchjob-dev/kubectl-batchjob/internal/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lint"
)

const lintLong = `Check the Jobs, CronJobs and JobSets in manifests as a careful reviewer would,
without a cluster. Of a JobSet, the templates of its Jobs are checked. Objects
of other kinds are skipped.

  error    the API server rejects it, or it can never work
  warning  it works, but probably not as intended
  info     good to know

Every finding has a location; [its-id] is stable. The exit code is 1
if there are errors or something cannot be read; with --strict, also if there
are warnings. -o json and -o yaml print a LintResult of
batchjob.dev/v1alpha1, whatever the input is.`

const lintExample = `  # Check one file
  kubectl batchjob lint -f job.yaml

  # In a pipeline: all manifests in a folder; warnings are errors
  kubectl batchjob lint -f manifests/ -R --strict

  # The output of a Helm chart
  helm template my-chart | kubectl batchjob lint -f -

  # Only the errors, for a script
  kubectl batchjob lint -f job.yaml -o json |
    jq '.findings[] | select(.severity == "error")'`

// Options are the flags of the lint verb.
type Options struct {
	genericiooptions.IOStreams
	manifests cmdutil.ManifestFlags
	output    cmdutil.DocumentFlag
	strict    bool
}

// NewCommand returns the command lint, with its flags.
func NewCommand(env cmdutil.Env) *cobra.Command {
	o := &Options{IOStreams: env.IOStreams}
	cmd := &cobra.Command{
		Use:               "lint -f FILE",
		SuggestFor:        []string{"validate"},
		Short:             "Check manifests of Jobs, without a cluster",
		Long:              lintLong,
		Example:           lintExample,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.Validate(args); err != nil {
				return err
			}
			return o.Run(cmd.Context())
		},
	}
	o.manifests.AddTo(cmd)
	o.output.AddTo(cmd)
	cmd.Flags().BoolVar(&o.strict, "strict", false, "Exit with code 1 for warnings, too.")
	return cmd
}

// Validate checks arguments and flags; its errors are usage errors.
func (o *Options) Validate(args []string) error {
	if err := o.output.Validate(); err != nil {
		return err
	}
	return o.manifests.Validate(args)
}

// Run writes the findings. It returns an error if some of them count, or if something could not be read.
func (o *Options) Run(ctx context.Context) error {
	objects, problems := o.manifests.Read(ctx, o.In)
	result, unread := lintAll(ctx, objects, problems)
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(objects) == 0 && len(problems) == 0 {
		unread = []error{o.manifests.NoJobsError()}
	}
	if err := o.write(result); err != nil {
		return err
	}
	if len(objects) > 0 || len(result.Findings) > 0 || result.Summary.skips() {
		unread = append(unread, o.verdict(result.Summary))
	}
	return errors.Join(unread...)
}

// lintAll looks at all objects, until ctx ends. Documents that cannot be read are findings; files that cannot are errors.
func lintAll(ctx context.Context, objects []*manifest.Object, problems []error) (*lintResult, []error) {
	result := &lintResult{APIVersion: cmdutil.OutputAPIVersion, Kind: "LintResult", Findings: []lintFinding{}}
	unread, documents := splitProblems(problems)
	result.patches = findPatches(filesOf(objects, documents))
	for _, bad := range documents {
		if !result.skipFile(bad.Position.File) {
			result.add(bad.Position, "", notReadable(bad))
		}
	}
	seen := map[objectKey]manifest.Position{}
	for _, object := range objects {
		if ctx.Err() != nil {
			break
		}
		if file := object.Position("").File; result.patches.has(file) {
			result.skipPatch(file)
			continue
		}
		result.lint(object)
		result.again(object, seen)
	}
	result.onlyTemplates()
	result.sort()
	return result, unread
}

func notReadable(bad *manifest.Error) lint.Finding {
	id := "not-readable"
	if bad.Template {
		id = lint.TemplateID
	}
	return lint.Finding{ID: id, Severity: lint.Error, Rejected: true, Message: bad.Problem, Fix: bad.Fix}
}

// splitProblems returns the problems of files and those of documents.
func splitProblems(problems []error) (files []error, documents []*manifest.Error) {
	for _, problem := range problems {
		if bad, is := errors.AsType[*manifest.Error](problem); is {
			documents = append(documents, bad)
		} else {
			files = append(files, problem)
		}
	}
	return files, documents
}

func filesOf(objects []*manifest.Object, documents []*manifest.Error) []string {
	var files []string
	for _, object := range objects {
		files = append(files, object.Position("").File)
	}
	for _, bad := range documents {
		files = append(files, bad.Position.File)
	}
	return slices.Compact(files)
}

// objectKey is what two objects of a folder cannot have in common. Other folders may be for other clusters, as overlays
// are.
type objectKey struct{ folder, kind, namespace, name string }

// again reports an object that is there already: kubectl apply would take one for a change of the other.
func (r *lintResult) again(object *manifest.Object, seen map[objectKey]manifest.Position) {
	if !cmdutil.IsBatch(object) || object.Name() == "" {
		return
	}
	at := object.Position("metadata.name")
	key := objectKey{filepath.Dir(at.File), cmdutil.BatchKind(object), object.Namespace(), object.Name()}
	first, found := seen[key]
	if !found {
		seen[key] = at
		return
	}
	r.add(at, objectName(object), lint.Finding{
		ID: "object-twice", Severity: lint.Warning, Field: "metadata.name", Fix: "give each a unique name, or remove one",
		Message: fmt.Sprintf("%s %q is already defined at %s", key.kind, key.name, first),
	})
}

func objectName(object *manifest.Object) string { return object.Kind() + "/" + object.Name() }

func (r *lintResult) lint(object *manifest.Object) {
	if !cmdutil.IsBatch(object) {
		r.Summary.Skipped++
		return
	}
	r.count(object)
	served, changed := cmdutil.AsServed(object)
	if changed { // the rest is checked as if it were right
		path, problem, fix := cmdutil.WhyNoJob(object)
		r.about(object, lint.Finding{ID: "api-version-wrong", Severity: lint.Error, Rejected: true, Field: path, Message: problem, Fix: fix})
	}
	jobs := served.Jobs()
	if len(jobs) == 0 && !changed {
		for _, finding := range withoutJob(served) {
			r.about(object, finding)
		}
	}
	var found []lint.Finding
	for _, job := range jobs {
		for _, finding := range lintJob(job) {
			if !slices.Contains(found, finding) { // All Jobs of a JobSet have its name.
				found = append(found, finding)
				r.about(object, finding)
			}
		}
	}
}

// about adds a finding about an object. A template is named by its language.
func (r *lintResult) about(object *manifest.Object, finding lint.Finding) {
	at := object.Position(finding.Field)
	if finding.ID == lint.TemplateID {
		var name string
		name, finding.Fix = manifest.TemplateOf(object.Written(finding.Field), at.File, "lint")
		finding.Message = "this is " + name + ", not a manifest"
	}
	r.add(at, objectName(object), finding)
}

// withoutJob returns the findings about an object without a Job: about its names and types, and otherwise that the Job is
// missing.
func withoutJob(object *manifest.Object) []lint.Finding {
	found := lint.CheckNames(lint.Input{Object: object.Content, Written: object.Written})
	if len(found) > 0 {
		return found
	}
	path, problem, fix := cmdutil.WhyNoJob(object)
	return []lint.Finding{{ID: "not-readable", Severity: lint.Error, Rejected: true, Field: path, Message: problem, Fix: fix}}
}

func lintJob(job *manifest.Job) []lint.Finding {
	names, problems := job.TakeNames()
	var findings []lint.Finding
	for _, p := range problems {
		fix := "quote it"
		if !p.Unquoted { // a list or an object
			fix = "use a name such as OutOfMemory"
		}
		findings = append(findings, lint.Finding{ID: "rule-name-invalid", Severity: lint.Error, Field: job.At(p.Path), Message: p.Text, Fix: fix})
	}
	input := cmdutil.LintInput(job)
	input.Names, input.Incomplete = names, len(problems) > 0
	return append(findings, lint.Check(input)...)
}

func (o *Options) write(result *lintResult) error {
	if o.output.IsSet() {
		return o.output.Write(o.Out, result)
	}
	for i := range result.Findings {
		if err := writeFinding(o.Out, &result.Findings[i]); err != nil {
			return err
		}
	}
	return nil
}

// writeFinding writes it as compilers do.
func writeFinding(out io.Writer, f *lintFinding) error {
	position := manifest.Position{File: f.File, Line: f.Line, Column: f.Column}
	fix := ""
	if f.Fix != "" {
		fix = "    fix: " + sanitize.Line(f.Fix) + "\n"
	}
	_, err := fmt.Fprintf(out, "%s: %s: %s [%s]\n%s", sanitize.Line(position.String()), f.Severity, sanitize.Line(f.Message), f.ID, fix)
	return err
}

// verdict writes the summary, as an error if there are findings that count.
func (o *Options) verdict(summary lintSummary) error {
	if summary.Errors > 0 || o.strict && summary.Warnings > 0 {
		return cmdutil.NewUserError(cmdutil.KindOther, nil, summary.text(), "")
	}
	fmt.Fprintln(o.ErrOut, summary.text())
	return nil
}
