package reconcile

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// REG-01: a counted pod stays counted whenever it is deleted. A controller that counts the existing pods loses some,
// and starts others forever.
func TestCountsOutlivePods(t *testing.T) {
	for name, mode := range map[string]func(*batchv1.Job){"NonIndexed": sized(12, 4), "Indexed": indexed(12, 4)} {
		for seed := range uint64(40) {
			l := life{observed: observeJob(mode, backoffLimit(1<<20)), random: rand.New(rand.NewPCG(seed, 28486))}
			l.config.Backoff.Base, l.config.Backoff.Max = 1, 1
			for step := 0; !IsFinished(l.Job); step++ {
				if step > 400 {
					t.Fatalf("%s, seed %d: does not end: %s", name, seed, statusText(&l.Job.Status))
				}
				before := l.Job.Status
				l.carryOut(t, l.compute())
				l.baptize()
				if s := l.Job.Status; s.Succeeded < before.Succeeded || s.Failed < before.Failed {
					t.Fatalf("%s, seed %d: %s, and then %s", name, seed, statusText(&before), statusText(&s))
				}
				l.pass()
			}
			if s := l.Job.Status; s.Succeeded != 12 || l.succeeded != 12 || s.Failed != l.failed || l.created != int(l.succeeded+l.failed) {
				t.Fatalf("%s, seed %d: %s; of %d pods %d succeeded and %d failed", name, seed, statusText(&s), l.created, l.succeeded, l.failed)
			}
		}
	}
}

// life is a Job whose pods end and are removed at random.
type life struct {
	*observed
	random            *rand.Rand
	created           int
	succeeded, failed int32
}

// baptize gives new pods a name that no pod has had.
func (l *life) baptize() {
	for _, p := range l.Pods {
		if strings.HasPrefix(p.Name, "new-") {
			l.created++
			p.Name = fmt.Sprintf("p%d", l.created)
			p.UID = types.UID(p.Name)
		}
	}
}

// pass advances the time by a minute: pods end, and ended pods without a finalizer may be removed.
func (l *life) pass() {
	l.Now = l.Now.Add(time.Minute)
	l.Pods = slices.Clone(l.Pods)
	for i, p := range l.Pods {
		changed := *p
		switch {
		case p.IsTerminal():
			continue
		case l.random.IntN(3) == 0:
			ended(&changed, corev1.PodSucceeded)
			l.succeeded++
		case l.random.IntN(6) == 0:
			ended(&changed, corev1.PodFailed)
			l.failed++
		default:
			continue
		}
		changed.FinishedAt = l.Now.Add(-time.Second)
		l.Pods[i] = &changed
	}
	l.Pods = slices.DeleteFunc(l.Pods, func(p *Pod) bool { return p.IsTerminal() && !p.Finalizer && l.random.IntN(2) == 0 })
}

// REG-02: an index that succeeds twice counts as one completion; of its running pods, only the most advanced stays.
func TestRepeatedIndexIsOneCompletion(t *testing.T) {
	o := observeJob(indexed(3, 3)).
		with("a0", index(0), succeededPod(time.Minute)).
		with("a1", index(1), succeededPod(time.Minute)).with("b1", index(1), succeededPod(time.Second))
	plan := o.want(t, `status active 0 terminating 0 succeeded 2 failed 0 completedIndexes "0,1"; create 2`)
	o.carryOut(t, plan).wantStages(t, "release a0 a1 b1", `status active 1 terminating 0 succeeded 2 failed 0 completedIndexes "0,1"`)
	o.wantStatusText(t, `active 1 terminating 0 succeeded 2 failed 0 completedIndexes "0,1"`)
	// Again, when the index is stored: the pod is released, and changes nothing.
	o.with("c1", index(1), succeededPod(time.Second)).wantStages(t, "release c1")
	ended(o.pod(t, "new-3-0"), corev1.PodSucceeded)
	o.settle(t)
	o.wantStatusText(t, `active 0 terminating 0 succeeded 3 failed 0 completedIndexes "0-2" SuccessCriteriaMet=True/CompletionsReached Complete=True/CompletionsReached`)

	// Two pods run for one index: one is removed, and no other is created for it meanwhile.
	o = observeJob(indexed(3, 3), backoffLimit(0), stored(func(s *batchv1.JobStatus) { s.Active = 4 })).
		with("a0", index(0)).with("a1", index(1), inPhase(corev1.PodPending)).with("b1", index(1), ready).with("a2", index(2))
	plan = o.want(t, "release a1")
	assert.Equal(t, names(plan.Findings.Misfits), "a1", "misfits")
	o.carryOut(t, plan).wantStages(t, "delete a1", `status active 3 terminating 1 succeeded 0 failed 0 completedIndexes ""`)
	ended(o.pod(t, "a1"), corev1.PodFailed)
	o.wantStages(t, `status active 3 terminating 0 succeeded 0 failed 0 completedIndexes ""`)
}

// REG-11, REG-10: a phase that changes after the record has no effect: the pod is not recorded a second time, no rule
// is evaluated for it, and it is not replaced.
func TestPhaseFlipsAfterTheRecord(t *testing.T) {
	policy := failurePolicy(onExit("FailJob", 1))
	for _, option := range []func(*batchv1.Job){func(*batchv1.Job) {}, policy, backoffLimit(0)} {
		observeJob(sized(2, 1), option, uncounted([]types.UID{"p"}, nil)).with("p", failedPod(1, time.Hour)).with("r").
			wantStages(t, "release p", `status active 1 terminating 0 succeeded 1 failed 0 completedIndexes ""`)
	}
	observeJob(sized(2, 1), uncounted(nil, []types.UID{"p"})).with("p", succeededPod(time.Hour)).with("r").
		wantStages(t, "release p", `status active 1 terminating 0 succeeded 0 failed 1 completedIndexes ""`)
}
