package controller

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/klog/v2"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/interrupt"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/shard"
)

// Run runs the controller until ctx is done.
func (o *Options) Run(ctx context.Context) error {
	// If the server does not answer, the check of permissions reports it, so the advice is printed after that check.
	advice, err := readServerInfo(ctx, o.config.Client).check(!o.config.ReplaceBuiltin)
	if err != nil {
		return err
	}
	if err := checkPermissions(ctx, o.config.Client, o.config.Namespaces, o.leaseNamespace(), o.leaseRule()); err != nil {
		return err
	}
	if err := checkResourceVersions(ctx, o.config.Client, o.config.Namespaces); err != nil {
		return err
	}
	defer logs.FlushLogs()
	// The calls in progress have time limits of their own.
	running, stopped := context.WithCancel(context.WithoutCancel(ctx))
	defer stopped()
	interrupt.Hold(running)
	o.advise(ctx, advice)
	servers, err := o.listen()
	if err != nil {
		return err
	}
	ctx = klog.NewContext(ctx, klog.Background())
	group, ctx := errgroup.WithContext(ctx)
	for _, s := range servers {
		group.Go(func() error { return s.Run(ctx) })
	}
	if o.logging.Format == logsapi.DefaultLogFormat { // JSON logs are read by programs.
		o.greet(servers)
	}
	group.Go(func() error {
		switch {
		case o.sharding != nil:
			return o.leadShards(ctx)
		case o.election != nil:
			return o.election.Run(ctx, o.lead)
		}
		return o.lead(ctx)
	})
	return group.Wait()
}

// lead runs the controller until ctx is done: when the process ends, or loses the lead.
func (o *Options) lead(ctx context.Context) error {
	runtime, err := controller.New(o.config)
	if err != nil {
		return cmdutil.UsageErrorf("%v", err)
	}
	defer o.running.add(runtime)()
	return runtime.Run(ctx)
}

// leadShards runs this replica's share of the shards until ctx is done.
func (o *Options) leadShards(ctx context.Context) error {
	o.config.Metrics.SetShards(o.shards)
	unfiltered := sync.OnceFunc(func() {
		klog.FromContext(ctx).Info("The API server does not filter by shard, so each shard of this replica reads the objects of all namespaces. To have it filter, turn on its feature gate ShardedListAndWatch")
	})
	return o.sharding.Run(ctx, func(ctx context.Context, i int) error {
		// The first replica briefly has all shards: without this, its memory stays that large for minutes.
		defer func() { go debug.FreeOSMemory() }()
		config := o.config
		config.Shard, config.Unfiltered = shard.Of(i, o.shards), unfiltered
		runtime, err := controller.New(config)
		if err != nil {
			return cmdutil.UsageErrorf("%v", err)
		}
		defer o.running.add(runtime)()
		defer o.config.Metrics.ShardTaken(i, runtime.Pods)()
		return runtime.Run(klog.NewContext(ctx, klog.FromContext(ctx).WithValues("shard", i)))
	})
}

func (o *Options) greet(servers []namedServer) {
	whose := "managedBy " + o.config.ManagedBy
	if o.config.ReplaceBuiltin {
		whose += " and all Jobs of the built-in controller"
	}
	where := "all namespaces"
	if len(o.config.Namespaces) > 0 {
		where = "namespace " + strings.Join(o.config.Namespaces, ", ")
	}
	if o.sharding != nil {
		where += fmt.Sprintf(", divided among the replicas as %d shards", o.shards)
	}
	fmt.Fprintf(o.ErrOut, "Reconciling Jobs with %s in %s. Stop with Ctrl-C.\n", whose, where)
	for _, s := range servers {
		if s.URL() != "" {
			fmt.Fprintf(o.ErrOut, "%s at %s.\n", s.serves, s.URL())
		}
	}
}
