package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/invariants"
)

// auditor checks the history, one namespace at a time.
type auditor struct {
	territory *invariants.Territory
	// requests holds the requests in the cluster, once it is running.
	requests *podRequests
	// excused is the number of violations that requests excused.
	excused int
}

func newAuditor() *auditor {
	return &auditor{territory: invariants.NewTerritory("batchjob.dev/controller"), requests: newPodRequests(os.DevNull)}
}

// audit replays the history of a namespace, and returns the violations. A namespace must not be audited twice.
func (c *auditor) audit(namespace string, versions []history.Version) (problems []string) {
	for _, p := range launched() {
		c.territory.Own(p.managedBy())
	}
	if err := c.requests.follow(); err != nil {
		problems = append(problems, err.Error())
	}
	violations := slices.Concat(invariants.AtRest(versions), c.territory.Check(versions))
	broken := c.requests.excuses(versions).Check(versions)
	c.excused += len(invariants.Check(versions)) - len(broken)
	c.requests.forget(versions)
	for _, v := range broken {
		if c.excuse(v) == "" {
			violations = append(violations, v)
		}
	}
	for _, v := range violations {
		problems = append(problems, namespace+": "+v.String())
	}
	for _, p := range slices.Concat(footprints(versions), kubelets(versions)) {
		problems = append(problems, namespace+": "+p)
	}
	return problems
}

// excuse returns why a violation is not our controllers', or "".
func (c *auditor) excuse(v invariants.Violation) string {
	switch {
	case strings.HasPrefix(v.Invariant, "STV-"):
	case history.IsBuiltIn(v.Job):
		return "the invariants are ours, and the built-in controller has others"
	}
	return ""
}

// managedBy returns the managedBy value of the Jobs that a controller runs.
func (p *process) managedBy() string {
	for i, arg := range p.Args {
		if value, ok := strings.CutPrefix(arg, "--managed-by="); ok {
			return value
		}
		if arg == "--managed-by" && i+1 < len(p.Args) {
			return p.Args[i+1]
		}
	}
	return "batchjob.dev/controller"
}

// footprints checks PRP-24 from the view of a quota controller: under podReplacementPolicy Failed a status never shows
// more active and terminating pods than the highest parallelism that the Job ever had. Only controllers create pods
// here.
func footprints(versions []history.Version) (problems []string) {
	jobs, bounds := map[types.UID]*batchv1.Job{}, map[types.UID]int32{}
	for _, v := range versions {
		if v.Job == nil {
			continue
		}
		job, old := v.Job, jobs[v.Job.UID]
		jobs[job.UID], bounds[job.UID] = job, max(bounds[job.UID], ptr.Deref(job.Spec.Parallelism, 1))
		if history.IsBuiltIn(job) || !replacesFailedOnly(job) || old != nil && equality.Semantic.DeepEqual(old.Status, job.Status) {
			continue
		}
		if used := job.Status.Active + ptr.Deref(job.Status.Terminating, 0); used > bounds[job.UID] {
			problems = append(problems, fmt.Sprintf("PRP-24 at revision %d: the status of Job %s has %d active and terminating pods, and parallelism is %d",
				v.Revision, job.Name, used, bounds[job.UID]))
		}
	}
	return problems
}

func replacesFailedOnly(job *batchv1.Job) bool {
	return ptr.Deref(job.Spec.PodReplacementPolicy, "") == batchv1.Failed || job.Spec.PodFailurePolicy != nil
}

// kubelets checks that the simulated nodes behave like kubelets: a pod ends only once.
func kubelets(versions []history.Version) (problems []string) {
	pods := map[types.UID]*corev1.Pod{}
	for _, v := range versions {
		if v.Pod == nil {
			continue
		}
		if old := pods[v.Pod.UID]; old != nil && hasEnded(old) && old.Status.Phase != v.Pod.Status.Phase {
			problems = append(problems, fmt.Sprintf("at revision %d: pod %s ended %s, and then %s", v.Revision, v.Pod.Name, old.Status.Phase, v.Pod.Status.Phase))
		}
		pods[v.Pod.UID] = v.Pod
	}
	return problems
}

