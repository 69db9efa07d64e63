package laws

import (
	"fmt"
	"math/rand/v2"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
)

// Noon is the time of each World.
var Noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Truth holds facts about a World, known because it was drawn.
type Truth struct {
	// Cause names the kind of cause that was drawn, for messages of tests.
	Cause string
	// First are texts that the first three lines must have.
	First []string
	// Quoted is the end of a message with an unknown meaning, which the short answer quotes.
	Quoted string
	// Numbers explain a refusal, and are in the short answer.
	Numbers []string
	// Retries are the used and allowed retries of an open Job with a global limit; nil if there is none.
	Retries *[2]int32
}

// World is a possible state of a cluster, as far as it is about one Job.
type World struct {
	Truth
	Now    time.Time
	Job    *batchv1.Job
	Pods   []*corev1.Pod
	Events []*corev1.Event
	// Later moves the World on by the given time. Nothing decisive happens in it; nil if nothing may be assumed.
	Later func(w *World, d time.Duration)
}

// Input is what the plugin reads of the World.
func (w *World) Input() input.Input {
	in := input.Input{Now: w.Now, OurName: "batchjob.dev/controller", Job: w.Job, PodsRead: true, EventsRead: true, RelativesRead: true}
	for _, p := range w.Pods {
		in.Pods = append(in.Pods, input.PodOf(p))
	}
	for _, e := range w.Events {
		in.Events = append(in.Events, input.EventOf(e))
	}
	return in
}

// draw draws the parts of a World.
type draw struct {
	*rand.Rand
	w *World
}

// NewWorld returns the World of a seed.
func NewWorld(seed uint64) *World {
	d := draw{rand.New(rand.NewPCG(seed, 1)), &World{Now: Noon}}
	d.job()
	causes := []func(){d.exits, d.loops, d.outOfMemory, d.waits, d.cannotMount, d.refused, d.unschedulable, d.evicted, d.deadline, d.runs}
	causes[d.IntN(len(causes))]()
	return d.w
}

func (d draw) yes() bool { return d.IntN(2) == 0 }

func (d draw) between(lo, hi int32) int32 { return lo + d.Int32N(hi-lo+1) }

func pick[T any](d draw, all ...T) T { return all[d.IntN(len(all))] }

func (d draw) ago(least, most time.Duration) metav1.Time {
	return metav1.NewTime(Noon.Add(-least - time.Duration(d.Int64N(int64(most-least)+1))).Truncate(time.Second))
}

// message returns words that no table knows. The last ones are the reason.
func (d draw) message() string {
	stages := []string{"load shard", "open dataset", "join cohort", "compact ledger", "render tile", "resolve feature", "replay journal"}
	reasons := []string{"cursor beyond the end of partition 17", "schema revision 9 expected, found 7", "feature store has no column age_days",
		"peer 4 sent a frame of 0 bytes", "checksum of block 0x3fa1 differs", "tile 49 has no source"}
	text := pick(d, stages...)
	for range d.IntN(4) {
		text += ": " + pick(d, stages...)
	}
	return text + ": " + pick(d, reasons...)
}

// job draws the Job. Its controller is alive: it wrote the status a moment ago.
func (d draw) job() {
	created := d.ago(time.Hour, 3*time.Hour)
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
		Namespace: pick(d, "team-a", "ml", "batch"), Name: pick(d, "train", "nightly-report-29384400", "db-migrate"), UID: "job-uid", Generation: 1, CreationTimestamp: created,
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kube-controller-manager", Operation: "Update", Subresource: "status", Time: ptr.To(metav1.NewTime(Noon.Add(-time.Second)))}},
	}}
	s := &j.Spec
	s.BackoffLimit, s.Completions, s.CompletionMode = ptr.To(d.between(0, 6)), ptr.To(int32(1)), ptr.To(batchv1.NonIndexedCompletion)
	s.Parallelism, s.Suspend, s.PodReplacementPolicy = ptr.To(int32(1)), ptr.To(false), ptr.To(batchv1.TerminatingOrFailed)
	if d.yes() {
		s.Completions, s.CompletionMode = ptr.To(d.between(2, 9)), ptr.To(batchv1.IndexedCompletion)
	}
	s.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: pick(d, "main", "task"), Image: "registry.example/team/app:1.4"}}}
	j.Status.StartTime, j.Status.UncountedTerminatedPods = ptr.To(created), &batchv1.UncountedTerminatedPods{}
	d.w.Job = j
}

func (d draw) indexed() bool { return *d.w.Job.Spec.CompletionMode == batchv1.IndexedCompletion }

