package invariants

import (
	"fmt"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
)

// uid and none are lists of UIDs in uncountedTerminatedPods.
func uid(names ...types.UID) []types.UID { return names }

var none []types.UID

// A Job of any kind whose pods fail, succeed and are deleted breaks no invariant.
func TestCheckAcceptsWhatIsRight(t *testing.T) {
	t.Parallel()
	for what, s := range map[string]*story{
		"a failure and two successes": storyOf(nil).pod("a-0").pod("b-1").pod("a-0", failed).status(record(none, uid("a-0"))).pod("a-0", released).
			status(count(0, 1)).pod("c-2").pod("b-1", succeeded).pod("c-2", succeeded).status(record(uid("b-1", "c-2"), none)).
			pod("b-1", released).pod("c-2", released).status(and(count(2, 1), met)).status(complete).gone("a-0").gone("job"),
		"a deleted pod is replaced at once": storyOf(nil).pod("a-0").pod("b-1").pod("a-0", deleted).status(record(none, uid("a-0"))).pod("c-2").pod("a-0", released),
		"a deleted pod succeeds": storyOf(nil).pod("a-0").pod("b-1").pod("a-0", deleted).status(record(none, uid("a-0"))).
			pod("a-0", succeeded).pod("a-0", released).status(count(0, 1)),
		"scaled down": storyOf(nil).pod("a-0").pod("b-1").edit(func(j *batchv1.Job) { j.Spec.Parallelism = ptr.To[int32](1) }).pod("b-1", released).pod("b-1", deleted).gone("b-1").
			pod("a-0", succeeded).pod("c-2").pod("c-2", succeeded).status(record(uid("a-0", "c-2"), none)).
			pod("a-0", released).pod("c-2", released).status(and(count(2, 0), met)).status(complete),
		"a Job that is suspended and resumed": storyOf(nil).
			status(func(s *batchv1.JobStatus) {
				s.StartTime = nil
				decide(batchv1.JobSuspended, "JobSuspended", "Job suspended", 1)(s)
			}).
			status(func(s *batchv1.JobStatus) {
				s.StartTime, s.Conditions[0].Status, s.Conditions[0].Reason = at(2), "False", "JobResumed"
			}),
		"what is gone takes no room": storyOf(nil).pod("a-0").pod("b-1").edit(func(j *batchv1.Job) { j.Spec.Parallelism = ptr.To[int32](1) }).
			pod("b-1", released).gone("b-1").edit(func(j *batchv1.Job) { j.Spec.Parallelism = ptr.To[int32](2) }).pod("c-2"),
		"a policy that changes": storyOf(nil).pod("a-0").pod("a-0", deleted).
			edit(func(j *batchv1.Job) { j.Spec.PodReplacementPolicy = ptr.To(batchv1.Failed) }).status(record(none, uid("a-0"))),
		"an index fails": storyOf(perIndex).pod("a-0", failuresBefore(0)).pod("a-0", failed).pod("b-0", failuresBefore(1)).status(record(none, uid("a-0"))).
			pod("b-0", failed).status(func(s *batchv1.JobStatus) {
			record(none, uid("a-0", "b-0"))(s)
			s.FailedIndexes = ptr.To("0")
		}),
		"an ignored failure": storyOf(rule(batchv1.PodFailurePolicyActionIgnore, 42)).pod("a-0").pod("a-0", exit(42)).pod("a-0", released).
			pod("b-0").pod("c-1").pod("b-0", succeeded).pod("c-1", succeeded).status(record(uid("b-0", "c-1"), none)).
			pod("b-0", released).pod("c-1", released).status(and(count(2, 0), met)).status(complete),
		"pods that are left when the Job succeeds": storyOf(leader).pod("a-0").pod("b-1").pod("a-0", succeeded).
			status(func(s *batchv1.JobStatus) {
				s.CompletedIndexes, s.Succeeded = "0", 1
				decide(batchv1.JobSuccessCriteriaMet, batchv1.JobReasonSuccessPolicy, "Matched rules at index 0", 60)(s)
			}).pod("a-0", released).pod("b-1", deleted).pod("b-1", released),
		"the rest when the Job fails": storyOf(rule(batchv1.PodFailurePolicyActionFailJob, 42)).pod("a-0").pod("b-1").pod("a-0", exit(42)).
			status(and(record(none, uid("a-0", "b-1")), target("PodFailurePolicy_Name", "Container main for pod ns/a-0 failed with exit code 42 matching FailJob rule at index 0"))).
			pod("a-0", released).status(and(record(none, uid("b-1")), func(s *batchv1.JobStatus) { s.Failed = 1 })),
		"an evicted pod of a Job that fails, ignored (PRP-16)": storyOf(failsOrIgnoresEvictions).pod("a-0").pod("b-1").pod("b-1", evicted).pod("b-1", deleted).pod("a-0", exit(42)).
			status(and(record(none, uid("a-0")), target("PodFailurePolicy_Name", "Container main for pod ns/a-0 failed with exit code 42 matching FailJob rule at index 1"))).
			pod("b-1", released),
		"a failed pod, evicted when the controller has read it": storyOf(failsOrIgnoresEvictions).pod("a-0").pod("b-1").pod("a-0", exit(42)).pod("a-0", evicted).
			status(and(record(none, uid("a-0", "b-1")), target("PodFailurePolicy_Name", "Container main for pod ns/a-0 failed with exit code 42 matching FailJob rule at index 1"))),
		"elastic, and then not": storyOf(indexed).pod("a-0").pod("b-1").pod("a-0", succeeded).pod("b-1", succeeded).
			status(func(s *batchv1.JobStatus) { s.CompletedIndexes, s.Succeeded = "0,1", 2 }).
			edit(func(j *batchv1.Job) { j.Spec.Completions = ptr.To[int32](1) }).status(func(s *batchv1.JobStatus) { s.CompletedIndexes = "0" }),
		"a forged status": storyOf(indexed).edit(func(j *batchv1.Job) {
			j.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "user", Subresource: "status"}}
			j.Status = batchv1.JobStatus{CompletedIndexes: "0", Succeeded: 1, UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{}}
		}),
	} {
		expect(t, what, Check(s.versions))
	}
}

