package rerun

import (
	"context"
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/jobprinter"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube/apicall"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// explainRefusal explains why the Job cannot be retried, with a hint.
func explainRefusal(err error, f *Candidate) error {
	var refused *retry.RefusedError
	if !errors.As(err, &refused) {
		return err
	}
	name, kind := "job.batch/"+refused.Job.Name, cmdutil.KindUsage // of most refusals that flags cause
	var what, hint string
	switch refused.Kind {
	case retry.NotIndexed:
		what, hint = "--indexes: "+name+" is not an Indexed Job", "leave out --indexes to run the missing completions"
	case retry.OutOfRange:
		what = fmt.Sprintf("--indexes: %s has no index %s; its indexes are 0-%d", name, shown(refused.Indexes), *refused.Job.Spec.Completions-1)
	case retry.NoIndexes:
		what = "--indexes: the list is empty"
	case retry.ReadsNoList:
		what, hint = "--by-annotation: "+readerText(refused.ManagedBy)+"; it would run all indexes", "leave out --by-annotation"
	case retry.Finished:
		what, hint = "--replace: "+name+" has finished", "leave out --replace; its pods and logs stay"
	default:
		kind = cmdutil.KindOther
		what, hint = refusalText(refused, f)
	}
	return cmdutil.NewUserError(kind, err, what, hint)
}

// refusalText explains a refusal that does not come from the wrong use of flags.
func refusalText(refused *retry.RefusedError, f *Candidate) (what, hint string) {
	name := "job.batch/" + refused.Job.Name
	switch refused.Kind {
	case retry.Running:
		hint = "wait for it first: kubectl batchjob wait " + refused.Job.Name
		if refused.Job.UID == f.Job.UID {
			hint += "; or end it and run what it has not completed: --replace"
		}
		return name + " has not finished", hint
	case retry.Pending:
		return name + " is a retry whose creation was interrupted, and runs nothing", "retry " + retry.RootOf(refused.Job) + ", which replaces it"
	case retry.NothingMissing:
		return name + " is complete", rerunHint(refused.Job)
	case retry.LargerMissing:
		return fmt.Sprintf("job.batch/%s lacks nothing, but %s, which has more indexes, lacks %s", f.Job.Name, name, indexesText(refused.Indexes)),
			"run what is missing: kubectl batchjob retry " + refused.Job.Name
	case retry.FamilyComplete:
		if refused.Job.UID == f.Job.UID {
			return "nothing is missing: all completions of " + name + " have succeeded", rerunHint(f.Job)
		}
		return fmt.Sprintf("nothing is missing: %s has completed what %s did not", name, f.Job.Name), rerunHint(f.Job)
	case retry.NothingRan:
		return "no index is known to have run without completing", "leave out --failed-only, or choose indexes with --indexes"
	case retry.ListTooLong:
		return "a list of indexes is too long for an annotation", "leave out --by-annotation, or choose longer ranges with --indexes"
	}
	// retry.OtherCluster
	return "MultiKueue runs " + name + " in another cluster, where its retry would run all indexes", "retry it in the cluster that has its pods"
}

// readerText says why the controller of a retry is not known to read the annotation.
func readerText(managedBy string) string {
	if managedBy == "" || managedBy == batchv1.JobControllerName {
		return "the built-in controller, which runs the new Job, does not read the annotation"
	}
	return fmt.Sprintf("nothing shows that the controller %s, which runs the new Job, reads the annotation", managedBy)
}

// rerunHint returns the hint for rerunning complete indexes.
func rerunHint(job *batchv1.Job) string {
	if jobspec.IsIndexed(&job.Spec) {
		return "choose what to run again with --indexes"
	}
	return ""
}

// askFor returns the hint for a missing permission.
func askFor(call apicall.Call) string {
	return fmt.Sprintf("ask for the verb %q on %q, and check it with: %s", call.Verb, call.GroupResource(), call.CanI())
}

// explainForbidden explains a missing permission for a step after the creation; err is nil if no attempt was made.
func (c *Client) explainForbidden(call apicall.Call, plan *retry.Plan, err error) error {
	hint := askFor(call)
	if managedBy, _, _ := unstructured.NestedString(plan.Object.Object, "spec", "managedBy"); managedBy == controller.DefaultManagedBy {
		hint = "use --by-annotation, because controller " + managedBy + " runs the Job; or " + hint
	}
	return cmdutil.NewUserError(cmdutil.KindForbidden, err, fmt.Sprintf("you may not patch %s %s, and without it every index would run again", call.Resource, call.Where()), hint)
}

// explainExists explains that the name is taken. existing is the Job with that name, nil if it is gone.
func (c *Client) explainExists(f *Candidate, existing *unstructured.Unstructured, name string, err error) error {
	what, hint := fmt.Sprintf("job.batch/%s exists already", name), "choose another name with --name"
	if existing != nil {
		job, _ := cmdutil.ToJob(existing)
		if job != nil && len(retry.FamilyOf(f.Job, []*batchv1.Job{job})) > 1 {
			what += ": another retry of " + f.Job.Name + " has created it"
			hint = "see it with: " + c.statusCommand(name)
		}
	}
	return cmdutil.NewUserError(cmdutil.KindServerFailed, err, what, hint)
}

func (c *Client) statusCommand(name string) string {
	return "kubectl batchjob status " + name + " -n " + c.jobs.Namespace
}

// explainRemoved explains why a created Job could not be resumed: it is gone, as a retry removes unfinished retries
// of its family.
func explainRemoved(name string, err error, mayHaveRun bool) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	what := fmt.Sprintf("job.batch/%s was deleted before it ran, perhaps by another retry", name)
	if mayHaveRun {
		what = fmt.Sprintf("job.batch/%s was created and then deleted; it is not known whether it ran", name)
	}
	return cmdutil.NewUserError(cmdutil.KindServerFailed, err, what, "see what runs: kubectl batchjob status")
}

