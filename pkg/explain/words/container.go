package words

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// restartsNote returns the consequence of restarts that do not count.
func restartsNote(p *explain.Problem, _ time.Time) string {
	switch {
	case p.Run.Uncounted && p.Run.RestartedBy == explain.RestartedBySidecar:
		return "its restarts do not count towards backoffLimit" // The pod ends without it.
	case p.Run.Uncounted && p.Endless:
		return "no retry limit counts this, and activeDeadlineSeconds is not set"
	case p.Run.Uncounted:
		return "no retry limit counts this, so only activeDeadlineSeconds ends it"
	}
	return ""
}

func stillRunBriefly(p *explain.Problem, _ time.Time) string {
	return wording.Enumerate(p.Stopping.Running, "and") + wording.Form(len(p.Stopping.Running), " still runs", " still run")
}

// containerStoppedText describes a container whose status says that it runs.
func containerStoppedText(p *explain.Problem, _ time.Time) string {
	text := fmt.Sprintf("container %s has stopped", p.Container)
	if p.Count > 1 {
		text += " in " + wording.Count(p.Count, "pods")
	}
	return text + wording.Form(int(p.Count), ", but the status of its pod says that it is running", ", but their statuses say that it is running")
}

func containerStoppedNote(p *explain.Problem, _ time.Time) string {
	node := "its node"
	if p.Count <= 1 && p.Node != "" {
		node = "node " + p.Node
	}
	return "the kubelet or the container runtime of " + node + " has lost track of it"
}

// containersEndedText describes the end of a container of several Jobs.
func containersEndedText(p *explain.Problem, _ time.Time) string {
	return containerEndedText(&explain.Problem{Kind: p.Kind, Container: p.Container, Run: explain.Run{Exit: p.Run.Exit}, Stopping: explain.Stopping{Running: p.Stopping.Running}}, time.Time{})
}

// containerEndedText describes the end of a container whose pods have not ended.
func containerEndedText(p *explain.Problem, now time.Time) string {
	since := ago(p.Since, now)
	text, ofPod := fmt.Sprintf("container %s %s", p.Container, cause.ExitText(p.Run.Exit.ExitCode, p.Run.Exit.Reason)), ""
	switch {
	case p.Count > 1:
		text = fmt.Sprintf("%s in %s", text, wording.Join(", first", wording.Count(p.Count, "pods"), since))
	case len(p.Pods) > 0:
		ofPod = " of pod " + p.Pods[0]
		text = fmt.Sprintf("container %s%s ended%s with exit %s", p.Container, ofPod, since, p.Run.Exit.Code())
	}
	if p.Run.MemoryLimit != nil {
		text += ", " + LimitText(p.Run.MemoryLimit)
	}
	if len(p.Run.Also) > 0 {
		text += AlsoText(p.Run.Also)
	}
	it := wording.Form(int(max(p.Count, 1)), "the pod", "the pods")
	switch p.Kind {
	case explain.ProblemPodNotEnded:
		kubelet := "the kubelet of " + cmp.Or(wording.Join(" ", "node", p.Node), "its node") + " has"
		if p.Count > 1 {
			kubelet = "the kubelets of their nodes have"
		}
		return withoutPod(fmt.Sprintf("%s, but %s not ended %s", text, kubelet, it), ofPod)
	case explain.ProblemContainerEnded:
		running := ", and " + ContainersText(p.Stopping.Running)
		if len(running) > maxRunning {
			running = "; " + wording.Enumerate(p.Stopping.Running, "and")
		}
		if k := p.Stopping.Killed; k != nil && len(p.Stopping.Running) == 1 {
			running += fmt.Sprintf(", restarted after exit code %d,", k.ExitCode)
		}
		text = fmt.Sprintf("%s%s%s %s from ending", text, running, wording.Form(len(p.Stopping.Running), " keeps", " keep"), it)
		return withoutPod(text, ofPod)
	case explain.ProblemSidecarStopping:
		return fmt.Sprintf("%s, and %s%s not stopped yet", text, sidecarsText(p.Stopping.Running), wording.Form(len(p.Stopping.Running), " has", " have"))
	}
	return withoutPod(text, ofPod)
}

