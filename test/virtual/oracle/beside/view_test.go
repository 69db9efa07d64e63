//go:build builtin

package beside

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/differences"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/model"
)

// view is the watched state of all Jobs and pods of the namespace.
type view struct {
	mu   sync.Mutex
	jobs map[string]*batchv1.Job
	pods map[string]map[types.UID]*corev1.Pod // by the name of the Job
	// created has all pods that the Jobs of a name ever had, in the order of their creation.
	created map[string][]madePod
	// changed is closed at the next change.
	changed chan struct{}
}

// madePod is a pod that existed at some time.
type madePod struct {
	uid   types.UID
	index int
}

func newView(ctx context.Context, planes map[string]*plane) (*view, error) {
	v := &view{
		jobs: map[string]*batchv1.Job{}, pods: map[string]map[types.UID]*corev1.Pod{}, created: map[string][]madePod{}, changed: make(chan struct{}),
	}
	for ns, p := range planes {
		factory := informers.NewSharedInformerFactoryWithOptions(p.client, 0, informers.WithNamespace(ns))
		for _, informer := range []cache.SharedInformer{factory.Batch().V1().Jobs().Informer(), factory.Core().V1().Pods().Informer()} {
			_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
				AddFunc: v.stored, UpdateFunc: func(_, now any) { v.stored(now) }, DeleteFunc: v.deleted,
			})
			if err != nil {
				return nil, err
			}
		}
		factory.Start(ctx.Done())
		for _, synced := range factory.WaitForCacheSync(ctx.Done()) {
			if !synced {
				return nil, errors.New("watching Jobs and pods")
			}
		}
	}
	return v, nil
}

func (v *view) stored(object any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch o := object.(type) {
	case *batchv1.Job:
		v.jobs[o.Name] = o
	case *corev1.Pod:
		job := o.Labels[batchv1.JobNameLabel]
		if v.pods[job] == nil {
			v.pods[job] = map[types.UID]*corev1.Pod{}
		}
		v.pods[job][o.UID] = o
		if !slices.ContainsFunc(v.created[job], func(m madePod) bool { return m.uid == o.UID }) {
			v.created[job] = append(v.created[job], madePod{o.UID, int(history.IndexOf(o))})
		}
	}
	v.wake()
}

func (v *view) deleted(object any) {
	if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = last.Obj
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	switch o := object.(type) {
	case *batchv1.Job:
		delete(v.jobs, o.Name)
	case *corev1.Pod:
		delete(v.pods[o.Labels[batchv1.JobNameLabel]], o.UID)
	}
	v.wake()
}

func (v *view) wake() {
	close(v.changed)
	v.changed = make(chan struct{})
}

// tick is the longest time between two looks at the state.
const tick = 250 * time.Millisecond

// next waits for the next change, or for a tick.
func (v *view) next(ctx context.Context) {
	v.mu.Lock()
	changed := v.changed
	v.mu.Unlock()
	select {
	case <-changed:
	case <-time.After(tick):
	case <-ctx.Done():
	}
}

// job returns a Job, or nil.
func (v *view) job(name string) *batchv1.Job {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.jobs[name]
}

func (v *view) hasCondition(name string, t batchv1.JobConditionType, status corev1.ConditionStatus) bool {
	job := v.job(name)
	return job != nil && slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool { return c.Type == t && c.Status == status })
}

// seenPod is an existing pod.
type seenPod struct {
	*corev1.Pod
	// index is the completion index, or -1; nth is the position in the order of creation among the pods of the index.
	index, nth int
}

func (p seenPod) ended() bool { return history.HasEnded(p.Pod) }

