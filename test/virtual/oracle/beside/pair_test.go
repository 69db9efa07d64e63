//go:build builtin

package beside

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/model"
)

// side is a Job and its controller.
type side struct{ namespace, name, manager string }

// pair plays a story on both sides.
type pair struct {
	c     *cluster
	story *story
	// sides are ours and the built-in one.
	sides [2]side
	node  string
	// spec is the current spec of both Jobs; deleted reports whether they have been deleted.
	spec    batchv1.JobSpec
	deleted bool
	// clock is how far the clock of the nodes is ahead.
	clock time.Duration
	// did has the steps so far, and what came of them.
	did []string
	// explained are the differences that were met.
	explained map[string]bool
	// overtaken reports whether a deadline or a back-off ended while a step was carried out, as it may on a busy machine: the
	// step may have reached one side before, and the other one after it.
	overtaken bool
}

// now returns the time on the nodes.
func (p *pair) now() metav1.Time { return metav1.NewTime(time.Now().Add(p.clock)) }

// result is the result of a story without a mismatch.
type result struct {
	// differences are the names of those that were met; end is how the Job ended.
	differences []string
	end         string
	steps       int
}

// newPair makes the pair of a story; attempt distinguishes the names of repetitions.
func newPair(c *cluster, s *story, attempt int) *pair {
	p := &pair{c: c, story: s, node: sharedNode, explained: map[string]bool{}, spec: *s.job.Spec.DeepCopy()}
	prefix := fmt.Sprintf("s%d-%d-", s.seed, attempt)
	p.sides = [2]side{{namespaceOf(s.runner), prefix + "o", managers[s.runner]}, {namespace, prefix + "b", builtIn}}
	if s.ownNode {
		p.node = prefix + "node"
	}
	return p
}

// play plays the story.
func (p *pair) play(ctx context.Context) (r result, err error) {
	defer func() {
		for _, s := range p.sides {
			p.c.cleanUp(context.WithoutCancel(ctx), s)
		}
	}()
	if p.story.ownNode {
		if err := p.c.addNode(ctx, p.node); err != nil {
			return r, err
		}
	}
	if err := p.create(ctx); err != nil {
		return r, err
	}
	if err := p.check(ctx); err != nil {
		return r, err
	}
	for _, s := range append(slices.Clone(p.story.steps), finalSteps()...) {
		if p.isOver() {
			break
		}
		if err := p.step(ctx, s); err != nil {
			return r, err
		}
		r.steps++
	}
	r.differences = slices.Sorted(maps.Keys(p.explained))
	switch {
	case p.overtaken:
		r.end = "overtaken: a deadline or back-off ended in the middle of a step"
	case p.diverged():
		r.end = "diverged by a documented difference"
	default:
		r.end = endOf(p)
	}
	return r, nil
}

// finalSteps lead an unfinished Job to its end.
func finalSteps() []step {
	out := []step{
		{action: editJob, edit: model.Edit{Action: model.SetSuspend}}, {action: editJob, edit: model.Edit{Action: model.SetParallelism, Value: 5}},
	}
	for range 5 {
		out = append(out, step{action: startPods}, step{action: terminatePods}, step{action: succeedAll})
	}
	return append(out, step{action: terminatePods})
}

// isOver reports whether nothing can happen anymore: the Jobs are finished or gone, and their pods have ended.
func (p *pair) isOver() bool {
	if p.overtaken || p.diverged() {
		return true
	}
	for _, s := range p.sides {
		state := p.c.view.state(s.name)
		if !state.Gone && !state.Finished() || len(p.c.view.podsOf(s.name, func(pod seenPod) bool { return !pod.ended() })) > 0 {
			return false
		}
	}
	return true
}

// diverged reports whether a documented difference has led to different pods, to which the same steps no longer apply.
func (p *pair) diverged() bool {
	if len(p.explained) == 0 {
		return false
	}
	seen := p.look()
	return fmt.Sprint(seen.Ours.Pods, seen.Ours.Finished()) != fmt.Sprint(seen.BuiltIn.Pods, seen.BuiltIn.Finished())
}

func endOf(p *pair) string {
	s := p.look().Ours
	if s.Gone {
		return "gone"
	}
	var out []string
	for _, c := range s.Conditions {
		out = append(out, fmt.Sprintf("%s=%s %s", c.Type, c.Status, c.Reason))
	}
	return cmp.Or(strings.Join(out, ", "), "open")
}

func (p *pair) create(ctx context.Context) error {
	p.deleted = false
	for _, s := range p.sides {
		job := p.story.job.Job()
		job.Name, job.Spec = s.name, *p.spec.DeepCopy()
		// The name of the built-in controller may be left out.
		if explicit := p.story.runner != replacing || p.story.seed%2 == 0; s.manager != builtIn && explicit {
			job.Spec.ManagedBy = &s.manager
		}
		if !p.story.unbound {
			job.Spec.Template.Spec.NodeName = p.node
		}
		if _, err := p.c.jobs(s.namespace).Create(ctx, job, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("seed %d: creating the Job: %w", p.story.seed, err)
		}
	}
	return p.until(ctx, "the Jobs exist", func() bool {
		return !slices.ContainsFunc(p.sides[:], func(s side) bool { return p.c.view.job(s.name) == nil })
	})
}

// check waits until both sides have settled.
func (p *pair) check(ctx context.Context) error {
	names, err := p.settle(ctx)
	for _, name := range names {
		p.explained[name] = true
	}
	return err
}