// containerEndedNote says why a container runs again that was stopped after the work.
func containerEndedNote(p *explain.Problem, _ time.Time) string {
	switch {
	case p.Stopping.Killed == nil:
		return ""
	case p.Run.Ending != nil:
		return fmt.Sprintf("its %s probe fails, and restartPolicy OnFailure starts a container again that does not end with 0", p.Run.Ending.Probe)
	}
	return "the kubelet starts a container again that does not end with 0 (restartPolicy OnFailure), even if it was only stopped"
}

// withoutPod leaves the pod out of a sentence that is too long: it has a line of its own.
func withoutPod(text, ofPod string) string {
	if utf8.RuneCountInString(stalled+text) < maxSentence {
		return text
	}
	return strings.Replace(text, ofPod, "", 1)
}

// outlivedText describes a container that had ended while others kept its pod running until the Job's deadline.
func outlivedText(o *explain.Outlived) string {
	how := "ended"
	if o.Exit != nil {
		how = cause.ExitText(o.Exit.ExitCode, o.Exit.Reason)
	}
	const longName = 40 // With such a name, the sentence would be too long.
	if len(o.Pod) > longName {
		return fmt.Sprintf("container %s had %s, and %s kept its pod running", o.Ended, how, ContainersText(o.Running))
	}
	return fmt.Sprintf("container %s of pod %s had %s, and %s kept the pod running", o.Ended, o.Pod, how, ContainersText(o.Running))
}

func sidecarsText(names []string) string {
	return wording.Form(len(names), "sidecar ", "sidecars ") + wording.Enumerate(names, "and")
}

func containerFailedNote(p *explain.Problem, _ time.Time) string {
	return fmt.Sprintf("%s not end or count as failed while %s still running", wording.Form(p.Count, "the pod does", "the pods do"), ContainersText(p.Stopping.Running)+wording.Form(len(p.Stopping.Running), " is", " are"))
}

func sidecarStoppingNote(p *explain.Problem, _ time.Time) string {
	it := wording.Form(len(p.Stopping.Running), "it", "them")
	if p.Stopping.GraceSeconds == nil {
		return "the kubelet kills " + it + " when the grace period is over"
	}
	return fmt.Sprintf("the kubelet kills %s when the grace period of %s (terminationGracePeriodSeconds) is over", it, wording.Seconds(*p.Stopping.GraceSeconds))
}

// maxRunning is the length of a clause on running containers with which a first sentence is not too long.
const maxRunning = 60

// initRunningText describes an init container that runs for long.
func initRunningText(p *explain.Problem, now time.Time) string {
	text := fmt.Sprintf("init container %s has been running", placed(p))
	if p.Count > 1 {
		text += " in " + wording.Count(p.Count, "pods")
	}
	switch {
	case p.Since.IsZero() || now.IsZero():
	case p.Count > 1:
		text += ", in the first of them for " + wording.Age(now.Sub(p.Since.Time))
	default:
		text += " for " + wording.Age(now.Sub(p.Since.Time))
	}
	if p.Role.LostPolicy {
		text += wording.Form(int(p.Count), ", as the pod lacks", ", as the pods lack") + " its restartPolicy Always"
	}
	return text
}

// initQuote returns what the log of an init container says, or else names the servers that its command asks for.
func initQuote(p *explain.Problem, now time.Time) quotation {
	switch {
	case p.Run.Awaited != nil:
		return waitsQuote(p, now)
	case p.Run.LastLine != "":
		return outputQuote(p, now)
	case len(p.Role.Servers) == 0:
		return quotation{}
	}
	return serversQuote(p, "waits for")
}

// serversQuote names the servers that the command of an init container asks for, or waits for.
func serversQuote(p *explain.Problem, does string) quotation {
	const most = 2
	names := p.Role.Servers
	if len(names) > most {
		names = append(slices.Clone(names[:most-1]), wording.Count(len(names)-most+1, "others"))
	}
	return quotation{message: "its command " + does + " " + wording.Enumerate(names, "and"), before: ": ", whole: true}
}