// podsOf returns the existing pods of a Job that satisfy the predicate, by index and then by creation.
func (v *view) podsOf(name string, wanted func(seenPod) bool) (out []seenPod) {
	v.mu.Lock()
	defer v.mu.Unlock()
	nth := map[int]int{}
	for _, m := range v.created[name] {
		nth[m.index]++
		if pod := v.pods[name][m.uid]; pod != nil {
			if p := (seenPod{pod, m.index, nth[m.index]}); wanted(p) {
				out = append(out, p)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b seenPod) int { return cmp.Compare(a.index, b.index) })
	return out
}

func live(p seenPod) bool        { return !p.ended() && p.DeletionTimestamp == nil }
func pending(p seenPod) bool     { return live(p) && p.Status.Phase == corev1.PodPending }
func running(p seenPod) bool     { return live(p) && p.Status.Phase == corev1.PodRunning }
func terminating(p seenPod) bool { return p.DeletionTimestamp != nil }
func over(p seenPod) bool        { return p.ended() && p.DeletionTimestamp == nil }
func anyPod(seenPod) bool        { return true }

// state returns the state of a Job.
func (v *view) state(name string) differences.State {
	job := v.job(name)
	s := differences.State{Created: map[int]int{}, Gone: job == nil}
	var uid types.UID
	if job != nil {
		uid = job.UID
		fillStatus(&s, job)
	}
	for _, p := range v.podsOf(name, anyPod) {
		owner := metav1.GetControllerOf(p)
		s.Pods = append(s.Pods, differences.Pod{
			Index: p.index, Phase: p.Status.Phase, Terminating: p.DeletionTimestamp != nil,
			Tracked: slices.Contains(p.Finalizers, batchv1.JobTrackingFinalizer), Owned: owner != nil && owner.UID == uid,
			Failures: p.Annotations[batchv1.JobIndexFailureCountAnnotation], Ignored: p.Annotations[batchv1.JobIndexIgnoredFailureCountAnnotation],
		})
	}
	slices.SortFunc(s.Pods, differences.ComparePods)
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, m := range v.created[name] {
		s.Created[m.index]++
	}
	return s
}

func fillStatus(s *differences.State, job *batchv1.Job) {
	status := job.Status
	s.Started, s.Ended = status.StartTime != nil, status.CompletionTime != nil
	s.Active, s.Succeeded, s.Failed = status.Active, status.Succeeded, status.Failed
	s.Ready, s.Terminating = ptr.Deref(status.Ready, 0), ptr.Deref(status.Terminating, 0)
	s.CompletedIndexes, s.FailedIndexes = status.CompletedIndexes, ptr.Deref(status.FailedIndexes, "")
	if u := status.UncountedTerminatedPods; u != nil {
		s.UncountedSucceeded, s.UncountedFailed = len(u.Succeeded), len(u.Failed)
	}
	for _, c := range status.Conditions {
		s.Conditions = append(s.Conditions, model.Condition{
			Type: c.Type, Status: c.Status, Reason: c.Reason, Message: anonymous(job.Name, c.Message),
		})
	}
	slices.SortFunc(s.Conditions, func(a, b model.Condition) int { return cmp.Compare(a.Type, b.Type) })
}

// anonymous removes the namespace, the Job's name and the generated parts of pod names.
func anonymous(job, message string) string {
	message = strings.ReplaceAll(message, replacedNamespace+"/", namespace+"/")
	pods := regexp.MustCompile(regexp.QuoteMeta(job) + `-(\d+-)?[a-z0-9]{5}\b`)
	message = pods.ReplaceAllString(message, "${1}PODNAME")
	return regexp.MustCompile(regexp.QuoteMeta(job)+`\b`).ReplaceAllString(message, "JOB")
}

// due returns the next times at which a controller may act without a change of an object: deadlines, and the ends of
// back-offs.
func (v *view) due(name string) (out []time.Time) {
	job := v.job(name)
	if job == nil {
		return nil
	}
	if start, limit := job.Status.StartTime, job.Spec.ActiveDeadlineSeconds; start != nil && limit != nil {
		out = append(out, start.Add(time.Duration(*limit)*time.Second))
	}
	for _, p := range v.podsOf(name, anyPod) {
		for wait := firstBackoff; p.Status.Phase == corev1.PodFailed && wait <= maxBackoff; wait *= 2 {
			out = append(out, finishedAt(p.Pod).Add(wait))
		}
	}
	return out
}

const (
	firstBackoff = 10 * time.Second
	maxBackoff   = 6 * time.Minute
)

// finishedAt returns the time at which the last container of a pod ended.
func finishedAt(pod *corev1.Pod) (last time.Time) {
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if t := c.State.Terminated; t != nil && t.FinishedAt.After(last) {
			last = t.FinishedAt.Time
		}
	}
	return last
}

// indexes returns the indexes of pods, with repetitions.
func indexes(pods []seenPod) (out []int) {
	for _, p := range pods {
		out = append(out, p.index)
	}
	return out
}
