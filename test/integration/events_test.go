package integration

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/test/history"
)

// eventClient makes a controller that writes events with a client of its own, which may do
// nothing but create and patch events (JOB-48), and returns what that client sends.
func (f *fixture) eventClient() (option func(*controller.Config), sent *wire) {
	f.t.Helper()
	const user = "events-only"
	meta := metav1.ObjectMeta{Name: user}
	_, err := f.client.RbacV1().Roles(f.namespace).Create(f.t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
	}}, metav1.CreateOptions{})
	if err == nil {
		_, err = f.client.RbacV1().RoleBindings(f.namespace).Create(f.t.Context(), &rbacv1.RoleBinding{
			ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
		}, metav1.CreateOptions{})
	}
	if err != nil {
		f.t.Fatalf("making a role: %v", err)
	}
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

// follow returns how often the events of the namespace were written so far, from now on.
func (f *fixture) follow() (writes func() map[string]int) {
	f.t.Helper()
	list, err := f.client.CoreV1().Events(f.namespace).List(f.t.Context(), metav1.ListOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	w, err := toolswatch.NewRetryWatcherWithContext(ctx, list.ResourceVersion, &cache.ListWatch{WatchFuncWithContext: f.client.CoreV1().Events(f.namespace).Watch})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(cancel)
	seen := map[string]int{}
	return func() map[string]int {
		// What is there has been written: all of it comes.
		f.until("all events are seen", func() bool {
			for {
				select {
				case change := <-w.ResultChan():
					if e, is := change.Object.(*corev1.Event); is && change.Type != watch.Deleted {
						seen[e.Name+"@"+e.ResourceVersion]++
						seen[e.Name]++
					}
					continue
				default:
				}
				return !slices.ContainsFunc(f.everyEvent(), func(e corev1.Event) bool { return seen[e.Name+"@"+e.ResourceVersion] == 0 })
			}
		})
		return seen
	}
}

func (f *fixture) everyEvent() []corev1.Event {
	f.t.Helper()
	list, err := f.client.CoreV1().Events(f.namespace).List(f.t.Context(), metav1.ListOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	return list.Items
}

// told returns all events of the namespace, as "type reason xcount: message", in order.
func (f *fixture) told() (texts []string) {
	f.t.Helper()
	for _, e := range f.everyEvent() {
		texts = append(texts, fmt.Sprintf("%s %s x%d: %s", e.Type, e.Reason, e.Count, e.Message))
	}
	slices.Sort(texts)
	return texts
}

// wantTold checks all events of the namespace.
func (f *fixture) wantTold(want ...string) {
	f.t.Helper()
	slices.Sort(want)
	if got := f.told(); !slices.Equal(got, want) {
		f.t.Errorf("the events are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func (f *fixture) untilTold(text string) {
	f.t.Helper()
	f.until("there is an event "+text, func() bool { return slices.Contains(f.told(), text) })
}

func namesOf(pods []*corev1.Pod) (names []string) {
	for _, pod := range pods {
		names = append(names, pod.Name)
	}
	slices.Sort(names)
	return names
}

// JOB-47: all that is said of a small Job, each once, in one write, and nothing else; by a
// client of its own (SCL-03), which needs no other permission than to create and to patch.
func TestSmallJobHasEachEventOnce_JOB_47_JOB_48_SCL_03(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	option, sent := f.eventClient()
	writes := f.follow()
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
	f.wantTold(want...)
	written := writes()
	for _, e := range f.everyEvent() {
		about := corev1.ObjectReference{APIVersion: "batch/v1", Kind: "Job", Namespace: f.namespace, Name: "a", UID: job.UID}
		if e.InvolvedObject != about || e.Source.Component != controller.FieldManager || e.ReportingController != controller.FieldManager || written[e.Name] != 1 {
			t.Errorf("event %s: about %+v, by %q and %q, written %d times", e.Reason, e.InvolvedObject, e.Source.Component, e.ReportingController, written[e.Name])
		}
	}
	if n := len(sent.recorded(anyWrite)); n != len(want) {
		t.Errorf("%d requests for %d events", n, len(want))
	}
}

// failThe fails n running pods of the Job one after the other, and returns the first of them.
func (f *fixture) failThe(job string, code int32, n int) (first string) {
	f.t.Helper()
	for i := range n {
		before := f.history.job(job).Status.Failed
		pod := f.podOf(job)
		if i == 0 {
			first = pod.Name
		}
		f.kubelet.exit(code, pod)
		f.untilJob(job, "counts the failure", func(job *batchv1.Job) bool { return countsOf(job).failed > before })
	}
	return first
}

// JOB-47: each cause of failures is one event with the number of its pods, which the next
// controller continues with, and which is there when the pods are not.
func TestEachCauseIsOneEvent_JOB_47(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.tolerated = []string{"S2", "S3"} // The judge knows no ignored failures.
	option, sent := f.eventClient()
	p := f.startController(option)
	rules := failurePolicy(onDisruption(batchv1.PodFailurePolicyActionIgnore), onExit(batchv1.PodFailurePolicyActionFailJob, 42))
	f.create(withNames("1=OutOfLuck", newJob(rules, backoffLimit(100))))
	first := f.failThe("a", 3, 3)
	const code3 = "Warning PodFailed x%d: Container main exited with code 3; no rule of the podFailurePolicy matched. First in pod %s"
	f.untilTold(fmt.Sprintf(code3, 3, first))
	cause := f.untilEvent("a", "PodFailed")

	p = f.restart(p, option)
	f.failThe("a", 3, 2)
	f.untilTold(fmt.Sprintf(code3, 5, first))
	evicted := f.podOf("a")
	f.kubelet.failBy(evicted, disrupted)
	f.failThe("a", 4, 1)
	last := f.podOf("a")
	f.kubelet.exit(42, last)
	f.untilFinished("a", batchv1.JobFailed, "PodFailurePolicy_OutOfLuck", 0, 7)
	f.deletePods(f.history.existing()...)
	p.stop()

	var causes []string
	for _, text := range f.told() {
		if !strings.Contains(text, " SuccessfulCreate ") {
			causes = append(causes, text)
		}
	}
	for _, want := range []string{
		fmt.Sprintf(code3, 5, first),
		"Warning PodFailed x1: Pod has condition DisruptionTarget; rule 0 of the podFailurePolicy matched: Ignore. First in pod " + evicted.Name,
		`Warning PodFailed x1: Container main exited with code 42; rule 1 "OutOfLuck" of the podFailurePolicy matched: FailJob. First in pod ` + last.Name,
	} {
		if !slices.Contains(causes, want) {
			t.Errorf("not there: %s", want)
		}
	}
	if len(causes) != 5 {
		t.Errorf("%d events, want four causes and the end:\n%s", len(causes), strings.Join(causes, "\n"))
	}
	for _, e := range f.events("a") {
		if e.Name == cause.Name && (e.UID != cause.UID || !e.FirstTimestamp.Equal(&cause.FirstTimestamp)) {
			t.Errorf("the event of the cause is %s of %v, and was %s of %v", e.UID, e.FirstTimestamp, cause.UID, cause.FirstTimestamp)
		}
	}
	if denied := sent.answered(anyWrite, http.StatusForbidden) + sent.answered(calls(http.MethodGet, "events"), http.StatusForbidden); denied != 0 {
		t.Errorf("%d requests were denied", denied)
	}
}

// telling makes a controller that writes events past the wire, which is for the rest.
func (f *fixture) telling(c *controller.Config) {
	c.EventClient = newControllerClient(f.t, apiServer.Config, "events")
}

// events returns the events about a Job, as the API server has them.
func (f *fixture) events(job string) []corev1.Event {
	f.t.Helper()
	list, err := f.client.CoreV1().Events(f.namespace).List(f.t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.kind=Job,involvedObject.name=" + job})
	if err != nil {
		f.t.Fatalf("listing events: %v", err)
	}
	return list.Items
}

// said is how often an event of this reason was reported for the Job.
func (f *fixture) said(job, reason string) (n int32) {
	f.t.Helper()
	for _, e := range f.events(job) {
		if e.Reason == reason {
			n += max(e.Count, 1)
		}
	}
	return n
}

// untilEvent waits for an event of this reason about the Job. One writer stores the events
// of a controller one after the other, but for those about pods that come and go: the
// others before it are there, too.
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
