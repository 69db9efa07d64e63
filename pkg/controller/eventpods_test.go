package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/eventwriter"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/kubefake"
)

// denied is the error of a webhook that denies a write to a pod.
func denied(pod string) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, pod, errors.New("admission webhook \"x\" denied the request"))
}

// podsOf returns the names of the cluster's pods with a prefix.
func (f *fakeCluster) podsOf(prefix string) (names []string) {
	for _, pod := range f.pods {
		if strings.HasPrefix(pod.Name, prefix) {
			names = append(names, pod.Name)
		}
	}
	slices.Sort(names)
	return names
}

// JOB-47: created and deleted pods are reported after the write: a few pods of a stage one by one, many together.
func TestEventsOfPodsFollowTheWrite(t *testing.T) {
	for n, known := range map[int32]func(verb string, pods []string) []string{
		5: func(verb string, pods []string) (texts []string) {
			for _, pod := range pods {
				texts = append(texts, verb+" pod: "+pod)
			}
			return texts
		},
		6: func(verb string, pods []string) []string {
			return []string{fmt.Sprintf("%s 6 pods: %s, %s, %s and 3 more", verb, pods[0], pods[1], pods[2])}
		},
	} {
		f, recorded := newTalkingCluster(t)
		f.backwards = true
		want := func(what, begins string, texts []string) {
			t.Helper()
			for i := range texts {
				texts[i] = begins + texts[i]
			}
			recorded.want(t, what, texts...)
		}
		f.addJob(ourJob(n))
		f.syncs()
		want("created", "Normal SuccessfulCreate: ", known("Created", f.podsOf("train-")))
		for i := range n {
			pod := runningPod(fmt.Sprintf("untracked-%d", i), ourJob(n))
			pod.Finalizers = nil
			f.addPods(pod)
		}
		f.syncs()
		want("deleted", "Normal SuccessfulDelete: ", known("Deleted", f.podsOf("untracked-")))
	}
}

// JOB-47: failed creations and deletions are reported, once per stage, with the message of the API server, and without
// the name of a pod that does not exist.
func TestRefusalIsOneEventOfAStage(t *testing.T) {
	f, recorded := newTalkingCluster(t)
	made := 0
	f.onCreate = func(context.Context) error {
		if made++; made == 1 {
			return nil
		}
		return denied(fmt.Sprint("train-", made))
	}
	f.onDelete = func(ref reconcile.PodRef) error { return denied(ref.Name) }
	f.addJob(ourJob(50))
	const creating = `Warning FailedCreate: Error creating: pods is forbidden: admission webhook "x" denied the request`
	f.fails()
	recorded.want(t, "two of three are not created", "Normal SuccessfulCreate: Created pod: "+f.podsOf("train-")[0], creating)
	f.fails()
	recorded.want(t, "again", creating)

	for i := range 3 {
		pod := runningPod(fmt.Sprintf("untracked-%d", 2-i), ourJob(50))
		pod.Finalizers = nil
		f.addPods(pod)
	}
	const deleting = `Warning FailedDelete: Error deleting: pod untracked-0 (and 2 more): pods "untracked-0" is forbidden: admission webhook "x" denied the request`
	if _, err := f.sync(); err == nil || made != 4+1 {
		t.Errorf("%v; %d creations", err, made)
	}
	if !slices.Contains(recorded.texts, deleting) {
		t.Errorf("said %q", recorded.texts)
	}
}

// JOB-47: a pod that was created without its owner, finalizer or labels counts as not created.
func TestChangedPodCountsAsNotCreated(t *testing.T) {
	f, recorded := newTalkingCluster(t)
	f.webhook = func(pod *corev1.Pod) { pod.OwnerReferences = nil }
	f.addJob(ourJob(1))
	f.fails()
	if len(recorded.texts) == 0 || recorded.heard(eventPodCreated) || !strings.HasPrefix(recorded.texts[0], "Warning FailedCreate: Error creating: pod ") || !strings.Contains(recorded.texts[0], "without its owner") {
		t.Errorf("said %q", recorded.texts)
	}
}