// The checker finds violations of S1, S2 and S3.
// Requirements: TRK-05, TRK-24
func TestCheckFindsWrongCounts(t *testing.T) {
	t.Parallel()
	recorded := func() *story { return storyOf(nil).pod("a-0").pod("a-0", failed).status(record(none, uid("a-0"))) }
	for what, c := range map[string]struct {
		story *story
		text  []string
	}{
		"no lists":                 {storyOf(nil).edit(func(j *batchv1.Job) { j.Status.Active = 1 }), []string{"TRK-28"}},
		"counted without a record": {storyOf(nil).pod("a-0").pod("a-0", failed).status(count(0, 1)), []string{"S1 at revision 4, Job job: failed moved by 1, and 0 UIDs"}},
		"success without a record": {storyOf(nil).status(count(1, 0)), []string{"S1 at revision 2, Job job: succeeded moved by 1"}},
		"counted too early":        {recorded().status(count(0, 1)), []string{"S1 at revision 5, Job job: a-0 is counted and holds its finalizer"}},
		"counted twice": {
			recorded().pod("a-0", released).status(count(0, 1)).status(record(none, uid("a-0"))).status(count(0, 2)),
			[]string{"S1 at revision 7, Job job: a-0 is recorded, and was counted before", "S1 at revision 8, Job job: a-0 is counted twice"},
		},
		"indexes do not match": {storyOf(indexed).pod("a-0").pod("a-0", succeeded).status(func(s *batchv1.JobStatus) { s.CompletedIndexes, s.Succeeded = "0", 2 }), []string{"S1 at revision 4, Job job: succeeded is 2"}},
		"elastic, and not counted down": {storyOf(indexed).pod("a-0").pod("b-1").pod("a-0", succeeded).pod("b-1", succeeded).
			status(func(s *batchv1.JobStatus) { s.CompletedIndexes, s.Succeeded = "0,1", 2 }).
			edit(func(j *batchv1.Job) { j.Spec.Completions, j.Spec.Parallelism = ptr.To[int32](1), ptr.To[int32](1) }).
			status(func(s *batchv1.JobStatus) { s.CompletedIndexes = "0" }), []string{"S1 at revision 8"}},
		"an index, released":         {storyOf(indexed).pod("a-0").pod("a-0", failed).pod("a-0", released), []string{"S2 at revision 4"}},
		"released and not recorded":  {storyOf(nil).pod("a-0").pod("a-0", failed).pod("a-0", released), []string{"S2 at revision 4"}},
		"evicted, and not over":      {storyOf(failsOrIgnoresEvictions).pod("a-0").pod("b-1").pod("b-1", evicted).pod("b-1", deleted).pod("b-1", released), []string{"S2 at revision 6"}},
		"released and counted":       {recorded().pod("a-0", released).status(count(0, 1)).pod("b-1").pod("b-1", succeeded).pod("b-1", released), []string{"S2 at revision 9"}},
		"gone and not recorded":      {storyOf(nil).pod("a-0").pod("a-0", failed).gone("a-0"), []string{"S2 at revision 4"}},
		"a failure that was none":    {storyOf(nil).pod("a-0").status(record(none, uid("a-0"))), []string{"S3 at revision 3, Job job: pod a-0 is recorded as failed"}},
		"terminating, policy Failed": {storyOf(func(s *batchv1.JobSpec) { s.PodReplacementPolicy = ptr.To(batchv1.Failed) }).pod("a-0").pod("a-0", deleted).status(record(none, uid("a-0"))), []string{"S3 at revision 4"}},
		"ignored, and counted":       {storyOf(rule(batchv1.PodFailurePolicyActionIgnore, 42)).pod("a-0").pod("a-0", exit(42)).status(record(none, uid("a-0"))), []string{"S3 at revision 4"}},
		"a success that was none":    {storyOf(nil).pod("a-0").pod("a-0", failed).status(record(uid("a-0"), none)), []string{"S3 at revision 4, Job job: a-0 is recorded as succeeded"}},
		"written by us": {storyOf(nil).edit(func(j *batchv1.Job) {
			j.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: ourManager, Subresource: "status"}, {Manager: "user"}}
		}).status(record(uid("x"), none)), []string{"S3 at revision 3"}},
		"a pod that is none":         {storyOf(nil).status(record(none, uid("x"))), []string{"S3 at revision 2, Job job: x is recorded as failed, and no pod"}},
		"an index without a success": {storyOf(indexed).pod("a-0").pod("a-0", succeeded).status(func(s *batchv1.JobStatus) { s.CompletedIndexes, s.Succeeded = "0,1", 2 }), []string{"S6 at revision 4, Job job: indexes 1 are completed"}},
		"a retried index without a success": {storyOf(indexed).edit(func(j *batchv1.Job) { j.Annotations = map[string]string{retry.IndexesAnnotation: "1"} }).
			status(func(s *batchv1.JobStatus) { s.CompletedIndexes, s.Succeeded = "0,1", 2 }), []string{"S6 at revision 3, Job job: indexes 1 are completed"}},
		"an index that a retry gained, without a success": {storyOf(indexed).edit(func(j *batchv1.Job) {
			j.Annotations = map[string]string{retry.IndexesAnnotation: "0", retry.CompletionsAnnotation: "1"}
		}).pod("a-0").pod("a-0", succeeded).status(func(s *batchv1.JobStatus) { s.CompletedIndexes, s.Succeeded = "0,1", 2 }), []string{"S6 at revision 5, Job job: indexes 1 are completed"}},
		"an index fails too early": {storyOf(perIndex).pod("a-0", failuresBefore(0)).pod("a-0", failed).status(func(s *batchv1.JobStatus) { s.FailedIndexes = ptr.To("0") }), []string{"S6 at revision 4, Job job: indexes 0 have failed"}},
		"an index is lost": {storyOf(indexed).pod("a-0").pod("a-0", succeeded).status(func(s *batchv1.JobStatus) { s.CompletedIndexes, s.Succeeded = "0", 1 }).
			status(func(s *batchv1.JobStatus) { s.CompletedIndexes, s.Succeeded = "", 0 }), []string{"S6 at revision 5, Job job: completed indexes 0 are gone"}},
		"many uncounted":     {storyOf(nil).status(record(none, many(500))), slices.Repeat([]string{"S3"}, 500)},
		"too many uncounted": {storyOf(nil).status(record(none, many(501))), append(slices.Repeat([]string{"S3"}, 501), "S9")},
	} {
		expect(t, what, Check(c.story.versions), c.text...)
	}
}

