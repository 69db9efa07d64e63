package status

import (
	"context"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/owners"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/cronjob"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/text"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
)

// cronJobField is the field that this program adds to a printed CronJob: an explain.CronJobReport.
const cronJobField = "explanation"

// parseNames separates a CronJob from the names of Jobs. It must be the only name.
func (o *Options) parseNames(args []string) error {
	cronJobs, args, err := owners.Split(args, cmdutil.CronJobKinds())
	if err != nil {
		return err
	}
	if o.Names, err = cmdutil.ParseJobArgs(args); err != nil || len(cronJobs) == 0 {
		return err
	}
	format, _, _ := strings.Cut(o.print.Format(), "=")
	switch {
	case len(cronJobs)+len(o.Names) > 1:
		return cmdutil.UsageErrorf("name one CronJob, and nothing else")
	case o.watch || o.noHeaders || o.problems || o.byOwner || o.sortBy != "" || o.showLabels || len(o.labels) > 0 || o.from != "",
		slices.Contains([]string{formatWide, formatColumns}, format):
		return cmdutil.UsageErrorf("a CronJob has a page instead of rows; omit flags of the table, of --watch and of --from")
	}
	o.cronJob = cronJobs[0].Name
	return nil
}

// showCronJob prints the CronJob, or opens it in the interactive view.
func (o *Options) showCronJob(ctx context.Context) error {
	format := o.print.Format()
	if format == "" && !o.full && o.interactive.Possible(o.IOStreams) {
		return o.interactive.Viewer(o.Env, o.color.Display(o.Env)).ShowCronJob(ctx, o.kube, o.cronJob)
	}
	object, report, err := o.readCronJob(ctx)
	switch {
	case err != nil:
		return err
	case format == "":
		options := o.color.TextOptions(o.Env, o.full)
		options.Namespace = cmdutil.CurrentNamespace(o.kube)
		return text.CronJob(o.Out, report, options)
	case format == "name":
		_, err := fmt.Fprintln(o.Out, "cronjob.batch/"+cmdutil.OneLine(o.cronJob))
		return err
	}
	printed, err := documentOf(object, report)
	if err != nil {
		return err
	}
	return o.printer.Rows([]*unstructured.Unstructured{printed}, false)
}

// readCronJob reads the CronJob, and makes the report on it from the list of Jobs and the causes that the list shows.
func (o *Options) readCronJob(ctx context.Context) (*batchv1.CronJob, *explain.CronJobReport, error) {
	all, _, err := o.set.List(ctx)
	if err != nil {
		return nil, nil, err
	}
	objects := owners.Owner{Kind: "CronJob", Name: o.cronJob}.JobsIn(all)
	in, err := owners.CronJob(ctx, o.explainer, o.set, o.cronJob, objects)
	if err != nil {
		return nil, nil, err
	}
	jobs, err := o.readStalls(ctx, objects)
	if err != nil {
		return nil, nil, err
	}
	in.Gaps = append(in.Gaps, o.stalls.Gaps()...)
	runs := make([]explain.OwnedRun, len(jobs))
	for i, job := range jobs {
		outline := o.stalls.Outline(job, nil, in.Now)
		runs[i] = words.RunOfOutline(&outline, in.Now)
	}
	report := cronjob.Explain(in, runs)
	return in.CronJob, &report, ctx.Err()
}

// documentOf returns the CronJob with the report. If it does not exist, or may not be read, it has only its name.
func documentOf(cronJob *batchv1.CronJob, report *explain.CronJobReport) (*unstructured.Unstructured, error) {
	if cronJob == nil {
		cronJob = &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: report.Namespace, Name: report.Name}}
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(cronJob)
	if err != nil {
		return nil, fmt.Errorf("converting the CronJob: %w", err)
	}
	if object[cronJobField], err = runtime.DefaultUnstructuredConverter.ToUnstructured(report); err != nil {
		return nil, fmt.Errorf("converting the explanation: %w", err)
	}
	printed := &unstructured.Unstructured{Object: object}
	printed.SetGroupVersionKind(batchv1.SchemeGroupVersion.WithKind("CronJob"))
	return printed, nil
}
