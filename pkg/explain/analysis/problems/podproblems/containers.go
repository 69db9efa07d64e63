package podproblems

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/endings"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// endSlack is how long the other containers of a pod may take to end after one has ended.
const endSlack = 30 * time.Second

// reportSlack is how long a kubelet may take to end a pod all of whose containers have ended.
const reportSlack = 2 * time.Minute

// Ended is a container of an active pod that ended and is not restarted, while others of the pod run.
type Ended struct {
	*input.Member
	Kind explain.ProblemKind
	// Running are the containers that keep the pod from ending: sidecars, if Kind is ProblemSidecarStopping.
	Running []string
	// Killed is the first of the Running that the kubelet starts again, although this one has ended with 0: a signal stopped it, or it serves others
	// and fails; nil for none.
	Killed *input.Member
	// WorkIsOver reports whether the running containers only serve others, as an injected proxy does.
	WorkIsOver bool
}

// EndedContainer returns the container that explains why an active pod does not end; nil if all containers that may have work
// still run, or if one has just ended. A container of the Job's own template may have work of its own, see WorkIsOver. Controllers do not detect this: a pod ends only when all its containers have ended.
func EndedContainer(in *facts.Facts, p *input.Pod) *Ended {
	neverRan := func(m *input.Member) bool { return !m.Init && m.Waiting != "" && !m.Before }
	if len(p.Lineup) == 0 || p.Phase != corev1.PodRunning || lists.First(p.Lineup, neverRan) != nil {
		return nil
	}
	e := &Ended{Running: p.Lineup.Names(func(m *input.Member) bool { return m.Running || m.Before && seemsToServe(in, p, m) })}
	e.WorkIsOver = !slices.ContainsFunc(e.Running, func(name string) bool { return !in.OnlyServes(name) })
	switch failed := endedAs(in, p, isFailure(in)); {
	case len(e.Running) == 0:
		return sidecarsStop(in, p, e)
	case failed != nil:
		e.Member, e.Kind = failed, explain.ProblemContainerFailed
		return e
	}
	e.Member, e.Kind = endedAs(in, p, func(m *input.Member) bool { return m.ExitCode == 0 && !in.OnlyServes(m.Name) }), explain.ProblemContainerEnded
	if e.Member == nil {
		return nil
	}
	if e.Killed = killedAfter(in, p, e.EndedAt); e.Killed != nil && len(e.Running) == 1 {
		e.WorkIsOver = e.WorkIsOver || seemsToServe(in, p, e.Killed)
	}
	return e
}

// killedAfter returns the container of the pod that a signal stopped at that time or later, or that serves others and failed, and that
// the kubelet starts again only because of restartPolicy OnFailure, or nil.
func killedAfter(in *facts.Facts, p *input.Pod, ended time.Time) *input.Member {
	return lists.First(p.Lineup, func(m *input.Member) bool {
		fails := m.Before && !m.Init && m.ExitCode != 0 && !m.EndedAt.Before(ended) && (m.Running && facts.IsStopped(&m.Container) || seemsToServe(in, p, m))
		return fails && in.RestartedBy(&m.Container, false) == explain.RestartedByPod
	})
}

// seemsToServe reports whether a container most likely has no work of its own: a well-known one, or one whose probe ends it.
func seemsToServe(in *facts.Facts, p *input.Pod, m *input.Member) bool {
	if in.OnlyServes(m.Name) || words.KeepOut(m.Name) != "" {
		return true
	}
	probed, _ := endings.RestartedByProbe(in.Events, p.Name, m.Name)
	return probed != nil
}

// isFailure returns a function that reports whether a container has failed for good.
func isFailure(in *facts.Facts) func(m *input.Member) bool {
	never := in.Spec.Template.Spec.RestartPolicy == corev1.RestartPolicyNever
	return func(m *input.Member) bool { return never && m.ExitCode != 0 }
}

// endedAs returns the first container of the pod that ended a while ago and for which has is true.
func endedAs(in *facts.Facts, p *input.Pod, has func(m *input.Member) bool) *input.Member {
	names := p.Lineup.Names(func(m *input.Member) bool {
		return m.HasEnded() && has(m) && !m.EndedAt.IsZero() && in.Now.Sub(m.EndedAt) >= endSlack
	})
	if len(names) == 0 {
		return nil
	}
	return p.Lineup.Named(names[0])
}

