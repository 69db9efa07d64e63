package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/tenant"
)

// eventClient returns an option for a controller whose separate event client may only create and patch events (JOB-48),
// and the requests that this client sends.
func (f *fixture) eventClient() (option func(*controller.Config), sent *wire) {
	f.t.Helper()
	const user = "events-only"
	assert.NoError(f.t, tenant.Grant(f.t.Context(), f.client, f.namespace, user, tenant.User(user), tenant.Allow("", "events", "create", "patch")))
	config := rest.CopyConfig(apiServer.Config)
	config.Impersonate.UserName = user
	sent = &wire{}
	config.Wrap(sent.wrap)
	f.until("the role counts", func() bool {
		_, err := newClient(f.t, config, "probe").CoreV1().Events(f.namespace).Patch(f.t.Context(), "probe", types.MergePatchType, []byte("{}"), metav1.PatchOptions{})
		return apierrors.IsNotFound(err)
	})
	sent.calls = nil
	return func(c *controller.Config) { c.EventClient = newControllerClient(f.t, config, controller.FieldManager) }, sent
}

func (f *fixture) everyEvent() []corev1.Event {
	f.t.Helper()
	list, err := f.client.CoreV1().Events(f.namespace).List(f.t.Context(), metav1.ListOptions{})
	assert.NoError(f.t, err)
	return list.Items
}

// eventTexts returns all events of the namespace, as "type reason xcount: message", in order.
func (f *fixture) eventTexts() (texts []string) {
	f.t.Helper()
	for _, e := range f.everyEvent() {
		texts = append(texts, fmt.Sprintf("%s %s x%d: %s", e.Type, e.Reason, e.Count, e.Message))
	}
	slices.Sort(texts)
	return texts
}

// wantEvents checks all events of the namespace.
func (f *fixture) wantEvents(want ...string) {
	f.t.Helper()
	slices.Sort(want)
	if got := f.eventTexts(); !slices.Equal(got, want) {
		f.t.Errorf("the events are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func namesOf(pods []*corev1.Pod) (names []string) {
	for _, pod := range pods {
		names = append(names, pod.Name)
	}
	slices.Sort(names)
	return names
}

// JOB-47: all events of a small Job, each once, in one write, and no others; by a client of its own (SCL-03), which only
// needs permission to create and patch.
// Requirements: JOB-48
func TestSmallJobHasEachEventOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	option, sent := f.eventClient()
	// However slow the API server is, one stage creates all pods.
	patient := func(c *controller.Config) { c.SyncBudget = time.Minute }
	p := f.startController(option, patient)
	job := f.create(newJob(parallelism(6), onNode))
	first := f.untilActive(6)
	f.untilCounts("a", counts{active: 6})
	f.edit("a", suspend(true))
	gone := namesOf(f.untilPods(6, "terminating", history.IsTerminating))
	f.kubelet.terminate(f.pods(history.IsTerminating)...)
	f.untilIs("a", batchv1.JobSuspended)
	f.edit("a", map[string]any{"suspend": false, "parallelism": 2})
	second := f.untilActive(2)
	f.kubelet.run(second...)
	f.kubelet.succeed(second...)
	f.untilComplete("a", 2, 0)
	p.stop()

	want := []string{
		fmt.Sprintf("Normal SuccessfulCreate x1: Created 6 pods: %s and 3 more", strings.Join(namesOf(first)[:3], ", ")),
		fmt.Sprintf("Normal SuccessfulDelete x1: Deleted 6 pods: %s and 3 more", strings.Join(gone[:3], ", ")),
		"Normal Suspended x1: Job suspended",
		"Normal SuccessfulCreate x1: Created pod: " + second[0].Name,
		"Normal SuccessfulCreate x1: Created pod: " + second[1].Name,
		"Normal Resumed x1: Job resumed",
		"Normal Completed x1: Job completed",
	}
	f.wantEvents(want...)
	for _, e := range f.everyEvent() {
		about := corev1.ObjectReference{APIVersion: "batch/v1", Kind: "Job", Namespace: f.namespace, Name: "a", UID: job.UID}
		if e.InvolvedObject != about || e.Source.Component != controller.FieldManager || e.ReportingController != controller.FieldManager {
			t.Errorf("event %s: about %+v, by %q and %q", e.Reason, e.InvolvedObject, e.Source.Component, e.ReportingController)
		}
	}
	assert.Equal(t, len(sent.recorded(anyWrite)), len(want))
}

// telling makes a controller that writes events without the wire, which records the other requests.
func (f *fixture) telling(c *controller.Config) {
	c.EventClient = newControllerClient(f.t, apiServer.Config, "events")
}

// events returns the stored events about a Job.
func (f *fixture) events(job string) []corev1.Event {
	f.t.Helper()
	list, err := f.client.CoreV1().Events(f.namespace).List(f.t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.kind=Job,involvedObject.name=" + job})
	assert.NoError(f.t, err, "listing events")
	return list.Items
}

// eventsOf returns how often an event with this reason was reported for the Job.
func (f *fixture) eventsOf(job, reason string) (n int32) {
	f.t.Helper()
	for _, e := range f.events(job) {
		if e.Reason == reason {
			n += max(e.Count, 1)
		}
	}
	return n
}

// untilEvent waits for an event with this reason about the Job. A single writer stores a controller's events in order,
// except for events about pods that come and go, so the previous events are stored, too.
func (f *fixture) untilEvent(job, reason string) corev1.Event {
	f.t.Helper()
	var found corev1.Event
	f.until("there is an event "+reason, func() bool {
		for _, e := range f.events(job) {
			if e.Reason == reason {
				found = e
				return true
			}
		}
		return false
	})
	return found
}

// The longest name makes a reason of 128 bytes, which fits into an event.
// Requirements: PFN-15
func TestLongestNameFitsAnEvent(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController(f.telling)
	name := strings.Repeat("N", 111)
	f.create(withNames("0="+name, newJob(withRules(1))))
	f.kubelet.exit(1, f.untilActive(1)[0])
	job := f.untilFinished("a", batchv1.JobFailed, "PodFailurePolicy_"+name, 0, 1)
	c := history.Condition(job, batchv1.JobFailed)
	e := f.untilEvent("a", c.Reason)
	if e.Type != corev1.EventTypeWarning || e.Message != c.Message || len(e.Reason) != 128 || e.InvolvedObject.UID != job.UID {
		t.Errorf("the event is %s %q %q about %s, and the condition says %q", e.Type, e.Reason, e.Message, e.InvolvedObject.UID, c.Message)
	}
	assert.Equal(t, f.eventsOf("a", c.Reason), 1, "the event is there")
}
