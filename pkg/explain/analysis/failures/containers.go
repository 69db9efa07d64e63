package failures

import (
	"cmp"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
)

// hiddenBy returns the failure that a rule on exit codes hides, the zero value if it hides none. A rule without a container
// name matches any container of the pod: a sidecar that is killed at the end of each pod, or another container that was
// stopped, matches although the main container failed in another way. The action Count has no effect, so it hides nothing.
func hiddenBy(in *facts.Facts, p *input.Pod, m *failurepolicy.Match) explain.Hidden {
	if m == nil || !m.Matched() || m.Container == "" || m.Action == batchv1.PodFailurePolicyActionCount || p.Disruption != "" {
		return explain.Hidden{}
	}
	on, matched := in.Spec.PodFailurePolicy.Rules[m.Rule].OnExitCodes, p.EndOf(m.Container, m.ExitCode)
	if on == nil || on.ContainerName != nil || matched == nil || !matched.Init && !facts.IsStopped(matched) {
		return explain.Hidden{}
	}
	for _, c := range failedContainers(p) {
		if c.Name != matched.Name && !facts.IsStopped(c) {
			return explain.Hidden{Exit: facts.ExitOf(c), Sidecar: matched.Init}
		}
	}
	return explain.Hidden{}
}

// failedContainers returns the containers that failed in an ended pod, without init containers and sidecars, unless a sidecar ran out of
// memory: others fail because of that.
func failedContainers(p *input.Pod) []*input.Container {
	var out []*input.Container
	for i := range p.Containers {
		if c := &p.Containers[i]; (!c.Init || c.Reason == cause.OOMKilled) && c.Ended && !c.Before && c.ExitCode != 0 {
			out = append(out, c)
		}
	}
	return out
}

// Others returns the containers of the pod that failed by themselves besides Container.
func (f *Failure) Others() []*input.Container {
	c := f.Container()
	if c == nil || c.Init || c.Before || f.Consequence || f.Ending() != nil || f.Kind.Cause.Deleting || f.Kind.Cause.Condition != "" {
		return nil
	}
	return slices.DeleteFunc(failedContainers(f.Pod), func(other *input.Container) bool { return other.Name == c.Name })
}

// AfterSuccess returns the containers with work of their own that had all exited with code 0 when a signal ended the failed container;
// nil if it failed in another way.
func (f *Failure) AfterSuccess(in *facts.Facts) []string {
	if c := f.Container(); c == nil || !facts.IsStopped(c) {
		return nil
	}
	return f.Done(in)
}

// isEndedOutside reports whether something other than a probe of the container ended the pod.
func (f *Failure) isEndedOutside() bool {
	end := f.Ending()
	return end != nil && end.Kind != meaning.EndProbe
}

// Done returns the containers with work of their own that had all exited with code 0 when the failed one ended.
func (f *Failure) Done(in *facts.Facts) (done []string) {
	c := f.Container()
	if c == nil || c.Init || c.Before || f.Consequence || f.isEndedOutside() || f.Pod.Deleting || f.Pod.Disruption != "" || len(f.Others()) > 0 {
		return nil
	}
	for i := range f.Pod.Containers {
		other := &f.Pod.Containers[i]
		switch {
		case other.Init || other.Name == c.Name:
		case !other.Ended || other.Before || other.EndedAt.After(c.EndedAt):
			return nil
		case !in.OnlyServes(other.Name):
			done = append(done, other.Name)
		}
	}
	return done
}

// EndedByInit reports whether an init container failed by itself, so that the containers after it never started.
func (f *Failure) EndedByInit(in *facts.Facts) bool {
	c, exit := f.Container(), f.Kind.Cause.Exit
	return c != nil && c.Init && !c.Before && !in.IsSidecar(c) && f.Ending() == nil && f.Kind.Cause.Failure == (cause.Failure{Exit: exit})
}

// OutOfMemory returns the containers of the pod that were killed for lack of memory.
func (f *Failure) OutOfMemory() []*input.Container {
	others := f.Others()
	if c := f.Container(); c != nil {
		others = append([]*input.Container{c}, others...)
	}
	return slices.DeleteFunc(others, func(c *input.Container) bool { return c.Reason != cause.OOMKilled })
}

// others returns the containers that failed in the same way in all of the latest pods.
func (g *Group) others(in *facts.Facts) []explain.AlsoFailed {
	var common []explain.AlsoFailed
	for i, f := range g.Failures[:min(len(g.Failures), maxSearched)] {
		var all []explain.AlsoFailed
		for _, c := range f.Others() {
			also := explain.AlsoFailed{Exit: facts.ExitOf(c)}
			if c.Reason == cause.OOMKilled {
				also.MemoryLimit = in.MemoryLimit(c)
			}
			all = append(all, also)
		}
		if i == 0 {
			common = all
		}
		common = slices.DeleteFunc(common, func(x explain.AlsoFailed) bool { return !slices.Contains(all, x) })
	}
	return common
}

