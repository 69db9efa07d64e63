package controller

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/klog/v2"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
)

// Run runs the controller until ctx is done.
func (o *Options) Run(ctx context.Context) error {
	advice, err := o.checkServer(ctx)
	if err != nil {
		return err
	}
	if err := checkPermissions(ctx, o.config.Client, o.config.Namespaces, o.leaseNamespace()); err != nil {
		return err
	}
	if err := checkVersions(ctx, o.config.Client, o.config.Namespaces); err != nil {
		return err
	}
	defer logs.FlushLogs()
	o.advise(ctx, advice)
	servers, err := o.listen(o)
	if err != nil {
		return err
	}
	ctx = klog.NewContext(ctx, klog.Background())
	group, ctx := errgroup.WithContext(ctx)
	for _, s := range servers {
		group.Go(func() error { return s.Run(ctx) })
	}
	if o.logging.Format == logsapi.DefaultLogFormat { // JSON logs are for programs.
		o.greet(servers)
	}
	group.Go(func() error {
		if o.election == nil {
			return o.lead(ctx)
		}
		return o.election.Run(ctx, o.lead)
	})
	return group.Wait()
}

// lead works until ctx is done: as long as the process runs, or has the lead.
func (o *Options) lead(ctx context.Context) error {
	runtime, err := controller.New(o.config)
	if err != nil {
		return cmdutil.UsageErrorf("%v", err)
	}
	o.working.Store(runtime)
	defer o.working.Store(nil)
	return runtime.Run(ctx)
}

func (o *Options) greet(servers []namedServer) {
	whose := "managedBy " + o.config.ManagedBy
	if o.config.ReplaceBuiltin {
		whose += " and all Jobs of the built-in controller"
	}
	fmt.Fprintf(o.ErrOut, "Reconciling Jobs with %s in %s. Stop with Ctrl-C.\n", whose, namespacesText(o.config.Namespaces))
	for _, s := range servers {
		if s.URL() != "" {
			fmt.Fprintf(o.ErrOut, "%s at %s.\n", s.serves, s.URL())
		}
	}
}

func namespacesText(namespaces []string) string {
	if len(namespaces) == 0 {
		return "all namespaces"
	}
	return "namespace " + strings.Join(namespaces, ", ")
}
