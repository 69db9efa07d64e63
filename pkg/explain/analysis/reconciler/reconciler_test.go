package reconciler_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

// ours returns a running Job of our controller, whose status was written d ago.
func ours(d time.Duration) *batchv1.Job {
	return explaintest.JobWith(func(j *batchv1.Job) {
		j.Spec.ManagedBy, j.Status.Active = ptr.To(recorded.OurName), 1
		j.ManagedFields = []metav1.ManagedFieldsEntry{explaintest.Wrote("kubectl", "", "", time.Hour), explaintest.Wrote("kubectl-batchjob-controller", "status", "", d)}
	})
}

func lease(holder string, renewed time.Duration) *input.Lease {
	return &input.Lease{Namespace: "sys", Name: "lease", Holder: holder, Renewed: explaintest.Noon.Add(-renewed), Duration: 15 * time.Second}
}

// CLI-06, MGB-12: the controller of the Job, and whether it is alive.
func TestReportNamesTheReconciler(t *testing.T) {
	running := explaintest.PodOf("train-x", nil)
	unrecorded := explaintest.PodOf("train-y", explaintest.Tracked(explaintest.Exits(1, "Error", 5*time.Minute)))
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
		"no sign":                           {job: explaintest.JobWith(nil), alive: explain.AlivenessUnknown, text: "not known whether"},
	} {
		t.Run(name, func(t *testing.T) {
			f := explaintest.InputOf(tc.job, append(tc.pods, running)...)
			f.Lease = tc.lease
			r := explaintest.Report(f)
			if r.Reconciler.Alive != tc.alive || !strings.Contains(r.Reconciler.Text, tc.text) {
				t.Errorf("%s: %s; want %s: %s", r.Reconciler.Alive, r.Reconciler.Text, tc.alive, tc.text)
			}
			if explaintest.HasProblem(r, explain.ProblemControllerGone) != tc.gone || r.Verdict.Stalled != tc.gone {
				t.Errorf("stalled %v, problems %+v", r.Verdict.Stalled, r.Problems)
			}
		})
	}
}

// A replica that ran without leader election for a while, and has died since, leaves an old Lease without a holder.
// Requirements: CLI-06
func TestOldLeaseIsNoSignOfLife(t *testing.T) {
	f := explaintest.InputOf(ours(30*time.Minute), explaintest.PodOf("train-x", nil))
	f.Lease = lease("vm-1", time.Hour)
	if r := explaintest.Report(f).Reconciler; r.Alive == explain.Alive || strings.Contains(r.Text, "seen") {
		t.Errorf("%s: %s", r.Alive, r.Text)
	}
}

// A released Lease, as of a shard that moves, has a duration of a second: it does not show that its controller is gone
// until no replica has taken it for much longer.
// Requirements: CLI-06, SHD-03
func TestLeaseThatWasGivenBack(t *testing.T) {
	for age, want := range map[time.Duration]bool{3 * time.Second: false, time.Minute: true} {
		f := explaintest.InputOf(ours(time.Hour), explaintest.PodOf("train-x", nil))
		f.Lease = lease("", age)
		f.Lease.Duration = time.Second
		assert.Equalf(t, explaintest.Report(f).Reconciler.Alive == explain.NotAlive, want, "after %v", age)
	}
}

// A controller whose clock is a little ahead is alive; a time far in the future is forged.
// Requirements: CLI-10
func TestLeaseOfTheFarFutureProvesNothing(t *testing.T) {
	for ahead, want := range map[time.Duration]explain.Sign{20 * time.Second: explain.SignLeaseHeld, time.Hour: explain.SignLastWrite, 200 * 365 * 24 * time.Hour: explain.SignLastWrite} {
		f := explaintest.InputOf(ours(time.Hour), explaintest.PodOf("train-x", nil))
		f.Lease = lease("vm-1", -ahead)
		assert.Equalf(t, explaintest.Report(f).Reconciler.Sign, want, "%s ahead", ahead)
	}
}

