// Command broken is a Job controller with a planted bug that the conformance suite must find:
//
//	go run ./test/cluster/conformance/broken --kubeconfig ~/.kube/config --managed-by example.com/x --break releases-early
//
// It is this project's controller; the bug changes its requests or responses in transit.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
)

// bugs maps names to the bugs that can be planted.
var bugs = map[string]func(next http.RoundTripper, managedBy string, client kubernetes.Interface) http.RoundTripper{
	"ignores-managed-by":       ignoresManagedBy,
	"ignores-per-index-limits": ignoresPerIndexLimits,
	"releases-early":           releasesEarly,
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "Path to the kubeconfig `file`")
	managedBy := flag.String("managed-by", "", "spec.managedBy of the Jobs: the `name` of this controller")
	bug := flag.String("break", "", "The `bug`. One of: ("+strings.Join(slices.Sorted(maps.Keys(bugs)), ", ")+")")
	flag.Parse()
	if err := run(*kubeconfig, *managedBy, *bug); err != nil {
		fmt.Fprintln(os.Stderr, "broken:", err)
		os.Exit(1)
	}
}

func run(kubeconfig, managedBy, bug string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	plant, known := bugs[bug]
	if !known || managedBy == "" {
		return errors.New("--managed-by and --break are required; see --help")
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1
	plain, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	changed := rest.CopyConfig(config)
	// JSON can be changed in transit.
	changed.ContentType, changed.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	changed.Wrap(func(next http.RoundTripper) http.RoundTripper { return plant(next, managedBy, plain) })
	client, err := kube.NewForConfig(changed)
	if err != nil {
		return err
	}
	engine, err := controller.New(controller.Config{Client: client, ManagedBy: managedBy, Workers: workers})
	if err != nil {
		return err
	}
	go announce(ctx, engine)
	return engine.Run(ctx)
}

const workers = 10

// announce prints when the controller is ready, as the real controller does.
func announce(ctx context.Context, engine *controller.Runtime) {
	err := wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(context.Context) (bool, error) { return engine.Ready(), nil })
	if err == nil {
		fmt.Fprintln(os.Stderr, "Reconciling Jobs")
	}
}
