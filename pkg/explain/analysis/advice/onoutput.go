package advice

import (
	"cmp"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// readLog returns advice to read the log of a container that ended, or, if that is empty, on what its command hides; nil if logs could not
// be read.
func readLog(in *facts.Facts, pod *input.Pod, c *input.Container) []explain.Advice {
	tail := in.TailOf(pod.Name, c.Name)
	isWhole := tail != nil && tail.Whole
	switch {
	case tail.IsEmpty():
		return onSilence(in, c)
	case isWhole && len(meaning.WithoutFrames(tail.Lines)) <= words.ShortLog: // The answer shows all of it.
		return nil
	case slices.ContainsFunc(in.Gaps, func(g input.Gap) bool { return g.OfLogs() }):
		return nil
	}
	out := adviseLogs(words.ReadWholeLog, logOf(in, pod, c))
	out[0].OfShownLog = isWhole
	return out
}

// onSilence returns advice on a command that keeps errors out of the log, nil if the command does not show why the log is empty.
func onSilence(in *facts.Facts, c *input.Container) []explain.Advice {
	of := containerOf(in, c)
	if text := of.SilenceAdvice(); text != "" {
		return advise(text, "")
	}
	return nil
}

// onErrorInOutput returns advice on an error in the log of a container that has not failed, and on the command that hides it.
func onErrorInOutput(in *facts.Facts, _ *Values, p *explain.Problem) (out []explain.Advice) {
	out = onLastLine(in, p)
	of := containerOf(in, &input.Container{Name: p.Container})
	switch end := of.EndAdvice(p.Run.LastLine); {
	case p.Kind != explain.ProblemErrorHidden:
	case end != "" && p.Asked == "":
		out = append(out, advise(end, "")...)
	case p.Run.LineSign == meaning.SignUnknown:
		out = append(out, advise(fmt.Sprintf(words.EndAtError, p.Container), "")...)
	case p.Asked == "":
		out = append(out, advise(words.EndWithError, "")...)
	default:
		out = append(out, advise(fmt.Sprintf(words.ShowExitCode, p.Container, p.Asked), "")...)
	}
	pod := input.PodNamed(in.Pods, p.Pods[0])
	return append(out, adviseLogs(words.ReadOutputOfPod, kubectl(in.Job, "logs %s", shellWord(pod.Name)+containerFlag(in, pod, p.Container)))...)
}

// onLastLine returns advice on the error, or on what a container waits for, that the log of a container without a failure ends with.
func onLastLine(in *facts.Facts, p *explain.Problem) []explain.Advice {
	if p.Run.LastLine == "" {
		return nil
	}
	a, c := p.Run.Awaited, &input.Container{Name: p.Container, ExitCode: 1}
	how := remedy(in, c, p.Start.Error, &meaning.Clue{Words: p.Run.LastLine, Log: in.LogOf(p.Pods[0], p.Container)})
	switch {
	case a == nil:
		return onKnown(in, p.Start.Error, &how)
	case a.Name != "":
		return advise(fmt.Sprintf(words.LookAtAwaited, a.Resource+" "+a.Name), explain.Kubectl(cmp.Or(a.Namespace, in.Job.Namespace), "describe %s %s", a.Resource, shellWord(a.Name)))
	case a.Host != "":
		return onServers(in, []string{a.Host})
	case a.OfPods:
		return advise(words.FindAwaitedPods, "kubectl get pods -A --field-selector=status.phase!=Succeeded")
	case how.Text != "":
		return onKnown(in, nil, &how)
	}
	return advise(fmt.Sprintf(words.LookAtAwaited, "what its log names"), "")
}

// onWaits returns advice on what a container waits for, as its log says.
func onWaits(in *facts.Facts, _ *Values, p *explain.Problem) []explain.Advice {
	pod := shellWord(p.Pods[0]) + containerFlag(in, input.PodNamed(in.Pods, p.Pods[0]), p.Container)
	return append(onLastLine(in, p), adviseLogs(words.ReadSinceWhen, kubectl(in.Job, "logs %s --timestamps --tail=20", pod))...)
}

// onSilent returns advice on a container that runs and has printed nothing for long: to look into it, and at the proxies of its pod.
func onSilent(in *facts.Facts, _ *Values, p *explain.Problem) []explain.Advice {
	pod := shellWord(p.Pods[0])
	out := advise(fmt.Sprintf(words.LookInside, p.Container), fmt.Sprintf("kubectl exec -n %s %s -c %s -- ps -ef", shellWord(in.Job.Namespace), pod, shellWord(p.Container)))
	for _, name := range in.MainContainers() {
		if name != p.Container && in.OnlyServes(name) {
			out = append(out, advise(fmt.Sprintf(words.LookAtProxy, name), kubectl(in.Job, "logs %s -c %s --tail=50", pod, shellWord(name)))...)
		}
	}
	return append(out, advise(words.EndHanging, "")...)
}

// onOutput returns the advice to read what the pods of a complete or running Job printed, as far as they exist and no other advice shows a
// log: exit code 0 does not show that they did their work, and a running pod without a problem may wait for something.
func onOutput(in *facts.Facts, found []explain.Problem, advised []explain.Advice) []explain.Advice {
	if slices.ContainsFunc(advised, func(a explain.Advice) bool { return a.Kind == explain.AdviceLogs }) {
		return nil
	}
	phase := map[reconcile.Outcome]corev1.PodPhase{reconcile.OutcomeComplete: corev1.PodSucceeded, reconcile.OutcomeOpen: corev1.PodRunning}[in.Decision.Outcome]
	var started []string
	oldest, age := facts.UnlimitedRun(in)
	for _, pod := range in.Pods {
		if phase != "" && pod.Phase == phase && pod.DeletedAt.IsZero() {
			started = append(started, pod.Name)
		}
	}
	switch {
	case len(started) == 0, phase == corev1.PodRunning && len(found) > 0:
		return nil
	case phase == corev1.PodRunning && age >= words.LongRun:
		return append(advise(words.EndHanging, ""), adviseLogs(words.ReadOutputOfPod, kubectl(in.Job, "logs %s --timestamps --tail=20", shellWord(oldest.Name)))...)
	case len(started) == 1:
		return adviseLogs(words.ReadOutputOfPod, kubectl(in.Job, "logs %s", shellWord(started[0])))
	}
	return adviseLogs(words.ReadOutput, kubectl(in.Job, "batchjob logs %s", jobWord(in.Job)))
}

// onInit returns advice on an init container whose restarts failed the Job: on the servers that its command waits for, and its log, if
// that of the run before could not be read.
func onInit(in *facts.Facts, failed *failures.Failures, r *explain.Restarts) (out []explain.Advice) {
	out = onServers(in, r.Servers)
	if pod, c := failed.Restarts.Pod, failed.Restarts.Container; r.Init && pod != nil && c.Running && in.TailOf(pod.Name, c.Name) == nil {
		out = append(out, adviseLogs(fmt.Sprintf(words.ReadLogOf, c.Name), kubectl(in.Job, "logs %s%s", shellWord(pod.Name), containerFlag(in, pod, c.Name)))...)
	}
	return out
}

// onServers returns advice on the servers that the command of an init container waits for.
func onServers(in *facts.Facts, servers []string) []explain.Advice {
	if len(servers) == 0 {
		return nil
	}
	text := fmt.Sprintf(words.CheckServers, wording.Enumerate(servers, "and"))
	return append(advise(text, serviceCommand(in, servers[0], true)), tooEarly(in, servers[0])...)
}

// serviceCommand returns the command that shows the Service that a host names, or the pods behind it, or the pod of a StatefulSet that it
// names; "" if it cannot be one.
func serviceCommand(in *facts.Facts, host string, pods bool) string {
	service, namespace := meaning.ServiceOf(host)
	pod, _ := meaning.PodOf(host)
	format, hosts := "get service %s", facts.HostsOf(in)
	switch job, _, _ := hosts.PodIn(host); {
	case hosts.IsWrong(host):
		return ""
	case job != "":
		return kubectl(in.Job, "get pods -l %s", shellWord(batchv1.JobNameLabel+"="+job))
	case pod != "":
		return explain.Kubectl(cmp.Or(namespace, in.Job.Namespace), "get pod %s", shellWord(pod))
	case service == "":
		return ""
	case pods:
		format = "get endpointslices -l kubernetes.io/service-name=%s"
	}
	return explain.Kubectl(cmp.Or(namespace, in.Job.Namespace), format, shellWord(service))
}

// serverLog returns the command that prints the end of the log of a server in the cluster, "" for other hosts.
func serverLog(in *facts.Facts, host string) string {
	service, namespace := meaning.ServiceOf(host)
	of := "service/" + service
	if pod, _ := meaning.PodOf(host); pod != "" {
		of = pod
	}
	if service == "" || service == "kubernetes" { // The Service of the API server has no pods.
		return ""
	}
	return explain.Kubectl(cmp.Or(namespace, in.Job.Namespace), "logs %s --tail=50", shellWord(of))
}
