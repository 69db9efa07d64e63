package podproblems

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// OutputOf returns the pod and the container whose log may say more about a Job without failures: an init container that takes long, or a
// container of the newest running pod. For a complete Job, the pod is the newest one that succeeded. It returns nil without such a pod.
func OutputOf(in *facts.Facts) (newest *input.Pod, container string) {
	for _, p := range in.Active {
		if m, _, _ := p.Lineup.Starting(); m != nil && !m.Sidecar && isLate(in, p, m) && !in.Decision.Decided() {
			return p, m.Name
		}
	}
	if jobspec.IsSuspended(in.Spec) || slices.ContainsFunc(in.Active, hasTrouble) {
		return nil, ""
	}
	phase, pods := corev1.PodRunning, in.Active
	if container = workOf(in); in.Decision.Outcome == reconcile.OutcomeComplete {
		phase, pods = corev1.PodSucceeded, in.Terminal
		container = cmp.Or(hidingContainer(in), container)
	} else if in.Decision.Decided() {
		return nil, ""
	}
	for _, p := range pods {
		if container != "" && p.Phase == phase && p.Node != "" && (newest == nil || p.CreatedAt.After(newest.CreatedAt)) {
			newest = p
		}
	}
	return newest, container
}

// hasTrouble reports whether an active pod does not run, or a container of it has failed, waits, or has ended before the others.
func hasTrouble(p *input.Pod) bool {
	return p.Phase != corev1.PodRunning || slices.ContainsFunc(p.Containers, func(c input.Container) bool {
		return c.Waiting != "" || c.Before || c.Ended && (!c.Init || c.ExitCode != 0)
	})
}

// workOf returns the first container that does more than serve the others, "" if there is none.
func workOf(in *facts.Facts) string {
	for _, name := range in.MainContainers() {
		if !in.OnlyServes(name) {
			return name
		}
	}
	return ""
}

// hidingContainer returns the first container whose command hides its exit code, "" if there is none.
func hidingContainer(in *facts.Facts) string {
	for _, name := range in.MainContainers() {
		if facts.HidesExit(in, name) != "" {
			return name
		}
	}
	return ""
}

// InOutput finds errors in the log of a container that has not failed: one that it repeats while it runs, and one that its command hides,
// or that ends its log although its exit code is 0; or else what it waits for.
func InOutput(in *facts.Facts) []explain.Problem {
	for i := range in.Logs {
		tail := &in.Logs[i]
		pod := input.PodNamed(in.Pods, tail.Pod)
		if pod == nil || in.IsInit(tail.Container) || slices.ContainsFunc(pod.Containers, func(c input.Container) bool { return c.Name == tail.Container }) {
			continue // The log is of a run that failed.
		}
		p := explain.Problem{Container: tail.Container}
		switch hiding := facts.HidesExit(in, tail.Container); {
		case pod.Phase == corev1.PodRunning && pod.IsActive() && !in.Decision.Decided():
			p.Kind, p.MayContinue = explain.ProblemErrorRepeated, true
			if addOutput(&p, tail); p.Run.Awaited != nil {
				p.Kind = explain.ProblemWaits
			} else if p.Run.LastLine == "" && !pod.StartedAt.IsZero() && in.Now.Sub(pod.StartedAt) >= settledIn {
				p.Run.LastLine, p.Start.Error = lastOfNetwork(tail)
				p.Run.LineSign = meaning.SignUnknown
			}
			if p.Run.LastLine == "" && in.Now.Sub(tail.LastAt) >= silentFor && !tail.LastAt.IsZero() {
				p.Kind, p.Since = explain.ProblemSilent, explain.TimeOf(tail.LastAt)
				p.Run.LastLine = meaning.LastLine(tail.Lines)
			}
		case pod.Phase == corev1.PodSucceeded:
			p.Kind, p.Asked = explain.ProblemErrorHidden, hiding
			p.Run.LastLine, p.Run.LineSign = hiddenIn(in, tail, hiding != "")
			p.Start.Error = meaning.KnownErrorIn(unknownCode, tail.Lines...)
		}
		if p.Run.LastLine != "" {
			p.Run.Place = facts.WorkedOn(in, tail.Container, &meaning.Clue{Words: p.Run.LastLine, Log: tail.Lines, Step: tail.Step}, p.Start.Error)
			p.AddPod(pod.Name)
			return []explain.Problem{p}
		}
	}
	return nil
}

// addOutput adds what the log of a container that runs says: the error that it repeats, or else what the container waits for.
func addOutput(p *explain.Problem, tail *input.LogTail) {
	p.Run.LastLine, p.Start.Error = tail.Repeated, meaning.KnownErrorIn(unknownCode, tail.Repeated)
	if a := meaning.AwaitedIn(tail.Lines); p.Run.LastLine == "" && tail.After == 0 && a != nil {
		p.Run.Awaited, p.Run.LastLine = a, a.Line
	}
}

// settledIn is the time after which the last line of a log is no error of a program that begins to look for others.
const settledIn = 2 * time.Minute

// silentFor is the time without a new line after which that is worth saying: a program that reports its progress does so more often.
const silentFor = 10 * time.Minute

// lastOfNetwork returns the last line of a log that says nothing after it, if the program did not reach a server; "" otherwise.
func lastOfNetwork(tail *input.LogTail) (string, *meaning.KnownError) {
	if tail.After > 0 || len(tail.Lines) == 0 {
		return "", nil
	}
	last := tail.Lines[len(tail.Lines)-1:]
	if known := meaning.KnownErrorIn(unknownCode, last...); known != nil && known.IsOfNetwork() {
		return cmp.Or(meaning.ErrorIn(last), last[0]), known
	}
	return "", nil
}

// hiddenIn returns the error in the log of a container that succeeded, or "", and what came after it: SignError for nothing, SignNoError
// for a report of success, SignUnknown for more commands of its script. asked is set if its command hides the exit code.
func hiddenIn(in *facts.Facts, tail *input.LogTail, asked bool) (string, meaning.LineSign) {
	if asked {
		return meaning.ErrorIn(tail.Lines), meaning.SignError
	}
	words, boasts := meaning.ErrorAtEnd(tail.Lines)
	switch {
	case boasts:
		return words, meaning.SignNoError
	case words != "":
		return words, meaning.SignError
	}
	return cmp.Or(facts.ErrorPassed(in, tail.Container, tail.Lines), meaning.FailedWork(tail.Lines)), meaning.SignUnknown
}

// unknownCode stands for the exit code of a program that has none, or whose command hides it.
const unknownCode = 1
