package podproblems

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

const (
	// endSlack is how long the other containers of a pod may take to end when one has ended.
	endSlack = 30 * time.Second
	// companySlack is how long a container of the Job's own template may run on after another one has ended with 0: it
	// may have work of its own.
	companySlack = 5 * time.Minute
)

// Ended is the container of an active pod that ended, and that is not restarted, while others of the pod run.
type Ended struct {
	*explain.Member
	Kind explain.ProblemKind
	// Running are the containers that keep the pod from ending: sidecars, if Kind is ProblemSidecarStopping.
	Running []string
	// WorkIsOver reports whether what runs only serves the others, as an injected proxy does.
	WorkIsOver bool
}

// EndedContainer is the container by which to explain why an active pod does not end; nil if all that could work still
// runs, or if it has just ended. No controller sees it: a pod has ended when all its containers have.
func EndedContainer(in *facts.Facts, p *explain.Pod) *Ended {
	if len(p.Lineup) == 0 || p.Phase != corev1.PodRunning {
		return nil
	}
	e := &Ended{Running: p.Lineup.Running()}
	e.WorkIsOver = !slices.ContainsFunc(e.Running, func(name string) bool { return !in.OnlyServes(name) })
	switch failed := endedAs(in, p, isFailure(in)); {
	case len(e.Running) == 0:
		return sidecarsStop(in, p, e)
	case failed != nil:
		e.Member, e.Kind = failed, explain.ProblemContainerFailed
		return e
	}
	e.Member, e.Kind = endedAs(in, p, func(m *explain.Member) bool { return m.ExitCode == 0 && !in.OnlyServes(m.Name) }), explain.ProblemContainerEnded
	if e.Member == nil || !e.WorkIsOver && in.Now.Sub(e.EndedAt) < companySlack {
		return nil
	}
	return e
}

// isFailure reports whether a container has failed for good.
func isFailure(in *facts.Facts) func(m *explain.Member) bool {
	never := in.Spec.Template.Spec.RestartPolicy == corev1.RestartPolicyNever
	return func(m *explain.Member) bool { return never && m.ExitCode != 0 }
}

// endedAs is the first container of the pod that has ended for some time, and that has a property.
func endedAs(in *facts.Facts, p *explain.Pod, has func(m *explain.Member) bool) *explain.Member {
	names := p.Lineup.Names(func(m *explain.Member) bool {
		return m.HasEnded() && has(m) && !m.EndedAt.IsZero() && in.Now.Sub(m.EndedAt) >= endSlack
	})
	if len(names) == 0 {
		return nil
	}
	return p.Lineup.Named(names[0])
}

// sidecarsStop is about a pod of which only sidecars are left, which the kubelet stops when all other containers have ended.
func sidecarsStop(in *facts.Facts, p *explain.Pod, e *Ended) *Ended {
	e.Kind, e.Running = explain.ProblemSidecarStopping, p.Lineup.Sidecars()
	over := func(m *explain.Member) bool { return m.ExitCode == 0 || isFailure(in)(m) }
	left := p.Lineup.Names(func(m *explain.Member) bool { return !m.HasEnded() || !over(m) })
	if len(e.Running) == 0 || len(left) > 0 {
		return nil
	}
	failed := endedAs(in, p, func(m *explain.Member) bool { return m.ExitCode != 0 })
	if e.Member = failed; failed == nil {
		e.Member = endedAs(in, p, over)
	}
	if e.Member == nil {
		return nil
	}
	return e
}

// EndedContainers: pods of which a container has ended, and that do not end as another of their containers keeps running,
// as a proxy does.
func EndedContainers(in *facts.Facts) []explain.Problem {
	if in.Outcome.Decided() || in.Job.DeletionTimestamp != nil || jobspec.IsSuspended(in.Spec) {
		return nil // All pods are on their way out.
	}
	type key struct {
		kind explain.ProblemKind
		cause.Exit
		running string
	}
	var found byKey[key]
	for _, pod := range in.Active {
		c := EndedContainer(in, pod)
		if c == nil {
			continue
		}
		exit := cause.Exit{Container: c.Name, ExitCode: c.ExitCode, Reason: c.Reason}
		found.add(key{c.Kind, exit, strings.Join(c.Running, ",")}, pod.Name, &explain.Problem{
			Kind: c.Kind, Blocks: c.Kind != explain.ProblemContainerEnded || c.WorkIsOver, Since: explain.TimeOf(c.EndedAt), Details: words.LastLines(c.Message),
			Exit: &exit, Container: c.Name, Running: c.Running, GraceSeconds: graceOf(in, c),
		})
	}
	return found.mostFrequentFirst()
}

// graceOf is how long sidecars may take to stop; nil for other containers.
func graceOf(in *facts.Facts, c *Ended) *int64 {
	if c.Kind != explain.ProblemSidecarStopping {
		return nil
	}
	return in.Spec.Template.Spec.TerminationGracePeriodSeconds
}

// settled is how long a container that was restarted has to run before its failures are over, as for a kubelet.
const settled = 10 * time.Minute

// beforeMain is the init container or sidecar that the main containers of a pending pod wait for, if that has run: one that
// takes long, that is restarted, or that does not start. It is nil if there is none.
func beforeMain(in *facts.Facts, pod *explain.Pod) *explain.Problem {
	m, place, of := pod.Lineup.Starting()
	if m == nil || pod.Phase != corev1.PodPending {
		return nil
	}
	p := &explain.Problem{Blocks: true, Since: explain.TimeOf(m.RunsSince), Container: m.Name, Reason: m.Waiting, Place: place, PlaceOf: of}
	p.Later = pod.Lineup.Names(func(*explain.Member) bool { return true })
	p.Uncounted = !in.RestartsCount()
	failing, late := failsRepeatedly(in, m), runsForLong(in, pod, m)
	switch {
	case m.Sidecar && (failing || late):
		p.Kind, p.Probed = explain.ProblemSidecarNotStarted, in.HasStartupProbe(m.Name)
	case failing:
		p.Kind, p.RestartedBy = explain.ProblemCrashLoop, in.RestartedBy(m.Name, false)
	case late:
		p.Kind = explain.ProblemInitRunning
	default:
		return nil
	}
	if failing {
		p.Exit, p.Restarts, p.Since = &cause.Exit{Container: m.Name, ExitCode: m.ExitCode, Reason: m.Reason}, m.Restarts, explain.TimeOf(pod.CreatedAt)
		p.Details = []string{words.RestartedText(p.Exit, m.Restarts)}
	}
	if m.WaitingMessage != "" {
		p.Details = append(p.Details, m.WaitingMessage)
	}
	return p
}

// runsForLong reports whether the container of a pod that takes long to start has run for long itself.
func runsForLong(in *facts.Facts, pod *explain.Pod, m *explain.Member) bool {
	return m.Running && startsSlowly(in, pod) && in.Now.Sub(m.RunsSince) >= startSlack
}

// failsRepeatedly reports whether the container failed, and waits to be restarted or has not run for long since.
func failsRepeatedly(in *facts.Facts, m *explain.Member) bool {
	if !m.Before || m.ExitCode == 0 {
		return false
	}
	return m.Waiting == "CrashLoopBackOff" || m.Running && in.Now.Sub(m.RunsSince) < settled
}
