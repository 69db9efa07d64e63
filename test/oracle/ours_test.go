package oracle

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/oracle/model"
)

const (
	jobName = "a"
	// maxSteps, maxCommits and maxTime bound a case in the virtual cluster.
	maxSteps   = 200_000
	maxCommits = 20_000
	maxTime    = 48 * time.Hour
	// ruleNames is the annotation of KEP-4443, holder the finalizer of somebody else.
	ruleNames = "batchjob.dev/pod-failure-policy-rule-names"
	holder    = "example.com/held"
)

// player plays a case with our controller in the virtual cluster.
type player struct {
	world          *sim.World
	steps, commits int
	// names are what the model calls the pods, by what the cluster does.
	names    map[string]string
	nth      map[int]int
	made     []model.Made
	finished time.Duration
}

// ours plays a case to rest with our controller.
func ours(c *model.Case, seed uint64) (_ model.Outcome, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	p := &player{names: map[string]string{}, nth: map[int]int{}, finished: model.Never}
	p.world = sim.NewWorld(sim.Options{Seed: seed, OnCommit: p.committed})
	job := &batchv1.Job{Spec: *c.Spec.DeepCopy()}
	job.Name = jobName
	if c.RuleNames != "" {
		job.Annotations = map[string]string{ruleNames: c.RuleNames}
	}
	if c.Held {
		job.Finalizers = []string{holder}
	}
	if err := p.world.Play(job, script(c)); err != nil {
		return model.Outcome{}, err
	}
	for _, e := range c.Edits {
		p.runFor(e.At - p.world.Elapsed())
		if err := p.edit(e); err != nil {
			return model.Outcome{}, fmt.Errorf("%s %d: %w", e.Action, e.Value, err)
		}
	}
	p.runFor(maxTime)
	if p.steps >= maxSteps {
		return model.Outcome{}, fmt.Errorf("no rest after %d steps", p.steps)
	}
	return p.outcome(), nil
}

func (p *player) runFor(d time.Duration) {
	p.world.RunUntil(func() bool {
		p.steps++
		return p.steps >= maxSteps
	}, d)
}

func script(c *model.Case) sim.Script {
	var out sim.Script
	out = append(out, sim.Scene{Index: -1, Act: sim.Act{Run: 2 * time.Second, Terminate: 2 * time.Second, TerminateExit: 143}})
	for _, f := range c.Scripts {
		act := sim.Act{
			Run: f.Run, Container: "main", Exit: f.Exit, OtherExit: f.SideExit, InitExit: f.SetupExit,
			Restarts: f.Restarts, RestartsAfter: f.RestartsAfter,
			Terminate: f.Terminate, TerminateExit: f.TerminateExit, Unscheduled: f.Unscheduled, NodeGone: f.Lost,
		}
		if f.Condition != "" {
			act.Conditions = []corev1.PodCondition{{Type: f.Condition, Status: corev1.ConditionTrue}}
		}
		out = append(out, sim.Scene{Index: int32(f.Index), Nth: f.Nth, Act: act})
	}
	return out
}

// committed keeps what a status does not tell: the pods that were created, and when.
func (p *player) committed(c sim.Commit) {
	if p.commits++; p.commits > maxCommits {
		panic("no rest: a sync writes without end")
	}
	switch {
	case c.NewPod != nil && c.OldPod == nil:
		index := indexOf(c.NewPod)
		p.nth[index]++
		p.names[c.NewPod.Name] = model.PodName(index, p.nth[index])
		p.made = append(p.made, model.Made{Index: index, Nth: p.nth[index], At: p.world.Elapsed()})
	case c.NewJob != nil && p.finished == model.Never && sim.Finished(c.NewJob):
		p.finished = p.world.Elapsed()
	}
}

func indexOf(pod *corev1.Pod) int {
	index, err := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil {
		return -1
	}
	return index
}

// edit does what a user does.
func (p *player) edit(e model.Edit) error {
	store := p.world.Store
	job := store.Job(jobName)
	if job == nil {
		return nil
	}
	switch e.Action {
	case model.DeleteJob:
		return store.DeleteJob(jobName, metav1.DeletePropagationBackground)
	case model.DeletePod, model.EvictPod, model.CleanFailed, model.CleanSucceeded:
		return p.editPods(e, store.PodsOf(job.UID))
	}
	_, err := store.EditJob(jobName, func(job *batchv1.Job) { e.Change(&job.Spec) })
	return err
}

func (p *player) editPods(e model.Edit, pods []*corev1.Pod) error {
	for _, pod := range pods {
		over := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
		active := !over && pod.DeletionTimestamp == nil && indexOf(pod) == int(e.Value)
		switch {
		case e.Action == model.CleanFailed && pod.Status.Phase == corev1.PodFailed,
			e.Action == model.CleanSucceeded && pod.Status.Phase == corev1.PodSucceeded:
			if _, err := p.world.Store.DeletePod(pod.Name, ""); err != nil {
				return err
			}
		case e.Action == model.DeletePod && active:
			_, err := p.world.Store.DeletePod(pod.Name, "")
			return err
		case e.Action == model.EvictPod && active:
			return p.world.Store.EvictPod(pod.Name)
		}
	}
	return nil
}

// outcome is what the Job has come to.
func (p *player) outcome() model.Outcome {
	job := p.world.Store.Job(jobName)
	if job == nil {
		return model.Outcome{Gone: true}
	}
	s := job.Status
	o := model.Outcome{
		Active: s.Active, Ready: ptr.Deref(s.Ready, -1), Terminating: ptr.Deref(s.Terminating, -1), Succeeded: s.Succeeded, Failed: s.Failed,
		CompletedIndexes: s.CompletedIndexes, FailedIndexes: ptr.Deref(s.FailedIndexes, "nil"),
		Start: p.since(s.StartTime), End: p.since(s.CompletionTime), Finished: p.finished, Pods: p.made,
	}
	if u := s.UncountedTerminatedPods; u != nil {
		o.Uncounted = len(u.Failed) + len(u.Succeeded)
	}
	for _, c := range s.Conditions {
		o.Conditions = append(o.Conditions, model.Condition{Type: c.Type, Status: c.Status, Reason: c.Reason, Message: p.renamed(c.Message)})
	}
	slices.SortFunc(o.Conditions, func(a, b model.Condition) int { return cmp.Compare(a.Type, b.Type) })
	slices.SortFunc(o.Pods, func(a, b model.Made) int { return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Nth, b.Nth)) })
	if sim.Finished(job) {
		for _, pod := range p.world.Store.PodsOf(job.UID) {
			if slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) {
				o.Tracked++
			}
		}
	}
	return o
}

// since is a time of the status as one since the beginning.
func (p *player) since(t *metav1.Time) time.Duration {
	if t == nil {
		return model.Never
	}
	return t.Sub(p.world.Now().Add(-p.world.Elapsed()))
}

// renamed calls the pods in a message what the model calls them.
func (p *player) renamed(message string) string {
	var pairs []string
	for name, other := range p.names {
		// What follows the name keeps p1 from being found in p12.
		pairs = append(pairs, name+" ", other+" ")
	}
	return strings.NewReplacer(pairs...).Replace(message)
}
