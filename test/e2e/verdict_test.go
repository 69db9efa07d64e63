package e2e

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/statusrules"
)

// verdict ends a run of tests: it holds all that happened against what always has to be
// true, and returns what is not.
func verdict(ctx context.Context, shared *process) []string {
	var problems []string
	if code, err := shared.end(); err != nil || code != 0 {
		problems = append(problems, fmt.Sprintf("the shared controller ended with %d, %v:\n%s", code, err, shared.stderr.String()))
	}
	if err := past.complete(ctx); err != nil {
		return append(problems, fmt.Sprintf("the history is not complete: %v", err))
	}
	for _, namespace := range past.namespaces() {
		for _, p := range judge(past.in(namespace)) {
			problems = append(problems, namespace+": "+p)
		}
	}
	problems = append(problems, rejectedWrites(ctx)...)
	for _, p := range launched() {
		problems = append(problems, badLines(p.stderr.String())...)
	}
	return problems
}

// rejectedWrites asks the API server how many status writes it has rejected.
func rejectedWrites(ctx context.Context) (problems []string) {
	text, err := client.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return []string{fmt.Sprintf("reading the metrics of the API server: %v", err)}
	}
	seen := false
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "apiserver_request_total{") || !strings.Contains(line, `resource="jobs"`) || !strings.Contains(line, `subresource="status"`) {
			continue
		}
		seen = true
		if strings.Contains(line, `code="422"`) {
			problems = append(problems, "STV-25: the API server has rejected a status: "+strings.TrimSpace(line))
		}
	}
	if !seen {
		problems = append(problems, "the API server's metrics know of no status write")
	}
	return problems
}

// badLine is what no log of a controller may hold: a status that the API server rejects
// (JOB.batch "x" is invalid: [status.y: …), or a panic.
var badLine = regexp.MustCompile(`is invalid: \[?status|panic`)

func badLines(log string) (problems []string) {
	for line := range strings.Lines(log) {
		if badLine.MatchString(line) {
			problems = append(problems, "STV-25: the log of a controller says: "+strings.TrimSpace(line))
		}
	}
	return problems
}

// complete waits until the history shows every Job and pod as it is now.
func (h *history) complete(ctx context.Context) error {
	var missing string
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		if _, broken := h.changes(); broken != nil {
			return false, broken
		}
		jobs, err := client.BatchV1().Jobs("").List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		pods, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		missing = ""
		for i := range jobs.Items {
			missing += h.lacks(&jobs.Items[i])
		}
		for i := range pods.Items {
			missing += h.lacks(&pods.Items[i])
		}
		return missing == "", nil
	})
	if err != nil {
		return errors.Join(err, errors.New(missing))
	}
	return nil
}

// lacks names the object if the history does not show this version of it.
func (h *history) lacks(o metav1.Object) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, v := range slices.Backward(h.versions[o.GetNamespace()]) {
		if v.object().GetUID() == o.GetUID() && v.object().GetResourceVersion() == o.GetResourceVersion() {
			return ""
		}
	}
	return o.GetNamespace() + "/" + o.GetName() + " "
}

// judge replays what happened in a namespace, and says what breaks a rule.
func judge(versions []version) []string {
	j := &judgement{jobs: map[types.UID]*batchv1.Job{}, pods: map[types.UID]*corev1.Pod{}, bounds: map[types.UID]int32{}}
	for _, v := range versions {
		j.revision = v.revision
		if v.job != nil {
			j.jobChanged(v)
		} else {
			j.podChanged(v)
		}
	}
	j.end()
	return j.problems
}

type judgement struct {
	revision uint64
	jobs     map[types.UID]*batchv1.Job
	// pods are those that exist.
	pods map[types.UID]*corev1.Pod
	// bounds is the highest parallelism that each Job ever had.
	bounds   map[types.UID]int32
	problems []string
}

func (j *judgement) says(format string, args ...any) {
	j.problems = append(j.problems, fmt.Sprintf("%s at revision %d", fmt.Sprintf(format, args...), j.revision))
}

func (j *judgement) jobChanged(v version) {
	old := j.jobs[v.job.UID]
	if old == nil {
		old = v.job.DeepCopy()
		old.Status = batchv1.JobStatus{}
	}
	j.jobs[v.job.UID] = v.job
	j.bounds[v.job.UID] = max(j.bounds[v.job.UID], ptr.Deref(v.job.Spec.Parallelism, 1))
	if equality.Semantic.DeepEqual(old.Status, v.job.Status) {
		return
	}
	for _, rule := range statusrules.Broken(old, v.job) {
		j.says("%s: the status of Job %s: %s", rule.ID, v.job.Name, rule.Says)
	}
	s := v.job.Status
	if used := s.Active + ptr.Deref(s.Terminating, 0); replacesFailedOnly(v.job) && used > j.bounds[v.job.UID] {
		j.says("PRP-24: the status of Job %s has %d active and terminating pods, and parallelism is %d", v.job.Name, used, j.bounds[v.job.UID])
	}
}

func (j *judgement) podChanged(v version) {
	if old := j.pods[v.pod.UID]; old != nil && hasEnded(old) && old.Status.Phase != v.pod.Status.Phase {
		j.says("the nodes do what no kubelet does: pod %s ended %s, and then %s", v.pod.Name, old.Status.Phase, v.pod.Status.Phase)
	}
	if v.gone || hasEnded(v.pod) {
		j.pods[v.pod.UID] = v.pod
		if v.gone {
			delete(j.pods, v.pod.UID)
		}
		return
	}
	isNew := j.pods[v.pod.UID] == nil
	j.pods[v.pod.UID] = v.pod
	owner := metav1.GetControllerOf(v.pod)
	if owner == nil || !isNew {
		return
	}
	if job := j.jobs[owner.UID]; job != nil && replacesFailedOnly(job) {
		j.countRivals(job, v.pod)
	}
}

