package controller

import (
	"crypto/tls"
	"errors"
	"os"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	kubemetrics "k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
	_ "k8s.io/component-base/metrics/prometheus/restclient" // rest_client_…
	_ "k8s.io/component-base/metrics/prometheus/workqueue"  // workqueue_…
	"k8s.io/utils/clock"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/serving"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/metrics"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
)

// servingOptions are the flags of the controller's HTTP servers.
type servingOptions struct {
	metricsAddress, healthAddress string
	metricsSecure, profiling      bool
	certFile, keyFile             string

	// reviews reviews unknown tokens, and knownReviews tokens that were allowed before.
	reviews, knownReviews kube.Interface
	gatherer              kubemetrics.Gatherer
	running               runtimeSet
}

// runtimeSet holds the running Runtimes: none while the process waits for the lead, starts or stops; with shards, one
// for each shard.
type runtimeSet struct {
	mu       sync.Mutex
	runtimes []*controller.Runtime
}

func (w *runtimeSet) add(r *controller.Runtime) (remove func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runtimes = append(w.runtimes, r)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.runtimes = slices.DeleteFunc(w.runtimes, func(other *controller.Runtime) bool { return other == r })
	}
}

// state reports whether there are Runtimes, and whether all are ready.
func (w *runtimeSet) state() (working, ready bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	unready := slices.ContainsFunc(w.runtimes, func(r *controller.Runtime) bool { return !r.Ready() })
	return len(w.runtimes) > 0, !unready
}

// reviewQPS is the rate limit of token reviews. Unknown tokens and tokens that were allowed before have separate
// limits, which are also separate from all other requests.
const reviewQPS = 10

func (o *servingOptions) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.metricsAddress, "metrics-bind-address", ":8443", "Address for /metrics and /configz, as HOST:PORT or :PORT; 0 to turn it off.")
	flags.BoolVar(&o.metricsSecure, "metrics-secure", true, "Serve metrics over TLS, and only to clients whose bearer token allows it. If false, anyone who can reach the address can read them.")
	flags.BoolVar(&o.profiling, "profiling", false, "Also serve profiles for go tool pprof, at /debug/pprof/.")
	flags.StringVar(&o.certFile, "tls-cert-file", "", "PEM file with the certificate chain for metrics. Default: a self-signed certificate.")
	flags.StringVar(&o.keyFile, "tls-private-key-file", "", "PEM file with the key of --tls-cert-file. Both files are reloaded when they change.")
	flags.StringVar(&o.healthAddress, "health-probe-bind-address", ":8081", "Address for /healthz and /readyz, as HOST:PORT or :PORT; 0 to turn it off.")
}

// completeServing creates the metrics, and the clients that review tokens.
func (o *Options) completeServing(config *rest.Config) (err error) {
	registry := kubemetrics.NewKubeRegistry()
	o.config.Metrics = metrics.New(registry, clock.RealClock{})
	o.gatherer = prometheus.Gatherers{registry, legacyregistry.DefaultGatherer}
	if o.reviews, err = newControllerClient(config, reviewQPS, reviewQPS, eventTimeout); err != nil {
		return err
	}
	o.knownReviews, err = newControllerClient(config, reviewQPS, reviewQPS, eventTimeout)
	return err
}

// namedServer is a server with a name for its content.
type namedServer struct {
	*serving.Server
	serves string
}

// listen opens the health and the metrics address.
func (o *Options) listen() ([]namedServer, error) {
	handler, config := serving.Metrics(o.gatherer, o.runningConfig(), o.profiling), (*tls.Config)(nil)
	if o.metricsSecure {
		hosts := []string{"localhost"}
		if host, err := os.Hostname(); err == nil {
			hosts = append(hosts, host)
		}
		var err error
		if config, err = serving.NewTLS(o.certFile, o.keyFile, hosts...); err != nil {
			return nil, cmdutil.UsageErrorf("%v", err)
		}
		handler = serving.WithAuthorization(handler, o.reviews, o.knownReviews, clock.RealClock{})
	}
	health, err := serving.Listen("health probes", o.healthAddress, serving.Probes(o.healthChecks(), o.readyChecks()), nil)
	if err != nil {
		return nil, listenError("--health-probe-bind-address", err)
	}
	metricsServer, err := serving.Listen("metrics", o.metricsAddress, handler, config)
	if err != nil {
		health.Close()
		return nil, listenError("--metrics-bind-address", err)
	}
	return []namedServer{{health, "Health probes"}, {metricsServer, "Metrics"}}, nil
}

func listenError(flag string, err error) error {
	return cmdutil.NewUserError(cmdutil.KindUsage, err, err.Error(), "choose another address with "+flag+", or turn it off with "+flag+" 0")
}

// healthChecks fail if the process cannot recover by itself, such as a leader that cannot step down.
func (o *Options) healthChecks() map[string]serving.Check {
	checks := map[string]serving.Check{"ping": func() error { return nil }}
	switch {
	case o.sharding != nil:
		checks["leaderElection"] = o.sharding.Check
	case o.watchdog != nil:
		checks["leaderElection"] = o.watchdog.Check
	}
	return checks
}

// readyChecks succeed if Jobs are being reconciled, or would be if the leader stopped.
func (o *Options) readyChecks() map[string]serving.Check {
	return map[string]serving.Check{"watches": func() error {
		if working, ready := o.running.state(); ready && (working || o.election != nil) {
			return nil
		}
		return errors.New("still listing Jobs and pods")
	}}
}
