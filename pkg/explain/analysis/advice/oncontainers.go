package advice

import (
	"slices"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/problems"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
)

// onEndedContainer is about the first of the pods that do not end.
func onEndedContainer(in *facts.Facts, _ *Values, p *explain.Problem) []explain.Advice {
	pod := activePod(in, p.Pods[0])
	if pod == nil {
		return nil
	}
	c := problems.EndedContainer(in, pod)
	if c == nil {
		return nil
	}
	var out []explain.Advice
	if c.Kind == explain.ProblemSidecarStopping {
		out = advise(words.StopSidecars(c.Running), "")
	} else {
		out = endWithMain(in, c.Running, c.Name)
	}
	switch {
	case c.Kind == explain.ProblemSidecarStopping:
		return append(out, adviseLogs(words.ReadLogOf(c.Running[0]), logsOf(in, pod.Name, c.Running[0]))...)
	case c.NeverStarted():
		return append(out, advise(startRemedy(in, &c.Container, c.Message), "")...)
	case c.Kind == explain.ProblemContainerFailed:
		return append(out, adviseLogs(words.ReadLogOf(c.Name), logsOf(in, pod.Name, c.Name))...)
	}
	return append(out, adviseLogs(words.ReadLogOf(c.Running[0]), logsOf(in, pod.Name, c.Running[0]))...)
}

// endWithMain is how to have the containers that run on end with another one.
func endWithMain(in *facts.Facts, running []string, main string) (out []explain.Advice) {
	for _, name := range running {
		if text := words.KeepOut(name); text != "" {
			out = append(out, advise(text, "")...)
		}
	}
	injected := slices.DeleteFunc(slices.Clone(running), func(name string) bool { return !in.IsInjected(name) })
	switch {
	case len(out) > 0:
		return out
	case len(injected) > 0:
		out = advise(words.FindInjector(injected), "")
	}
	return append(out, advise(words.EndWithMain(running, main), "")...)
}

// onContainerLog is the log of an init container or a sidecar, by which the pod does not start.
func onContainerLog(in *facts.Facts, _ *Values, p *explain.Problem) []explain.Advice {
	if len(p.Pods) == 0 {
		return nil
	}
	return adviseLogs(words.ReadLogOf(p.Container), kubectl(in.Job, "logs %s", shellWord(p.Pods[0])+logFlags(in, p)))
}

// logFlags choose the container of a problem, and its log from before its last restart if it has failed.
func logFlags(in *facts.Facts, p *explain.Problem) string {
	flags := ""
	if pod := activePod(in, p.Pods[0]); pod != nil {
		flags = containerFlag(in, pod, p.Container)
	}
	if p.Kind == explain.ProblemCrashLoop || p.Exit != nil {
		flags += " --previous"
	}
	return flags
}

// logsOf is the log of one of several containers.
func logsOf(in *facts.Facts, pod, container string) string {
	return kubectl(in.Job, "logs %s -c %s", shellWord(pod), shellWord(container))
}
