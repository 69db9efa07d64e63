package words

import (
	"strings"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// noNode is the beginning of the sentence about a pod that fits no node.
const noNode = "no node can take the pod"

// maxUnfits is the maximum number of reasons in a sentence.
const maxUnfits = 5

// unschedulableText explains why no node can take the pod.
func unschedulableText(p *explain.Problem, _ time.Time) string {
	return wording.Join(": ", noNode, unfitsText(p))
}

// unfitsText returns the reasons as clauses about nodes.
func unfitsText(p *explain.Problem) string {
	return atMostUnfits(meaning.Sentences(p.Scheduling.Unfit, p.Start.Claims, "node", "nodes"))
}

func unfitsBriefly(p *explain.Problem, _ time.Time) string {
	var parts []string
	for i := range p.Scheduling.Unfit {
		parts = append(parts, p.Scheduling.Unfit[i].Brief(p.Start.Claims))
	}
	return atMostUnfits(parts)
}

func atMostUnfits(parts []string) string {
	if n := len(parts) - maxUnfits; n > 0 {
		parts = append(parts[:maxUnfits], wording.Plural(int32(n), "other reason", "other reasons"))
	}
	return strings.Join(parts, ", ")
}

func claimName(name string) string {
	if name == "" {
		return ""
	}
	return "claim " + name
}

// unschedulableNote describes what an autoscaler does, and says that nothing ends the wait for a claim that does not exist.
func unschedulableNote(p *explain.Problem, now time.Time) string {
	endless := ""
	if lists.First(p.Scheduling.Unfit, func(u *meaning.Unfit) bool { return u.Kind == meaning.UnfitClaimMissing }) != nil {
		endless = endlessNote(p, now)
	}
	return Clauses([]string{autoscalerText(p, now), endless})
}

// autoscalerText describes what an autoscaler does about the pod, "" if there is none.
func autoscalerText(p *explain.Problem, _ time.Time) string {
	if p.Scheduling.Autoscaler == nil {
		return ""
	}
	return p.Scheduling.Autoscaler.Text()
}

// AskScheduler returns the advice on a pod that its scheduler does not place for a reason that is unknown.
func AskScheduler(name string) string {
	return "look for the pod in the log of " + schedulerText(&explain.Problem{Asked: name}) + ", which says more about this reason than the event"
}