// pod adds a pod of the Job that was scheduled, and waits for its containers.
func (d draw) pod(index int32, created metav1.Time) *corev1.Pod {
	j, n := d.w.Job, len(d.w.Pods)
	name := fmt.Sprintf("%s-x%02dzq", j.Name, n)
	if d.indexed() {
		name = fmt.Sprintf("%s-%d-x%02dz", j.Name, index, n)
	}
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: j.Namespace, Name: name, UID: types.UID(name), CreationTimestamp: created, Finalizers: []string{batchv1.JobTrackingFinalizer},
			Labels:          map[string]string{batchv1.JobNameLabel: j.Name, batchv1.ControllerUidLabel: string(j.UID)},
			Annotations:     map[string]string{},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: j.Name, UID: j.UID, Controller: ptr.To(true)}},
		},
		Spec:   *j.Spec.Template.Spec.DeepCopy(),
		Status: corev1.PodStatus{Phase: corev1.PodPending, StartTime: ptr.To(created)},
	}
	if d.indexed() {
		p.Annotations[batchv1.JobCompletionIndexAnnotation] = fmt.Sprint(index)
	}
	p.Spec.NodeName = pick(d, "node-1", "ip-10-2-3-4.ec2.internal")
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: created}}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: p.Spec.Containers[0].Name, Image: p.Spec.Containers[0].Image, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}},
	}}
	d.w.Pods = append(d.w.Pods, p)
	return p
}

// event adds an event about a pod, or about the Job for nil.
func (d draw) event(p *corev1.Pod, from, reason, message string) {
	e := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: d.w.Job.Namespace, Name: fmt.Sprint("event-", len(d.w.Events))}, Type: corev1.EventTypeWarning, Reason: reason, Message: message,
		Source: corev1.EventSource{Component: from}, Count: d.between(1, 40), FirstTimestamp: d.ago(20*time.Minute, 40*time.Minute), LastTimestamp: d.ago(0, 90*time.Second),
		InvolvedObject: corev1.ObjectReference{APIVersion: "batch/v1", Kind: "Job", Namespace: d.w.Job.Namespace, Name: d.w.Job.Name, UID: d.w.Job.UID},
	}
	if p != nil {
		e.InvolvedObject = corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: p.Namespace, Name: p.Name, UID: p.UID}
	}
	d.w.Events = append(d.w.Events, e)
}

// terminated returns the end of a container that ran for a while.
func (d draw) terminated(code int32, reason, message string, end metav1.Time) *corev1.ContainerStateTerminated {
	return &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: reason, Message: message, StartedAt: metav1.NewTime(end.Add(-time.Duration(d.between(1, 90)) * time.Second)), FinishedAt: end,
	}
}

// failPods adds failed pods until the limit is exceeded, or fewer of them, and counts them. The ends are the same.
func (d draw) failPods(end func(p *corev1.Pod, at metav1.Time)) {
	limit := *d.w.Job.Spec.BackoffLimit
	n := d.between(1, limit+1)
	for i := range n {
		at := metav1.NewTime(Noon.Add(-time.Duration(n-i) * 4 * time.Minute))
		p := d.pod(0, metav1.NewTime(at.Add(-2*time.Minute)))
		p.Status.Phase, p.Finalizers = corev1.PodFailed, nil
		end(p, at)
	}
	d.w.Job.Status.Failed = n
	if n > limit {
		d.fail(batchv1.JobReasonBackoffLimitExceeded, "Job has reached the specified backoff limit", metav1.NewTime(Noon.Add(-2*time.Minute)))
		return
	}
	// The next attempt runs.
	d.start(d.pod(0, d.ago(time.Minute, 2*time.Minute)))
	d.w.Retries = &[2]int32{n, limit}
}

// start lets the container of a pod run.
func (d draw) start(p *corev1.Pod) {
	p.Status.Phase = corev1.PodRunning
	p.Status.ContainerStatuses[0].State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: d.ago(time.Second, 20*time.Second)}}
	p.Status.ContainerStatuses[0].Ready = true
	p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue})
	d.w.Job.Status.Active++
	d.w.Job.Status.Ready = ptr.To(ptr.Deref(d.w.Job.Status.Ready, 0) + 1)
}

// fail fails the Job.
func (d draw) fail(reason, message string, at metav1.Time) {
	for _, t := range []batchv1.JobConditionType{batchv1.JobFailureTarget, batchv1.JobFailed} {
		d.w.Job.Status.Conditions = append(d.w.Job.Status.Conditions, batchv1.JobCondition{
			Type: t, Status: corev1.ConditionTrue, Reason: reason, Message: message, LastTransitionTime: at, LastProbeTime: at,
		})
	}
	d.w.Job.Status.Active, d.w.Job.Status.Ready = 0, ptr.To(int32(0))
}
