package integration

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/backoff"
)

// patience is how long a test waits for anything before it fails.
const patience = 30 * time.Second

// fixture is a namespace, what happens in it, and the test that makes it happen.
type fixture struct {
	t         *testing.T
	namespace string
	// client is the user's.
	client  kubernetes.Interface
	history *recorder
	kubelet *kubelet

	processes []*process
	// tolerated are invariants that the test breaks on purpose.
	tolerated []string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{t: t, client: newClient(t, apiServer.config, "user")}
	f.namespace = newNamespace(t, f.client)
	f.history = startRecorder(t, f.client, f.namespace)
	f.kubelet = &kubelet{f: f, client: newClient(t, apiServer.config, "kubelet")}
	t.Cleanup(f.judge)
	return f
}

// statusWrites is how many status writes were accepted, and how many versions
// with another status there are.
func (f *fixture) statusWrites() (written, changes int) {
	for _, p := range f.processes {
		written += p.wire.answered(statusPut, http.StatusOK)
	}
	before := map[types.UID]*batchv1.Job{}
	for _, v := range f.history.sorted() {
		if v.job == nil {
			continue
		}
		if old := before[v.job.UID]; old != nil && !equality.Semantic.DeepEqual(old.Status, v.job.Status) {
			changes++
		}
		before[v.job.UID] = v.job
	}
	return written, changes
}

func newNamespace(t *testing.T, client kubernetes.Interface) string {
	t.Helper()
	ns, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "it-", Annotations: map[string]string{"test": t.Name()},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating a namespace: %v", err)
	}
	return ns.Name
}

// judge ends a test: controllers stop, and what was recorded is held against the
// invariants.
func (f *fixture) judge() {
	for _, p := range f.processes {
		p.stop()
	}
	f.history.finish()
	violations := judgeHistory(f.history.sorted())
	for _, p := range f.processes {
		violations = append(violations, judgeCalls(f.history, p.wire)...)
	}
	if written, changes := f.statusWrites(); written > changes {
		violations = append(violations, fmt.Sprintf("JOB-33: %d status writes, and %d of them changed something", written, changes))
	}
	for _, v := range violations {
		if id, _, _ := strings.Cut(v, " "); !slices.Contains(f.tolerated, id) {
			f.t.Errorf("invariant broken: %s", v)
		}
	}
	if !f.t.Failed() {
		return
	}
	f.t.Logf("history of namespace %s:\n%s", f.namespace, f.history.trace())
	for i, p := range f.processes {
		f.t.Logf("log of controller %d:\n%s", i+1, p.log)
	}
}

// until waits for something that the test expects.
func (f *fixture) until(what string, reached func() bool) {
	f.t.Helper()
	if !f.history.wait(reached) {
		f.t.Fatalf("waited %v in vain until %s", patience, what)
	}
}

// untilSeen waits until the history shows what a write of the test stored.
func (f *fixture) untilSeen(stored metav1.Object) {
	f.t.Helper()
	f.until("the history shows what the test wrote", func() bool { return f.history.shows(stored) })
}

// newClient makes a client as the controller verb does: protobuf, no time limit.
func newClient(t *testing.T, config *rest.Config, agent string) kubernetes.Interface {
	t.Helper()
	config = rest.CopyConfig(config)
	config.QPS, config.Timeout = -1, 0
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	config.UserAgent = agent
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatalf("making a client: %v", err)
	}
	return client
}

// process is one run of a controller.
type process struct {
	t      *testing.T
	wire   *wire
	log    *logBuffer
	cancel context.CancelFunc
	ended  chan struct{}
	err    error
}

// quick makes a controller that waits as little as it can.
func quick(c *controller.Config) {
	c.BatchPeriod = 50 * time.Millisecond
	c.RetryMin, c.RetryMax = 50*time.Millisecond, time.Second
	c.Limits = reconcile.DefaultConfig()
	c.Limits.MinRequeue = 50 * time.Millisecond
	// A finish time has no fraction of a second: with this base, waits are over
	// when they begin.
	c.Limits.Backoff = backoff.Policy{Base: time.Millisecond, Max: time.Millisecond}
}

// startController runs a controller for the namespace, a quick one unless the
// options change that, until the test stops it, or ends.
func (f *fixture) startController(options ...func(*controller.Config)) *process {
	f.t.Helper()
	return f.startControllerAt(apiServer.config, options...)
}

func (f *fixture) startControllerAt(at *rest.Config, options ...func(*controller.Config)) *process {
	f.t.Helper()
	p := &process{t: f.t, wire: &wire{}, log: &logBuffer{}, ended: make(chan struct{})}
	at = rest.CopyConfig(at)
	at.Wrap(p.wire.wrap)
	config := controller.Config{Client: newClient(f.t, at, controller.FieldManager), Namespaces: []string{f.namespace}}
	quick(&config)
	for _, o := range options {
		o(&config)
	}
	r, err := controller.New(config)
	if err != nil {
		f.t.Fatalf("making a controller: %v", err)
	}
	logger := textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(p.log), textlogger.Verbosity(5)))
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logr.Logger(logger)))
	p.cancel = cancel
	go func() {
		defer close(p.ended)
		p.err = r.Run(ctx)
	}()
	f.processes = append(f.processes, p)
	return p
}

// stop ends the controller as SIGTERM does, and waits for it.
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

// crash ends the controller without any further request getting through.
func (p *process) crash() {
	p.t.Helper()
	p.wire.severed.Store(true)
	p.stop()
}

// running says that the controller has not ended by itself.
func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// logBuffer is a log that several goroutines write.
type logBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}
