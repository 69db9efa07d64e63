// Package cause describes why a pod failed, as a comparable value. Events and explanations group failures by it, events
// carry it (Record), and both use the wording defined here.
package cause

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
)

// Cause is a Failure and the verdict of the podFailurePolicy. It is comparable: two pods failed for the same cause if
// their Causes are equal.
type Cause struct {
	Failure
	// Judged reports whether the podFailurePolicy was evaluated. If so, Rule is the matching rule, with its Action, or
	// failurepolicy.NoRule. RuleName is "" for a rule without a name (KEP-4443).
	Judged   bool                           `json:"judged,omitempty"`
	Rule     int32                          `json:"rule"`
	RuleName string                         `json:"ruleName,omitempty"`
	Action   batchv1.PodFailurePolicyAction `json:"action,omitempty"`
}

// Failure describes how a pod failed. It is comparable.
type Failure struct {
	// Exit is the exit of the container that failed; zero if no container explains the failure.
	Exit `json:",inline"`
	// Condition is the pod condition that a rule matched, or DisruptionTarget.
	Condition corev1.PodConditionType `json:"condition,omitempty"`
	// ConditionReason is the reason of the condition DisruptionTarget: the cause of the disruption.
	ConditionReason string `json:"conditionReason,omitempty"`
	// Deleting reports whether the pod was being deleted when the container ended.
	Deleting bool `json:"deleting,omitempty"`
	// DeletedRunning is set for a pod that was deleted, or will be because its Job ends, before it reported how it
	// ended.
	DeletedRunning bool `json:"deletedRunning,omitempty"`
	// PodReason is the kubelet's reason for the failure of the whole pod, such as Evicted.
	PodReason string `json:"podReason,omitempty"`
	// Restarted is the exit of a container before its last restart, in a pod that was or will be deleted; zero if no
	// container was restarted, or if it is equal to Exit.
	Restarted Exit `json:"restarted,omitzero"`
}

// Exit describes how a container ended. It is comparable.
type Exit struct {
	Container string `json:"container,omitempty"`
	ExitCode  int32  `json:"exitCode,omitempty"`
	// Reason is the container runtime's reason, if it adds anything to the exit code.
	Reason string `json:"reason,omitempty"`
}

// Of returns the cause of a pod's failure. m is the verdict of the podFailurePolicy, nil if it was not evaluated; names
// are the names of its rules.
func Of(p *reconcile.Pod, m *failurepolicy.Match, names rulename.Names) Cause {
	c := Cause{Rule: failurepolicy.NoRule}
	if m != nil {
		c.Judged, c.Rule, c.Action = true, m.Rule, m.Action
	}
	if m != nil && m.Matched() {
		c.RuleName = names.Name(m.Rule)
		c.matched(p, m)
		return c
	}
	failed := slices.IndexFunc(p.Terminated, func(t failurepolicy.Container) bool { return t.ExitCode != 0 })
	c.disruption(p)
	switch {
	case failed >= 0:
		c.exit(p, p.Terminated[failed].Name, p.Terminated[failed].ExitCode)
	case c.Condition != "":
	case !p.IsTerminal():
		c.DeletedRunning = true
	default:
		c.PodReason = reasons(p).Failed
	}
	if p.Deleting || c.DeletedRunning {
		c.restarted(p)
	}
	return c
}

// matched copies the container or condition that the rule matched.
func (f *Failure) matched(p *reconcile.Pod, m *failurepolicy.Match) {
	switch f.Condition = m.Condition; f.Condition {
	case "":
		f.exit(p, m.Container, m.ExitCode)
	case corev1.DisruptionTarget:
		f.ConditionReason = reasons(p).Disrupted
	}
}

// disruption copies the condition DisruptionTarget, if the pod has it.
func (f *Failure) disruption(p *reconcile.Pod) {
	if slices.Contains(p.Conditions, failurepolicy.Condition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}) {
		f.Condition, f.ConditionReason = corev1.DisruptionTarget, reasons(p).Disrupted
	}
}

func reasons(p *reconcile.Pod) reconcile.PodReasons {
	return ptr.Deref(p.Reasons, reconcile.PodReasons{})
}

// restarted sets Restarted from the pod. With restartPolicy OnFailure, that exit may be why the pod is deleted
// (JOB-16), and nothing else shows it: the failure is recorded with the decision, before the deletion, and the pod may
// be gone soon.
func (f *Failure) restarted(p *reconcile.Pod) {
	if p.Restarted == nil {
		return
	}
	before := Exit{Container: p.Restarted.Name, ExitCode: p.Restarted.ExitCode, Reason: Specific(p.Restarted.Reason)}
	if before != f.Exit {
		f.Restarted = before
	}
}

// Specific returns a container runtime's reason, or "" if it adds nothing to the exit code.
func Specific(reason string) string {
	if reason == "Error" || reason == "Completed" {
		return ""
	}
	return reason
}

// exit copies how a container ended, and whether the pod was being deleted: then the program is not to blame.
func (f *Failure) exit(p *reconcile.Pod, container string, code int32) {
	f.Container, f.ExitCode, f.Deleting = container, code, p.Deleting
	for _, t := range p.Terminated {
		if t.Name == container && t.ExitCode == code && Specific(t.Reason) != "" {
			f.Reason = t.Reason
		}
	}
}

// IsDeletion reports whether the pod failed because it was deleted.
func (f *Failure) IsDeletion() bool {
	return f.Container == "" && f.Condition == "" && f.DeletedRunning || f.Container != "" && f.Deleting
}