// The verdict finds each kind of violation (STV-25, PRP-24): a status that breaks a rule, a second pod of an index, too
// many pods, a finalizer left behind, a pod that ends twice, a write to another controller's Job, a rejected status.
func TestVerdictFindsEachViolation(t *testing.T) {
	t.Parallel()
	job := func(change func(*batchv1.Job)) history.Version {
		j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "job", UID: "job"}}
		j.Spec.ManagedBy, j.Spec.Parallelism = ptr.To("batchjob.dev/controller"), ptr.To[int32](1)
		j.Spec.PodReplacementPolicy = ptr.To(batchv1.Failed)
		j.Spec.CompletionMode, j.Spec.Completions = ptr.To(batchv1.IndexedCompletion), ptr.To[int32](3)
		change(j)
		return history.Version{Job: j}
	}
	pod := func(name, index string, change func(*corev1.Pod)) history.Version {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Annotations: map[string]string{batchv1.JobCompletionIndexAnnotation: index}}}
		p.OwnerReferences = []metav1.OwnerReference{{Kind: "Job", UID: "job", Name: "job", Controller: ptr.To(true)}}
		p.Finalizers = []string{batchv1.JobTrackingFinalizer}
		change(p)
		return history.Version{Pod: p}
	}
	phase := func(to corev1.PodPhase) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Status.Phase = to } }
	written := func(change func(*batchv1.JobStatus)) history.Version {
		return job(func(j *batchv1.Job) {
			j.Status.UncountedTerminatedPods, j.Status.Terminating = &batchv1.UncountedTerminatedPods{}, ptr.To[int32](0)
			change(&j.Status)
		})
	}
	same := func(*corev1.Pod) {}
	fresh := job(func(*batchv1.Job) {})
	for what, c := range map[string]struct {
		versions []history.Version
		text     string
	}{
		"nothing": {[]history.Version{fresh, pod("a", "0", same), pod("a", "0", phase(corev1.PodFailed)), pod("b", "0", same)}, ""},
		"a rule":  {[]history.Version{fresh, written(func(s *batchv1.JobStatus) { s.Ready = ptr.To[int32](1) })}, "STV-16"},
		"same index": {[]history.Version{
			job(func(j *batchv1.Job) { j.Spec.Parallelism = ptr.To[int32](2) }), pod("a", "0", same),
			pod("a", "0", func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }), pod("b", "0", same),
		}, "2 pods run for index 0"},
		"too many":   {[]history.Version{fresh, pod("a", "0", same), pod("b", "1", same)}, "2 pods run, and 1 may"},
		"footprint":  {[]history.Version{fresh, written(func(s *batchv1.JobStatus) { s.Active, s.Terminating = 1, ptr.To[int32](1) })}, "2 active and terminating"},
		"ends twice": {[]history.Version{fresh, pod("a", "0", phase(corev1.PodFailed)), pod("a", "0", phase(corev1.PodSucceeded))}, "ended Failed, and then Succeeded"},
		"finalizers": {[]history.Version{fresh, pod("a", "0", phase(corev1.PodFailed)), {Job: fresh.Job, Gone: true}}, "the Job is gone, and pod a holds its finalizer"},
		"trespass": {[]history.Version{job(func(j *batchv1.Job) {
			j.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kube-controller-manager", Subresource: "status"}}
		})}, "kube-controller-manager has written Job job, status"},
	} {
		found := strings.Join(newAuditor().audit("ns", c.versions), "\n")
		if c.text == "" && found != "" || !strings.Contains(found, c.text) {
			t.Errorf("%s: found %q", what, found)
		}
	}
	log := "E1 \"Sync failed\" err=\"writing the status: Job.batch \\\"x\\\" is invalid: status.ready: Invalid value\"\n"
	if got := badLines("I0 all is well\n" + log); len(got) != 1 {
		t.Errorf("bad lines %q", got)
	}
}
