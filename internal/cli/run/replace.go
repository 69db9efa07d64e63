package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/jobwrite"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/manifests"
	"github.com/batchjob-dev/kubectl-batchjob/internal/manifest"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// The values of --keep-evidence.
const (
	keepFailed = "failed"
	keepNever  = "never"
)

func keepWords() []string { return []string{keepFailed, keepNever} }

const (
	// maxDifferences is how many lines about the differences of two Jobs are printed.
	maxDifferences = 12
	// goneAfter is how long a deletion takes before a line says what it waits for.
	goneAfter = 5 * time.Second
)

// replacement is a Job that another one of the same name replaces.
type replacement struct {
	write jobwrite.Client
	old   *batchv1.Job
}

func (r replacement) label() string { return "job.batch/" + sanitize.Line(r.old.Name) }

// replaceAll deletes the Jobs that have the names of new ones, with their pods, and waits until they are gone. First it checks
// all of them, and has the API server check the new ones: an error up to then has changed nothing.
func (o *Options) replaceAll(cmd *cobra.Command, jobs []*manifest.Object) error {
	ctx := cmd.Context()
	var all []replacement
	for _, object := range jobs {
		r, err := o.planReplacement(ctx, object)
		if err != nil {
			return err
		}
		if r != nil {
			all = append(all, *r)
		}
	}
	for _, r := range all {
		if o.keep == keepFailed && reconcile.FinishedCondition(r.old) == batchv1.JobFailed {
			if err := cmdutil.RunVerb(cmd, "bundle", "job/"+r.old.Name, "--namespace="+r.old.Namespace); err != nil {
				err = cmdutil.ExplainError(err) // It may be Ctrl-C.
				return cmdutil.NewUserError(cmdutil.KindOf(err), err, fmt.Sprintf("%s is kept, because its evidence cannot be saved: %s", r.label(), cmdutil.ErrorLine(err)),
					"or replace it without: --keep-evidence=never")
			}
		}
		if err := o.removeOld(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// planReplacement returns the Job that has the name of the object, nil if there is none, and prints how they differ.
func (o *Options) planReplacement(ctx context.Context, object *manifest.Object) (*replacement, error) {
	if object.Name() == "" { // The API server generates another name each time.
		return nil, nil
	}
	write, err := o.creator.Writer(ctx, &unstructured.Unstructured{Object: object.Content})
	if err != nil {
		return nil, err
	}
	found, err := write.Get(ctx, object.Name())
	switch {
	case kube.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	old, err := cmdutil.ToJob(found)
	if err != nil {
		return nil, err
	}
	r := &replacement{write, old}
	if !reconcile.IsFinished(old) && !o.manifests.Forced() {
		return nil, cmdutil.NewUserError(cmdutil.KindOther, nil, r.label()+" has not finished",
			fmt.Sprintf("wait for it: kubectl batchjob wait %s -n %s; or end it and its pods: --replace --force", old.Name, old.Namespace))
	}
	lines, err := o.differences(ctx, write, found, object)
	if err != nil {
		return nil, errors.Join(manifests.Locate(object, err)...)
	}
	fmt.Fprintln(o.ErrOut, r.label()+" is replaced")
	for _, line := range lines[:min(len(lines), maxDifferences)] {
		fmt.Fprintln(o.ErrOut, "  "+sanitize.Line(line))
	}
	if left := len(lines) - maxDifferences; left > 0 {
		fmt.Fprintln(o.ErrOut, "  and "+wording.Plural(left, "other difference", "other differences"))
	}
	return r, nil
}

// differences compares the Job with what the API server would store for the object, including defaults. If the API server
// rejects the object, that is the error.
func (o *Options) differences(ctx context.Context, write jobwrite.Client, old *unstructured.Unstructured, object *manifest.Object) ([]string, error) {
	tried := (&unstructured.Unstructured{Object: object.Content}).DeepCopy()
	tried.SetGenerateName("replace-")
	tried.SetName("")
	write.Options.DryRun = []string{metav1.DryRunAll}
	stored, err := write.Create(ctx, tried)
	switch {
	case apierrors.IsForbidden(err) || apierrors.IsTooManyRequests(err): // The old Job may use up a quota.
		return nil, nil
	case err != nil:
		return nil, err
	}
	before, _ := retry.Copy(old, "")
	after, _ := retry.Copy(stored, "")
	var lines []string
	compare("spec", before.Object["spec"], after.Object["spec"], func(path string, before, after any) {
		lines = append(lines, fmt.Sprintf("%s: %s: %s → %s", object.Position(path), path, valueText(before), valueText(after)))
	})
	return lines, nil
}

// compare calls differ for each value that two JSON values do not share; nil is an absent one.
func compare(path string, before, after any, differ func(path string, before, after any)) {
	switch old := before.(type) {
	case map[string]any:
		if made, is := after.(map[string]any); is {
			keys := slices.Sorted(maps.Keys(old))
			for _, key := range slices.Sorted(maps.Keys(made)) {
				if _, both := old[key]; !both {
					keys = append(keys, key)
				}
			}
			for _, key := range keys {
				step := "." + key
				if strings.ContainsAny(key, "./") {
					step = "[" + key + "]"
				}
				compare(path+step, old[key], made[key], differ)
			}
			return
		}
	case []any:
		if made, is := after.([]any); is && len(old) == len(made) {
			for i := range old {
				compare(path+"["+strconv.Itoa(i)+"]", old[i], made[i], differ)
			}
			return
		}
	}
	if !reflect.DeepEqual(before, after) {
		differ(path, before, after)
	}
}

// valueText returns a value in JSON, shortened; "none" for nil.
func valueText(value any) string {
	const width = 60
	if value == nil {
		return "none"
	}
	text, err := json.Marshal(value)
	if err != nil {
		return "?"
	}
	return wording.Shorten(string(text), width)
}

// removeOld deletes the Job, and returns when it and its pods are gone. Another Job of its name is an error. If ctx ends, a line says
// what is left.
func (o *Options) removeOld(ctx context.Context, r replacement) error {
	err := o.untilGone(ctx, r)
	if ctx.Err() == nil {
		return err
	}
	fmt.Fprintf(o.ErrOut, "%s is being deleted, and the new Job was not created\n", r.label())
	return context.Cause(ctx)
}

func (o *Options) untilGone(ctx context.Context, r replacement) error {
	timing := o.Timing()
	start, waitsFor := o.Now(), ""
	pause := timing.Backoff.First
	for asked := false; ; {
		found, err := r.write.Get(ctx, r.old.Name)
		switch {
		case kube.IsNotFound(err):
			fmt.Fprintln(o.ErrOut, r.label()+" deleted")
			return nil
		case err != nil && !cmdutil.IsOutage(err):
			return err
		case err == nil && found.GetUID() != r.old.UID:
			return cmdutil.NewUserError(cmdutil.KindOther, nil, r.label()+" was created again by "+creator(found),
				"change the manifest where it comes from: what deploys it, such as Argo CD or Helm, creates the Job again")
		case err == nil && (!asked || found.GetDeletionTimestamp() == nil):
			if err := r.delete(ctx); err != nil {
				return err
			}
			asked = true
		case err == nil && o.Now().Sub(start) >= goneAfter:
			if what := fmt.Sprintf("Waiting for %s and its pods to be deleted (finalizers: %s)", r.label(), strings.Join(found.GetFinalizers(), ", ")); what != waitsFor {
				waitsFor = what
				fmt.Fprintln(o.ErrOut, sanitize.Line(what))
			}
		}
		if err := timing.Pause(ctx, pause, nil); err != nil {
			return err
		}
		pause = min(2*pause, timing.Backoff.Max)
	}
}

// delete asks for the deletion. The next look at the Job shows what became of it.
func (r replacement) delete(ctx context.Context) error {
	err := r.write.DeleteWithPods(ctx, r.old.Name, r.old.UID)
	if kube.IsNotFound(err) || apierrors.IsConflict(err) || cmdutil.IsOutage(err) {
		return nil
	}
	return err
}

// creator returns the field manager that created an object.
func creator(object *unstructured.Unstructured) string {
	for _, entry := range object.GetManagedFields() {
		if entry.Subresource == "" && entry.Manager != "" {
			return sanitize.Line(entry.Manager)
		}
	}
	return "something else"
}