func many(n int) (uids []types.UID) {
	for i := range n {
		uids = append(uids, types.UID(fmt.Sprintf("pod-%d", i)))
	}
	return uids
}

// The checker finds pods that must not exist (S5, S6, S9).
// Requirements: PRP-24
func TestCheckFindsPodsThatMustNotBe(t *testing.T) {
	t.Parallel()
	suspended := func(yes bool) func(*batchv1.Job) {
		return func(j *batchv1.Job) { j.Spec.Suspend = &yes }
	}
	onlyFailed := func(s *batchv1.JobSpec) {
		indexed(s)
		s.PodReplacementPolicy = ptr.To(batchv1.Failed)
	}
	for what, c := range map[string]struct {
		story *story
		text  []string
	}{
		"more than parallelism":    {storyOf(nil).pod("a-0").pod("b-1").pod("c-2"), []string{"S5 at revision 4, Job job: pod c-2 is created: 3 pods run, and 2 may"}},
		"more than completions":    {storyOf(nil).pod("a-0").pod("a-0", succeeded).pod("b-1").pod("c-2"), []string{"S5 at revision 5"}},
		"after the outcome":        {storyOf(nil).status(target(batchv1.JobReasonDeadlineExceeded, "")).pod("a-0"), []string{"S11", "S5 at revision 3, Job job: pod a-0 is created, and the Job's outcome"}},
		"untracked":                {storyOf(nil).pod("a-0", released), []string{"TRK-01"}},
		"two of an index":          {storyOf(indexed).pod("a-0").pod("b-0"), []string{"S6 at revision 3"}},
		"beside a terminating one": {storyOf(onlyFailed).pod("a-0").pod("a-0", deleted).pod("b-0"), []string{"S6 at revision 4"}},
		"terminating takes room":   {storyOf(onlyFailed).pod("a-0").pod("b-1").pod("b-1", deleted).pod("c-2"), []string{"S5 at revision 5"}},
		"in a suspended Job":       {storyOf(nil).edit(suspended(true)).status(func(*batchv1.JobStatus) {}).pod("a-0"), []string{"S9 at revision 4"}},
		"before that is known":     {storyOf(nil).edit(suspended(true)).pod("a-0"), nil},
	} {
		expect(t, what, Check(c.story.versions), c.text...)
	}
}

