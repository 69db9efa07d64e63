package invariants

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// story is an invented history of one Job.
type story struct {
	versions []history.Version
	job      *batchv1.Job
	pods     map[string]*corev1.Pod
}

// storyOf starts the story of a Job of our controller with two completions and a parallelism of two.
func storyOf(change func(*batchv1.JobSpec)) *story {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "job", UID: "job"}}
	job.Spec = batchv1.JobSpec{
		ManagedBy: ptr.To("batchjob.dev/controller"), Parallelism: ptr.To[int32](2), Completions: ptr.To[int32](2), BackoffLimit: ptr.To[int32](6),
		CompletionMode: ptr.To(batchv1.NonIndexedCompletion), PodReplacementPolicy: ptr.To(batchv1.TerminatingOrFailed),
	}
	if change != nil {
		change(&job.Spec)
	}
	s := &story{job: job, pods: map[string]*corev1.Pod{}}
	s.add(history.Version{Job: job})
	return s
}

func (s *story) add(v history.Version) {
	v.Revision = uint64(len(s.versions) + 1)
	v.Seen = time.Unix(int64(v.Revision), 0)
	s.versions = append(s.versions, v)
}

// edit stores a new version of the Job.
func (s *story) edit(change func(*batchv1.Job)) *story {
	s.job = s.job.DeepCopy()
	change(s.job)
	s.add(history.Version{Job: s.job})
	return s
}

// status stores a status, as a controller with all features would.
func (s *story) status(change func(*batchv1.JobStatus)) *story {
	return s.edit(func(j *batchv1.Job) {
		if j.Status.UncountedTerminatedPods == nil {
			j.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
			j.Status.StartTime, j.Status.Ready, j.Status.Terminating = at(0), ptr.To[int32](0), ptr.To[int32](0)
		}
		if j.Spec.BackoffLimitPerIndex != nil && j.Status.FailedIndexes == nil {
			j.Status.FailedIndexes = ptr.To("")
		}
		change(&j.Status)
	})
}

// pod stores a version of a pod, whose index is the number at the end of its name.
func (s *story) pod(name string, changes ...func(*corev1.Pod)) *story {
	pod := s.pods[name].DeepCopy()
	if pod == nil {
		pod = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Annotations: map[string]string{}}}
		pod.Annotations[batchv1.JobCompletionIndexAnnotation] = name[len(name)-1:]
		pod.Labels = map[string]string{batchv1.ControllerUidLabel: "job"}
		pod.OwnerReferences = []metav1.OwnerReference{{Kind: "Job", Name: "job", UID: "job", Controller: ptr.To(true)}}
		pod.Finalizers = []string{batchv1.JobTrackingFinalizer}
	}
	for _, change := range changes {
		change(pod)
	}
	s.pods[name] = pod
	s.add(history.Version{Pod: pod})
	return s
}

func (s *story) gone(name string) *story {
	if name == "job" {
		s.add(history.Version{Job: s.job, Gone: true})
		return s
	}
	s.add(history.Version{Pod: s.pods[name], Gone: true})
	return s
}

func at(seconds int) *metav1.Time { return ptr.To(metav1.Unix(int64(1000+seconds), 0)) }

func succeeded(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }
func deleted(p *corev1.Pod)   { p.DeletionTimestamp = at(0) }
func released(p *corev1.Pod)  { p.Finalizers = nil }
func failed(p *corev1.Pod)    { exit(1)(p) }

func evicted(p *corev1.Pod) {
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
}

func exit(code int32) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodFailed
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}}}
	}
}

func failuresBefore(n int) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Annotations[batchv1.JobIndexFailureCountAnnotation] = strconv.Itoa(n) }
}

// record sets the lists in uncountedTerminatedPods.
func record(succeeded, failed []types.UID) func(*batchv1.JobStatus) {
	return func(s *batchv1.JobStatus) {
		s.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{Succeeded: succeeded, Failed: failed}
	}
}

// count empties uncountedTerminatedPods and sets the counters.
func count(succeeded, failed int32) func(*batchv1.JobStatus) {
	return func(s *batchv1.JobStatus) {
		record(nil, nil)(s)
		s.Succeeded, s.Failed = succeeded, failed
	}
}

// decide adds a condition with a transition time in seconds.
func decide(t batchv1.JobConditionType, reason, message string, seconds int) func(*batchv1.JobStatus) {
	return func(s *batchv1.JobStatus) {
		s.Conditions = append(s.Conditions, batchv1.JobCondition{Type: t, Status: corev1.ConditionTrue, Reason: reason, Message: message, LastTransitionTime: *at(seconds)})
		if t == batchv1.JobComplete {
			s.CompletionTime = at(seconds)
		}
	}
}

func and[T any](changes ...func(*T)) func(*T) {
	return func(o *T) {
		for _, change := range changes {
			change(o)
		}
	}
}

func met(s *batchv1.JobStatus) {
	decide(batchv1.JobSuccessCriteriaMet, batchv1.JobReasonCompletionsReached, "", 60)(s)
}

func complete(s *batchv1.JobStatus) {
	decide(batchv1.JobComplete, batchv1.JobReasonCompletionsReached, "", 60)(s)
}

func target(reason, message string) func(*batchv1.JobStatus) {
	return decide(batchv1.JobFailureTarget, reason, message, 60)
}

func indexed(spec *batchv1.JobSpec) { spec.CompletionMode = ptr.To(batchv1.IndexedCompletion) }

// leader makes the Job succeed once index 0 succeeds.
func leader(spec *batchv1.JobSpec) {
	indexed(spec)
	spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: ptr.To("0")}}}
}

// perIndex allows one failure per index.
func perIndex(spec *batchv1.JobSpec) {
	indexed(spec)
	spec.BackoffLimitPerIndex = ptr.To[int32](1)
}

func rule(action batchv1.PodFailurePolicyAction, code int32) func(*batchv1.JobSpec) {
	return func(spec *batchv1.JobSpec) {
		spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
			Action:      action,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{code}},
		}}}
		spec.PodReplacementPolicy = ptr.To(batchv1.Failed)
	}
}

// failsOrIgnoresEvictions ignores disruptions, and fails the Job for exit code 42.
func failsOrIgnoresEvictions(spec *batchv1.JobSpec) {
	rule(batchv1.PodFailurePolicyActionFailJob, 42)(spec)
	spec.PodFailurePolicy.Rules = slices.Insert(spec.PodFailurePolicy.Rules, 0, batchv1.PodFailurePolicyRule{
		Action:          batchv1.PodFailurePolicyActionIgnore,
		OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
	})
}

// expect compares the violations found with the expected texts, in order; no texts means no violations.
func expect(t *testing.T, what string, found []Violation, text ...string) {
	t.Helper()
	var lines []string
	for _, v := range found {
		lines = append(lines, v.String())
	}
	ok := len(lines) == len(text)
	for i := range min(len(lines), len(text)) {
		ok = ok && strings.Contains(lines[i], text[i])
	}
	if !ok {
		t.Errorf("%s: found %q, want %q", what, lines, text)
	}
}

// workQueue leaves completions unset.
func workQueue(spec *batchv1.JobSpec) { spec.Completions = nil }
