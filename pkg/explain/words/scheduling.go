package words

import (
	"strings"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// noNode is the beginning of the sentence about a pod that fits no node.
const noNode = "no node can take the pod"

// maxUnfits is the maximum number of reasons in a sentence.
const maxUnfits = 5

// unschedulableText explains why no node can take the pod.
func unschedulableText(p *explain.Problem, now time.Time) string {
	return wording.Join(": ", noNode, unfitsBriefly(p, now))
}

func unfitsBriefly(p *explain.Problem, _ time.Time) string {
	return unfitsText(p.Scheduling.Unfit, p.Start.Claims)
}

// unfitsText returns the reasons with their numbers of nodes: "1 Insufficient nvidia.com/gpu, 8 node affinity/selector".
func unfitsText(all []meaning.Unfit, claims []meaning.Claim) string {
	var parts []string
	for i := range all[:min(len(all), maxUnfits)] {
		u := &all[i]
		text := u.Text(claims)
		if u.Nodes > 0 {
			text = wording.Thousands(u.Nodes) + " " + text
		}
		parts = append(parts, text)
	}
	if n := len(all) - maxUnfits; n > 0 {
		parts = append(parts, wording.Plural(int32(n), "other reason", "other reasons"))
	}
	return strings.Join(parts, ", ")
}

func claimName(name string) string {
	if name == "" {
		return ""
	}
	return "claim " + name
}

// autoscalerText describes what an autoscaler does about the pod, "" if there is none.
func autoscalerText(p *explain.Problem, _ time.Time) string {
	if p.Scheduling.Autoscaler == nil {
		return ""
	}
	return p.Scheduling.Autoscaler.Text()
}