// sidecarsStop checks a pod with at most sidecars left, which the kubelet stops after all other containers have ended; then it ends the pod.
func sidecarsStop(in *facts.Facts, p *input.Pod, e *Ended) *Ended {
	e.Kind, e.Running = explain.ProblemSidecarStopping, p.Lineup.Sidecars()
	over := func(m *input.Member) bool { return m.ExitCode == 0 || isFailure(in)(m) }
	left := p.Lineup.Names(func(m *input.Member) bool { return !m.HasEnded() || !over(m) })
	if len(e.Running) == 0 {
		e.Kind = explain.ProblemPodNotEnded
		left = append(left, p.Lineup.Names(func(m *input.Member) bool { return in.Now.Sub(m.EndedAt) < reportSlack })...)
	}
	if len(left) > 0 {
		return nil
	}
	failed := endedAs(in, p, func(m *input.Member) bool { return m.ExitCode != 0 })
	if e.Member = failed; failed == nil {
		e.Member = endedAs(in, p, over)
	}
	if e.Member == nil {
		return nil
	}
	return e
}

// EndedContainers finds pods with an ended container that do not end because another container, such as a proxy, keeps running.
func EndedContainers(in *facts.Facts) []explain.Problem {
	if in.Decision.Decided() || in.Job.DeletionTimestamp != nil || jobspec.IsSuspended(in.Spec) {
		return nil // All pods are about to be deleted.
	}
	type key struct {
		kind explain.ProblemKind
		cause.Exit
		running, also string
		killed        bool
	}
	var found byKey[key]
	for _, pod := range in.Active {
		c := EndedContainer(in, pod)
		if c == nil {
			continue
		}
		exit := cause.Exit{Container: c.Name, ExitCode: c.ExitCode, Reason: c.Reason}
		p := explain.Problem{
			Kind: c.Kind, Blocks: c.Kind != explain.ProblemContainerEnded || c.WorkIsOver, Since: explain.TimeOf(c.EndedAt), Details: words.LastLines(c.Message),
			Run: explain.Run{Exit: &exit, MemoryLimit: facts.LimitOfKilled(in, &c.Container)}, Container: c.Name, Stopping: explain.Stopping{Running: c.Running},
		}
		switch c.Kind {
		case explain.ProblemContainerFailed:
			addError(in, pod, &p, &c.Container)
			addOtherEnds(in, pod, &p)
		case explain.ProblemPodNotEnded:
			p.Node = pod.Node
		case explain.ProblemSidecarStopping:
			p.MayContinue, p.Stopping.GraceSeconds = true, in.Spec.Template.Spec.TerminationGracePeriodSeconds
		}
		if c.Killed != nil {
			p.Stopping.Killed = ptr.To(facts.ExitOf(&c.Killed.Container))
			p.Run.Ending, _ = endings.RestartedByProbe(in.Events, pod.Name, c.Killed.Name)
		}
		found.add(key{c.Kind, exit, strings.Join(c.Running, ","), fmt.Sprint(p.Run.Also), c.Killed != nil}, pod.Name, &p)
	}
	return found.mostFrequentFirst()
}

// addOtherEnds adds the other containers of the pod that have failed for good.
func addOtherEnds(in *facts.Facts, pod *input.Pod, p *explain.Problem) {
	for i := range pod.Lineup {
		if m := &pod.Lineup[i]; !m.Init && m.Name != p.Container && m.HasEnded() && isFailure(in)(m) {
			p.Run.Also = append(p.Run.Also, explain.AlsoFailed{Exit: facts.ExitOf(&m.Container)})
		}
	}
}

