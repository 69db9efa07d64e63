package cmdutil

import (
	"context"

	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// ReadJob reads a Job of the cluster, its pods and its events.
func ReadJob(ctx context.Context, kube *genericclioptions.ConfigFlags, name string, env Env) (explain.Input, error) {
	set, explainer, err := OpenJobs(kube, JobChoice{Names: []string{name}}, env.ErrOut, env)
	if err != nil {
		return explain.Input{}, err
	}
	job, err := set.Get(ctx, name)
	if err != nil {
		return explain.Input{}, err
	}
	return explainer.Input(ctx, job)
}
