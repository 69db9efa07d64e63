package words

import (
	"cmp"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// DisruptionText says what happened to the pods, without a subject: "evicted by Karpenter: Underutilized".
func DisruptionText(d *explain.Disruption) string {
	if d.Kind == "" {
		return "deleted or evicted by an unknown actor"
	}
	text := LowerFirst(d.Text())
	for _, subject := range []string{"pod was ", "pod is "} {
		text = strings.TrimPrefix(text, subject)
	}
	switch {
	case d.Kind == meaning.EndEvicted && d.By == "":
		text += ", as by kubectl drain"
	case d.Kind == meaning.EndEvicted && d.By == meaning.ByKubelet:
		text += ", as the node ran low on resources"
	}
	return wording.Join(": ", text, d.Why)
}

// DisruptionsText says who took pods of a Job in one line, without a full stop.
func DisruptionsText(d *explain.Disruptions) string {
	var by []string
	for i := range d.By {
		by = append(by, wording.Count(d.By[i].Pods, DisruptionText(&d.By[i])))
	}
	if len(by) == 1 {
		return fmt.Sprintf("%s %s", DisruptionsNote(d), DisruptionText(&d.By[0]))
	}
	return DisruptionsNote(d) + ": " + strings.Join(by, "; ")
}

// DisruptionsNote counts the pods, and the time that they had run.
func DisruptionsNote(d *explain.Disruptions) string {
	note := wording.Plural(d.Pods, "pod", "pods")
	if d.TimedPods == 0 {
		return note
	}
	lost := wording.Seconds(d.LostSeconds) + " of pod time"
	if d.TimedPods < d.Pods {
		lost = "at least " + lost
	}
	return note + " (" + lost + ")"
}

// RuledText says what a rule decided about pods that were taken: "ignored".
func RuledText(action string) string {
	return cmp.Or(map[batchv1.PodFailurePolicyAction]string{
		batchv1.PodFailurePolicyActionIgnore:    "ignored",
		batchv1.PodFailurePolicyActionFailIndex: "failed the index",
		batchv1.PodFailurePolicyActionFailJob:   "failed the Job",
	}[batchv1.PodFailurePolicyAction(action)], "counted")
}
