package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed/live"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/leader"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// liveLogLines is how many last lines of the logs that matter most belong to the evidence, if nobody says otherwise.
const liveLogLines = 10

// liveView is a live source of the Jobs that were chosen.
type liveView struct {
	choice jobChoice
	set    feed.JobSet
	source *live.Source
}

// openLive makes the clients. Warnings of the API server go to warnings; logLines is how many last lines of logs belong to
// the evidence, 0 for none.
func openLive(logLines int64, kube *genericclioptions.ConfigFlags, choice jobChoice, warnings io.Writer, env environment) (*liveView, error) {
	config, set, err := clientOf(kube, choice, warnings)
	if err != nil {
		return nil, err
	}
	source, err := connectLive(config, set, logLines, env)
	return &liveView{choice: choice, set: set, source: source}, err
}

// connectLive makes the clients of a source for the Jobs of set. The set's own client may be of one namespace or of all.
func connectLive(config *rest.Config, set feed.JobSet, logLines int64, env environment) (*live.Source, error) {
	typed, err := newExplainer(config, env.now)
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.QPS = -1 // Watches are few, and opened one after the other.
	jobs, err := jobsResource(config)
	if err != nil {
		return nil, err
	}
	return live.NewSource(live.Config{
		Timing: env.timing(), Set: set, Jobs: jobs, Client: typed.client, LogLines: logLines, OpenLog: openLiveLog(typed.client, env),
		OurName: controller.DefaultManagedBy, LeaseName: func(managedBy string) string { return leader.LeaseName(managedBy) },
		Explain: inOneLine, Guard: guarded,
	}), nil
}

// check reads the Jobs that were named, before the terminal is taken over: credentials may
// have to be asked for, and a typing error is an error.
func (v *liveView) check(ctx context.Context) error {
	if len(v.choice.names) == 0 {
		options := v.set.Options()
		options.Limit = 1
		_, err := v.set.Client.List(ctx, options)
		return v.set.Call("list", "").Wrap(err)
	}
	_, failed := v.set.GetAll(ctx)
	return errors.Join(failed...)
}

// single is the one Job that was named, zero if there is not exactly one.
func (v *liveView) single() snapshot.JobKey {
	if len(v.choice.names) != 1 {
		return snapshot.JobKey{}
	}
	return snapshot.JobKey{Namespace: v.set.Namespace, Name: v.choice.names[0]}
}

// what is the set in words.
func (v *liveView) what() string {
	what := "namespace " + v.set.Namespace
	if v.choice.allNamespaces {
		what = "all namespaces"
	}
	switch {
	case len(v.choice.names) > 1:
		what += fmt.Sprintf(", %d by name", len(v.choice.names))
	case v.choice.selector != "":
		what += ", labels " + v.choice.selector
	}
	return what
}

// label names a Job as people of this view know it.
func (v *liveView) label(key snapshot.JobKey) string {
	if v.choice.allNamespaces {
		return "job.batch/" + key.Name + " in namespace " + key.Namespace
	}
	return "job.batch/" + key.Name
}

// viewJob is the interactive view of one Job, in place of printing it. logLines is how many last lines of logs belong to
// the evidence, 0 for none.
func viewJob(ctx context.Context, name string, start tui.Start, logLines int64, kube *genericclioptions.ConfigFlags, v viewer) error {
	held := &heldLines{}
	defer held.release(v.ErrOut)
	live, err := openLive(logLines, kube, jobChoice{names: []string{name}}, held, v.env)
	if err != nil {
		return err
	}
	if err := live.check(ctx); err != nil {
		return err
	}
	return live.run(ctx, func(ctx context.Context, source snapshot.Source) error {
		return v.show(ctx, tui.Options{Source: source, Start: start, Job: live.single(), What: live.what()})
	})
}

// run keeps the source going for as long as use works with it.
func (v *liveView) run(ctx context.Context, use func(context.Context, snapshot.Source) error) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { _ = v.source.Run(ctx) }) // Next returns its error.
	return use(ctx, v.source)
}