// REG-31: a webhook prevents the release of pods: the Job's user is notified once of each pod, of pods with the same
// error together, and again of another error.
func TestStuckPodIsReportedOnce(t *testing.T) {
	f, recorded := newTalkingCluster(t)
	job := ourJob(4)
	job.Spec.Suspend = ptr.To(true)
	f.addJob(job)
	stuck := map[string]error{"a": denied("a"), "b": denied("b"), "c": denied("c")}
	f.fail = func(ref reconcile.PodRef) error { return stuck[ref.Name] }
	f.addPods(runningPod("c", job), runningPod("a", job), runningPod("free", job))
	sync := func() {
		t.Helper()
		f.fails()
		recorded.texts = slices.DeleteFunc(recorded.texts, func(text string) bool { return !strings.Contains(text, " FailedPatch: ") })
	}
	sync()
	recorded.want(t, "first", `Warning FailedPatch: Error removing the finalizer of pod a (and 1 more): pods "a" is forbidden: admission webhook "x" denied the request`)
	for range 5 {
		sync()
	}
	recorded.want(t, "the same again")
	f.addPods(runningPod("b", job))
	sync()
	recorded.want(t, "another pod", `Warning FailedPatch: Error removing the finalizer of pod b: pods "b" is forbidden: admission webhook "x" denied the request`)
	stuck["c"] = apierrors.NewInternalError(errors.New("failed calling webhook"))
	sync()
	recorded.want(t, "another error", "Warning FailedPatch: Error removing the finalizer of pod c: Internal error occurred: failed calling webhook")
	stuck["c"] = apierrors.NewServerTimeout(schema.GroupResource{Resource: "pods"}, "patch", 1)
	sync()
	stuck["c"] = errors.New("connection refused")
	sync()
	recorded.want(t, "errors that pass by themselves")
}

// REG-31: an admission policy rejects a write as invalid, as the API server does with a patch of a pod that another pod
// has replaced. Only the latter error resolves itself.
func TestInvalidPatchIsReportedUnlessThePodIsAnother(t *testing.T) {
	about := func(fields ...string) error {
		var list field.ErrorList
		for _, name := range fields {
			list = append(list, field.Invalid(nil, name, "said"))
			list[len(list)-1].Field = name
		}
		return apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "a", list)
	}
	for name, c := range map[string]struct {
		err   error
		known bool
	}{
		"another pod":         {about("metadata.uid"), false},
		"another owner":       {about("metadata.ownerReferences"), false},
		"an admission policy": {about(""), true},
		"another field":       {about("metadata.uid", "spec.containers[0].image"), true},
	} {
		f, recorded := newTalkingCluster(t)
		job := ourJob(1)
		job.Spec.Suspend = ptr.To(true)
		f.addJob(job)
		f.fail = func(reconcile.PodRef) error { return c.err }
		f.addPods(runningPod("a", job))
		if _, err := f.sync(); (err != nil) != c.known || recorded.heard(eventPodNotPatched) != c.known {
			t.Errorf("%s: %v, said %q", name, err, recorded.texts)
		}
	}
}

// REG-31: the same for pods that cannot be adopted or released.
func TestRefusedAdoptionIsReported(t *testing.T) {
	f, recorded := newTalkingCluster(t)
	f.addJob(ourJob(2))
	f.fail = func(ref reconcile.PodRef) error { return denied(ref.Name) }
	unselected := runningPod("u", ourJob(2))
	unselected.Labels = map[string]string{batchv1.ControllerUidLabel: "other"}
	f.addPods(runningPod("a", nil), unselected)
	f.fails()
	for _, want := range []string{`Error adopting pod a: pods "a" is forbidden`, `Error releasing pod u: pods "u" is forbidden`} {
		if !slices.ContainsFunc(recorded.texts, func(text string) bool { return strings.HasPrefix(text, "Warning FailedPatch: "+want) }) {
			t.Errorf("not said: %s\nbut %q", want, recorded.texts)
		}
	}
}