// A controller may have moved to another namespace, and a user may forge a Lease there: it shows neither that the
// controller is gone nor that it is alive.
// Requirements: CLI-10
func TestLeaseOfAnotherNamespaceProvesNothing(t *testing.T) {
	f := explaintest.InputOf(ours(time.Hour), explaintest.PodOf("train-x", nil))
	f.Lease = lease("vm-1", time.Hour)
	assert.Equal(t, explaintest.Report(f).Reconciler.Sign, explain.SignLeaseExpired, "alone")
	f.Lease.Elsewhere = lease("vm-2", time.Second)
	f.Lease.Elsewhere.Namespace = "team-x"
	if r := explaintest.Report(f); r.Reconciler.Sign != explain.SignLeaseUnclear || r.Reconciler.Alive != explain.AlivenessUnknown || r.Verdict.Stalled {
		t.Errorf("with another: %s", r.Reconciler.Text)
	}
	unrecorded := explaintest.PodOf("train-y", explaintest.Tracked(explaintest.Exits(1, "Error", 5*time.Minute)))
	f = explaintest.InputOf(ours(time.Hour), unrecorded)
	for namespace, want := range map[string]explain.Sign{"team-x": explain.SignOverdue, input.SystemNamespace: explain.SignLeaseHeld} {
		f.Lease = lease("vm-1", time.Second)
		f.Lease.Namespace = namespace
		assert.Equal(t, explaintest.Report(f).Reconciler.Sign, want, namespace)
	}
}

// If one of two Leases in different namespaces is held and the other has expired, either may be forged. The report shows
// both, with their holders, as a problem; a held Lease in the namespace of config/default counts nevertheless.
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
		f := explaintest.InputOf(ours(time.Hour), explaintest.PodOf("train-x", nil))
		f.Lease = tc.lease
		f.Lease.Elsewhere = tc.other
		r := explaintest.Report(f)
		assert.Equal(t, r.Reconciler.Sign, tc.sign, name, r.Reconciler.Text)
		if tc.sign == explain.SignLeaseUnclear {
			explaintest.WantText(t, r, "may not be running", "wo Leases disagree", "team-x/lease (vm-2, renewed 1s ago)", "vm-1, renewed 1h ago")
		} else if explaintest.HasProblem(r, explain.ProblemControllerGone) != (tc.sign == explain.SignLeaseExpired) {
			t.Errorf("%s: problems %+v", name, r.Problems)
		}
	}
	f := explaintest.InputOf(ours(time.Second), explaintest.PodOf("train-x", nil)) // It wrote the status a second ago.
	f.Lease = in("platform", "vm-1", time.Hour)
	f.Lease.Elsewhere = in("team-x", "vm-2", time.Second)
	if r := explaintest.Report(f); r.Reconciler.Sign != explain.SignLastWrite || r.Reconciler.Alive != explain.Alive {
		t.Errorf("a controller that writes: %s", r.Reconciler.Text)
	}
}

// The text contains the namespace and the name of the Lease, because users may be able to create a Lease elsewhere.
// Requirements: CLI-10
func TestNamespaceOfTheLeaseIsShown(t *testing.T) {
	f := explaintest.InputOf(ours(time.Hour), explaintest.PodOf("train-x", nil))
	f.Lease = lease("vm-1", time.Second)
	assert.Equal(t, explaintest.Report(f).Reconciler.Text, "seen 1s ago on vm-1, by its Lease sys/lease")
}