// beforeMain returns the problem of the init container or sidecar that the main containers of a pending pod wait for, if it
// has run and takes long, is restarted, or does not start; else nil.
func beforeMain(in *facts.Facts, pod *input.Pod) *explain.Problem {
	m, place, of := pod.Lineup.Starting()
	if m == nil || pod.Phase != corev1.PodPending {
		return nil
	}
	p := &explain.Problem{Blocks: true, Since: explain.TimeOf(m.RunsSince), Container: m.Name, Role: explain.Role{Place: place, PlaceOf: of}}
	p.Role.Later = pod.Lineup.Names(func(*input.Member) bool { return true })
	p.Run.Uncounted = !in.RestartsCount()
	failing := m.Ended && (m.Sidecar || m.ExitCode != 0) && in.FailsRepeatedly(&m.Container)
	late := isLate(in, pod, m)
	switch {
	case m.Sidecar && (failing || late):
		p.Kind, p.Role.Probed = explain.ProblemSidecarNotStarted, ptr.Deref(in.TemplateContainer(m.Name), corev1.Container{}).StartupProbe != nil
		p.Run.ProbeMessage = endings.LastOfProbe(in.Events, pod.Name, "startup")
	case failing:
		p.Kind, p.Run.RestartedBy, p.MayContinue = explain.ProblemCrashLoop, in.RestartedBy(&m.Container, false), !p.Run.Uncounted
		p.Role.Servers = facts.ServersOf(in, m.Name)
	case late:
		p.Kind, p.Role.LostPolicy = explain.ProblemInitRunning, in.IsSidecar(&m.Container)
		if !p.Role.LostPolicy {
			p.Role.Servers = facts.ServersOf(in, m.Name)
			if tail := in.TailOf(pod.Name, m.Name); tail != nil && !m.Before {
				addOutput(p, tail)
			}
		}
		p.MayContinue = !p.Role.LostPolicy
	default:
		return nil
	}
	if failing {
		p.Since = explain.TimeOf(pod.CreatedAt)
		addLastRun(in, pod, p, &m.Container)
	}
	return p
}

// isLate reports whether a container that the others of its pod wait for has been running for long.
func isLate(in *facts.Facts, pod *input.Pod, m *input.Member) bool {
	return m.Running && startsSlowly(in, pod) && in.Now.Sub(m.RunsSince) >= startSlack
}

// addOtherLoops adds the other containers of the pod that are restarted, again and again.
func addOtherLoops(in *facts.Facts, pod *input.Pod, p *explain.Problem, loop *input.Container) {
	if p.Run.Exit == nil || IsBeside(pod, loop) {
		return
	}
	for _, c := range facts.OtherLoops(in, pod, loop) {
		also := explain.AlsoFailed{Exit: facts.ExitOf(c)}
		if c.Reason == cause.OOMKilled {
			also.MemoryLimit = in.MemoryLimit(c)
		}
		p.Run.Also, p.Run.Restarts = append(p.Run.Also, also), p.Run.Restarts+c.Restarts
	}
}

// addLastRun adds how a container ended that is restarted, and how often it was. The text is the same while the container
// waits, and while it runs again.
func addLastRun(in *facts.Facts, pod *input.Pod, p *explain.Problem, c *input.Container) {
	p.Container, p.Start.Reason = c.Name, explain.CrashLoopBackOff
	if !c.Ended {
		return
	}
	p.Run.Exit, p.Run.Restarts, p.Details = &cause.Exit{Container: c.Name, ExitCode: c.ExitCode, Reason: c.Reason}, c.Restarts, words.LastLines(c.Message)
	if !c.StartedAt.IsZero() && c.EndedAt.After(c.StartedAt) {
		p.Run.RanSeconds = ptr.To(int64(c.EndedAt.Sub(c.StartedAt) / time.Second))
	}
	if c.Restarts == 1 && !c.EndedAt.IsZero() {
		p.Since = explain.TimeOf(c.EndedAt)
	}
	p.Run.MemoryLimit = facts.LimitOfKilled(in, c)
	addError(in, pod, p, c)
}

// addError adds the error that ended a container.
func addError(in *facts.Facts, pod *input.Pod, p *explain.Problem, c *input.Container) {
	if c.Reason == cause.OOMKilled || facts.IsStopped(c) && len(p.Details) == 0 {
		return // It did not end because of an error in its log.
	}
	if p.Start.Error = facts.EndErrorIn(c); len(p.Details) > 0 {
		p.Run.LastLine, _ = meaning.LastLineOf(c.ExitCode, p.Details)
		return
	}
	lines := facts.ErrorLog(in, pod.Name, c)
	p.Start.Error = cmp.Or(p.Start.Error, meaning.KnownErrorIn(c.ExitCode, lines...))
	p.Run.LastLine, p.Run.LineSign = meaning.LastLineOf(c.ExitCode, lines)
	if in.TailOf(pod.Name, c.Name).IsEmpty() && cause.Meaning(c.ExitCode, c.Reason) == "" {
		p.Run.LineSign = meaning.SignEmpty
	}
	p.Run.Place = facts.WorkedOn(in, c.Name, &meaning.Clue{Words: p.Run.LastLine, Log: lines, Step: facts.StepOf(in, pod.Name, c.Name)}, p.Start.Error)
}
