package cli

import (
	"context"
	"io"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/leader"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
)

// explainer reads what belongs to a Job, and explains it.
type explainer struct {
	client   kubernetes.Interface
	now      func() time.Time
	options  explain.Options
	logLines int64
	// brief leaves out what only the explanation of a single Job shows.
	brief bool

	once   sync.Once
	reader *gather.Reader
}

// openJobs makes the clients of a verb that looks at Jobs.
func openJobs(kube *genericclioptions.ConfigFlags, choice jobChoice, warnings io.Writer, env environment) (feed.JobSet, *explainer, error) {
	config, set, err := clientOf(kube, choice, warnings)
	if err != nil {
		return set, nil, err
	}
	explainer, err := newExplainer(config, env.now)
	return set, explainer, err
}

// newExplainer speaks protobuf, which costs a fifth of JSON where a Job has 10,000 pods.
func newExplainer(config *rest.Config, now func() time.Time) (*explainer, error) {
	config = rest.CopyConfig(config)
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	config.QPS = -1 // explainAtOnce is the limit.
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, explainConfigError(err)
	}
	return &explainer{client: client, now: now}, nil
}

// facts are what there is to know of a Job that was read before.
func (e *explainer) facts(ctx context.Context, object *unstructured.Unstructured) (explain.Input, error) {
	job, err := feed.NamedJob(object)
	if err != nil {
		return explain.Input{}, err
	}
	e.once.Do(func() {
		e.reader = gather.NewReader(e.client, gather.Options{
			Report: e.options, LogLines: e.logLines, WithoutPodEvents: e.brief, OurName: controller.DefaultManagedBy,
			LeaseName: func(managedBy string) string { return leader.LeaseName(managedBy) },
		})
	})
	return e.reader.Read(ctx, &job.Job, job.RuleNames, e.now()), nil
}

func (e *explainer) report(ctx context.Context, object *unstructured.Unstructured) (explain.Report, error) {
	facts, err := e.facts(ctx, object)
	if err != nil {
		return explain.Report{}, err
	}
	return analysis.Explain(facts, e.options), ctx.Err()
}

// explainAtOnce is how many Jobs are read at a time.
const explainAtOnce = 4

// reports are those of several Jobs, in order. done is told after each how many there are.
func (e *explainer) reports(ctx context.Context, jobs []*unstructured.Unstructured, done func(int)) ([]explain.Report, error) {
	reports := make([]explain.Report, len(jobs))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(explainAtOnce)
	var mu sync.Mutex
	finished := 0
	for i, job := range jobs {
		group.Go(func() error {
			var err error
			reports[i], err = e.report(ctx, job)
			mu.Lock()
			defer mu.Unlock()
			finished++
			done(finished)
			return err
		})
	}
	return reports, group.Wait()
}
