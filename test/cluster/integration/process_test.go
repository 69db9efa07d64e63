package integration

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/backoff"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/leash"
)

// newClient returns a client like the controller verb's: protobuf, no time limit.
func newClient(t testing.TB, config *rest.Config, agent string) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(clientConfig(config, agent))
	assert.NoError(t, err, "making a client")
	return client
}

// newControllerClient returns a client as used by the controller.
func newControllerClient(t *testing.T, config *rest.Config, agent string) kube.Interface {
	t.Helper()
	client, err := kube.NewForConfig(clientConfig(config, agent))
	assert.NoError(t, err, "making a client")
	return client
}

func clientConfig(config *rest.Config, agent string) *rest.Config {
	config = rest.CopyConfig(config)
	config.QPS, config.Timeout = -1, 0
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	config.UserAgent = agent
	return config
}

// process is one run of a controller.
type process struct {
	t       *testing.T
	runtime *controller.Runtime
	wire    *wire
	log     *leash.Output
	cancel  context.CancelFunc
	ended   chan struct{}
	err     error
}

// quick makes a controller with the shortest possible waits. Tests hold calls until something else has happened, which takes long
// on a busy machine: no call may run into its timeout meanwhile.
func quick(c *controller.Config) {
	c.CallTimeout = 2 * patience
	c.BatchPeriod = 50 * time.Millisecond
	c.RetryMin, c.RetryMax = 50*time.Millisecond, time.Second
	c.Limits = reconcile.DefaultConfig()
	c.Limits.MinRequeue = 50 * time.Millisecond
	// A finish time has no fraction of a second: with this base, a back-off is over when it begins.
	c.Limits.Backoff = backoff.Policy{Base: time.Millisecond, Max: time.Millisecond}
}

// startController runs a controller for the namespace, a quick one unless the options change that, until the test stops
// it or ends.
func (f *fixture) startController(options ...func(*controller.Config)) *process {
	f.t.Helper()
	return f.startControllerAt(apiServer.Config, options...)
}

func (f *fixture) startControllerAt(at *rest.Config, options ...func(*controller.Config)) *process {
	f.t.Helper()
	p := newProcess(f.t)
	r, err := controller.New(f.config(at, p.wire.wrap, options))
	assert.NoError(f.t, err, "making a controller")
	p.runtime = r
	p.run(r.Run)
	f.processes = append(f.processes, p)
	return p
}

// config returns the configuration of a quick controller for the namespace, unless the options change that.
func (f *fixture) config(at *rest.Config, wrap transport.WrapperFunc, options []func(*controller.Config)) controller.Config {
	f.t.Helper()
	at = rest.CopyConfig(at)
	at.Wrap(wrap)
	config := controller.Config{
		Client: newControllerClient(f.t, at, controller.FieldManager), Namespaces: []string{f.namespace},
		// Events bypass the wire: they are not part of a sync.
		EventClient: newControllerClient(f.t, apiServer.Config, controller.FieldManager),
	}
	quick(&config)
	for _, o := range options {
		o(&config)
	}
	return config
}

func newProcess(t *testing.T) *process {
	return &process{t: t, wire: &wire{}, log: &leash.Output{}, ended: make(chan struct{})}
}

// run works until the process is stopped.
func (p *process) run(work func(context.Context) error) {
	logger := textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(p.log), textlogger.Verbosity(5)))
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logger))
	p.cancel = cancel
	go func() {
		defer close(p.ended)
		p.err = work(ctx)
	}()
}

// stop ends the controller as SIGTERM does, and waits for its end.
func (p *process) stop() {
	p.t.Helper()
	p.cancel()
	p.wire.unblock()
	select {
	case <-p.ended:
		if p.err != nil {
			p.t.Errorf("the controller ended with %v", p.err)
		}
	case <-time.After(patience):
		p.t.Errorf("the controller does not stop")
	}
}

// crash ends the controller, and drops all its further requests.
func (p *process) crash() {
	p.t.Helper()
	p.wire.severed.Store(true)
	p.stop()
}

// running reports whether the controller is still running.
func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}
