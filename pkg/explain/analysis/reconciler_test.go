package analysis_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

func wrote(manager, subresource, fields string, d time.Duration) metav1.ManagedFieldsEntry {
	e := metav1.ManagedFieldsEntry{Manager: manager, Operation: "Update", Subresource: subresource, Time: ptr.To(ago(d))}
	if fields != "" {
		e.FieldsV1 = metav1.NewFieldsV1(fields)
	}
	return e
}

// ours returns a running Job of our controller, whose status was written d ago.
func ours(d time.Duration) *batchv1.Job {
	return jobWith(func(j *batchv1.Job) {
		j.Spec.ManagedBy, j.Status.Active = ptr.To(recorded.OurName), 1
		j.ManagedFields = []metav1.ManagedFieldsEntry{wrote("kubectl", "", "", time.Hour), wrote("kubectl-batchjob-controller", "status", "", d)}
	})
}

func lease(holder string, renewed time.Duration) *input.Lease {
	return &input.Lease{Namespace: "sys", Name: "lease", Holder: holder, Renewed: noon.Add(-renewed), Duration: 15 * time.Second}
}

// CLI-06, MGB-12: the controller of the Job, and whether it is alive.
func TestReportNamesTheReconciler(t *testing.T) {
	running := podOf("train-x", nil)
	unrecorded := podOf("train-y", func(p *corev1.Pod) {
		exits(1, "Error", 5*time.Minute)(p)
		p.Finalizers = []string{batchv1.JobTrackingFinalizer}
	})
	for name, tc := range map[string]struct {
		job   *batchv1.Job
		lease *input.Lease
		pods  []*input.Pod
		alive explain.Aliveness
		text  string
		gone  bool
	}{
		"lease held":                        {job: ours(time.Hour), lease: lease("vm-1", 2*time.Second), alive: explain.Alive, text: "seen 2s ago on vm-1"},
		"lease expired":                     {job: ours(time.Hour), lease: lease("vm-1", time.Minute), alive: explain.NotAlive, text: "expired (last renewed 1m ago)", gone: true},
		"lease just not expired":            {job: ours(time.Hour), lease: lease("vm-1", 15*time.Second), alive: explain.Alive, text: "seen 15s ago on vm-1"},
		"released, and nobody took it":      {job: ours(time.Hour), lease: lease("", time.Minute), alive: explain.NotAlive, text: "expired", gone: true},
		"released a moment ago":             {job: ours(time.Hour), lease: lease("", time.Second), alive: explain.AlivenessUnknown, text: "last wrote the status 1h ago"},
		"old lease, status written since":   {job: ours(10 * time.Second), lease: lease("vm-1", time.Hour), alive: explain.Alive, text: "last wrote the status 10s ago"},
		"no lease, status written lately":   {job: ours(10 * time.Second), alive: explain.Alive, text: "last wrote the status 10s ago"},
		"no lease, status written long ago": {job: ours(time.Hour), alive: explain.AlivenessUnknown, text: "last wrote the status 1h ago"},
		"no lease, ends are not recorded":   {job: ours(time.Hour), pods: []*input.Pod{unrecorded}, alive: explain.NotAlive, text: "1 pod ended at least 5m ago and is not recorded", gone: true},
		"no sign":                           {job: jobWith(nil), alive: explain.AlivenessUnknown, text: "not known whether"},
	} {
		t.Run(name, func(t *testing.T) {
			f := factsOf(tc.job, append(tc.pods, running)...)
			f.Lease = tc.lease
			r := report(f)
			if r.Reconciler.Alive != tc.alive || !strings.Contains(r.Reconciler.Text, tc.text) {
				t.Errorf("%s: %s; want %s: %s", r.Reconciler.Alive, r.Reconciler.Text, tc.alive, tc.text)
			}
			if hasProblem(r, explain.ProblemControllerGone) != tc.gone || r.Verdict.Stalled != tc.gone {
				t.Errorf("stalled %v, problems %+v", r.Verdict.Stalled, r.Problems)
			}
		})
	}
}

// A replica that ran without leader election for a while, and has died since, leaves an old Lease without a holder.
// Requirements: CLI-06
func TestOldLeaseIsNoSignOfLife(t *testing.T) {
	f := factsOf(ours(30*time.Minute), podOf("train-x", nil))
	f.Lease = lease("vm-1", time.Hour)
	if r := report(f).Reconciler; r.Alive == explain.Alive || strings.Contains(r.Text, "seen") {
		t.Errorf("%s: %s", r.Alive, r.Text)
	}
}