// explainLeft describes the state of a created Job that could not be removed.
func (c *Client) explainLeft(name string, err error, mayRun bool) error {
	what, hint := "but is suspended and runs nothing", "the next retry removes it, or: kubectl delete job "+name+" -n "+c.jobs.Namespace
	switch {
	case mayRun:
		what, hint = "and it is not known whether it runs", "see it with: "+c.statusCommand(name)
	case kube.MayBeDone(err): // The response to its deletion may be lost.
		what = "and may be left suspended; it runs nothing"
	}
	return cmdutil.NewUserError(cmdutil.KindOther, err, "job.batch/"+name+" was created, "+what, hint)
}

// RunsText says which indexes or completions the new Job runs.
func RunsText(plan *retry.Plan) string {
	var text string
	switch all, _, _ := unstructured.NestedInt64(plan.Object.Object, "spec", "completions"); {
	case !plan.Indexed && plan.Pods == 0:
		text = "It runs like " + plan.Root + ", which has no number of completions."
	case !plan.Indexed:
		text = fmt.Sprintf("It runs the %s missing.", wording.Plural(plan.Pods, "completion that is", "completions that are"))
	case plan.Indexes.Len() == int(all):
		text = "It runs all " + wording.Count(all, "indexes") + "."
	default:
		text = fmt.Sprintf("It runs %s; the other %s as done.", indexesText(plan.Indexes), wording.Plural(all-int64(plan.Indexes.Len()), "index counts", "indexes count"))
	}
	if plan.Steps != nil && plan.Steps.Queue != "" {
		text += " Kueue starts it (queue " + plan.Steps.Queue + ")."
	}
	return text
}

func indexesText(indexes indexset.Set) string {
	if indexes.Len() == 1 {
		return "index " + shown(indexes)
	}
	return wording.Count(indexes.Len(), "indexes") + " (" + shown(indexes) + ")"
}

func shown(indexes indexset.Set) string {
	return wording.Crop(indexes.String(), jobprinter.IndexesLimit, "…")
}

// DroppedText says why the copy lacks a part of the original.
func DroppedText(dropped retry.Dropped) string {
	switch dropped.Kind {
	case retry.Owner:
		return dropped.Name + " does not own the new Job, and does not know about it"
	case retry.Tool:
		return dropped.Name + " was left out: the tool that sets it would take the new Job for its own"
	case retry.Selector:
		return "the manual selector was left out: it would claim the pods of both Jobs"
	}
	return "the successPolicy was left out: the indexes that count as completed meet its rule " + dropped.Name
}
