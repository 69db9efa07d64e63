package failures

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/eventtext"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
)

// textOf is the text of a cause.
func textOf(c *cause.Cause, hidden *explain.Hidden) string {
	if hidden.Container == "" {
		return c.Failure.Text()
	}
	return words.HiddenText(hidden, c)
}

// hiddenBy is the failure that a rule on exit codes hides, zero if it hides none. A rule that names no container matches a
// pod by any of its containers: a sidecar that is killed at the end of each pod, or another container that was stopped,
// matches although the container that does the work failed in another way. The action Count changes nothing.
func hiddenBy(in *facts.Facts, p *explain.Pod, m *failurepolicy.Match) explain.Hidden {
	if m == nil || !m.Matched() || m.Container == "" || m.Action == batchv1.PodFailurePolicyActionCount || p.Disruption != "" {
		return explain.Hidden{}
	}
	on, matched := in.Spec.PodFailurePolicy.Rules[m.Rule].OnExitCodes, p.EndOf(m.Container, m.ExitCode)
	if on == nil || on.ContainerName != nil || matched == nil {
		return explain.Hidden{}
	}
	return hiddenBehind(p, matched)
}

// hiddenBehind is the failure of another container than the one that a rule matched, if that is a sidecar or was stopped.
func hiddenBehind(p *explain.Pod, matched *explain.Container) explain.Hidden {
	if !matched.Init && !facts.IsStopped(matched) {
		return explain.Hidden{}
	}
	for _, c := range failedContainers(p) {
		if c.Name != matched.Name && !facts.IsStopped(c) {
			return explain.Hidden{Exit: facts.ExitOf(c), Sidecar: matched.Init}
		}
	}
	return explain.Hidden{}
}

// failedContainers are those that failed in a pod that has ended, without init containers and sidecars.
func failedContainers(p *explain.Pod) []*explain.Container {
	var out []*explain.Container
	for i := range p.Containers {
		if c := &p.Containers[i]; !c.Init && c.Ended && !c.Before && c.ExitCode != 0 {
			out = append(out, c)
		}
	}
	return out
}

// Others are the containers of the pod that failed beside its Container, by themselves.
func (f *Failure) Others() []*explain.Container {
	c := f.Container()
	if c == nil || c.Init || c.Before || f.Consequence || f.Ending() != nil || f.Kind.Cause.Deleting || f.Kind.Cause.Condition != "" {
		return nil
	}
	return slices.DeleteFunc(failedContainers(f.Pod), func(other *explain.Container) bool { return other.Name == c.Name })
}

// others are those that failed in the same way in the latest pods.
func (g *Group) others() []cause.Exit {
	var common []cause.Exit
	for i, f := range g.Failures[:min(len(g.Failures), maxWitnesses)] {
		var all []cause.Exit
		for _, c := range f.Others() {
			all = append(all, facts.ExitOf(c))
		}
		if i == 0 {
			common = all
		}
		common = slices.DeleteFunc(common, func(x cause.Exit) bool { return !slices.Contains(all, x) })
	}
	return common
}

// KnownError is the error that the container reports by which the pod failed, in its message or its log; nil if none with
// a known meaning is. Something else ended a container that was stopped or killed.
func (f *Failure) KnownError(in *facts.Facts) *explain.KnownError {
	c := f.Container()
	if c == nil || f.Ending() != nil || f.Consequence && !c.Before || c.Reason == explain.OOMKilled || facts.IsStopped(c) {
		return nil
	}
	if known := eventtext.EndErrorIn(c); known != nil {
		return known
	}
	for i := range in.Logs {
		if tail := &in.Logs[i]; tail.Pod == f.Pod.Name && tail.Container == c.Name {
			return eventtext.KnownErrorIn(c.ExitCode, tail.Lines...)
		}
	}
	return nil
}

// maxWitnesses is how many failures of a group are asked for their error: a huge Job may have thousands.
const maxWitnesses = 10

// knownError is the one that the latest failures have in common, as far as they report anything; its subject is "" if it
// differs.
func (g *Group) knownError(in *facts.Facts) *explain.KnownError {
	var common *explain.KnownError
	for i, f := range g.Failures[:min(len(g.Failures), maxWitnesses)] {
		known := f.KnownError(in)
		switch c := f.Container(); {
		case known == nil && i > 0 && (c == nil || c.Message == ""):
		case known == nil, common != nil && known.Kind != common.Kind:
			return nil
		case common == nil:
			common = known
		case known.Subject != common.Subject:
			common = &explain.KnownError{Kind: known.Kind}
		}
	}
	return common
}
