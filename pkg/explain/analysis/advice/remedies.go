package advice

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/eventtext"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
)

// startRemedy is what the message of the runtime asks for, if it could not start the container.
func startRemedy(in *facts.Facts, c *explain.Container, message string) string {
	if known := eventtext.StartErrorIn(message); known != nil {
		return errorRemedy(in, c, known)
	}
	return words.StartAdvice(c.Name)
}

// errorRemedy is what an error asks for that the container reports.
func errorRemedy(in *facts.Facts, c *explain.Container, known *explain.KnownError) string {
	return words.KnownErrorAdvice(known, c.Name, in.Image(c), in.HasReadOnlyRoot(c.Name))
}

// remedy is what an exit code, reason or error asks for, "" for nothing; known may be nil.
func remedy(in *facts.Facts, c *explain.Container, known *explain.KnownError) string {
	switch {
	case c.Reason == explain.OOMKilled:
		return words.MemoryAdvice(c.Name, in.MemoryLimit(c), c.Image != "")
	case known != nil:
		return errorRemedy(in, c, known)
	}
	return words.ExitAdvice(c.Name, in.Image(c), c.ExitCode)
}

// takesFailurePolicy reports whether the Job may have a podFailurePolicy: the API server takes that of no other.
func takesFailurePolicy(in *facts.Facts) bool {
	return in.Spec.Template.Spec.RestartPolicy == corev1.RestartPolicyNever
}

// failingAtOnce fails the Job for the exit code of a failure.
func failingAtOnce(in *facts.Facts, f *failures.Failure) *explain.Policies {
	c := f.Container()
	if c == nil || c.ExitCode == 0 {
		return nil
	}
	return withRule(in, batchv1.PodFailurePolicyRule{
		Action: batchv1.PodFailurePolicyActionFailJob,
		OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
			ContainerName: &c.Name, Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{c.ExitCode},
		},
	})
}

// ignoringDisruptions does not count disrupted pods.
func ignoringDisruptions(in *facts.Facts) *explain.Policies {
	disrupted := batchv1.PodFailurePolicyOnPodConditionsPattern{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}
	return withRule(in, batchv1.PodFailurePolicyRule{
		Action: batchv1.PodFailurePolicyActionIgnore, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{disrupted},
	})
}

// withRule is the podFailurePolicy with another rule, which takes precedence. Those with names cannot be written as the
// API has them.
func withRule(in *facts.Facts, rule batchv1.PodFailurePolicyRule) *explain.Policies {
	if !takesFailurePolicy(in) || len(in.Names) > 0 {
		return nil
	}
	rules := ptr.Deref(in.Spec.PodFailurePolicy, batchv1.PodFailurePolicy{}).Rules
	return &explain.Policies{PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: slices.Concat([]batchv1.PodFailurePolicyRule{rule}, rules)}}
}

// longerDeadline is twice as long.
func longerDeadline(in *facts.Facts) *explain.Policies {
	if in.Spec.ActiveDeadlineSeconds == nil {
		return nil
	}
	return &explain.Policies{ActiveDeadlineSeconds: ptr.To(2 * *in.Spec.ActiveDeadlineSeconds)}
}