// The memory of a Job is bounded.
// Requirements: SCL-11
func TestRememberedEventsAreBounded(t *testing.T) {
	f, recorded := newTalkingCluster(t)
	s := &jobSync{Engine: f.engine, uid: "uid", job: ourJob(1)}
	for i := range 2 * maxEmitted {
		s.events().emitOnce(fmt.Sprint(i), event{corev1.EventTypeWarning, "Reason", fmt.Sprint(i)})
	}
	if len(recorded.texts) != maxEmitted || len(f.engine.memory.get("uid").emitted) != maxEmitted {
		t.Errorf("%d events, %d are remembered", len(recorded.texts), len(f.engine.memory.get("uid").emitted))
	}
}

// SCL-03: in a Job of 10,000 pods, 10 at a time, one pod in a hundred fails. The number of events does not depend on
// the number of pods, all pods are reported, and the most important events are written.
// Requirements: JOB-47
func TestNumberOfEventsDoesNotFollowPods(t *testing.T) {
	const completions, parallelism, failures = 10_000, 10, 100
	client, f := fake.NewClientset(), newFakeCluster(t, nil)
	w := eventwriter.New(eventwriter.Config{RetryMin: time.Second, RetryMax: time.Minute, CallTimeout: time.Minute, Clock: f.clock})
	w.Start(t.Context(), kubefake.Client(client))
	f.engine.config.Recorder = w
	job := ourJob(completions)
	job.Spec.Parallelism, job.Spec.BackoffLimit = ptr.To[int32](parallelism), ptr.To[int32](completions)
	f.engine.config.Limits.Backoff.Base, f.engine.config.Limits.Backoff.Max = 1, 1
	f.addJob(job)
	f.most = 10 * completions
	ended, began := 0, f.clock.Now()
	for rounds := 0; !reconcile.IsFinished(f.cache.Job("uid")); rounds++ {
		if rounds > completions {
			t.Fatalf("%d pods have ended in %d rounds", ended, rounds)
		}
		f.syncs()
		for uid, pod := range f.pods {
			delete(f.pods, uid)
			if pod.Status.Phase != "" || len(pod.Finalizers) == 0 {
				continue
			}
			pod = pod.DeepCopy()
			f.version++
			pod.ResourceVersion = fmt.Sprint(f.version)
			pod.Status.Phase = corev1.PodSucceeded
			if ended++; ended%100 == 0 && ended/100 <= failures {
				pod.Status.Phase, pod.Status.ContainerStatuses = corev1.PodFailed, []corev1.ContainerStatus{exited("main", 42, "Error")}
			}
			f.addPods(pod)
		}
	}
	w.Stop()
	requests, minutes := len(client.Actions()), int(f.clock.Since(began)/time.Minute)
	// Created and failed pods have a budget of ten events, and then of one per minute; five events may have a name each
	// at the end.
	if limit := 2*(10+minutes) + 2*5 + 1; requests > limit || minutes > 60 {
		t.Errorf("%d requests in %d minutes, want at most %d", requests, minutes, limit)
	}
	t.Logf("%d requests in %d minutes", requests, minutes)
	events, err := client.CoreV1().Events("").List(t.Context(), metav1.ListOptions{})
	assert.NoError(t, err)
	created, known := 0, []string{}
	for _, e := range events.Items {
		known = append(known, fmt.Sprintf("%s x%d: %s", e.Reason, e.Count, e.Message))
		n := 1
		if _, err := fmt.Sscanf(e.Message, "Created %d pods:", &n); e.Reason == eventPodCreated && (err == nil || strings.HasPrefix(e.Message, "Created pod: ")) {
			created += n * int(e.Count)
		}
	}
	assert.Equal(t, created, completions+failures, "pods in events")
	for _, want := range []string{"Completed x1: Job completed", "PodFailed x100: Container main exited with code 42. First in pod "} {
		if !slices.ContainsFunc(known, func(text string) bool { return strings.HasPrefix(text, want) }) {
			t.Errorf("not told: %s\n%s", want, strings.Join(known, "\n"))
		}
	}
}
