package cmdutil

import (
	"context"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube/apicall"
)

// ExplainMissing explains each error about a Job that does not exist by what the Job left behind. It returns all errors, in
// order.
func (e *Explainer) ExplainMissing(ctx context.Context, all []error) []error {
	for i, err := range all {
		call := apicall.Of(err)
		if !kube.IsNotFound(err) || call.Resource != "jobs" || call.Name == "" || call.Namespace == "" {
			continue
		}
		user := explainStatus(err)
		if user == nil || IsJobResource(call.Name) {
			continue
		}
		what, hint := gather.Traces(ctx, e.Client, call.Namespace, call.Name, e.now()).Explain()
		if what != "" {
			user.What += ": " + OneLine(what)
		}
		if hint != "" {
			user.Hint = OneLine(hint)
		}
		all[i] = user
	}
	return all
}