// placed returns the name of an init container, with its position if there are several.
func placed(p *explain.Problem) string {
	if p.Role.PlaceOf > 1 {
		return fmt.Sprintf("%s (%d of %d)", p.Container, p.Role.Place, p.Role.PlaceOf)
	}
	return p.Container
}

// sidecarNotStartedText describes a sidecar that the main containers wait for.
func sidecarNotStartedText(p *explain.Problem, _ time.Time) string {
	if p.Run.ProbeMessage != "" && p.Run.Exit == nil || diesOfProbe(p) {
		return fmt.Sprintf("%s cannot start, as the startup probe of sidecar %s fails", ContainersText(p.Role.Later), p.Container)
	}
	return fmt.Sprintf("%s cannot start, because sidecar %s has not started", ContainersText(p.Role.Later), placed(p))
}

// diesOfProbe reports whether the sidecar was most likely killed for its startup probe: by a signal, and not for lack of memory.
func diesOfProbe(p *explain.Problem) bool {
	return p.Role.Probed && p.Run.Exit != nil && p.Run.Exit.Reason != cause.OOMKilled && (p.Run.Exit.ExitCode == 137 || p.Run.Exit.ExitCode == 143)
}

// probeQuote returns what the output of a probe means, or the output.
func probeQuote(output string) quotation {
	if fault := meaning.ProbeFault(output); fault != "" {
		return quotation{message: fault, before: ": ", whole: true}
	}
	return inQuotes(": ", output)
}

// sidecarQuote describes how far the sidecar came.
func sidecarQuote(p *explain.Problem, now time.Time) quotation {
	if p.Run.ProbeMessage != "" && p.Run.Exit == nil {
		return probeQuote(p.Run.ProbeMessage)
	}
	var why []string
	if p.Run.Exit != nil {
		why = append(why, "it last "+cause.ExitText(p.Run.Exit.ExitCode, p.Run.Exit.Reason)+", restarted "+wording.Plural(p.Run.Restarts, "time", "times"))
	}
	switch short := "“" + wording.Shorten(p.Run.ProbeMessage, maxUnquoted) + "”"; {
	case p.Role.Probed && p.Run.ProbeMessage == "" && !diesOfProbe(p):
		why = append(why, "its startup probe has not succeeded")
	case p.Role.Probed && p.Run.ProbeMessage != "" && diesOfProbe(p):
		why = append(why, "the probe reports "+short)
	case p.Role.Probed && p.Run.ProbeMessage != "":
		why = append(why, "its startup probe fails, "+short)
	}
	if p.Run.Exit == nil && !p.Since.IsZero() && !now.IsZero() {
		why = append(why, "it has been running for "+wording.Age(now.Sub(p.Since.Time)))
	}
	return quotation{message: strings.Join(why, ", and "), before: ": ", whole: true}
}

// crashLoopText describes a container that is restarted repeatedly.
func crashLoopText(p *explain.Problem, _ time.Time) string {
	if p.Run.Ending != nil {
		return probeLoopText(p)
	}
	text, by := loopedContainer(p), restarters[p.Run.RestartedBy]
	if p.Run.Exit == nil {
		return wording.Join(" ", text+" fails repeatedly and is restarted in its pod", by)
	}
	text += " " + cause.ExitText(p.Run.Exit.ExitCode, p.Run.Exit.Reason)
	switch {
	case p.Count > 1:
		text += " in " + wording.Count(p.Count, "pods")
	case p.Run.RanSeconds != nil:
		text += " after " + wording.Seconds(*p.Run.RanSeconds)
	}
	restarts := ", restarted " + wording.Plural(p.Run.Restarts, "time", "times")
	if len(p.Run.Also) > 0 {
		return text + AlsoText(p.Run.Also) + limitsClause(p.Container, p.Run.MemoryLimit, p.Run.Also) + restarts + " in all"
	}
	return wording.Join(" ", text+limitClause(p.Run.MemoryLimit)+restarts, by)
}

func loopedContainer(p *explain.Problem) string {
	switch {
	case p.Run.RestartedBy == explain.RestartedBySidecar:
		return "sidecar " + p.Container
	case p.Role.Place > 0:
		return "init container " + placed(p)
	}
	return "container " + p.Container
}

