package view

import (
	"context"
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/interrupt"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/jobwrite"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
)

// changer suspends, resumes and deletes Jobs for the view. It holds the retrier's lock during each change, so that
// the view waits for it at its end.
type changer struct{ *retrier }

// changeTime is the time limit for a change, which does not end with the view once it is confirmed.
const changeTime = 10 * time.Second

func (c changer) IsAllowed(ctx context.Context, change screen.Change, namespace string) bool {
	explainer, err := cmdutil.NewExplainer(c.config, nil)
	if err != nil {
		return false
	}
	verb := map[screen.Change]string{screen.Suspend: "patch", screen.Resume: "patch", screen.Delete: "delete"}[change]
	allowed, err := cmdutil.IsAllowed(ctx, explainer.Client, feed.JobSet{Namespace: namespace}.Call(verb, ""))
	return err == nil && allowed
}

func (c changer) Apply(ctx context.Context, change screen.Change, job types.NamespacedName, uid string) error {
	c.creating.Lock()
	defer c.creating.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	jobs, err := cmdutil.NewJobsClient(c.config)
	if err != nil {
		return errors.New(cmdutil.ErrorLine(err))
	}
	sending, cancel := context.WithTimeout(context.WithoutCancel(ctx), changeTime)
	defer cancel()
	interrupt.Hold(sending)
	set := feed.JobSet{Client: jobs.Namespace(job.Namespace), Namespace: job.Namespace}
	write := jobwrite.New(set, metav1.CreateOptions{FieldManager: fieldManager})
	if change == screen.Delete {
		err = write.Delete(sending, job.Name, types.UID(uid), "")
	} else {
		err = write.SetSuspend(sending, job.Name, types.UID(uid), change == screen.Suspend)
	}
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		cmdutil.PrintError(c.out, err)
	}
	return errors.New(cmdutil.ErrorLine(err))
}
