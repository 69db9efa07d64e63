// Package rerun creates retries of Jobs on a cluster, for the verbs and the interactive view.
package rerun

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/jobwrite"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
)

// Client reads families of Jobs (a Job and its retries), and creates retries.
type Client struct {
	jobs      feed.JobSet
	write     jobwrite.Client
	kube      kube.Interface
	explainer *cmdutil.Explainer
	options   Options
}

// Options configure a Client.
type Options struct {
	FieldManager string
	// Namespace is the namespace of the Jobs, "" for the namespace of the flags.
	Namespace string
	// DryRun makes the API server check the new Job, and store nothing.
	DryRun bool
	// Out receives warnings of the API server and notices about removed Jobs.
	Out io.Writer
	// Now is the time of the cluster, for ByFailure.
	Now func() time.Time
}

// New returns a Client for the cluster and namespace that the flags choose.
func New(flags *cmdutil.KubeFlags, options Options) (*Client, error) {
	config, set, err := cmdutil.NewJobSet(flags, cmdutil.JobChoice{}, options.Out)
	if err != nil {
		return nil, err
	}
	return NewIn(config, cmp.Or(options.Namespace, set.Namespace), options)
}

// NewIn returns a Client for a namespace of a cluster.
func NewIn(config *rest.Config, namespace string, options Options) (*Client, error) {
	jobs, err := cmdutil.NewJobsClient(config)
	if err != nil {
		return nil, err
	}
	set := feed.JobSet{Client: jobs.Namespace(namespace), Namespace: namespace}
	explainer, err := cmdutil.NewExplainer(config, options.Now)
	if err != nil {
		return nil, err
	}
	creation := metav1.CreateOptions{FieldManager: options.FieldManager}
	if options.DryRun {
		creation.DryRun = []string{metav1.DryRunAll}
	}
	return &Client{jobs: set, write: jobwrite.New(set, creation), kube: explainer.Client, explainer: explainer, options: options}, nil
}

// Target names a Job, or a CronJob for its last failed Job.
type Target struct {
	Name    string
	CronJob bool
	// NewName is the name of the retry; "" for a generated name that is free.
	NewName string
}

// Candidate is a Job to retry, as stored in the API server, and its family without pending Jobs.
type Candidate struct {
	Object  *unstructured.Unstructured
	Job     *batchv1.Job
	Family  retry.Family
	pending []*batchv1.Job
	// taken are names for the next retry that Jobs outside the family already have.
	taken []string
}

// Find reads the Job, or the last failed Job of its owner, and its family.
func (c *Client) Find(ctx context.Context, target Target) (*Candidate, error) {
	find := c.named
	if target.CronJob {
		find = c.lastFailed
	}
	object, err := find(ctx, target.Name)
	if err != nil {
		return nil, err
	}
	job, err := cmdutil.ToJob(object)
	if err != nil {
		return nil, err
	}
	family, err := gather.Family(ctx, c.kube, job)
	if err != nil {
		return nil, err
	}
	f := &Candidate{Object: object, Job: job}
	for _, member := range family {
		if member.UID != job.UID && retry.IsPending(member) {
			f.pending = append(f.pending, member)
			continue
		}
		f.Family = append(f.Family, member)
	}
	if target.NewName != "" {
		return f, nil
	}
	return f, c.findTaken(ctx, f)
}

// findTaken records Jobs outside the family that have the name of the next retry, until a name is free, or
// retry.MaxTaken are taken.
func (c *Client) findTaken(ctx context.Context, f *Candidate) error {
	for len(f.taken) < retry.MaxTaken {
		_, name := f.Family.Next(f.Job, f.taken)
		object, err := c.jobs.Get(ctx, name)
		if kube.IsNotFound(err) || apierrors.IsForbidden(err) { // The creation will report whether it exists.
			return nil
		}
		if err != nil {
			return err
		}
		job, err := cmdutil.ToJob(object)
		if err != nil || len(retry.FamilyOf(f.Job, []*batchv1.Job{job})) > 1 { // an interrupted retry, or one created since
			return err
		}
		f.taken = append(f.taken, name)
	}
	return nil
}

// named returns the Job with this name. If only its pods remain, the error says so.
func (c *Client) named(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	object, err := c.jobs.Get(ctx, name)
	if !kube.IsNotFound(err) {
		return object, err
	}
	pods, countErr := gather.CountPods(ctx, c.kube, c.jobs.Namespace, name)
	if countErr != nil || pods == 0 {
		return nil, c.explainer.ExplainMissing(ctx, []error{err})[0]
	}
	return nil, cmdutil.NewUserError(cmdutil.KindNotFound, err,
		fmt.Sprintf("job %q is gone, and only its pods remain (%d), which do not have its spec", name, pods),
		"create it again from its manifest: kubectl batchjob create -f FILE")
}

// lastFailed returns the newest failed Job of the CronJob.
func (c *Client) lastFailed(ctx context.Context, cronJob string) (last *unstructured.Unstructured, err error) {
	objects, _, err := c.jobs.List(ctx)
	if err != nil {
		return nil, err
	}
	owned := 0
	for _, object := range objects {
		job, err := cmdutil.ToJob(object)
		owner := metav1.GetControllerOf(object)
		if err != nil || owner == nil || owner.Kind != "CronJob" || owner.Name != cronJob {
			continue
		}
		owned++
		failed := reconcile.FinishedCondition(job) == batchv1.JobFailed
		if failed && (last == nil || last.GetCreationTimestamp().Time.Before(job.CreationTimestamp.Time)) {
			last = object
		}
	}
	if last == nil {
		what, hint := fmt.Sprintf("none of the %d Jobs of CronJob %q has failed", owned, cronJob), "name a Job to retry; see: kubectl batchjob status"
		if owned == 0 {
			what, hint = fmt.Sprintf("CronJob %q has no Jobs %s", cronJob, c.jobs.Call("list", "").Where()), "to see why: kubectl batchjob why cronjob/"+cronJob
		}
		return nil, cmdutil.NewUserError(cmdutil.KindNotFound, nil, what, hint)
	}
	return last, nil
}

// Plan plans the retry of the Job, whose Object may have been changed since Find.
func (c *Client) Plan(ctx context.Context, f *Candidate, q retry.Request) (*retry.Plan, error) {
	if !q.FailedOnly {
		return f.Plan(q)
	}
	var ran []int32 // the indexes of pods that have started
	for _, job := range f.Family {
		known := len(ran)
		begin := func() { ran = ran[:known] }
		_, err := feed.PodSet{Client: c.kube, Job: job}.List(ctx, begin, func(pod *corev1.Pod) {
			if pod.Status.Phase != corev1.PodPending {
				ran = append(ran, observe.CompletionIndex(pod))
			}
		})
		if err != nil {
			return nil, err
		}
	}
	q.Ran = indexset.Of(ran...)
	return f.Plan(q)
}

// Plan plans the retry without requests. For FailedOnly, q must have the indexes that ran.
func (f *Candidate) Plan(q retry.Request) (*retry.Plan, error) {
	q.Taken = f.taken
	plan, err := retry.Make(f.Job, f.Object, f.Family, q)
	if err != nil {
		return nil, explainRefusal(err, f)
	}
	return plan, nil
}
