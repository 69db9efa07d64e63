package words

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// noNode is the beginning of the sentence about a pod that fits no node.
const noNode = "no node can take the pod"

// maxUnfits is the maximum number of reasons in a sentence.
const maxUnfits = 5

// unschedulableText explains why no node can take the pod, or why it is not bound to the node that its scheduler chose.
func unschedulableText(p *explain.Problem, _ time.Time) string {
	silent := *p
	if c := warned(p); c != nil {
		silent.Start.Claims = []meaning.Claim{{Name: c.Name}}
	}
	switch isChosen := meaning.IsChosen(p.Scheduling.Unfit); {
	case isChosen && p.Scheduling.Unfit[0].Kind == meaning.UnfitOther:
		return "the scheduler chose a node for the pod, and could not bind it"
	case isChosen:
		return "the pod has no node yet, as " + unfitsText(&silent)
	}
	return wording.Join(": ", noNode, unfitsText(&silent))
}

// unschedulableQuote returns the warning about the claim, or the scheduler's message about a node that it chose.
func unschedulableQuote(p *explain.Problem, _ time.Time) quotation {
	q := quotation{}
	if c := warned(p); c != nil {
		q = inQuotes(": ", c.Reported())
	} else if meaning.IsChosen(p.Scheduling.Unfit) && p.Scheduling.Unfit[0].Kind == meaning.UnfitOther {
		q = inQuotes(": ", p.Scheduling.Unfit[0].Message)
	}
	q.most = maxUnquoted
	return q
}

// warned returns the claim with a warning that is the only reason why the pod has no node, or nil.
func warned(p *explain.Problem) *meaning.Claim {
	if all := p.Scheduling.Unfit; len(all) == 1 && all[0].Kind == meaning.UnfitClaimUnbound {
		return lists.First(p.Start.Claims, func(c *meaning.Claim) bool { return c.Name == all[0].Name && c.Warning != "" })
	}
	return nil
}

// unfitsText returns the reasons as clauses about nodes, as many as have room in a sentence.
func unfitsText(p *explain.Problem) string {
	isLong := func(text string) bool { return utf8.RuneCountInString(text) > room(stalled+noNode+": ") }
	parts, most := meaning.Sentences(p.Scheduling.Unfit, p.Start.Claims, "node", "nodes"), maxUnfits
	if isLong(atMost(most, parts)) {
		bare := slices.Clone(p.Scheduling.Unfit)
		for i := range bare {
			bare[i].Rule = ""
		}
		parts = meaning.Sentences(bare, p.Start.Claims, "node", "nodes")
	}
	for most > 1 && isLong(atMost(most, parts)) {
		most--
	}
	return atMost(most, parts)
}

func unfitsBriefly(p *explain.Problem, _ time.Time) string {
	var parts []string
	for i := range p.Scheduling.Unfit {
		parts = append(parts, p.Scheduling.Unfit[i].Brief(p.Start.Claims))
	}
	return atMost(maxUnfits, parts)
}

// atMost returns so many of the reasons, and the number of the others.
func atMost(most int, reasons []string) string {
	if n := len(reasons) - most; n > 0 {
		reasons = append(slices.Clone(reasons[:most]), wording.Plural(int32(n), "other reason", "other reasons"))
	}
	return strings.Join(reasons, ", ")
}

// unschedulableNote describes what an autoscaler does, and says that nothing ends the wait for a claim that does not exist.
func unschedulableNote(p *explain.Problem, now time.Time) string {
	endless := ""
	if lists.First(p.Scheduling.Unfit, func(u *meaning.Unfit) bool { return u.Kind == meaning.UnfitClaimMissing }) != nil {
		endless = endlessNote(p, now)
	}
	return Clauses([]string{p.Scheduling.Autoscaler.Text(), endless})
}

// AskScheduler returns the advice on a pod that its scheduler does not place for a reason that is unknown.
func AskScheduler(name string) string {
	return "look for the pod in the log of " + schedulerText(&explain.Problem{Asked: name}) + ", which says more about this reason than the event"
}