// The checker finds wrong and premature terminal conditions (MGB-09..11, S11, L2).
// Requirements: MGB-10, MGB-11
func TestCheckFindsWrongEnds(t *testing.T) {
	t.Parallel()
	done := func() *story {
		return storyOf(nil).pod("a-0").pod("b-1").pod("a-0", succeeded).pod("b-1", succeeded).status(record(uid("a-0", "b-1"), none)).
			pod("a-0", released).pod("b-1", released).status(and(count(2, 0), met))
	}
	backoff := func(failures ...string) *story {
		s := storyOf(func(s *batchv1.JobSpec) { s.BackoffLimit = ptr.To[int32](1) })
		var uids []types.UID
		for _, name := range failures {
			s.pod(name).pod(name, failed)
			uids = append(uids, types.UID(name))
		}
		return s.status(and(record(none, uids), target(batchv1.JobReasonBackoffLimitExceeded, "")))
	}
	failJob := func(reason, message string) *story {
		return storyOf(rule(batchv1.PodFailurePolicyActionFailJob, 42)).pod("a-0").pod("a-0", exit(42)).status(and(record(none, uid("a-0")), target(reason, message)))
	}
	const message = "Container main for pod ns/a-0 failed with exit code 42 matching FailJob rule at index "
	for what, c := range map[string]struct {
		story *story
		text  []string
	}{
		"in one write":          {storyOf(nil).pod("a-0").pod("b-1").pod("a-0", succeeded).pod("b-1", succeeded).status(record(uid("a-0", "b-1"), none)).pod("a-0", released).pod("b-1", released).status(and(count(2, 0), met, complete)), []string{"MGB-09"}},
		"written afterward":     {done().status(complete).status(func(s *batchv1.JobStatus) { s.Terminating = nil }), []string{"MGB-11"}},
		"with ready pods":       {done().status(and(complete, func(s *batchv1.JobStatus) { s.Ready = ptr.To[int32](1) })), []string{"MGB-10", "STV-16"}},
		"another reason":        {done().status(decide(batchv1.JobComplete, batchv1.JobReasonSuccessPolicy, "", 60)), []string{"S11 at revision 10, Job job: SuccessCriteriaMet is CompletionsReached (), and Complete is SuccessPolicy"}},
		"a reason that changes": {done().status(func(s *batchv1.JobStatus) { s.Conditions[0].Reason = batchv1.JobReasonSuccessPolicy }), []string{"S11 at revision 10, Job job: SuccessCriteriaMet was CompletionsReached (), and is SuccessPolicy"}},
		"a pod is forgotten":    {done().pod("c-2").pod("c-2", failed).status(complete), []string{"S5", "S5", "L2", "S3 at revision 12, Job job: pod c-2 ended Failed and is not counted"}},
		"other counters": {
			storyOf(nil).pod("a-0").pod("b-1").pod("a-0", succeeded).pod("b-1", succeeded).status(record(uid("a-0", "b-1"), none)).
				pod("a-0", released).pod("b-1", released).status(and(count(3, 0), met)).status(complete),
			[]string{"S1 at revision 9", "S3 at revision 10, Job job: the counters hold 3 pods, and 2 were recorded"},
		},
		"too few failures":     {backoff("a-0"), []string{"S11 at revision 4, Job job: FailureTarget has reason BackoffLimitExceeded (): there are 1 failures"}},
		"enough failures":      {backoff("a-0", "b-1"), nil},
		"too few successes":    {storyOf(nil).status(met), []string{"S11 at revision 2, Job job: SuccessCriteriaMet has reason CompletionsReached (): 0 succeeded"}},
		"no deadline":          {storyOf(nil).status(target(batchv1.JobReasonDeadlineExceeded, "")), []string{"there is no deadline"}},
		"no deadline, started": {storyOf(nil).status(func(*batchv1.JobStatus) {}).status(target(batchv1.JobReasonDeadlineExceeded, "")), []string{"there is no deadline"}},
		"before the deadline": {storyOf(func(s *batchv1.JobSpec) { s.ActiveDeadlineSeconds = ptr.To[int64](61) }).status(func(*batchv1.JobStatus) {}).
			status(target(batchv1.JobReasonDeadlineExceeded, "")), []string{"it has not passed"}},
		"at the deadline": {storyOf(func(s *batchv1.JobSpec) { s.ActiveDeadlineSeconds = ptr.To[int64](60) }).status(func(*batchv1.JobStatus) {}).
			status(target(batchv1.JobReasonDeadlineExceeded, "")), nil},
		"no failed index": {storyOf(perIndex).status(target(batchv1.JobReasonFailedIndexes, "")), []string{"some may still run"}},
		"a failed index": {storyOf(and(perIndex, func(s *batchv1.JobSpec) { s.BackoffLimitPerIndex = ptr.To[int32](0) })).pod("a-0").pod("b-1").pod("a-0", failed).
			pod("b-1", succeeded).status(func(s *batchv1.JobStatus) {
			record(none, uid("a-0"))(s)
			s.CompletedIndexes, s.Succeeded, s.FailedIndexes = "1", 1, ptr.To("0")
			target(batchv1.JobReasonFailedIndexes, "")(s)
		}), nil},
		"all have succeeded": {storyOf(perIndex).pod("a-0").pod("b-1").pod("a-0", succeeded).pod("b-1", succeeded).status(func(s *batchv1.JobStatus) {
			s.CompletedIndexes, s.Succeeded = "0,1", 2
			target(batchv1.JobReasonFailedIndexes, "")(s)
		}), []string{"or none failed"}},
		"the other rule": {storyOf(leader).pod("a-0").pod("a-0", succeeded).status(func(s *batchv1.JobStatus) {
			s.CompletedIndexes, s.Succeeded = "0", 1
			decide(batchv1.JobSuccessCriteriaMet, batchv1.JobReasonSuccessPolicy, "Matched rules at index 1", 60)(s)
		}), []string{"it is rule 0 that is met"}},
		"a work queue":           {storyOf(workQueue).pod("a-0").pod("a-0", succeeded).status(and(record(uid("a-0"), none), met)), nil},
		"a work queue, idle":     {storyOf(workQueue).status(met), []string{"nothing has succeeded"}},
		"with active pods":       {storyOf(workQueue).pod("a-0").pod("b-1").pod("a-0", succeeded).status(and(record(uid("a-0"), none), met, func(s *batchv1.JobStatus) { s.Active = 1 })), []string{"pods are active"}},
		"not too many":           {storyOf(perIndex).status(target(batchv1.JobReasonMaxFailedIndexesExceeded, "")), []string{"there are not so many"}},
		"a rule that is not met": {storyOf(indexed).status(decide(batchv1.JobSuccessCriteriaMet, batchv1.JobReasonSuccessPolicy, "Matched rules at index 0", 60)), []string{"it is rule -1"}},
		"a rule":                 {failJob("PodFailurePolicy_0", message+"0"), nil},
		"another rule":           {failJob("PodFailurePolicy_1", message+"1"), []string{"no pod failed like that"}},
		"a reason of nowhere":    {failJob("BecauseISaySo", message+"0"), []string{"no pod failed like that"}},
	} {
		expect(t, what, Check(c.story.versions), c.text...)
	}
}

