package view

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed/live"
	"github.com/batchjob-dev/kubectl-batchjob/internal/requests"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/leader"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube/apicall"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/whatif"
)

// DefaultLogLines is the default number of last lines of the most relevant logs in the evidence.
const DefaultLogLines = 10

// Live is a live source of the chosen Jobs.
type Live struct {
	kube    *cmdutil.KubeFlags
	config  *rest.Config
	env     cmdutil.Env
	choice  cmdutil.JobChoice
	set     feed.JobSet
	source  *live.Source
	retrier *retrier
	// jobs is the client for all namespaces, and connect creates a source for another set.
	jobs    dynamic.NamespaceableResourceInterface
	connect func(feed.JobSet) (*live.Source, error)
	// start stops the previous source, and runs the current one; Run sets it.
	start func()
}

// OpenLive creates the clients. Warnings of the API server and notices about missing permissions are written to
// warnings. logLines is the number of last lines of logs in the evidence, 0 for none.
func OpenLive(logLines int64, kube *cmdutil.KubeFlags, choice cmdutil.JobChoice, warnings io.Writer, env cmdutil.Env) (*Live, error) {
	config, set, err := cmdutil.NewJobSet(kube, choice, warnings)
	if err != nil {
		return nil, err
	}
	jobs, err := cmdutil.NewJobsClient(config)
	if err != nil {
		return nil, err
	}
	v := &Live{
		kube: kube, config: config, env: env, choice: choice, set: set,
		retrier: &retrier{config: config, out: warnings, now: env.Now}, jobs: jobs,
	}
	v.connect = func(set feed.JobSet) (*live.Source, error) {
		source, err := connectLive(config, set, logLines, env)
		if err == nil {
			source.OnRefusal = cmdutil.PrintUnwatched(warnings)
		}
		return source, err
	}
	v.source, err = v.connect(set)
	return v, err
}

// connectLive creates a source for the Jobs of set. The set's own client may be for one namespace or for all.
func connectLive(config *rest.Config, set feed.JobSet, logLines int64, env cmdutil.Env) (*live.Source, error) {
	typed, err := env.NewExplainer(config)
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.QPS = -1 // There are few watches, opened one after the other.
	jobs, err := cmdutil.NewJobsClient(config)
	if err != nil {
		return nil, err
	}
	return live.NewSource(live.Config{
		Timing: env.Timing(), Set: set, Jobs: jobs, Client: typed.Client, LogLines: logLines, OpenLog: openLiveLog(typed.Client, env),
		OurName: controller.DefaultManagedBy, Leases: leader.Leases{},
		Quote: whatif.Quote, Explain: cmdutil.ErrorLine, Guard: recovered,
	}), nil
}

// Check reads the chosen Jobs before the view takes over the terminal: a credential plugin may prompt, and a mistyped
// name is to be an error.
func (v *Live) Check(ctx context.Context) error {
	if len(v.choice.Names) == 0 {
		options := v.set.Options()
		options.Limit = 1
		_, err := v.set.Client.List(ctx, options)
		return v.set.Call("list", "").Wrap(err)
	}
	_, failed := v.set.GetAll(ctx)
	if len(failed) == 0 {
		return nil
	}
	explainer, err := cmdutil.NewExplainer(v.config, v.env.Now)
	if err != nil {
		return err
	}
	return errors.Join(explainer.ExplainMissing(ctx, failed)...)
}

// CurrentNamespace returns the namespace that kubectl uses without -n, "" if other flags choose the cluster.
func (v *Live) CurrentNamespace() string { return cmdutil.CurrentNamespace(v.kube) }

// Single returns the one Job that was named, the zero key if there is not exactly one.
func (v *Live) Single() types.NamespacedName {
	if len(v.choice.Names) != 1 {
		return types.NamespacedName{}
	}
	return v.Named(v.choice.Names[0])
}

// Named returns the key of an object in the namespace.
func (v *Live) Named(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: v.set.Namespace, Name: name}
}

// CheckCronJob does the same as Check for a view that opens with this CronJob. A CronJob that may not be read is no error.
func (v *Live) CheckCronJob(ctx context.Context, name string) error {
	if err := v.Check(ctx); err != nil {
		return err
	}
	client, err := cmdutil.NewExplainer(v.retrier.config, nil)
	if err != nil {
		return err
	}
	_, err = client.Client.BatchV1().CronJobs(v.set.Namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsForbidden(err) {
		return nil
	}
	return apicall.Call{Verb: "get", Group: batchv1.GroupName, Resource: "cronjobs", Namespace: v.set.Namespace, Name: name}.Wrap(err)
}

// Options returns the options of a view of the source that begins with the list.
func (v *Live) Options(source snapshot.Source) tui.Options {
	return tui.Options{
		Source: source, Retrier: v.Retrier(), Changer: v.Changer(), Runner: runner{v.retrier}, YAML: v.YAML,
		Start: tui.StartJobs, What: v.What(), Namespace: v.CurrentNamespace(),
	}
}

// Retrier returns a Retrier for Jobs of the cluster.
func (v *Live) Retrier() screen.Retrier { return v.retrier }

// Changer returns a Changer for Jobs of the cluster.
func (v *Live) Changer() screen.Changer { return changer{v.retrier} }

// What describes the set of Jobs in words.
func (v *Live) What() string {
	what := "namespace " + v.set.Namespace
	if v.choice.AllNamespaces {
		what = "all namespaces"
	}
	switch {
	case len(v.choice.Names) > 1:
		what += fmt.Sprintf(", %d by name", len(v.choice.Names))
	case v.choice.Selector != "":
		what += ", labels " + v.choice.Selector
	}
	return what
}

// Run runs the source while use works with it, and returns once no retry is being created.
func (v *Live) Run(ctx context.Context, use func(context.Context, snapshot.Source) error) error {
	ctx, cancel := context.WithCancel(requests.Followed(ctx))
	var running sync.WaitGroup
	defer running.Wait()
	defer v.retrier.wait()
	defer cancel()
	stop := func() {}
	v.start = func() {
		stop()
		source := v.source
		var own context.Context
		own, stop = context.WithCancel(ctx)
		running.Go(func() { _ = source.Run(own) }) // Next returns its error.
	}
	v.start()
	defer func() { stop() }()
	return use(ctx, v.source)
}
