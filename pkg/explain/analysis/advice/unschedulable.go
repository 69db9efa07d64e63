package advice

import (
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
)

// maxUnfits is on how many reasons there is advice.
const maxUnfits = 3

// onUnschedulable follows from the reasons why no node can take the pod, and names a command for each.
func onUnschedulable(in *facts.Facts, _ *Values, p *explain.Problem) (out []explain.Advice) {
	if len(p.Pods) == 0 {
		return nil
	}
	describe := kubectl(in.Job, "describe pod %s", shellWord(p.Pods[0]))
	for i := range p.Unfit {
		u := &p.Unfit[i]
		text := words.UnfitAdvice(u, p.Claims)
		if text == "" || len(out) == maxUnfits {
			continue
		}
		command := ""
		switch {
		case u.Kind == explain.UnfitClaimMissing:
			command = kubectl(in.Job, "get pvc")
		case u.IsAboutClaim() && u.Name != "":
			command = kubectl(in.Job, "describe pvc %s", shellWord(u.Name))
		case u.IsAboutClaim():
			command = kubectl(in.Job, "get pvc")
		case u.Kind == explain.UnfitNodeAffinity, u.Kind == explain.UnfitTopologySpread:
			command = "kubectl get nodes --show-labels"
		case u.Kind == explain.UnfitTaint, u.Kind == explain.UnfitResource, u.Kind == explain.UnfitPodCount:
			command = "kubectl describe nodes"
		case u.Kind == explain.UnfitCordoned:
			command = "kubectl get nodes"
		}
		out = appendNew(out, advise(text, command))
	}
	if len(out) == 0 {
		return advise(words.PodAdvice(p.Kind), describe)
	}
	return out
}