// A released Lease, as of a shard that moves, has a duration of a second: it does not show that its controller is gone
// until no replica has taken it for much longer.
// Requirements: CLI-06, SHD-03
func TestLeaseThatWasGivenBack(t *testing.T) {
	for age, want := range map[time.Duration]bool{3 * time.Second: false, time.Minute: true} {
		f := factsOf(ours(time.Hour), podOf("train-x", nil))
		f.Lease = lease("", age)
		f.Lease.Duration = time.Second
		assert.Equalf(t, report(f).Reconciler.Alive == explain.NotAlive, want, "after %v", age)
	}
}

// A controller whose clock is a little ahead is alive; a time far in the future is forged.
//
// Requirements: CLI-10
func TestLeaseOfTheFarFutureProvesNothing(t *testing.T) {
	for ahead, want := range map[time.Duration]explain.Sign{20 * time.Second: explain.SignLeaseHeld, time.Hour: explain.SignLastWrite, 200 * 365 * 24 * time.Hour: explain.SignLastWrite} {
		f := factsOf(ours(time.Hour), podOf("train-x", nil))
		f.Lease = lease("vm-1", -ahead)
		assert.Equalf(t, report(f).Reconciler.Sign, want, "%s ahead", ahead)
	}
}

// A controller may have moved to another namespace, and a user may forge a Lease there: it shows neither that the
// controller is gone nor that it is alive.
//
// Requirements: CLI-10
func TestLeaseOfAnotherNamespaceProvesNothing(t *testing.T) {
	f := factsOf(ours(time.Hour), podOf("train-x", nil))
	f.Lease = lease("vm-1", time.Hour)
	assert.Equal(t, report(f).Reconciler.Sign, explain.SignLeaseExpired, "alone")
	f.Lease.Elsewhere = lease("vm-2", time.Second)
	f.Lease.Elsewhere.Namespace = "team-x"
	if r := report(f); r.Reconciler.Sign != explain.SignLeaseUnclear || r.Reconciler.Alive != explain.AlivenessUnknown || r.Verdict.Stalled {
		t.Errorf("with another: %s", r.Reconciler.Text)
	}
	unrecorded := podOf("train-y", func(p *corev1.Pod) {
		exits(1, "Error", 5*time.Minute)(p)
		p.Finalizers = []string{batchv1.JobTrackingFinalizer}
	})
	f = factsOf(ours(time.Hour), unrecorded)
	for namespace, want := range map[string]explain.Sign{"team-x": explain.SignOverdue, input.SystemNamespace: explain.SignLeaseHeld} {
		f.Lease = lease("vm-1", time.Second)
		f.Lease.Namespace = namespace
		assert.Equal(t, report(f).Reconciler.Sign, want, namespace)
	}
}

// If one of two Leases in different namespaces is held and the other has expired, either may be forged. The report shows
// both, with their holders, as a problem; a held Lease in the namespace of config/default counts nevertheless.
//
// Requirements: CLI-10
func TestLeasesThatDisagreeAreShown(t *testing.T) {
	in := func(namespace, holder string, renewed time.Duration) *input.Lease {
		l := lease(holder, renewed)
		l.Namespace = namespace
		return l
	}
	for name, tc := range map[string]struct {
		lease, other *input.Lease
		sign         explain.Sign
	}{
		"expired in batchjob-system, forged in a user's namespace": {in(input.SystemNamespace, "vm-1", time.Hour), in("team-x", "vm-2", time.Second), explain.SignLeaseUnclear},
		"expired in a custom namespace, forged elsewhere":          {in("platform", "vm-1", time.Hour), in("team-x", "vm-2", time.Second), explain.SignLeaseUnclear},
		"an older forged Lease is held, the custom one expired":    {in("team-x", "vm-2", time.Second), in("platform", "vm-1", time.Hour), explain.SignLeaseUnclear},
		"held in batchjob-system, expired elsewhere":               {in(input.SystemNamespace, "vm-1", time.Second), in("team-x", "vm-2", time.Hour), explain.SignLeaseHeld},
		"held in a custom namespace":                               {in("platform", "vm-1", time.Second), nil, explain.SignLeaseHeld},
		"both are held":                                            {in("platform", "vm-1", time.Second), in("team-x", "vm-2", time.Second), explain.SignLeaseHeld},
		"both have expired":                                        {in("platform", "vm-1", time.Hour), in("team-x", "vm-2", time.Hour), explain.SignLeaseExpired},
	} {
		f := factsOf(ours(time.Hour), podOf("train-x", nil))
		f.Lease = tc.lease
		f.Lease.Elsewhere = tc.other
		r := report(f)
		assert.Equal(t, r.Reconciler.Sign, tc.sign, name, r.Reconciler.Text)
		if tc.sign == explain.SignLeaseUnclear {
			wantText(t, r, "may not be running", "wo Leases disagree", "team-x/lease (vm-2, renewed 1s ago)", "vm-1, renewed 1h ago")
		} else if hasProblem(r, explain.ProblemControllerGone) != (tc.sign == explain.SignLeaseExpired) {
			t.Errorf("%s: problems %+v", name, r.Problems)
		}
	}
	f := factsOf(ours(time.Second), podOf("train-x", nil)) // It wrote the status a second ago.
	f.Lease = in("platform", "vm-1", time.Hour)
	f.Lease.Elsewhere = in("team-x", "vm-2", time.Second)
	if r := report(f); r.Reconciler.Sign != explain.SignLastWrite || r.Reconciler.Alive != explain.Alive {
		t.Errorf("a controller that writes: %s", r.Reconciler.Text)
	}
}

