// Package lint implements the verb lint: it checks manifests without a cluster, or by an API server, too.
package lint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/manifests"
	"github.com/batchjob-dev/kubectl-batchjob/internal/manifest"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lint"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
)

const lintLong = `Check the Jobs, CronJobs and JobSets in manifests as a careful reviewer would,
without a cluster. Other kinds, and patches of kustomizations, are skipped.

  error    the API server rejects it, or it can never work
  warning  it works, but probably not as intended
  info     good to know

Every finding has a stable [id], which docs/lint.md lists, and the comment
"# batchjob-lint: ignore=ID" ignores in its line and the next, or before the
first field in the document. The exit code is 1 if there are errors or something
cannot be read; with --strict, also if there are warnings.

--server creates each object as a dry run, too: nothing is stored, and webhooks
see a dry run. It finds what no file shows, such as policies and quotas.`

const lintExample = `  # Check one file
  kubectl batchjob lint -f job.yaml

  # In a pipeline: all manifests in a folder; warnings are errors
  kubectl batchjob lint -f manifests/ -R --strict

  # The output of a Helm chart
  helm template my-chart | kubectl batchjob lint -f -

  # Also ask the API server, which stores nothing
  kubectl batchjob lint -f job.yaml --server

  # For code scanning on GitHub
  kubectl batchjob lint -f manifests/ -R -o sarif >lint.sarif`

// notChecked is the last line of a text output without errors.
const notChecked = "not checked: what only the API server knows, such as policies, quotas and webhooks (--server), and whether images, ConfigMaps and other objects exist"

// Options are the flags of the lint verb.
type Options struct {
	cmdutil.Env
	kube      *cmdutil.KubeFlags
	manifests manifests.InputFlags
	server    string // one of the values of --server
	output    cmdutil.DocumentFlag
	strict    bool
	quiet     bool
	ignored   []string
}

