package cases

import (
	"reflect"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/model"
)

// Simpler returns the cases that are one step simpler, for a search for the smallest case that still shows a problem.
func Simpler(c *model.Case) (out []*model.Case) {
	try := func(change func(*model.Case)) {
		s := &model.Case{Spec: *c.Spec.DeepCopy(), RuleNames: c.RuleNames, Held: c.Held, Scripts: slices.Clone(c.Scripts), Edits: slices.Clone(c.Edits)}
		change(s)
		if !reflect.DeepEqual(s, c) {
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