// The text contains the namespace and the name of the Lease, because users may be able to create a Lease elsewhere.
//
// Requirements: CLI-10
func TestNamespaceOfTheLeaseIsShown(t *testing.T) {
	f := factsOf(ours(time.Hour), podOf("train-x", nil))
	f.Lease = lease("vm-1", time.Second)
	assert.Equal(t, report(f).Reconciler.Text, "seen 1s ago on vm-1, by its Lease sys/lease")
}

// A Lease that was never renewed has no age.
// Requirements: CLI-06
func TestLeaseWithoutRenewTimeHasNoAge(t *testing.T) {
	f := factsOf(jobWith(func(j *batchv1.Job) { j.Spec.ManagedBy = ptr.To(recorded.OurName) }), podOf("train-x", nil))
	f.Lease = &input.Lease{Namespace: "sys", Name: "lease", Duration: 15 * time.Second}
	r := report(f)
	assert.NotContains(t, r.Reconciler.Text+fmt.Sprint(r.Problems), "106751d")
}

// MGB-12: with --replace-builtin, our controller runs Jobs without managedBy, and writes their status.
func TestReplacementOfTheBuiltInControllerIsNamed(t *testing.T) {
	const our, builtIn = "kubectl-batchjob-controller", "kube-controller-manager"
	for name, tc := range map[string]struct {
		managedBy string
		fields    []metav1.ManagedFieldsEntry
		want      string
	}{
		"ours":                           {"", []metav1.ManagedFieldsEntry{wrote(our, "status", "", time.Hour)}, our},
		"ours, with the reserved name":   {explain.BuiltInManagedBy, []metav1.ManagedFieldsEntry{wrote(our, "status", "", time.Hour)}, our},
		"ours, and then somebody else":   {"", []metav1.ManagedFieldsEntry{wrote("kueue", "status", "", time.Minute), wrote(our, "status", "", time.Hour)}, our},
		"ours took over":                 {"", []metav1.ManagedFieldsEntry{wrote(builtIn, "status", "", 2*time.Hour), wrote(our, "status", "", time.Hour)}, our},
		"the built-in one took over":     {"", []metav1.ManagedFieldsEntry{wrote(builtIn, "status", "", time.Minute), wrote(our, "status", "", time.Hour)}, ""},
		"ours wrote something else":      {"", []metav1.ManagedFieldsEntry{wrote(our, "", "", time.Minute)}, ""},
		"the built-in one":               {"", []metav1.ManagedFieldsEntry{wrote(builtIn, "status", "", time.Hour)}, ""},
		"nobody so far":                  {"", nil, ""},
		"ours, as its managedBy says so": {recorded.OurName, []metav1.ManagedFieldsEntry{wrote(our, "status", "", time.Hour)}, ""},
	} {
		job := jobWith(func(j *batchv1.Job) {
			j.Spec.ManagedBy, j.ManagedFields = &tc.managedBy, tc.fields
			j.Status.Active = 1
		})
		f := factsOf(job, podOf("train-x", nil), podOf("train-y", func(p *corev1.Pod) {
			exits(1, "Error", 5*time.Minute)(p)
			p.Finalizers = []string{batchv1.JobTrackingFinalizer}
		}))
		r := report(f)
		assert.Equal(t, r.Reconciler.Program, tc.want, name)
		if leased := explain.LeasedBy(job, recorded.OurName); (leased == recorded.OurName) != (tc.want != "" || tc.managedBy == recorded.OurName) || leased == explain.BuiltInManagedBy {
			t.Errorf("%s: the Lease of %q", name, leased)
		}
		if tc.want != "" {
			wantText(t, r, "controller "+our+" does not seem to be running", "kubectl batchjob controller --leader-elect --replace-builtin")
			wantWithout(t, r, "kube-controller-manager", "the built-in controller")
		}
	}
}

