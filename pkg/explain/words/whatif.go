package words

import (
	"fmt"
	"math"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// WhatIfText describes how the Job would have ended with the policies, without a full stop.
func WhatIfText(p *explain.Policies, w *explain.WhatIf) string {
	ended, instead := "failed", ""
	if w.Condition == string(batchv1.JobComplete) {
		ended, instead = "completed", "failing after "
	}
	text := fmt.Sprintf("with %s, this Job would have %s after %s instead of %s%s",
		policiesText(p), ended, FineSeconds(w.Seconds), instead, FineSeconds(w.ActualSeconds))
	if w.PodSecondsSaved > 0 {
		text += fmt.Sprintf(" and saved %s of pod time", FineSeconds(w.PodSecondsSaved))
	}
	if w.PodsEstimated > 0 {
		text += fmt.Sprintf(" (%s pods estimated)", wording.Of(w.PodsEstimated, w.PodsStarted))
	}
	return text
}

// policiesText returns "a FailJob rule on exit code 42": the first rule is the proposed one.
func policiesText(p *explain.Policies) string {
	if p.PodFailurePolicy == nil {
		return fmt.Sprintf("activeDeadlineSeconds %d", *p.ActiveDeadlineSeconds)
	}
	rule := &p.PodFailurePolicy.Rules[0]
	if rule.OnExitCodes != nil {
		return fmt.Sprintf("a %s rule on exit code %d", rule.Action, rule.OnExitCodes.Values[0])
	}
	return fmt.Sprintf("an %s rule on %s", rule.Action, rule.OnPodConditions[0].Type)
}

// FineSeconds returns "2.3s", and from ten seconds on "25s" or "2m5s", as everywhere else.
func FineSeconds(seconds float64) string {
	const fine = 10
	if seconds < fine {
		return time.Duration(seconds * float64(time.Second)).Round(100 * time.Millisecond).String()
	}
	return wording.Seconds(int64(math.Round(seconds)))
}
