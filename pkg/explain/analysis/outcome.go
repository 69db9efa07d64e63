package analysis

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
)

// outcome is what the conditions say about the end of the Job.
type outcome struct {
	explain.Fate
	// reason and message are those of the latest condition; since is when the end was decided.
	reason, message string
	since           time.Time
	// rule failed the Job; failurepolicy.NoRule if none did, or if it is not known which.
	rule     int32
	ruleName string
	// culprit is what the message of a rule names.
	culprit culprit
}

func (f outcome) decided() bool { return f.Fate != explain.FateOpen }

func (f outcome) failing() bool { return f.Fate == explain.FateFailing || f.Fate == explain.FateFailed }

// culprit is the pod that made a rule match.
type culprit struct {
	namespace, pod string
	container      string
	exitCode       int32
	condition      string
}

// failedBy is the rule that failed the Job, nil if none did or it is not known which, and
// its name.
func (f outcome) failedBy() (rule *int32, name string) {
	if !f.failing() {
		return nil, ""
	}
	if !f.noRule() {
		rule = ptr.To(f.rule)
	}
	return rule, f.ruleName
}

// byRule reports whether the reason is that of a rule, which decodeRule then finds.
func (f outcome) byRule() bool {
	return f.reason == batchv1.JobReasonPodFailurePolicy || strings.HasPrefix(f.reason, rulename.ReasonPrefix)
}

// outcomeOf is what the conditions say, without the rule.
func outcomeOf(job *batchv1.Job) outcome {
	f := outcome{Fate: explain.FateOpen, rule: failurepolicy.NoRule}
	for _, t := range []struct {
		condition batchv1.JobConditionType
		outcome   explain.Fate
	}{
		{batchv1.JobFailureTarget, explain.FateFailing}, {batchv1.JobSuccessCriteriaMet, explain.FateSucceeding},
		{batchv1.JobFailed, explain.FateFailed}, {batchv1.JobComplete, explain.FateComplete},
	} {
		c := reconcile.TrueCondition(job, t.condition)
		if c == nil {
			continue
		}
		if f.since.IsZero() {
			f.since = c.LastTransitionTime.Time
		}
		f.Fate, f.reason, f.message = t.outcome, c.Reason, c.Message
	}
	return f
}

// ruleMessage is what both controllers write when a rule fails the Job (PFP-10).
var ruleMessage = regexp.MustCompile(`^(?:Container (\S+) for pod ([^/\s]+)/(\S+) failed with exit code (-?\d+)|Pod ([^/\s]+)/(\S+) has condition (\S+)) matching \S+ rule at index (\d+)$`)

// decodeRule finds the rule behind the reason PodFailurePolicy, or PodFailurePolicy_{name
// or index} (KEP-4443). The message has its index, and the reason its name at the time: the
// annotation may have changed since.
func (f *outcome) decodeRule(job *batchv1.Job, names rulename.Names) {
	suffix := strings.TrimPrefix(strings.TrimPrefix(f.reason, batchv1.JobReasonPodFailurePolicy), "_")
	rules := 0
	if job.Spec.PodFailurePolicy != nil {
		rules = len(job.Spec.PodFailurePolicy.Rules)
	}
	if m := ruleMessage.FindStringSubmatch(f.message); m != nil {
		code, _ := strconv.ParseInt(m[4], 10, 32)
		f.culprit = culprit{namespace: m[2] + m[5], pod: m[3] + m[6], container: m[1], exitCode: int32(code), condition: m[7]}
		f.rule = ruleIndex(m[8], rules)
	}
	if f.rule == failurepolicy.NoRule && suffix != "" {
		f.rule = int32(slices.Index(names, suffix)) // NoRule if there is none
	}
	if f.rule == failurepolicy.NoRule {
		f.rule = ruleIndex(suffix, rules)
	}
	if f.ruleName = suffix; suffix == "" || suffix == strconv.Itoa(int(f.rule)) {
		f.ruleName = names.Name(f.rule)
	}
}

// ruleIndex reads the index of an existing rule.
func ruleIndex(text string, rules int) int32 {
	i, err := strconv.ParseInt(text, 10, 32)
	if err != nil || i < 0 || int(i) >= rules {
		return failurepolicy.NoRule
	}
	return int32(i)
}
