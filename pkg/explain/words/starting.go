package words

import (
	"fmt"
	"strings"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// imageText describes an image that is not on the node.
func imageText(p *explain.Problem, _ time.Time) string {
	if p.Reason == explain.InvalidImageName {
		return fmt.Sprintf("the image name of container %s is invalid", p.Container)
	}
	text := wording.Join(" of container ", "image "+p.Image, p.Container)
	if p.Trouble == nil {
		return text + " cannot be pulled"
	}
	return text + " " + p.Trouble.Text("")
}

func imageSays(p *explain.Problem, _ time.Time) quotation {
	switch {
	case p.Reason == explain.InvalidImageName:
		return plainly(p.Image)
	case p.Trouble == nil:
		return quotation{}
	}
	return inQuotes(": ", p.Trouble.Quote())
}

func imageNote(p *explain.Problem, now time.Time) string {
	return Clauses([]string{p.Trouble.Note(), endlessNote(p, now)})
}

// volumeText names the volume, with the candidates for its claim.
func volumeText(p *explain.Problem) string {
	text := wording.Join(" ", "its volume", p.Trouble.Volume)
	if p.Trouble.Volume == "" {
		text = "one of its volumes"
	}
	var names []string
	for i := range p.Claims {
		names = append(names, p.Claims[i].Name)
	}
	return text + wording.InBrackets(claimName(wording.Enumerate(names, "or")))
}

// TroubleAdvice returns advice on the problem's Trouble, or "".
func TroubleAdvice(p *explain.Problem) string {
	if p.Trouble == nil {
		return ""
	}
	return p.Trouble.Advice(volumeText(p))
}

// neverStartedClauses explain why no pod of the Job ever started, by the problem of one of them.
func neverStartedClauses(p *explain.Problem) []string {
	fits := room(decidedTexts[reconcile.OutcomeFailed])
	switch {
	case p.Kind == explain.ProblemUnschedulable:
		return []string{wording.Join(": ", "its pods never started, as no node could take them", unfitsText(p.Unfit, p.Claims))}
	case p.Kind == explain.ProblemImagePull && p.Trouble != nil:
		return imageSays(p, time.Time{}).clauses("its pods never started, as "+imageText(p, time.Time{}), fits)
	case p.Trouble != nil:
		return append(inQuotes(": ", p.Trouble.Quote()).clauses("its pods never started because "+p.Trouble.Text(volumeText(p)), fits), slowStartNote(p, time.Time{}))
	}
	return plainly(strings.Join(p.Details, "\n")).clauses("its pods never started ("+p.Reason+")", fits)
}

// NoneStartedText describes pods that never started and no longer exist.
func NoneStartedText(n int32) string {
	if n == 1 {
		return "the Job's controller deleted the pod, which never started, so it has no log"
	}
	return fmt.Sprintf("the Job's controller deleted the %s, which never started, so they have no logs", wording.Count(n, "pods"))
}