// MGB-12: no controller has worked on the Job, whose managedBy is a misspelling.
func TestJobOfNobodyIsReported(t *testing.T) {
	neglected := func(managedBy string, age time.Duration) *batchv1.Job {
		return jobWith(func(j *batchv1.Job) {
			j.Status, j.CreationTimestamp = batchv1.JobStatus{}, ago(age)
			if managedBy != "" {
				j.Spec.ManagedBy = &managedBy
			}
		})
	}
	for _, tc := range []struct {
		managedBy string
		text      []string
	}{
		{"", []string{"kube-controller-manager does not seem to be running"}},
		{"kubernetes.io/job-controller", []string{"kube-controller-manager does not seem to be running"}},
		{"batchjob.dev/contoller", []string{"managedBy is batchjob.dev/contoller", "looks like a misspelling of batchjob.dev/controller"}},
		{"example.com/other", []string{"managedBy is example.com/other", "start the controller for managedBy example.com/other"}},
		{recorded.OurName, []string{"kubectl batchjob controller"}},
	} {
		r := report(factsOf(neglected(tc.managedBy, time.Hour)))
		p := problem(t, r, explain.ProblemNotReconciled)
		all := p.Text + fmt.Sprint(r.Advice)
		for _, text := range tc.text {
			assert.Contains(t, all, text, tc.managedBy)
		}
		if !r.Verdict.Stalled || r.Reconciler.Alive != explain.NotAlive || r.Reconciler.ManagedBy != tc.managedBy {
			t.Errorf("%q: %+v %+v", tc.managedBy, r.Verdict, r.Reconciler)
		}
	}
	if r := report(factsOf(neglected("example.com/other", 5*time.Second))); hasProblem(r, explain.ProblemNotReconciled) || r.Verdict.Stalled {
		t.Errorf("a Job of five seconds is neglected: %+v", r.Problems)
	}
	refused := factsOf(neglected(recorded.OurName, time.Hour))
	refused.Events = []input.Event{jobEvent("FailedCreate", "Error creating: Internal error occurred", 3, time.Minute)}
	if r := report(refused); hasProblem(r, explain.ProblemNotReconciled) || !hasProblem(r, explain.ProblemCreationRefused) {
		t.Errorf("a Job whose pods are refused: %+v", r.Problems)
	}
}

// CLI-06: the manager that suspended the Job, by the fields of the spec that it owns.
func TestReportNamesWhoSuspended(t *testing.T) {
	suspend := `{"f:spec":{"f:suspend":{}}}`
	for name, tc := range map[string]struct {
		change func(*batchv1.Job)
		text   string
	}{
		"nobody knows": {func(*batchv1.Job) {}, "the Job is suspended (spec.suspend)"},
		"the last one": {func(j *batchv1.Job) {
			j.ManagedFields = []metav1.ManagedFieldsEntry{wrote("old", "", suspend, time.Hour), wrote("queue-operator", "", suspend, time.Minute), wrote("newer", "", `{"f:spec":{"f:parallelism":{}}}`, time.Second), wrote("status", "status", suspend, 0)}
		}, "spec.suspend, set by queue-operator"},
		"without a time": {func(j *batchv1.Job) {
			e := wrote("timeless", "", suspend, 0)
			e.Time = nil
			j.ManagedFields = []metav1.ManagedFieldsEntry{e}
		}, "spec.suspend, set by timeless"},
		"Kueue": {func(j *batchv1.Job) { j.Labels = map[string]string{"kueue.x-k8s.io/queue-name": "gpu"} }, "Kueue keeps the Job suspended (queue gpu)"},
		"an owner": {func(j *batchv1.Job) {
			j.OwnerReferences = []metav1.OwnerReference{{APIVersion: "jobset.x-k8s.io/v1alpha2", Kind: "JobSet", Name: "set", Controller: ptr.To(true)}}
		}, "which its owner JobSet set controls"},
	} {
		r := report(factsOf(jobWith(func(j *batchv1.Job) {
			j.Spec.Suspend = ptr.To(true)
			condition(j, batchv1.JobSuspended, "JobSuspended", "", time.Minute)
			tc.change(j)
		})))
		if p := problem(t, r, explain.ProblemSuspended); !strings.Contains(p.Text, tc.text) || !p.Since.Equal(ptr.To(ago(time.Minute))) {
			t.Errorf("%s: %+v", name, p)
		}
		if r.Verdict.Status != "Suspended" || !r.Verdict.Stalled || len(r.Next) != 1 || !strings.Contains(r.Next[0].Text, "nothing") {
			t.Errorf("%s: %+v, next %+v", name, r.Verdict, r.Next)
		}
	}
}
