package rerun

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
)

// Replace creates the retry of an unfinished Job like Create, and then deletes the old Job with its pods, so that a
// failed creation leaves the old Job running. On error with a Job, the retry runs and the old Job may be left.
func (c *Client) Replace(ctx context.Context, f *Found, plan *retry.Retry) (*unstructured.Unstructured, error) {
	if allowed, err := c.may(ctx, "delete", ""); err == nil && !allowed { // Without permission to ask, the attempt will show it.
		call := c.jobs.Call("delete", f.Job.Name)
		return nil, cmdutil.NewUserError(cmdutil.KindForbidden, nil, fmt.Sprintf("you may not delete %s %s, and --replace does", call.Resource, call.Where()),
			fmt.Sprintf("ask for the verb %q on %q, and check it with: %s", "delete", call.GroupResource(), call.CanI()))
	}
	made, err := c.Create(ctx, f, plan)
	if err != nil || c.options.DryRun {
		return made, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime) // despite Ctrl-C: two Jobs would do the same work
	defer cancel()
	name := f.Job.Name
	if err := c.write.Delete(ctx, name, f.Job.UID, ""); err != nil && !kube.IsNotFound(err) {
		return made, cmdutil.NewUserError(cmdutil.KindOther, err,
			fmt.Sprintf("job.batch/%s was created, and job.batch/%s, which it replaces, may be left: %v", made.GetName(), name, err),
			"delete it: kubectl delete job "+name+" -n "+c.jobs.Namespace)
	}
	fmt.Fprintf(c.options.Out, "job.batch/%s deleted\n", sanitize.Line(name))
	return made, nil
}