// erring returns the failed container if it ended because of an error of its own, or nil: it was not stopped or killed. If it has no log,
// that is the first one that failed beside it and has one.
func (f *Failure) erring(in *facts.Facts) *input.Container {
	c := f.Container()
	if c == nil || f.Ending() != nil || f.Consequence && !c.Before || c.Reason == cause.OOMKilled {
		return nil
	}
	if facts.IsStopped(c) && !killedChild(in, f.Pod.Name, c) {
		return nil
	}
	hasLog := func(c *input.Container) bool {
		tail := in.TailOf(f.Pod.Name, c.Name)
		return tail != nil && !tail.IsEmpty()
	}
	if beside := f.Beside(); c.Message == "" && !hasLog(c) && beside != nil && hasLog(beside) {
		return beside
	}
	return c
}

// killedChild reports whether a container ended by itself with the code of a killed one, as its log says: the script passed on the code of
// its child, which was killed, or the program ran out of memory.
func killedChild(in *facts.Facts, pod string, c *input.Container) bool {
	const killed = 137
	if c.ExitCode != killed {
		return false
	}
	known := meaning.KnownErrorIn(c.ExitCode, in.LogOf(pod, c.Name)...)
	return known != nil && (known.Kind == meaning.ErrorProcessKilled || known.Kind == meaning.ErrorOutOfMemory)
}

// Beside returns the first container that ended because of an error of its own beside the failed one, or nil.
func (f *Failure) Beside() *input.Container {
	for _, c := range f.Others() {
		if !c.NeverStarted() && c.Reason != cause.OOMKilled && !facts.IsStopped(c) {
			return c
		}
	}
	return nil
}

// Speaking returns the container whose message or log may say why the pod failed, or else Container.
func (f *Failure) Speaking(in *facts.Facts) *input.Container {
	return cmp.Or(f.erring(in), f.Container())
}

// KnownError returns the error with a known meaning in the message or log of the failed container, or nil.
func (f *Failure) KnownError(in *facts.Facts) *meaning.KnownError {
	c := f.erring(in)
	if c == nil {
		return nil
	}
	if known := facts.EndErrorIn(c); known != nil {
		return known
	}
	return meaning.KnownErrorIn(c.ExitCode, facts.ErrorLog(in, f.Pod.Name, c)...)
}

// lastLine returns the last line of the log of the failed container that may say why it failed, "" if there is none, with its sign.
func (f *Failure) lastLine(in *facts.Facts) (string, meaning.LineSign) {
	c := f.erring(in)
	if c == nil {
		return "", meaning.SignError
	}
	if in.TailOf(f.Pod.Name, c.Name).IsEmpty() && cause.Meaning(c.ExitCode, c.Reason) == "" {
		return "", meaning.SignEmpty
	}
	return meaning.LastLineOf(c.ExitCode, facts.ErrorLog(in, f.Pod.Name, c))
}

// isRead reports whether the failed container has a message, or a log that was read.
func (f *Failure) isRead(in *facts.Facts) bool {
	c := f.erring(in)
	return f.Message() != "" || c != nil && in.TailOf(f.Pod.Name, c.Name) != nil
}

// words returns the line that best explains why the container failed, from its message or else from its log; "" without one.
func (f *Failure) words(in *facts.Facts) string {
	line, _ := f.lastLine(in)
	return cmp.Or(meaning.LastLine(strings.Split(f.Message(), "\n")), line)
}

// Unknown returns the words with which the failed container reports an error, and its log.
func (f *Failure) Unknown(in *facts.Facts) *meaning.Clue {
	clue := &meaning.Clue{Words: f.words(in)}
	if c := f.erring(in); c != nil {
		clue.Log, clue.Step = facts.ErrorLog(in, f.Pod.Name, c), facts.StepOf(in, f.Pod.Name, c.Name)
	}
	return clue
}

// place returns what the program worked on when it failed, as far as the known error, or else its words, leave it out.
func (f *Failure) place(in *facts.Facts, known *meaning.KnownError) string {
	c, clue := f.erring(in), f.Unknown(in)
	if c == nil {
		return ""
	}
	return facts.WorkedOn(in, c.Name, clue, known)
}

// IsUnexplained reports whether nothing shows why the failed container exited: it has no message, and its log was read and has
// no line that may show it, or ends without an error.
func (f *Failure) IsUnexplained(in *facts.Facts) bool {
	c := f.erring(in)
	if c == nil || f.Message() != "" {
		return false
	}
	line, sign := f.lastLine(in)
	return in.TailOf(f.Pod.Name, c.Name) != nil && (line == "" || sign == meaning.SignNoError)
}

// maxSearched is the maximum number of failures of a group to search for errors: a huge Job may have thousands.
const maxSearched = 10

// knownError returns the error that the latest failures have in common, as far as they report errors; its Subject is "" if it differs.
func (g *Group) knownError(in *facts.Facts) *meaning.KnownError {
	var common *meaning.KnownError
	for i, f := range g.Failures[:min(len(g.Failures), maxSearched)] {
		known := f.KnownError(in)
		switch c := f.Container(); {
		case known == nil && i > 0 && (c == nil || c.Message == ""):
		case known == nil, common != nil && known.Kind != common.Kind:
			return nil
		case common == nil:
			common = known
		case known.Subject != common.Subject:
			common = &meaning.KnownError{Kind: known.Kind}
		}
	}
	return common
}
