package words

import (
	"fmt"
	"strings"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// restartsNote returns the consequence of restarts that do not count.
func restartsNote(p *explain.Problem, _ time.Time) string {
	switch {
	case p.Uncounted && p.RestartedBy == explain.RestartedBySidecar:
		return "its restarts do not count towards backoffLimit" // The pod ends without it.
	case p.Uncounted && p.Endless:
		return "no retry limit counts this, and activeDeadlineSeconds is not set"
	case p.Uncounted:
		return "no retry limit counts this, so only activeDeadlineSeconds ends it"
	}
	return ""
}

func stillRunBriefly(p *explain.Problem, _ time.Time) string {
	return wording.Enumerate(p.Running, "and") + wording.Form(len(p.Running), " still runs", " still run")
}

func containerFailedBriefly(p *explain.Problem, now time.Time) string {
	return fmt.Sprintf("exit %d, %s", p.Exit.ExitCode, stillRunBriefly(p, now))
}

func initRunningBriefly(p *explain.Problem, _ time.Time) string {
	return "init container " + p.Container + " runs"
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

func sidecarNotStartedBriefly(p *explain.Problem, _ time.Time) string {
	return "sidecar " + p.Container + " not started"
}

// containersEndedText describes the end of a container of several Jobs.
func containersEndedText(p *explain.Problem, _ time.Time) string {
	return containerEndedText(&explain.Problem{Kind: p.Kind, Container: p.Container, Exit: p.Exit, Running: p.Running}, time.Time{})
}

// containersFailedText describes the failure of a container of several Jobs.
func containersFailedText(p *explain.Problem, now time.Time) string {
	return containersEndedText(p, now) + ", and " + ContainersText(p.Running) + wording.Form(len(p.Running), " still runs", " still run")
}

// containerEndedText describes the end of a container whose pods have not ended.
func containerEndedText(p *explain.Problem, now time.Time) string {
	since := ago(p.Since, now)
	text := fmt.Sprintf("container %s %s", p.Container, exited(p.Exit.ExitCode, p.Exit.Reason))
	switch {
	case p.Count > 1:
		text = fmt.Sprintf("%s in %s", text, wording.Join(", first", wording.Count(p.Count, "pods"), since))
	case len(p.Pods) > 0:
		text = fmt.Sprintf("container %s of pod %s ended%s with %s", p.Container, p.Pods[0], since, "exit "+p.Exit.Code())
	}
	it := wording.Form(int(max(p.Count, 1)), "the pod", "the pods")
	switch p.Kind {
	case explain.ProblemContainerEnded:
		return fmt.Sprintf("%s, and %s%s %s from ending", text, ContainersText(p.Running), wording.Form(len(p.Running), " keeps", " keep"), it)
	case explain.ProblemSidecarStopping:
		return fmt.Sprintf("%s, and %s%s not stopped yet", text, sidecarsText(p.Running), wording.Form(len(p.Running), " has", " have"))
	}
	return text
}

// outlivedText describes a container that had ended while others kept its pod running until the Job's deadline.
func outlivedText(o *explain.Outlived) string {
	how := "ended"
	if o.Exit != nil {
		how = exited(o.Exit.ExitCode, o.Exit.Reason)
	}
	return fmt.Sprintf("container %s of pod %s had %s, and %s kept the pod running", o.Ended, o.Pod, how, ContainersText(o.Running))
}

func sidecarsText(names []string) string {
	return wording.Form(len(names), "sidecar ", "sidecars ") + wording.Enumerate(names, "and")
}

func containerFailedNote(p *explain.Problem, _ time.Time) string {
	return fmt.Sprintf("%s not end or count as failed while %s still running", wording.Form(p.Count, "the pod does", "the pods do"), ContainersText(p.Running)+wording.Form(len(p.Running), " is", " are"))
}

func sidecarStoppingNote(p *explain.Problem, _ time.Time) string {
	it := wording.Form(len(p.Running), "it", "them")
	if p.GraceSeconds == nil {
		return "the kubelet kills " + it + " when the grace period is over"
	}
	return fmt.Sprintf("the kubelet kills %s when the grace period of %s (terminationGracePeriodSeconds) is over", it, wording.Seconds(*p.GraceSeconds))
}

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
	if p.LostPolicy {
		text += wording.Form(int(p.Count), ", as the pod lacks", ", as the pods lack") + " its restartPolicy Always"
	}
	return text
}

// placed returns the name of an init container, with its position if there are several.
func placed(p *explain.Problem) string {
	if p.PlaceOf > 1 {
		return fmt.Sprintf("%s (%d of %d)", p.Container, p.Place, p.PlaceOf)
	}
	return p.Container
}

// sidecarNotStartedText describes a sidecar that the main containers wait for.
func sidecarNotStartedText(p *explain.Problem, _ time.Time) string {
	return fmt.Sprintf("%s cannot start, because sidecar %s has not started", ContainersText(p.Later), placed(p))
}

// sidecarSays describes how far the sidecar came.
func sidecarSays(p *explain.Problem, now time.Time) quotation {
	var why []string
	if p.Exit != nil {
		why = append(why, "it last "+exited(p.Exit.ExitCode, p.Exit.Reason)+", restarted "+wording.Plural(p.Restarts, "time", "times"))
	}
	if p.Probed {
		why = append(why, "its startup probe has not succeeded")
	}
	if p.Exit == nil && !p.Since.IsZero() && !now.IsZero() {
		why = append(why, "it has been running for "+wording.Age(now.Sub(p.Since.Time)))
	}
	return quotation{message: strings.Join(why, ", and "), before: ": ", whole: true}
}

// laterText names the containers that wait for an init container.
func laterText(p *explain.Problem, _ time.Time) string {
	return fmt.Sprintf("%s start%s only after it has ended", ContainersText(p.Later), wording.Form(len(p.Later), "s", ""))
}

// crashLoopText describes a container that is restarted repeatedly.
func crashLoopText(p *explain.Problem, _ time.Time) string {
	if p.Ending != nil {
		return probeLoopText(p)
	}
	text, by := "container "+p.Container, restarters[p.RestartedBy]
	switch {
	case p.RestartedBy == explain.RestartedBySidecar:
		text = "sidecar " + p.Container
	case p.Place > 0:
		text = "init container " + placed(p)
	}
	if p.Exit == nil {
		return wording.Join(" ", text+" fails repeatedly and is restarted in its pod", by)
	}
	text += " " + exited(p.Exit.ExitCode, p.Exit.Reason)
	switch {
	case p.Count > 1:
		text += " in " + wording.Count(p.Count, "pods")
	case p.RanSeconds != nil:
		text += " after " + wording.Seconds(*p.RanSeconds)
	}
	return wording.Join(" ", text+limitClause(p.MemoryLimit)+", restarted "+wording.Plural(p.Restarts, "time", "times"), by)
}

// crashLoopSays returns the message of the probe, or of the container.
func crashLoopSays(p *explain.Problem, _ time.Time) quotation {
	switch {
	case p.Ending != nil:
		return inQuotes(": ", p.ProbeMessage)
	case p.Exit == nil:
		return quotation{}
	case p.Error != nil:
		return meant(p.Error, "")
	case p.LastLine == "" && p.MemoryLimit == nil:
		return meansExit(cause.Meaning(p.Exit.ExitCode, p.Exit.Reason))
	}
	return plainly(p.LastLine)
}

// crashLoopsText describes a container that is restarted repeatedly in several Jobs.
func crashLoopsText(p *explain.Problem, now time.Time) string {
	if p.Ending != nil || p.Exit == nil {
		return joined(crashLoopSays(p, now).clauses(crashLoopText(p, now), room(stalled)))
	}
	return fmt.Sprintf("container %s %s and is restarted, again and again", p.Container, exited(p.Exit.ExitCode, p.Exit.Reason)) + errorClause(p.Error)
}

// restarters are the fields that make the kubelet restart a container.
var restarters = map[explain.RestartedBy]string{
	explain.RestartedByPod:       "(restartPolicy OnFailure)",
	explain.RestartedBySidecar:   "(its own restartPolicy is Always)",
	explain.RestartedByContainer: "(its own restartPolicy)",
	explain.RestartedByRules:     "(its restartPolicyRules)",
}
