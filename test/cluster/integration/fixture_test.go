package integration

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/invariants"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// patience is how long a test waits for anything before it fails: far more than a busy machine needs.
const patience = 5 * time.Minute

// fixture holds a namespace, its history, its controllers, and the test.
type fixture struct {
	t         *testing.T
	namespace string
	// client is the client of the user.
	client  kubernetes.Interface
	history *recorder
	kubelet *kubelet

	processes []*process
	// now is the test's position in the history: the last version that it wrote or waited for.
	now int
	// tolerated holds the invariants that the test breaks on purpose.
	tolerated []string
	// ours reports whether our controllers may write the Job.
	ours func(*batchv1.Job) bool
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{t: t, client: newClient(t, apiServer.Config, "user"), ours: isOurs}
	f.namespace = newNamespace(t, f.client)
	f.history = startRecorder(t, f.client, f.namespace)
	f.kubelet = &kubelet{f: f, client: newClient(t, apiServer.Config, "kubelet")}
	t.Cleanup(f.judge)
	return f
}

func newNamespace(t testing.TB, client kubernetes.Interface) string {
	t.Helper()
	ns, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "it-", Annotations: map[string]string{"test": t.Name()},
	}}, metav1.CreateOptions{})
	assert.NoError(t, err, "creating a namespace")
	return ns.Name
}

// judge ends a test: it stops the controllers, and checks the recorded history and requests against the invariants.
func (f *fixture) judge() {
	for _, p := range f.processes {
		p.stop()
	}
	if f.history.finish() {
		for _, v := range f.violations() {
			if id, _, _ := strings.Cut(v, " "); !slices.Contains(f.tolerated, id) {
				f.t.Errorf("invariant broken: %s", v)
			}
		}
	}
	if !f.t.Failed() {
		return
	}
	f.t.Logf("history of namespace %s:\n%s", f.namespace, f.history.Trace(f.namespace))
	for i, p := range f.processes {
		f.t.Logf("log of controller %d:\n%s", i+1, p.log)
	}
}

// statusWrites returns the number of accepted status writes, and the number of versions with a changed status.
func (f *fixture) statusWrites() (written, changes int) {
	for _, p := range f.processes {
		written += p.wire.answered(statusPut, http.StatusOK)
	}
	before := map[types.UID]*batchv1.Job{}
	for _, v := range f.history.stored() {
		if v.Job == nil {
			continue
		}
		if old := before[v.Job.UID]; old != nil && !equality.Semantic.DeepEqual(old.Status, v.Job.Status) {
			changes++
		}
		before[v.Job.UID] = v.Job
	}
	return written, changes
}

func (f *fixture) violations() []string {
	var violations []string
	for _, v := range invariants.Check(f.history.stored()) {
		violations = append(violations, v.String())
	}
	for _, p := range f.processes {
		violations = append(violations, judgeCalls(f.history, f.ours, p.wire)...)
	}
	if written, changes := f.statusWrites(); written > changes {
		violations = append(violations, fmt.Sprintf("JOB-33: %d status writes, and %d of them changed something", written, changes))
	}
	return violations
}

// until waits for a condition that the test expects.
func (f *fixture) until(what string, reached func() bool) {
	f.t.Helper()
	if !f.history.wait(reached) {
		f.t.Fatalf("waited %v in vain until %s", patience, what)
	}
}

// untilSeen waits until the history contains an object that the test stored.
func (f *fixture) untilSeen(stored metav1.Object) {
	f.t.Helper()
	f.until("the history shows what the test wrote", func() bool { return f.history.Has(stored) })
	f.now = max(f.now, f.history.At(stored))
}
