// Package cases generates random Jobs, pods and user actions. It does not import package sim, whose tests use it.
package cases

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/model"
)

// generator generates cases that the API server would accept.
type generator struct {
	*rand.Rand
	c *model.Case
}

// Generate returns the case of a seed. The API server would accept its Job.
func Generate(seed uint64) *model.Case {
	g := generator{rand.New(rand.NewPCG(seed, 77)), &model.Case{}}
	g.spec()
	g.policies()
	g.outcomes()
	g.edits()
	return g.c
}

// chance returns true with a probability in percent.
func (g generator) chance(percent int) bool { return g.IntN(100) < percent }

func one[T any](g generator, of ...T) T { return of[g.IntN(len(of))] }

func (g generator) spec() {
	s := &g.c.Spec
	n := one[int32](g, 1, 1, 2, 2, 3, 3, 4, 5)
	if g.chance(4) {
		n = 0
	}
	s.CompletionMode, s.Completions = ptr.To(batchv1.NonIndexedCompletion), &n
	switch g.IntN(10) {
	case 0, 1:
		s.Completions = nil
	case 2, 3:
	default:
		s.CompletionMode = ptr.To(batchv1.IndexedCompletion)
	}
	s.Parallelism = ptr.To(one(g, n, n, 1, 2, 3, g.Int32N(6)))
	s.BackoffLimit = ptr.To(one[int32](g, 0, 1, 1, 2, 2, 3, 6, 6, 100))
	s.PodReplacementPolicy = ptr.To(one(g, batchv1.TerminatingOrFailed, batchv1.Failed))
	s.Suspend = ptr.To(g.chance(8))
	if g.chance(15) {
		s.ActiveDeadlineSeconds = ptr.To(one[int64](g, 0, 5, 12, 25, 40, 60, 100, 200))
	}
	t := &s.Template.Spec
	t.RestartPolicy = corev1.RestartPolicyNever
	if g.chance(12) {
		t.RestartPolicy = corev1.RestartPolicyOnFailure
	}
	t.Containers = []corev1.Container{{Name: "main", Image: "image"}}
	if g.chance(25) {
		t.Containers = append(t.Containers, corev1.Container{Name: "side", Image: "image"})
	}
	if g.chance(15) {
		t.InitContainers = []corev1.Container{{Name: "setup", Image: "image"}}
	}
}

func (g generator) indexed() bool { return *g.c.Spec.CompletionMode == batchv1.IndexedCompletion }

func (g generator) policies() {
	s := &g.c.Spec
	if g.indexed() && g.chance(60) {
		s.BackoffLimitPerIndex = ptr.To(one[int32](g, 0, 0, 1, 1, 2, 3))
		if g.chance(70) {
			s.BackoffLimit = ptr.To[int32](1<<31 - 1)
		}
		if g.chance(50) {
			s.MaxFailedIndexes = ptr.To(g.Int32N(*s.Completions + 1))
		}
	}
	if g.indexed() && *s.Completions > 0 && g.chance(30) {
		s.SuccessPolicy = g.successPolicy()
	}
	if s.Template.Spec.RestartPolicy == corev1.RestartPolicyNever && g.chance(45) {
		s.PodReplacementPolicy = ptr.To(batchv1.Failed)
		s.PodFailurePolicy = g.failurePolicy()
		g.c.RuleNames = g.ruleNames()
	}
}

func (g generator) successPolicy() *batchv1.SuccessPolicy {
	p := &batchv1.SuccessPolicy{}
	n := *g.c.Spec.Completions
	for range 1 + g.IntN(2) {
		var rule batchv1.SuccessPolicyRule
		listed := n
		if g.chance(60) {
			first := g.Int32N(n)
			last := first + g.Int32N(n-first)
			listed = last - first + 1
			rule.SucceededIndexes = ptr.To(fmt.Sprint(first))
			if last > first {
				rule.SucceededIndexes = ptr.To(fmt.Sprintf("%d-%d", first, last))
			}
		}
		if rule.SucceededIndexes == nil || g.chance(40) {
			rule.SucceededCount = ptr.To(g.Int32N(listed + 1))
		}
		p.Rules = append(p.Rules, rule)
	}
	return p
}