// A Lease that was never renewed has no age.
// Requirements: CLI-06
func TestLeaseWithoutRenewTimeHasNoAge(t *testing.T) {
	f := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) { j.Spec.ManagedBy = ptr.To(recorded.OurName) }), explaintest.PodOf("train-x", nil))
	f.Lease = &input.Lease{Namespace: "sys", Name: "lease", Duration: 15 * time.Second}
	r := explaintest.Report(f)
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
		"ours":                           {"", []metav1.ManagedFieldsEntry{explaintest.Wrote(our, "status", "", time.Hour)}, our},
		"ours, with the reserved name":   {explain.BuiltInManagedBy, []metav1.ManagedFieldsEntry{explaintest.Wrote(our, "status", "", time.Hour)}, our},
		"ours, and then somebody else":   {"", []metav1.ManagedFieldsEntry{explaintest.Wrote("kueue", "status", "", time.Minute), explaintest.Wrote(our, "status", "", time.Hour)}, our},
		"ours took over":                 {"", []metav1.ManagedFieldsEntry{explaintest.Wrote(builtIn, "status", "", 2*time.Hour), explaintest.Wrote(our, "status", "", time.Hour)}, our},
		"the built-in one took over":     {"", []metav1.ManagedFieldsEntry{explaintest.Wrote(builtIn, "status", "", time.Minute), explaintest.Wrote(our, "status", "", time.Hour)}, ""},
		"ours wrote something else":      {"", []metav1.ManagedFieldsEntry{explaintest.Wrote(our, "", "", time.Minute)}, ""},
		"the built-in one":               {"", []metav1.ManagedFieldsEntry{explaintest.Wrote(builtIn, "status", "", time.Hour)}, ""},
		"nobody so far":                  {"", nil, ""},
		"ours, as its managedBy says so": {recorded.OurName, []metav1.ManagedFieldsEntry{explaintest.Wrote(our, "status", "", time.Hour)}, ""},
	} {
		job := explaintest.JobWith(func(j *batchv1.Job) {
			j.Spec.ManagedBy, j.ManagedFields = &tc.managedBy, tc.fields
			j.Status.Active = 1
		})
		f := explaintest.InputOf(job, explaintest.PodOf("train-x", nil), explaintest.PodOf("train-y", explaintest.Tracked(explaintest.Exits(1, "Error", 5*time.Minute))))
		r := explaintest.Report(f)
		assert.Equal(t, r.Reconciler.Program, tc.want, name)
		if leased := explain.LeasedBy(job, recorded.OurName); (leased == recorded.OurName) != (tc.want != "" || tc.managedBy == recorded.OurName) || leased == explain.BuiltInManagedBy {
			t.Errorf("%s: the Lease of %q", name, leased)
		}
		if tc.want != "" {
			explaintest.WantText(t, r, "controller "+our+" does not seem to be running", "kubectl batchjob controller --leader-elect --replace-builtin")
			explaintest.WantWithout(t, r, "kube-controller-manager", "the built-in controller")
		}
	}
}

// MGB-12: no controller has worked on the Job, whose managedBy is a misspelling.
func TestJobOfNobodyIsReported(t *testing.T) {
	neglected := func(managedBy string, age time.Duration) *batchv1.Job {
		return explaintest.JobWith(func(j *batchv1.Job) {
			j.Status, j.CreationTimestamp = batchv1.JobStatus{}, explaintest.Ago(age)
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
		r := explaintest.Report(explaintest.InputOf(neglected(tc.managedBy, time.Hour)))
		p := explaintest.Problem(t, r, explain.ProblemNotReconciled)
		all := p.Text + fmt.Sprint(r.Advice)
		for _, text := range tc.text {
			assert.Contains(t, all, text, tc.managedBy)
		}
		if !r.Verdict.Stalled || r.Reconciler.Alive != explain.NotAlive || r.Reconciler.ManagedBy != tc.managedBy {
			t.Errorf("%q: %+v %+v", tc.managedBy, r.Verdict, r.Reconciler)
		}
	}
	if r := explaintest.Report(explaintest.InputOf(neglected("example.com/other", 5*time.Second))); explaintest.HasProblem(r, explain.ProblemNotReconciled) || r.Verdict.Stalled {
		t.Errorf("a Job of five seconds is neglected: %+v", r.Problems)
	}
	refused := explaintest.InputOf(neglected(recorded.OurName, time.Hour))
	refused.Events = []input.Event{explaintest.JobEvent("FailedCreate", "Error creating: Internal error occurred", 3, time.Minute)}
	if r := explaintest.Report(refused); explaintest.HasProblem(r, explain.ProblemNotReconciled) || !explaintest.HasProblem(r, explain.ProblemCreationRefused) {
		t.Errorf("a Job whose pods are refused: %+v", r.Problems)
	}
}

// MGB-12: a huge Job has more time for its first pods, but only for the pods that are created at once.
func TestHugeJobHasMoreTimeForItsFirstPods(t *testing.T) {
	huge := explaintest.JobWith(func(j *batchv1.Job) {
		j.Spec.Parallelism, j.Spec.Completions, j.Status = ptr.To[int32](1<<30), ptr.To[int32](1<<30), batchv1.JobStatus{}
	})
	for after, want := range map[time.Duration][2]bool{12 * time.Second: {false, false}, 21 * time.Second: {true, false}, 4 * time.Minute: {true, true}} {
		f := explaintest.InputOf(huge)
		f.Now = huge.CreationTimestamp.Add(after)
		if got := [2]bool{explaintest.HasProblem(explaintest.Report(f), explain.ProblemNotReconciled), analysis.IsNeglected(huge, f.Now)}; got != want {
			t.Errorf("after %v: %v, want %v", after, got, want)
		}
	}
}
