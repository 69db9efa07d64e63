// Command kube-job-controller runs the Job controller of kube-controller-manager, and its service account controller,
// which pods need. The demo shows it next to ours. It is the same code with the same number of workers, but takes
// seconds to build, while all of kube-controller-manager takes a minute or more.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/component-base/version"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/controller/serviceaccount"
)

// workers is the default of kube-controller-manager's --concurrent-job-syncs.
const workers = 5

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "kube-job-controller:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := pflag.NewFlagSet("kube-job-controller", pflag.ContinueOnError)
	kubeconfig := flags.String("kubeconfig", "", "")
	showVersion := flags.Bool("version", false, "")
	// kwokctl starts it with all the flags of kube-controller-manager.
	flags.ParseErrorsAllowlist.UnknownFlags = true
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *showVersion { // kwokctl calls it
		fmt.Println("Kubernetes", version.Get())
		return nil
	}
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1 // as kwokctl sets it for kube-controller-manager
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	core := factory.Core().V1()
	// No Workloads and PodGroups: their feature gate is off by default.
	jobs, err := job.NewController(ctx, client, core.Pods(), factory.Batch().V1().Jobs(), nil, nil)
	if err != nil {
		return err
	}
	accounts, err := serviceaccount.NewServiceAccountsController(klog.FromContext(ctx), core.ServiceAccounts(), core.Namespaces(),
		client, serviceaccount.DefaultServiceAccountsControllerOptions())
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	go accounts.Run(ctx, 1)
	jobs.Run(ctx, workers)
	return nil
}