// NewCommand returns the command lint, with its flags.
func NewCommand(env cmdutil.Env) *cobra.Command {
	o := &Options{Env: env, kube: env.KubeFlags()}
	cmd := &cobra.Command{
		Use:               "lint -f FILE",
		SuggestFor:        []string{"validate"},
		Short:             "Check manifests of Jobs, also without a cluster",
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
	o.addServer(cmd)
	o.output.AddTo(cmd, sarifFormat)
	cmd.Flags().BoolVar(&o.strict, "strict", false, "Exit with code 1 for warnings, too.")
	cmd.Flags().BoolVarP(&o.quiet, "quiet", "q", false, "Report only errors, with --strict also warnings.")
	cmd.Flags().StringSliceVar(&o.ignored, "ignore", nil, "IDs of findings not to report.")
	cmdutil.MustCompleteFlag(cmd, "ignore", cmdutil.CompleteWords(ruleIDs()...))
	return cmd
}

// Validate checks arguments and flags; its errors are usage errors.
func (o *Options) Validate(args []string) error {
	if err := o.output.Validate(); err != nil {
		return err
	}
	if err := o.validateServer(); err != nil {
		return err
	}
	return o.manifests.Validate(args)
}

// gcPercent is the garbage allowed, in percent of the live heap. With Go's default, garbage collection takes a third
// of the CPU time for 5,000 Jobs, as the heap keeps growing; twice the garbage saves a quarter.
const gcPercent = 200

// Run writes the findings. It returns an error if there are findings that count, or if something could not be read.
func (o *Options) Run(ctx context.Context) error {
	o.LimitGarbage(gcPercent)
	objects, problems := o.manifests.Read(ctx, o.Env)
	warnUnknown(o.ErrOut, o.ignored)
	client, err := o.connect(ctx)
	if err != nil {
		return err
	}
	result, unread := o.lintAll(ctx, objects, problems, client)
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(objects) == 0 && len(problems) == 0 {
		unread = []error{o.manifests.NoJobsError()}
	}
	if o.quiet {
		result.keepOnly(o.strict)
	}
	if result.failed != nil {
		unread = append(unread, result.failed)
	}
	if err := o.write(result); err != nil {
		return err
	}
	if len(objects) > 0 || len(result.Findings) > 0 || result.Summary.Skipped > 0 || result.Summary.Patches > 0 || result.Summary.OtherFiles > 0 {
		unread = append(unread, o.verdict(result.Summary))
	}
	return errors.Join(unread...)
}

// lintAll checks all objects, until ctx ends, and omits findings with the ignored IDs. A document that cannot be read
// is a finding; a file that cannot be read is an error.
func (o *Options) lintAll(ctx context.Context, objects []*manifest.Object, problems []error, client *manifests.Client) (*lintResult, []error) {
	result := &lintResult{APIVersion: cmdutil.OutputAPIVersion, Kind: "LintResult", Findings: []lintFinding{}, ignored: o.ignored, client: client, creates: map[string]bool{}}
	var unread []error
	var unreadable []*manifest.Error
	var files []string
	for _, object := range objects {
		files = append(files, object.Position("").File)
		if object.Kind() == "Namespace" {
			result.creates[object.Name()] = true
		}
	}
	for _, problem := range problems {
		if bad, is := errors.AsType[*manifest.Error](problem); is {
			unreadable, files = append(unreadable, bad), append(files, bad.Position.File)
		} else {
			unread = append(unread, problem)
		}
	}
	result.patches = findPatches(slices.Compact(files))
	for _, bad := range unreadable {
		if result.skipDocument(bad) {
			continue
		}
		if o.manifests.IsRecursive() && mayBeAnything(bad) {
			result.others = append(result.others, bad)
			continue
		}
		finding := lint.Finding{ID: cmp.Or(bad.ID, "not-readable"), Severity: lint.Error, Rejected: !bad.Accepted, Message: bad.Problem, Fix: bad.Fix}
		if bad.Accepted {
			finding.Severity = lint.Warning
		}
		result.add(bad.Position, nil, finding)
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
		result.lint(ctx, object)
		result.checkDuplicate(object, seen)
	}
	result.skipOtherFiles()
	result.dropTemplateFindings()
	result.reportBusyMinute()
	result.mergeRepeated()
	result.sort()
	return result, unread
}

// objectKey must be unique for the objects of a folder. Other folders may be for other clusters, as with overlays.
type objectKey struct{ folder, kind, namespace, name string }

// checkDuplicate reports an object that is defined twice: kubectl apply would treat one as an update of the other.
func (r *lintResult) checkDuplicate(object *manifest.Object, seen map[objectKey]manifest.Position) {
	if !manifest.IsBatch(object) || object.Name() == "" {
		return
	}
	at := object.Position("metadata.name")
	key := objectKey{filepath.Dir(at.File), manifest.BatchKind(object), object.Namespace(), object.Name()}
	first, found := seen[key]
	if !found {
		seen[key] = at
		return
	}
	r.add(at, object, lint.Finding{
		ID: "object-twice", Severity: lint.Warning, Field: "metadata.name", Fix: "give each a unique name, or remove one",
		Message: fmt.Sprintf("the %s is already defined at %s", key.kind, first),
	})
}

func (r *lintResult) lint(ctx context.Context, object *manifest.Object) {
	r.files = append(r.files, object.Position("").File)
	if !manifest.IsBatch(object) {
		r.Summary.Skipped++
		r.reportContained(object)
		return
	}
	r.Summary.Jobs++
	switch manifest.BatchKind(object) {
	case "CronJob":
		r.Summary.cronJobs++
		r.noteSchedule(object)
	case "JobSet":
		r.Summary.jobSets++
	}
	served, changed := manifest.AsServed(object)
	if changed { // check the rest as if these fields were correct
		path, problem, fix := manifest.WhyNoJob(object)
		r.addAbout(object, lint.Finding{ID: "api-version-wrong", Severity: lint.Error, Rejected: true, Field: path, Message: problem, Fix: fix})
	}
	jobs := served.Jobs()
	if len(jobs) == 0 && !changed {
		// Either names or types are invalid, or the Job is missing.
		found := lint.CheckNames(lint.Input{Object: served.Content, Written: served.Written})
		if path, problem, fix := manifest.WhyNoJob(served); len(found) == 0 && problem != "" {
			found = []lint.Finding{{ID: "not-readable", Severity: lint.Error, Rejected: true, Field: path, Message: problem, Fix: fix}}
		}
		for _, finding := range found {
			r.addAbout(object, finding)
		}
	}
	sent := served
	if r.client != nil { // lintJob removes the names of rules
		sent = served.Copy()
	}
	var found []lint.Finding
	for _, job := range jobs {
		if len(found) >= lint.MaxFindings { // Of a JobSet, a part is enough, too.
			break
		}
		for _, finding := range lintJob(job) {
			if !slices.Contains(found, finding) { // All Jobs of a JobSet have its name.
				found = append(found, finding)
			}
		}
	}
	for _, finding := range r.ask(ctx, sent, found) {
		r.addAbout(object, finding)
	}
	if len(found) >= lint.MaxFindings {
		r.Summary.Incomplete++
	}
}

// addAbout adds a finding about an object. For a template, it names the template language.
func (r *lintResult) addAbout(object *manifest.Object, finding lint.Finding) {
	at := object.Position(finding.Field)
	if finding.ID == lint.TemplateID {
		var name string
		name, finding.Fix = manifest.TemplateOf(object.Written(finding.Field), at.File, "lint")
		finding.Message = "this is " + name + ", not a manifest"
	}
	r.add(at, object, finding)
}

func lintJob(job *manifest.Job) []lint.Finding {
	names, problems := job.RemoveNames()
	var findings []lint.Finding
	for _, p := range problems {
		fix := "quote it"
		if !p.Unquoted { // a list or an object
			fix = "use a name such as OutOfMemory"
		}
		findings = append(findings, lint.Finding{ID: "rule-name-invalid", Severity: lint.Error, Field: job.At(p.Path), Message: p.Text, Fix: fix})
	}
	input := manifests.LintInput(job)
	input.Names, input.Incomplete = names, len(problems) > 0
	return append(findings, lint.Check(input)...)
}

func (o *Options) write(result *lintResult) error {
	switch {
	case o.output.Format() == sarifFormat:
		return writeSARIF(o.Out, result)
	case o.output.IsSet():
		return o.output.Write(o.Out, result)
	}
	for i := range result.Findings {
		if err := writeFinding(o.Out, &result.Findings[i]); err != nil {
			return err
		}
	}
	return nil
}

// writeFinding writes a finding in the format of compilers, with the object, and the Helm template that it was made
// from.
func writeFinding(out io.Writer, f *lintFinding) error {
	position := manifest.Position{File: f.File, Line: f.Line, Column: f.Column}
	about := strings.TrimSuffix(f.Object, "/")
	if f.kustomization != "" { // The position names the object.
		about = ""
	}
	if f.Source != "" {
		about += " (" + f.Source + ")"
	}
	if about != "" {
		about = sanitize.Line(about) + ": "
	}
	fix := ""
	if f.Fix != "" {
		fix = "    fix: " + sanitize.Line(f.Fix) + "\n"
	}
	_, err := fmt.Fprintf(out, "%s: %s: %s%s [%s]\n%s", sanitize.Line(position.String()), f.Severity, about, sanitize.Line(f.Message), f.ID, fix)
	return err
}

// verdict prints the summary, or returns it as an error if there are findings that count.
func (o *Options) verdict(summary lintSummary) error {
	if summary.Errors > 0 || summary.Incomplete > 0 || o.strict && summary.Warnings > 0 {
		return cmdutil.NewUserError(cmdutil.KindOther, nil, summary.text(), "")
	}
	fmt.Fprintln(o.ErrOut, summary.text())
	if !o.output.IsSet() && summary.Jobs > summary.asked {
		fmt.Fprintln(o.ErrOut, notChecked)
	}
	return nil
}
