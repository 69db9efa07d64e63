package problems

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
)

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