func (g generator) failurePolicy() *batchv1.PodFailurePolicy {
	p := &batchv1.PodFailurePolicy{}
	actions := []batchv1.PodFailurePolicyAction{
		batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionIgnore,
		batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionCount,
	}
	if g.c.Spec.BackoffLimitPerIndex != nil {
		actions = append(actions, batchv1.PodFailurePolicyActionFailIndex, batchv1.PodFailurePolicyActionFailIndex)
	}
	for range one(g, 0, 1, 1, 2, 2, 3) {
		rule := batchv1.PodFailurePolicyRule{Action: one(g, actions...)}
		if g.chance(35) {
			rule.OnPodConditions = []batchv1.PodFailurePolicyOnPodConditionsPattern{{
				Type: one(g, corev1.DisruptionTarget, corev1.DisruptionTarget, badNode), Status: one(g, corev1.ConditionTrue, corev1.ConditionTrue, corev1.ConditionTrue, corev1.ConditionFalse),
			}}
		} else {
			rule.OnExitCodes = g.exitCodes()
		}
		p.Rules = append(p.Rules, rule)
	}
	return p
}

const badNode corev1.PodConditionType = "example.com/BadNode"

// codes are the exit codes of failing containers; 137 and 143 are the codes of terminated ones.
var codes = []int32{1, 42, 43, 137, 143}

func (g generator) exitCodes() *batchv1.PodFailurePolicyOnExitCodesRequirement {
	r := &batchv1.PodFailurePolicyOnExitCodesRequirement{
		Operator: one(g, batchv1.PodFailurePolicyOnExitCodesOpIn, batchv1.PodFailurePolicyOnExitCodesOpIn, batchv1.PodFailurePolicyOnExitCodesOpNotIn),
	}
	for _, code := range codes {
		if g.chance(35) {
			r.Values = append(r.Values, code)
		}
	}
	if len(r.Values) == 0 {
		r.Values = []int32{one(g, codes...)}
	}
	if g.chance(25) {
		r.ContainerName = ptr.To("main")
		if len(g.c.Spec.Template.Spec.Containers) > 1 {
			r.ContainerName = ptr.To(one(g, "main", "side"))
		}
	}
	return r
}

// ruleNames returns names for some rules, and sometimes invalid ones.
func (g generator) ruleNames() string {
	var entries []string
	for i := range g.c.Spec.PodFailurePolicy.Rules {
		switch g.IntN(12) {
		case 0, 1, 2, 3:
			entries = append(entries, fmt.Sprintf("%d=Rule%c", i, 'A'+i))
		case 4:
			entries = append(entries, fmt.Sprintf("%d=%d", i, g.IntN(4)))
		case 5:
			entries = append(entries, fmt.Sprintf("%d=", i))
		case 6:
			entries = append(entries, fmt.Sprintf("%d=%s", i, one(g, "RuleA", "x:", "a,b:c", "a b", "FailedIndexes")))
		}
	}
	return strings.Join(entries, ";")
}

func (g generator) outcomes() {
	s := &g.c.Spec
	g.c.Scripts = append(g.c.Scripts, g.script(-1, 0, 8))
	indexes := []int{-1}
	if g.indexed() {
		indexes = indexes[:0]
		for i := range int(*s.Completions) + 2 {
			indexes = append(indexes, i)
		}
	}
	bad := one(g, 10, 30, 60)
	if s.PodFailurePolicy != nil || s.BackoffLimitPerIndex != nil {
		bad = one(g, 30, 60, 90)
	}
	pods := 3
	if !g.indexed() {
		pods = 8
	}
	// Pods with different run times seldom end at once, so the order of their ends is defined.
	runs := g.Perm(38)
	for _, index := range indexes {
		for nth := 1; nth <= pods; nth++ {
			f := g.script(index, nth, bad)
			if f.Run != model.Forever {
				// The fraction of a second separates ends from user actions.
				f.Run = time.Duration(2+runs[len(g.c.Scripts)%len(runs)])*time.Second + 130*time.Millisecond
			}
			g.c.Scripts = append(g.c.Scripts, f)
		}
	}
}

// script draws the behavior of a pod; bad is the percentage of failures.
func (g generator) script(index, nth, bad int) model.Script {
	f := model.Script{
		Index: index, Nth: nth, Run: time.Duration(2+g.IntN(38)) * time.Second,
		// The fifth of a second separates the end from the user's next action.
		Terminate: one[time.Duration](g, 2, 3, 8, 20, 45)*time.Second + 200*time.Millisecond, TerminateExit: one[int32](g, 143, 143, 1, 42, 0),
	}
	template := &g.c.Spec.Template.Spec
	if g.chance(bad) && nth > 0 {
		f.Exit = one(g, codes...)
		if len(template.Containers) > 1 && g.chance(40) {
			f.Exit, f.SideExit = one[int32](g, 0, f.Exit), one(g, codes...)
		}
		if len(template.InitContainers) > 0 && g.chance(30) {
			f.SetupExit = one(g, codes...)
		}
		if g.chance(20) {
			f.Condition = one(g, corev1.DisruptionTarget, badNode)
		}
	}
	switch g.IntN(40) {
	case 0, 1, 2:
		f.Run = model.Forever
	case 3:
		f.Unscheduled = true
	case 4:
		f.Lost = true
	}
	if template.RestartPolicy == corev1.RestartPolicyOnFailure && g.chance(30) {
		f.Restarts, f.RestartsAfter = 1+g.Int32N(4), time.Duration(g.IntN(20))*time.Second+300*time.Millisecond
	}
	return f
}

