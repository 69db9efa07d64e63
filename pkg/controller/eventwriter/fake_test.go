package eventwriter

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	kubetesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/kubefake"
)

// Reasons of the controller's events.
const (
	eventCompleted  = "Completed"
	eventPodCreated = "SuccessfulCreate"
	eventPodDeleted = "SuccessfulDelete"
	eventPodFailed  = "PodFailed"
)

var testTime = time.Unix(1_000_000, 0)

// testConfig has the default values of the controller.
func testConfig(c clock.WithTicker) Config {
	return Config{RetryMin: time.Second, RetryMax: time.Minute, CallTimeout: 30 * time.Second, Clock: c}
}

var eventResource = schema.GroupResource{Resource: "events"}

// eventAPI is an API server that stores events, and supports the verbs create and patch only.
type eventAPI struct {
	*fake.Clientset
	mu      sync.Mutex
	events  map[string]*corev1.Event
	version int
	// calls holds the requests, as "create reason" or "patch reason".
	calls []string
	// before and after may fail a call, before or after it has its effect; n counts from 1.
	before, after func(verb string, n int) error
}

func newEventAPI() *eventAPI {
	none := func(string, int) error { return nil }
	a := &eventAPI{Clientset: fake.NewClientset(), events: map[string]*corev1.Event{}, before: none, after: none}
	a.PrependReactor("*", "*", func(action kubetesting.Action) (bool, runtime.Object, error) {
		a.mu.Lock()
		defer a.mu.Unlock()
		e, err := a.do(action)
		return true, e, err
	})
	return a
}

func (a *eventAPI) do(action kubetesting.Action) (*corev1.Event, error) {
	n := len(a.calls) + 1
	a.calls = append(a.calls, action.GetVerb())
	if err := a.before(action.GetVerb(), n); err != nil {
		return nil, err
	}
	var stored *corev1.Event
	var err error
	switch action := action.(type) {
	case kubetesting.CreateActionImpl:
		stored, err = a.create(action.GetObject().(*corev1.Event))
	case kubetesting.PatchActionImpl:
		stored, err = a.patch(action.GetName(), action.GetPatch())
	default:
		err = apierrors.NewForbidden(eventResource, "", fmt.Errorf("no verb %s", action.GetVerb()))
	}
	if stored != nil {
		a.calls[n-1] += " " + stored.Reason
	}
	if err == nil {
		err = a.after(action.GetVerb(), n)
	}
	return stored, err
}

func (a *eventAPI) create(e *corev1.Event) (*corev1.Event, error) {
	if a.events[e.Name] != nil {
		return nil, apierrors.NewAlreadyExists(eventResource, e.Name)
	}
	return a.store(e.DeepCopy()), nil
}

func (a *eventAPI) patch(name string, patch []byte) (*corev1.Event, error) {
	e := a.events[name]
	if e == nil {
		return nil, apierrors.NewNotFound(eventResource, name)
	}
	next := e.DeepCopy()
	if err := json.Unmarshal(patch, next); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if next.ResourceVersion != e.ResourceVersion {
		return nil, apierrors.NewConflict(eventResource, name, nil)
	}
	if string(patch) == "{}" {
		return e.DeepCopy(), nil
	}
	return a.store(next), nil
}

func (a *eventAPI) store(e *corev1.Event) *corev1.Event {
	a.version++
	e.ResourceVersion = strconv.Itoa(a.version)
	a.events[e.Name] = e
	return e.DeepCopy()
}

// forget deletes the events, as the API server does after an hour.
func (a *eventAPI) forget() { clear(a.events) }

// eventTexts returns all stored events, as "Reason xCount: message".
func (a *eventAPI) eventTexts() (texts []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, e := range a.events {
		texts = append(texts, fmt.Sprintf("%s x%d: %s", e.Reason, e.Count, e.Message))
	}
	slices.Sort(texts)
	return texts
}

func (a *eventAPI) want(t *testing.T, what string, texts ...string) {
	t.Helper()
	if got := a.eventTexts(); !slices.Equal(got, texts) {
		t.Errorf("%s: the events are\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(texts, "\n"))
	}
}

// made returns how often a call was made; "" counts all calls.
func (a *eventAPI) made(call string) (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.calls {
		if strings.HasPrefix(c, call) {
			n++
		}
	}
	return n
}

// steppedWriter writes when a test asks it to.
type steppedWriter struct {
	*Writer
	clock *clocktesting.FakeClock
	t     *testing.T
}

func newSteppedWriter(t *testing.T, api *eventAPI) steppedWriter {
	clock := clocktesting.NewFakeClock(testTime)
	w := steppedWriter{New(testConfig(clock)), clock, t}
	w.ctx, w.store.events = t.Context(), kubefake.Client(api).CoreV1()
	t.Cleanup(func() {
		for _, q := range w.queues {
			q.ShutDown()
		}
	})
	return w
}

// write writes all events that may be written now, as the workers do.
func (w steppedWriter) write() {
	w.t.Helper()
	for _, q := range w.queues {
		most := 5_000 + 2*q.Len()
		for turns := 0; q.Len() > 0; turns++ {
			if turns > most {
				w.t.Fatalf("the writer does not come to rest: %d lanes wait", q.Len())
			}
			key, _ := q.Get()
			if wait, more := w.writeNext(key); more && wait == 0 {
				q.Add(key)
			}
			q.Done(key)
		}
	}
}

// wake processes all lanes again.
func (w steppedWriter) wake() {
	for _, of := range w.lanes.of {
		for _, key := range slices.Collect(maps.Keys(of.lanes)) {
			w.queues[key.queue()].Add(key)
		}
	}
	w.write()
}

func eventJob(name string) *batchv1.Job {
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", UID: types.UID("uid-of-" + name), ResourceVersion: "1"}}
}

// failedFor returns the record about a pod that failed for a reason of the kubelet.
func failedFor(reason, pod string) cause.Record {
	return cause.Record{Cause: cause.Cause{Failure: cause.Failure{PodReason: reason}, Rule: failurepolicy.NoRule}, Pod: pod}
}