// longestWait is the longest back-off that a step waits for.
const longestWait = 25 * time.Second

// step carries out a step, and waits until both sides have settled.
func (p *pair) step(ctx context.Context, s step) error {
	pods, err := p.candidates(ctx, s.action)
	switch {
	case err != nil:
		return err
	case p.diverged():
		return nil
	case needsPods(s.action) && len(pods[0]) == 0:
		return nil
	}
	p.did = append(p.did, s.String())
	begun := time.Now()
	if err := p.apply(ctx, s, pods); err != nil {
		return fmt.Errorf("seed %d: %s: %w", p.story.seed, s, err)
	}
	if p.overtaken = p.dueSince(begun); p.overtaken {
		return nil
	}
	return p.check(ctx)
}

// candidates returns the pods of both sides that an action may concern: as many of each index on both sides.
func (p *pair) candidates(ctx context.Context, a action) (pods [2][]seenPod, err error) {
	wanted := concerned[a]
	if wanted == nil {
		return pods, nil
	}
	for range 20 {
		for i, s := range p.sides {
			pods[i] = p.c.view.podsOf(s.name, wanted)
			slices.SortStableFunc(pods[i], func(a, b seenPod) int {
				return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.Status.Phase, b.Status.Phase))
			})
		}
		same := slices.Equal(indexes(pods[0]), indexes(pods[1]))
		if same && len(pods[0]) > 0 {
			return pods, nil
		}
		// A back-off may end, and there are pods.
		wait, soon := p.nextDue(longestWait)
		if same && (!soon || !waitsForPods(a) || p.look().Ours.Finished()) || p.diverged() {
			return pods, nil
		}
		if same {
			until := time.Now().Add(wait + dueLate)
			if err := p.until(ctx, "a back-off is over", func() bool { return time.Now().After(until) }); err != nil {
				return pods, err
			}
		}
		if err := p.check(ctx); err != nil {
			return pods, err
		}
	}
	return [2][]seenPod{}, nil
}

// concerned has the pods that actions may concern.
var concerned = map[action]func(seenPod) bool{
	startPods: pending, startPod: pending, endPod: live, endAll: live, succeedAll: live, failAll: live, disruptPod: live, restartPod: running,
	deletePod: live, deleteAndEnd: live, evictPod: live, terminatePods: terminating, cleanPods: over, orphanPod: tracked,
	forceDelete: func(p seenPod) bool { return !p.ended() },
}

func tracked(p seenPod) bool {
	return slices.Contains(p.Finalizers, batchv1.JobTrackingFinalizer) && metav1.GetControllerOf(p) != nil && p.DeletionTimestamp == nil
}

func needsPods(a action) bool { return concerned[a] != nil }

// waitsForPods reports whether an action waits for the end of a back-off.
func waitsForPods(a action) bool {
	return slices.Contains([]action{endPod, endAll, succeedAll, failAll, disruptPod, deletePod, forceDelete, evictPod, deleteAndEnd}, a)
}

// until waits for a condition that the test expects.
func (p *pair) until(ctx context.Context, what string, reached func() bool) error {
	begun := time.Now()
	for !reached() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if time.Since(begun) > unrest {
			return fmt.Errorf("waited %v in vain until %s\n%s", unrest, what, p.report(p.look()))
		}
		p.c.view.next(ctx)
	}
	return nil
}

// conflicts is how often a write is tried while the controllers write the same Job.
var conflicts = wait.Backoff{Duration: 10 * time.Millisecond, Factor: 1.5, Steps: 15}

// edit changes the spec of both Jobs. The API server accepts both edits, or none.
func (p *pair) edit(ctx context.Context, change func(*batchv1.JobSpec)) error {
	var refused [2]bool
	for i, s := range p.sides {
		err := retry.RetryOnConflict(conflicts, func() error {
			job, err := p.c.jobs(s.namespace).Get(ctx, s.name, metav1.GetOptions{})
			if err != nil {
				return ignoreGone(err)
			}
			change(&job.Spec)
			_, err = p.c.jobs(s.namespace).Update(ctx, job, metav1.UpdateOptions{})
			return err
		})
		if refused[i] = apierrors.IsInvalid(err); err != nil && !refused[i] {
			return err
		}
	}
	if refused[0] != refused[1] {
		return fmt.Errorf("the API server refuses the edit of one side: %v\n%s", refused, p.report(p.look()))
	}
	if refused[0] {
		p.did[len(p.did)-1] += ": refused"
		return nil
	}
	change(&p.spec)
	return nil
}

// cleanUp deletes a Job and its pods.
func (c *cluster) cleanUp(ctx context.Context, s side) {
	_ = c.release(ctx, s) // It may be gone.
	policy := metav1.DeletePropagationBackground
	_ = c.jobs(s.namespace).Delete(ctx, s.name, metav1.DeleteOptions{PropagationPolicy: &policy})
	for _, pod := range c.view.podsOf(s.name, anyPod) {
		_ = c.delete(ctx, pod.Pod, ptr.To(int64(0)))
	}
}

// release removes the finalizers of a Job.
func (c *cluster) release(ctx context.Context, s side) error {
	return retry.RetryOnConflict(conflicts, func() error {
		job, err := c.jobs(s.namespace).Get(ctx, s.name, metav1.GetOptions{})
		if err != nil {
			return ignoreGone(err)
		}
		job.Finalizers = nil
		_, err = c.jobs(s.namespace).Update(ctx, job, metav1.UpdateOptions{})
		return err
	})
}
