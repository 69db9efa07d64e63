package invariants

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

func writtenBy(manager, subresource string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.ManagedFields = append(p.ManagedFields, metav1.ManagedFieldsEntry{Manager: manager, Subresource: subresource})
	}
}

func jobWrittenBy(manager, subresource string) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		j.ManagedFields = append(j.ManagedFields, metav1.ManagedFieldsEntry{Manager: manager, Subresource: subresource})
	}
}

func of(managedBy *string) func(*batchv1.JobSpec) {
	return func(s *batchv1.JobSpec) { s.ManagedBy = managedBy }
}

// Writes to another controller's Jobs are found, and a controller's own writes are not (MGB-01, MGB-05, MGB-13).
func TestTerritoryFindsForeignWrites(t *testing.T) {
	t.Parallel()
	ours, named, foreign, reserved := ptr.To("batchjob.dev/controller"), ptr.To("e2e.batchjob.dev/x"), ptr.To("example.com/other"), ptr.To(batchv1.JobControllerName)
	stray := func(p *corev1.Pod) { p.OwnerReferences = nil }
	for what, c := range map[string]struct {
		story *story
		text  []string
	}{
		"ours by us": {storyOf(of(ours)).edit(jobWrittenBy("user", "")).edit(jobWrittenBy(ourManager, "status")).pod("a-0", writtenBy(ourManager, "")).
			pod("a-0", writtenBy(builtInManager, "status")).gone("a-0"), nil},
		"ours by another name":          {storyOf(of(named)).edit(jobWrittenBy(ourManager, "status")).pod("a-0", writtenBy(ourManager, "")), nil},
		"ours by a CronJob":             {storyOf(of(ours)).edit(jobWrittenBy(builtInManager, "")), nil},
		"ours by the built-in":          {storyOf(of(ours)).edit(jobWrittenBy(builtInManager, "status")).edit(func(*batchv1.Job) {}), []string{"MGB-05 at revision 2, Job job: kube-controller-manager has written Job job, status, of a Job that is ours"}},
		"our pod by the built-in":       {storyOf(of(ours)).pod("a-0", writtenBy(builtInManager, "")), []string{"MGB-05 at revision 2, Job job: kube-controller-manager has written pod a-0, of a Job that is ours"}},
		"our stray by the built-in":     {storyOf(of(ours)).pod("a-0", stray, writtenBy(builtInManager, "")), []string{"MGB-05"}},
		"our pod, when the Job is gone": {storyOf(of(ours)).pod("a-0").gone("job").pod("a-0", writtenBy(builtInManager, "")), nil},
		"built-in by itself":            {storyOf(of(nil)).edit(jobWrittenBy(builtInManager, "status")).pod("a-0", writtenBy(builtInManager, "")), nil},
		"built-in by us":                {storyOf(of(nil)).edit(jobWrittenBy(ourManager, "status")), []string{"MGB-01 at revision 2, Job job: kubectl-batchjob-controller has written Job job, status, of a Job that is built-in"}},
		"reserved by us":                {storyOf(of(reserved)).edit(jobWrittenBy(ourManager, "")), []string{"MGB-01"}},
		"built-in pod by us":            {storyOf(of(nil)).pod("a-0", writtenBy(ourManager, "")), []string{"MGB-01"}},
		"built-in pod's status by us":   {storyOf(of(nil)).pod("a-0", writtenBy(ourManager, "status")), []string{"MGB-01"}},
		"foreign by us":                 {storyOf(of(foreign)).edit(jobWrittenBy(ourManager, "status")), []string{"MGB-01"}},
		"foreign by the built-in":       {storyOf(of(foreign)).edit(jobWrittenBy(builtInManager, "status")), []string{"MGB-05"}},
		"a foreign pod by us":           {storyOf(of(foreign)).pod("a-0", writtenBy(ourManager, "")), []string{"MGB-01"}},
		"a foreign pod by the built-in": {storyOf(of(foreign)).pod("a-0", writtenBy(builtInManager, "")), []string{"MGB-05"}},
		"a foreign pod that is labeled": {storyOf(of(foreign)).pod("a-0", writtenBy("other", "")), nil},
	} {
		expect(t, what, NewTerritory(*ours, *named).Check(c.story.versions), c.text...)
	}
}

// Missing reports the kinds of Jobs that a check did not see.
// Requirements: MGB-13
func TestTerritoryReportsWhatItDidNotSee(t *testing.T) {
	t.Parallel()
	territory := NewTerritory("batchjob.dev/controller")
	assert.Equal(t, len(territory.Missing()), 4, "of no Jobs it misses")
	for _, s := range []*story{
		storyOf(nil).edit(jobWrittenBy("renamed", "status")),
		storyOf(of(nil)).edit(jobWrittenBy(builtInManager, "status")),
		storyOf(of(ptr.To("example.com/other"))),
	} {
		territory.Check(s.versions)
	}
	want := []string{"nobody wrote the status of a Job that is ours", "there was no Job that is built-in by its reserved name"}
	assert.SlicesEqual(t, territory.Missing(), want, "it misses")
	territory.Check(storyOf(nil).edit(jobWrittenBy(ourManager, "status")).versions)
	territory.Check(storyOf(of(ptr.To(batchv1.JobControllerName))).edit(jobWrittenBy(builtInManager, "status")).versions)
	if got := territory.Missing(); len(got) > 0 || !strings.HasPrefix(territory.String(), "2 ours (1 with a status), 1 built-in (1 with a status)") {
		t.Errorf("it misses %q of %s", got, territory)
	}
}

// Finalizers that are left behind are found, and finalizers that may still be held are not (L2).
// Requirements: TRK-20, JOB-58
func TestFinalizersLeftBehindAreFound(t *testing.T) {
	t.Parallel()
	finished := func(s *batchv1.JobStatus) { and(met, complete)(s) }
	for what, c := range map[string]struct {
		story *story
		text  []string
	}{
		"a running Job":             {storyOf(nil).pod("a-0").pod("a-0", failed), nil},
		"finished, a running pod":   {storyOf(nil).pod("a-0").status(finished), []string{"L2 at revision 2, Job job: the Job is finished, and pod a-0 holds its finalizer"}},
		"finished and let go":       {storyOf(nil).pod("a-0").pod("a-0", released).status(finished), nil},
		"finished and pod gone":     {storyOf(nil).pod("a-0").gone("a-0").status(finished), nil},
		"gone, an ended pod":        {storyOf(nil).pod("a-0", failed).gone("job"), []string{"the Job is gone, and pod a-0 holds its finalizer"}},
		"gone, an ended orphan":     {storyOf(nil).pod("a-0", failed).gone("job").pod("a-0", func(p *corev1.Pod) { p.OwnerReferences = nil }), []string{"the Job is gone"}},
		"gone, a running pod":       {storyOf(nil).pod("a-0").gone("job"), nil},
		"finished, another's stray": {storyOf(nil).pod("a-0", func(p *corev1.Pod) { p.OwnerReferences = nil }).status(finished), nil},
	} {
		expect(t, what, AtRest(c.story.versions), c.text...)
	}
}