// Released pods and late creations are excused (TRK-05, TRK-24), and nothing else is.
func TestCheckKnowsWhatNoVersionShows(t *testing.T) {
	t.Parallel()
	seenAt := func(revision int) time.Time { return time.Unix(int64(revision), 0) }
	e := Excuses{Released: sets.New[types.UID]("a-0"), Late: map[types.UID]Arrival{"c-2": {At: seenAt(2).Add(time.Millisecond), Writes: 1}, "g-6": {At: seenAt(4).Add(time.Millisecond), Writes: 1}, "f-5": {At: seenAt(2).Add(2 * time.Millisecond), Writes: 1}}}
	recorded := storyOf(nil).pod("a-0").pod("a-0", failed).status(record(none, uid("a-0")))
	for what, c := range map[string]struct {
		story *story
		text  []string
	}{
		"a failure that another controller released": {storyOf(nil).pod("a-0").pod("a-0", failed).pod("a-0", released), nil},
		"a success that does not count, and the next": {storyOf(nil).pod("a-0").pod("a-0", succeeded).pod("a-0", released).pod("b-1").pod("d-3").
			pod("b-1", succeeded).pod("d-3", succeeded).status(record(uid("b-1", "d-3"), none)).pod("b-1", released).pod("d-3", released).
			status(and(count(2, 0), met)).status(complete), nil},
		"a pod that is recorded counts": {recorded.pod("a-0", released).status(func(s *batchv1.JobStatus) { s.UncountedTerminatedPods.Failed = nil }), []string{"S1 at revision 6"}},
		"a pod that is recorded later takes room": {
			storyOf(nil).pod("a-0").pod("a-0", succeeded).pod("a-0", released).status(record(uid("a-0"), none)).pod("b-1").pod("d-3"),
			[]string{"S5 at revision 7, Job job: pod d-3 is created: 2 pods run, and 1 may"},
		},
		"a pod that nobody else released":     {storyOf(nil).pod("b-1").pod("b-1", failed).pod("b-1", released), []string{"S2 at revision 4"}},
		"a creation that waited":              {storyOf(nil).status(func(*batchv1.JobStatus) {}).status(target(batchv1.JobReasonDeadlineExceeded, "")).pod("c-2"), []string{"S11"}},
		"one that was never right":            {storyOf(nil).status(target(batchv1.JobReasonDeadlineExceeded, "")).pod("c-2"), []string{"S11", "S5 at revision 3"}},
		"one that waited while others came":   {storyOf(nil).status(func(*batchv1.JobStatus) {}).pod("a-0").pod("b-1").pod("c-2"), nil},
		"of two that waited, the first":       {storyOf(nil).pod("a-0").status(func(*batchv1.JobStatus) {}).pod("c-2").pod("f-5"), []string{"S5 at revision 5, Job job: pod f-5 is created: 3 pods run, and 2 may"}},
		"one that arrived late":               {storyOf(nil).status(func(*batchv1.JobStatus) {}).pod("a-0").pod("b-1").pod("g-6"), []string{"S5 at revision 5"}},
		"one that arrived after others came":  {storyOf(nil).pod("a-0").pod("b-1").status(func(*batchv1.JobStatus) {}).pod("c-2"), []string{"S5 at revision 5, Job job: pod c-2 is created: 3 pods run, and 2 may"}},
		"a creation that did not wait":        {storyOf(nil).pod("c-2").pod("d-3").pod("e-4"), []string{"S5 at revision 4"}},
		"a creation that waited, not tracked": {storyOf(nil).pod("c-2", released), []string{"TRK-01"}},
	} {
		expect(t, what, e.Check(c.story.versions), c.text...)
	}
}
