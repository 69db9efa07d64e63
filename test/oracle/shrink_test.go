package oracle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/test/oracle/model"
)

// shrink leaves out of a case what its difference does not need.
func shrink(c *model.Case, seed uint64) *model.Case {
	settled := isSettled(c, seed)
	for range 40 {
		cases := simpler(c)
		smaller := slices.IndexFunc(cases, func(s *model.Case) bool {
			if settled && !isSettled(s, seed) {
				return false
			}
			_, err := judge(s, seed)
			return err != nil
		})
		if smaller < 0 {
			break
		}
		c = cases[smaller]
	}
	return c
}

// isSettled reports whether the outcome of a case does not seem to depend on the pace.
func isSettled(c *model.Case, seed uint64) bool {
	first, err := model.Run(c, documented(), model.NewPace(seed, 0))
	if err != nil {
		return false
	}
	for n := 1; n < 20; n++ {
		if other, err := model.Run(c, documented(), model.NewPace(seed, n)); err != nil || !same(first, other) {
			return false
		}
	}
	return true
}

// simpler are the cases that are one step simpler.
func simpler(c *model.Case) (out []*model.Case) {
	try := func(change func(*model.Case)) {
		s := &model.Case{Spec: *c.Spec.DeepCopy(), RuleNames: c.RuleNames, Held: c.Held, Scripts: slices.Clone(c.Scripts), Edits: slices.Clone(c.Edits)}
		change(s)
		if describe(s) != describe(c) {
			out = append(out, s)
		}
	}
	for i := range c.Edits {
		try(func(s *model.Case) { s.Edits = slices.Delete(s.Edits, i, i+1) })
	}
	for i := range c.Scripts {
		try(func(s *model.Case) { s.Scripts = slices.Delete(s.Scripts, i, i+1) })
	}
	for _, change := range specChanges {
		try(func(s *model.Case) { change(&s.Spec) })
	}
	try(func(s *model.Case) {
		s.Spec.Template.Spec.InitContainers = nil
		for i := range s.Scripts {
			s.Scripts[i].SetupExit = 0
		}
	})
	try(func(s *model.Case) { s.RuleNames = "" })
	for i := range c.Scripts {
		for _, change := range scriptChanges {
			try(func(s *model.Case) { change(&s.Scripts[i]) })
		}
	}
	return out
}

var specChanges = []func(*batchv1.JobSpec){
	func(s *batchv1.JobSpec) { s.ActiveDeadlineSeconds = nil },
	func(s *batchv1.JobSpec) { s.SuccessPolicy = nil },
	func(s *batchv1.JobSpec) { s.MaxFailedIndexes = nil },
	func(s *batchv1.JobSpec) { s.PodFailurePolicy = nil },
	func(s *batchv1.JobSpec) { s.Suspend = ptr.To(false) },
	func(s *batchv1.JobSpec) { s.Template.Spec.Containers = s.Template.Spec.Containers[:1] },
	func(s *batchv1.JobSpec) {
		if s.MaxFailedIndexes == nil && (s.PodFailurePolicy == nil || len(s.PodFailurePolicy.Rules) == 0) {
			s.BackoffLimitPerIndex = nil
		}
	},
	func(s *batchv1.JobSpec) { s.BackoffLimit = ptr.To[int32](6) },
	func(s *batchv1.JobSpec) {
		if s.PodFailurePolicy != nil && len(s.PodFailurePolicy.Rules) > 0 {
			s.PodFailurePolicy.Rules = s.PodFailurePolicy.Rules[1:]
		}
	},
	func(s *batchv1.JobSpec) {
		if s.PodFailurePolicy == nil {
			s.PodReplacementPolicy = ptr.To(batchv1.TerminatingOrFailed)
		}
	},
	func(s *batchv1.JobSpec) {
		if s.PodFailurePolicy == nil {
			s.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
		}
	},
}

var scriptChanges = []func(*model.Script){
	func(f *model.Script) { f.Condition = "" },
	func(f *model.Script) { f.Restarts, f.RestartsAfter = 0, 0 },
	func(f *model.Script) { f.SideExit, f.SetupExit = 0, 0 },
	func(f *model.Script) { f.Terminate, f.TerminateExit = 2*time.Second, 143 },
	func(f *model.Script) { f.Unscheduled, f.Lost = false, false },
}

// describe shows a case.
func describe(c *model.Case) string {
	var b strings.Builder
	text, err := yaml.Marshal(c.Spec)
	if err != nil {
		panic(err)
	}
	b.Write(text)
	fmt.Fprintf(&b, "held: %v, rule names: %q\n", c.Held, c.RuleNames)
	for _, f := range c.Scripts {
		fmt.Fprintf(&b, "pod %+v\n", f)
	}
	for _, e := range c.Edits {
		fmt.Fprintf(&b, "%v: %s %d\n", e.At, e.Action, e.Value)
	}
	return b.String()
}

// report shows how both sides end.
func report(c *model.Case, seed uint64) string {
	got, err := ours(c, seed)
	out := fmt.Sprintf("%s\nthe same whatever the pace: %v\nours:    %s %v\n", describe(c), isSettled(c, seed), show(got), err)
	for n := range 2 {
		want, err := model.Run(c, documented(), model.NewPace(seed, n))
		out += fmt.Sprintf("model %d: %s %v\n", n, show(want), err)
	}
	return out
}

func show(o model.Outcome) string {
	return strings.ReplaceAll(fmt.Sprintf("%+v", o), "2562047h47m16.854775807s", "never")
}