// countRivals is PRP-24, when a pod is created under podReplacementPolicy Failed: no
// other pod of its index has not ended, and not more than parallelism pods have.
func (j *judgement) countRivals(job *batchv1.Job, created *corev1.Pod) {
	running := int32(0)
	for _, pod := range j.pods {
		if owner := metav1.GetControllerOf(pod); owner == nil || owner.UID != job.UID || hasEnded(pod) {
			continue
		}
		running++
		if pod.UID != created.UID && indexOf(pod) >= 0 && indexOf(pod) == indexOf(created) {
			j.says("PRP-24: pod %s is created, and %s of the same index has not ended", created.Name, pod.Name)
		}
	}
	if running > j.bounds[job.UID] {
		j.says("PRP-24: pod %s is created, and now %d pods have not ended; parallelism is %d", created.Name, running, j.bounds[job.UID])
	}
}

// end is L2: a finished Job has let go of its pods.
func (j *judgement) end() {
	for _, pod := range j.pods {
		owner := metav1.GetControllerOf(pod)
		if owner == nil || j.jobs[owner.UID] == nil || !isTracked(pod) {
			continue
		}
		if isFinished(j.jobs[owner.UID]) {
			j.says("Job %s is finished, and pod %s holds the tracking finalizer", owner.Name, pod.Name)
		}
	}
}

// replacesFailedOnly says that a controller of ours must wait for the end of a pod before
// it replaces it.
func replacesFailedOnly(job *batchv1.Job) bool {
	ours := ptr.Deref(job.Spec.ManagedBy, batchv1.JobControllerName) != batchv1.JobControllerName
	return ours && (ptr.Deref(job.Spec.PodReplacementPolicy, "") == batchv1.Failed || job.Spec.PodFailurePolicy != nil)
}

func isTracked(pod *corev1.Pod) bool {
	return slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer)
}

// condition returns the Job's condition of the type, if that is True.
func condition(job *batchv1.Job, t batchv1.JobConditionType) *batchv1.JobCondition {
	for i := range job.Status.Conditions {
		if c := &job.Status.Conditions[i]; c.Type == t && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return nil
}

func isFinished(job *batchv1.Job) bool {
	return condition(job, batchv1.JobComplete) != nil || condition(job, batchv1.JobFailed) != nil
}

// The verdict finds what it is there for (STV-25, PRP-24): a status that breaks a rule, a
// second pod of an index, too many pods, a finalizer that is left, a rejected write.
func TestVerdict_STV_25_PRP_24(t *testing.T) {
	t.Parallel()
	job := func(change func(*batchv1.Job)) version {
		j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "job", UID: "job"}}
		j.Spec.ManagedBy, j.Spec.Parallelism = ptr.To("e2e.batchjob.dev/x"), ptr.To[int32](1)
		j.Spec.PodReplacementPolicy = ptr.To(batchv1.Failed)
		change(j)
		return version{job: j}
	}
	pod := func(name, index string, change func(*corev1.Pod)) version {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Annotations: map[string]string{batchv1.JobCompletionIndexAnnotation: index}}}
		p.OwnerReferences = []metav1.OwnerReference{{UID: "job", Name: "job", Controller: ptr.To(true)}}
		change(p)
		return version{pod: p}
	}
	same := func(*corev1.Pod) {}
	fresh := job(func(*batchv1.Job) {})
	for what, c := range map[string]struct {
		versions []version
		says     string
	}{
		"nothing":          {[]version{fresh, pod("a", "0", same), pod("a", "0", func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }), pod("b", "0", same)}, ""},
		"a rule":           {[]version{fresh, job(func(j *batchv1.Job) { j.Status.Ready = ptr.To[int32](1) })}, "STV-16"},
		"failed decreases": {[]version{job(func(j *batchv1.Job) { j.Status.Failed = 2 }), job(func(j *batchv1.Job) { j.Status.Failed = 1 })}, "STV-17"},
		"same index": {[]version{job(func(j *batchv1.Job) { j.Spec.Parallelism = ptr.To[int32](2) }), pod("a", "0", same),
			pod("a", "0", func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }), pod("b", "0", same)}, "of the same index"},
		"too many":  {[]version{fresh, pod("a", "0", same), pod("b", "1", same)}, "2 pods have not ended"},
		"footprint": {[]version{fresh, job(func(j *batchv1.Job) { j.Status.Active, j.Status.Terminating = 1, ptr.To[int32](1) })}, "2 active and terminating"},
		"finalizers": {[]version{fresh, pod("a", "0", func(p *corev1.Pod) { p.Finalizers = []string{batchv1.JobTrackingFinalizer} }),
			job(func(j *batchv1.Job) {
				j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}}
			})}, "holds the tracking finalizer"},
	} {
		found := strings.Join(judge(c.versions), "\n")
		if c.says == "" && found != "" || !strings.Contains(found, c.says) {
			t.Errorf("%s: found %q", what, found)
		}
	}
	log := "E1 \"Sync failed\" err=\"writing the status: Job.batch \\\"x\\\" is invalid: status.ready: Invalid value\"\n"
	if got := badLines("I0 all is well\n" + log); len(got) != 1 {
		t.Errorf("bad lines %q", got)
	}
}