func (g generator) edits() {
	s := &g.c.Spec
	g.c.Held = g.chance(70)
	// Half a second separates user actions from deadlines and back-offs, which end on full seconds.
	at := 500 * time.Millisecond
	size := ptr.Deref(s.Completions, 0)
	if *s.Suspend && g.chance(70) {
		at += time.Duration(2+g.IntN(20)) * time.Second
		g.c.Edits = append(g.c.Edits, model.Edit{At: at, Action: model.SetSuspend, Value: 0})
	}
	if g.chance(10) {
		g.afterBackoff()
		return
	}
	for range one(g, 0, 0, 1, 1, 2, 2, 3, 4) {
		at += time.Duration(2+g.IntN(30)) * time.Second
		e := g.edit(size)
		if e.Action == "" {
			continue
		}
		e.At = at
		g.c.Edits = append(g.c.Edits, e)
		if e.Action == model.SetSize {
			smaller := e.Value < size
			size = e.Value
			if smaller && g.chance(25) { // Both happen before a controller can react.
				g.c.Edits = append(g.c.Edits, model.Edit{At: at, Action: model.SetParallelism, Value: g.Int32N(6)})
			}
		}
		if e.Action == model.EvictPod && g.chance(40) { // The other pods are evicted afterward.
			for index := range size {
				at += 50 * time.Millisecond
				g.c.Edits = append(g.c.Edits, model.Edit{At: at, Action: model.EvictPod, Value: g.anIndex(index)})
			}
		}
	}
}

// afterBackoff schedules a user action half a second after a failed pod was replaced.
func (g generator) afterBackoff() {
	f := one(g, g.c.Scripts...)
	if f.Run == model.Forever || f.Nth != 1 || len(g.c.Edits) > 0 {
		return
	}
	e := model.Edit{At: f.Run + 10500*time.Millisecond, Action: model.SetSuspend, Value: 1}
	if g.chance(50) {
		e.Action, e.Value = one(g, model.SetParallelism, model.DeletePod, model.EvictPod), int32(f.Index)
		if e.Action == model.SetParallelism {
			e.Value = 0
		}
	}
	g.c.Edits = append(g.c.Edits, e)
}

// anIndex returns index, or -1 in a Job without indexes.
func (g generator) anIndex(index int32) int32 {
	if g.indexed() {
		return index
	}
	return -1
}

func (g generator) edit(size int32) model.Edit {
	s := &g.c.Spec
	switch g.IntN(14) {
	case 0, 1:
		return model.Edit{Action: model.SetParallelism, Value: g.Int32N(6)}
	case 2, 3:
		if n := g.Int32N(7); g.indexed() && s.SuccessPolicy == nil && n >= ptr.Deref(s.MaxFailedIndexes, 0) {
			return model.Edit{Action: model.SetSize, Value: n}
		}
	case 4, 5, 6:
		return model.Edit{Action: model.SetSuspend, Value: one[int32](g, 0, 1)}
	case 7:
		return model.Edit{Action: model.SetBackoffLimit, Value: g.Int32N(5)}
	case 8:
		if g.chance(30) {
			return model.Edit{Action: model.SetLimits}
		}
		return model.Edit{Action: model.SetDeadline, Value: one[int32](g, -1, -1, 0, 20, 40, 80)}
	case 9:
		if s.BackoffLimitPerIndex != nil && s.MaxFailedIndexes != nil {
			return model.Edit{Action: model.SetMaxFailedIndexes, Value: g.Int32N(min(size, *s.MaxFailedIndexes) + 1)}
		}
		if s.PodFailurePolicy == nil {
			return model.Edit{Action: model.SetReplacement, Value: g.Int32N(2)}
		}
	case 10:
		if g.chance(50) {
			return model.Edit{Action: model.DeleteJob}
		}
		return model.Edit{Action: one(g, model.CleanFailed, model.CleanSucceeded)}
	default:
		return model.Edit{Action: one(g, model.DeletePod, model.EvictPod), Value: g.anIndex(g.Int32N(max(1, size)))}
	}
	return model.Edit{}
}