// crashLoopLead is crashLoopText without crashLoopRestarts.
func crashLoopLead(p *explain.Problem, _ time.Time) string {
	if p.Run.Ending != nil || p.Run.Exit == nil || p.Run.MemoryLimit != nil {
		return ""
	}
	return loopedContainer(p) + " " + cause.ExitText(p.Run.Exit.ExitCode, p.Run.Exit.Reason)
}

func crashLoopRestarts(p *explain.Problem, _ time.Time) string {
	text := "it was restarted " + wording.Plural(p.Run.Restarts, "time", "times")
	switch {
	case p.Count > 1:
		text += " in " + wording.Count(p.Count, "pods")
	case p.Run.RanSeconds != nil:
		text += ", and last ran for " + wording.Seconds(*p.Run.RanSeconds)
	}
	return wording.Join(" ", text, restarters[p.Run.RestartedBy])
}

// crashLoopBriefly returns "exit 1, 3 restarts: cannot connect".
func crashLoopBriefly(p *explain.Problem, _ time.Time) string {
	how := ""
	switch exit := p.Run.Exit; {
	case p.Run.Ending != nil:
		how = p.Run.Ending.Brief()
	case exit == nil:
		return ""
	case exit.Reason != "" && exit.Reason != "Error":
		how = exit.Reason
	default:
		how = fmt.Sprintf("exit %d", exit.ExitCode)
	}
	restarts := how + ", " + wording.Plural(p.Run.Restarts, "restart", "restarts")
	if p.Run.LineSign == meaning.SignNoError {
		return restarts
	}
	return wording.Join(": ", restarts, p.Run.LastLine)
}

// restartedText describes a container that failed and runs again.
func restartedText(p *explain.Problem, _ time.Time) string {
	again, after := "runs again", ", after restart "+wording.Thousands(p.Run.Restarts)
	if p.Count > 1 {
		again, after = "runs again in "+wording.Count(p.Count, "pods"), ", after "+wording.Plural(p.Run.Restarts, "restart", "restarts")
	}
	ran := ""
	if p.Run.RanSeconds != nil && p.Count == 1 {
		ran = " after " + wording.Seconds(*p.Run.RanSeconds)
	}
	return fmt.Sprintf("container %s %s%s: %s%s%s", p.Container, again, after, cause.ExitText(p.Run.Exit.ExitCode, p.Run.Exit.Reason), ran, limitClause(p.Run.MemoryLimit))
}

// crashLoopQuote returns the message of the probe, or of the container.
func crashLoopQuote(p *explain.Problem, _ time.Time) quotation {
	switch {
	case p.Run.Ending != nil:
		return inQuotes(": ", p.Run.ProbeMessage)
	case p.Run.Exit == nil:
		return quotation{}
	case p.Start.Error != nil:
		return meant(p.Start.Error, "").at(p.Run.Place)
	case p.Run.LineSign == meaning.SignEmpty && len(p.Role.Servers) > 0:
		return serversQuote(p, "asks for")
	case p.Run.LastLine == "" && p.Run.MemoryLimit == nil && p.Run.LineSign != meaning.SignEmpty:
		return meansExit(cause.Meaning(p.Run.Exit.ExitCode, p.Run.Exit.Reason))
	}
	return logLine(p.Run.LastLine, p.Run.LineSign, true).at(p.Run.Place)
}

// crashLoopsText describes a container that is restarted repeatedly in several Jobs.
func crashLoopsText(p *explain.Problem, now time.Time) string {
	if p.Run.Ending != nil || p.Run.Exit == nil {
		return joined(crashLoopQuote(p, now).clauses(crashLoopText(p, now), room(stalled)))
	}
	return fmt.Sprintf("container %s %s and is restarted, again and again", p.Container, cause.ExitText(p.Run.Exit.ExitCode, p.Run.Exit.Reason)) + errorClause(p.Start.Error)
}

// restarters are the fields that make the kubelet restart a container.
var restarters = map[explain.RestartedBy]string{
	explain.RestartedBySidecar:   "(its own restartPolicy is Always)",
	explain.RestartedByContainer: "(its own restartPolicy)",
	explain.RestartedByRules:     "(its restartPolicyRules)",
}
