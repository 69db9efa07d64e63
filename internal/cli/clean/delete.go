package clean

import (
	"context"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/dynamic"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/interrupt"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/jobwrite"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube/apicall"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// interruptedTime is how long a deletion may take after Ctrl-C.
const interruptedTime = 10 * time.Second

// writer deletes Jobs.
type writer struct {
	cmdutil.Env
	jobs       dynamic.NamespaceableResourceInterface
	keepPods   bool
	namespaces bool // Jobs are named with their namespaces
}

// deleteAll deletes the Jobs one by one, and prints how many were deleted. It returns an error for each Job that was not, but
// one for all Jobs of a namespace in which the user may not delete Jobs. If the API server does not answer, it gives up.
func (w *writer) deleteAll(ctx context.Context, chosen []*candidate) error {
	var failed []error
	var deleted []*candidate
	refused := map[string]bool{}
	for _, c := range chosen {
		if ctx.Err() != nil {
			break
		}
		if refused[c.Namespace] {
			continue
		}
		err := w.delete(ctx, c.Job)
		if err == nil {
			deleted = append(deleted, c)
			if _, err := fmt.Fprintln(w.Out, label(c.Job, w.namespaces)+" deleted"); err != nil {
				failed = append(failed, err)
				break
			}
			continue
		}
		failed = append(failed, w.explain(c.Job, err))
		refused[c.Namespace] = cmdutil.IsMissingPermission(err)
		if !isAnswer(err) {
			break
		}
	}
	w.printDeleted(ctx, deleted, len(chosen))
	return errors.Join(append(failed, ctx.Err())...)
}

func (w *writer) printDeleted(ctx context.Context, deleted []*candidate, all int) {
	text := "Deleted "
	if ctx.Err() != nil {
		text = "Interrupted: deleted "
	}
	if len(deleted) < all {
		text += wording.Of(len(deleted), all) + " Jobs"
	} else {
		text += wording.Plural(all, "Job", "Jobs")
	}
	if pods, known := podsOf(deleted); known && pods > 0 && !w.keepPods {
		text += " with " + wording.Plural(pods, "pod", "pods")
	}
	fmt.Fprintln(w.ErrOut, text+".")
}

// delete deletes a Job. A request that was sent before Ctrl-C is completed.
func (w *writer) delete(ctx context.Context, job *batchv1.Job) error {
	sending, cancel := interrupt.Linger(ctx, interruptedTime, w.After)
	defer cancel()
	call := apicall.Call{Group: batchv1.GroupName, Resource: "jobs", Namespace: job.Namespace}
	client := jobwrite.Client{Objects: w.jobs.Namespace(job.Namespace), Call: call}
	if w.keepPods {
		return client.DeleteWithoutPods(sending, job.Name, job.UID)
	}
	return client.Delete(sending, job.Name, job.UID, "")
}

// isAnswer reports whether an error is an answer of the API server.
func isAnswer(err error) bool {
	answer := apierrors.APIStatus(nil)
	return errors.As(err, &answer)
}

// explain returns the error for a Job that was not deleted.
func (w *writer) explain(job *batchv1.Job, err error) error {
	name := label(job, w.namespaces)
	switch {
	case kube.IsNotFound(err):
		return cmdutil.NewUserError(cmdutil.KindOther, err, name+" was already deleted", "")
	case apierrors.IsConflict(err):
		return cmdutil.NewUserError(cmdutil.KindOther, err, name+" was replaced by another Job, which is left as it is", "")
	case cmdutil.IsMissingPermission(err):
		return err
	}
	if isAnswer(err) {
		return cmdutil.NewUserError(cmdutil.KindOther, err, "cannot delete "+name+": "+cmdutil.ErrorLine(err), "")
	}
	return cmdutil.NewUserError(cmdutil.KindOther, err, "cannot find out whether "+name+" was deleted: "+cmdutil.ErrorLine(err), "")
}
