package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
)

// Reasons for which the kubelet lets a container wait.
var (
	imagePull       = []string{"ErrImagePull", "ImagePullBackOff", explain.InvalidImageName, "ErrImageNeverPull", "RegistryUnavailable", "ImageInspectError", "SignatureValidationFailed"}
	containerConfig = []string{"CreateContainerConfigError", "CreateContainerError", "RunContainerError", "PreStartHookError", "PostStartHookError"}
	crashLoop       = []string{"CrashLoopBackOff"}
)

// startSlack is how long a pod may take to start before that is worth a word.
const startSlack = time.Minute

// pendingPods: pods that do not start, by the reason. None of these counts as a failure,
// so no limit ends them but activeDeadlineSeconds.
func (a *analysis) pendingPods() []explain.Problem {
	byKey := map[string]*explain.Problem{}
	var order []*explain.Problem
	for _, pod := range a.active {
		if !a.inFocus(pod) || pod.LooksWell() && !a.startsSlowly(pod) {
			continue
		}
		p, ok := a.pendingPod(pod)
		if !ok {
			continue
		}
		key := string(p.Kind) + "\n" + p.Container + "\n" + strings.Join(pod.Gates, ",")
		known := byKey[key]
		if known == nil {
			first := p
			known = &first
			byKey[key] = known
			order = append(order, known)
		}
		addPod(known, pod.Name)
		if p.Since != nil && (known.Since == nil || p.Since.Before(known.Since)) {
			known.Since = p.Since
		}
	}
	slices.SortStableFunc(order, func(x, y *explain.Problem) int { return cmp.Compare(y.Count, x.Count) })
	out := make([]explain.Problem, 0, len(order))
	for _, p := range order {
		out = append(out, *p)
	}
	return out
}

// startsSlowly reports whether the pod is pending for longer than most are.
func (a *analysis) startsSlowly(pod *explain.Pod) bool {
	return pod.Phase == corev1.PodPending && !pod.CreatedAt.IsZero() && a.Now.Sub(pod.CreatedAt) > startSlack
}

// pendingPod is why one active pod does not run.
func (a *analysis) pendingPod(pod *explain.Pod) (explain.Problem, bool) {
	p := explain.Problem{Blocks: true, Since: explain.TimeOf(pod.CreatedAt)}
	image, config, loop := pod.WaitingFor(imagePull...), pod.WaitingFor(containerConfig...), pod.WaitingFor(crashLoop...)
	switch {
	case len(pod.Gates) > 0:
		p.Kind, p.Gates = explain.ProblemSchedulingGated, pod.Gates
	case pod.Unschedulable != "" && pod.Node == "":
		p.Kind, p.Details, p.Since = explain.ProblemUnschedulable, []string{pod.Unschedulable}, explain.TimeOf(pod.UnscheduledSince)
	case image != nil:
		p.Kind, p.Image = explain.ProblemImagePull, a.image(image.Name)
		waitsForContainer(&p, image)
	case config != nil:
		p.Kind = explain.ProblemContainerConfig
		waitsForContainer(&p, config)
	case loop != nil:
		p.Kind = explain.ProblemCrashLoop
		crashLoops(&p, loop)
	case a.startsSlowly(pod):
		a.slowStart(pod, &p)
	default:
		return p, false
	}
	return p, true
}

// waitsForContainer is a container that does not start.
func waitsForContainer(p *explain.Problem, c *explain.Container) {
	p.Container, p.Reason = c.Name, c.Waiting
	if c.WaitingMessage != "" {
		p.Details = append(p.Details, c.WaitingMessage)
	}
}

// crashLoops is a container that is restarted again and again.
func crashLoops(p *explain.Problem, c *explain.Container) {
	if c.Ended {
		p.Exit, p.Restarts = &cause.Exit{Container: c.Name, ExitCode: c.ExitCode, Reason: c.Reason}, c.Restarts
		p.Details = []string{cause.ExitText(c.ExitCode, c.Reason) + ", restarted " + words.Times(c.Restarts, "time", "times")}
	}
	waitsForContainer(p, c)
}

// loopOf is the container that is restarted again and again, of a ProblemCrashLoop; or nil.
func (a *analysis) loopOf(p *explain.Problem) *explain.Container {
	if p.Kind != explain.ProblemCrashLoop {
		return nil
	}
	for _, pod := range a.active {
		if pod.Name == p.Pods[0] {
			return pod.WaitingFor(crashLoop...)
		}
	}
	return nil
}

// image is that of a container of the Job's template.
func (a *analysis) image(container string) string {
	for _, list := range [][]corev1.Container{a.spec.Template.Spec.Containers, a.spec.Template.Spec.InitContainers} {
		for i := range list {
			if list[i].Name == container {
				return list[i].Image
			}
		}
	}
	return ""
}

// slowStart notes what is known of a pod that is pending for long: the last warning about
// it, or that no scheduler has looked at it.
func (a *analysis) slowStart(pod *explain.Pod, p *explain.Problem) {
	p.Kind, p.Node, p.Scheduled = explain.ProblemPodPending, pod.Node, pod.Scheduling
	if last := a.lastWarning(pod.Name); last != nil {
		p.Reason, p.Details = last.Reason, []string{last.Message}
	}
}

// lastWarning is the latest warning about a pod, or nil. All are looked for at once, as a
// huge Job may have as many events as pods.
func (a *analysis) lastWarning(pod string) *explain.Event {
	if a.warnings == nil {
		a.warnings = map[string]*explain.Event{}
		for i := range a.Events {
			e := &a.Events[i]
			if last := a.warnings[e.Pod]; e.Warning() && !e.IsAboutNodeSetup() && (last == nil || e.Last.After(last.Last)) {
				a.warnings[e.Pod] = e
			}
		}
	}
	return a.warnings[pod]
}

// terminatingPods: pods that do not end, and pods that hold a place while they do.
func (a *analysis) terminatingPods() []explain.Problem {
	waits := a.plan.Findings.WaitTerminating > 0
	order := []explain.ProblemKind{explain.ProblemNodeGone, explain.ProblemTerminatingStuck, explain.ProblemTerminatingHolds}
	found := map[explain.ProblemKind]*explain.Problem{}
	for _, pod := range a.terminating {
		kind := a.terminatingKind(pod, waits)
		if kind == "" {
			continue
		}
		p := found[kind]
		if p == nil {
			p = &explain.Problem{Kind: kind, Blocks: true, Holds: a.holds()}
			found[kind] = p
		}
		if kind == explain.ProblemNodeGone {
			p.Node, p.Reason = pod.Node, cmp.Or(a.GoneNodes[pod.Node], "it is lost")
		}
		addPod(p, pod.Name)
		if p.Since == nil || pod.DeletedAt.Before(p.Since.Time) {
			p.Since = explain.TimeOf(pod.DeletedAt)
		}
	}
	var out []explain.Problem
	for _, kind := range order {
		if p := found[kind]; p != nil {
			out = append(out, *p)
		}
	}
	return out
}

// terminatingKind is what is wrong with a terminating pod, "" if nothing is: it is in its
// grace period, and no replacement waits for it.
func (a *analysis) terminatingKind(pod *explain.Pod, waits bool) explain.ProblemKind {
	late := a.Now.Sub(pod.DeletedAt.Add(pod.Grace)) > slack
	_, away := a.GoneNodes[pod.Node]
	switch {
	case away && pod.Node != "", late && pod.StatusReason == "NodeLost":
		return explain.ProblemNodeGone
	case late:
		return explain.ProblemTerminatingStuck
	case waits:
		return explain.ProblemTerminatingHolds
	}
	return ""
}

// holds is what waits for terminating pods.
func (a *analysis) holds() explain.Holds {
	switch {
	case a.outcome.decided():
		return explain.HoldsEnd
	case a.plan.Findings.WaitTerminating > 0:
		return explain.HoldsReplacement
	}
	return explain.HoldsNothing
}

// endSlack is how long the other containers of a pod may take to end when one has failed.
const endSlack = 30 * time.Second

// failedWithin is the container of an active pod that failed, and that is not restarted, while
// others still run; nil if there is none, or if it has just ended. No controller sees it: a pod
// has failed when all its containers have ended.
func (a *analysis) failedWithin(p *explain.Pod) *explain.Container {
	if len(p.Running) == 0 || a.spec.Template.Spec.RestartPolicy != corev1.RestartPolicyNever {
		return nil
	}
	i := slices.IndexFunc(p.Containers, func(c explain.Container) bool {
		failed := c.Ended && !c.Before && !c.Init && c.ExitCode != 0
		return failed && !c.EndedAt.IsZero() && a.Now.Sub(c.EndedAt) >= endSlack
	})
	if i < 0 {
		return nil
	}
	return &p.Containers[i]
}

// failedContainers: pods of which a container has failed, and that do not end as another of
// their containers keeps running, as a proxy does.
func (a *analysis) failedContainers() []explain.Problem {
	if a.outcome.decided() || a.job.DeletionTimestamp != nil || jobspec.IsSuspended(a.spec) {
		return nil // All pods are on their way out.
	}
	type key struct {
		cause.Exit
		running string
	}
	found := map[key]*explain.Problem{}
	var order []*explain.Problem
	for _, pod := range a.active {
		c := a.failedWithin(pod)
		if c == nil || !a.inFocus(pod) {
			continue
		}
		exit := cause.Exit{Container: c.Name, ExitCode: c.ExitCode, Reason: c.Reason}
		k := key{exit, strings.Join(pod.Running, ",")}
		p := found[k]
		if p == nil {
			p = &explain.Problem{Kind: explain.ProblemContainerFailed, Blocks: true, Since: explain.TimeOf(c.EndedAt), Details: lines(c.Message), Exit: &exit, Container: c.Name, Running: pod.Running}
			found[k] = p
			order = append(order, p)
		}
		addPod(p, pod.Name)
		if c.EndedAt.Before(p.Since.Time) {
			p.Since = explain.TimeOf(c.EndedAt)
		}
	}
	slices.SortStableFunc(order, func(x, y *explain.Problem) int { return cmp.Compare(y.Count, x.Count) })
	out := make([]explain.Problem, 0, len(order))
	for _, p := range order {
		out = append(out, *p)
	}
	return out
}

// adviceOnFailedWithin is about the first of the pods.
func (a *analysis) adviceOnFailedWithin(p *explain.Problem) []explain.Advice {
	i := slices.IndexFunc(a.active, func(pod *explain.Pod) bool { return pod.Name == p.Pods[0] })
	if i < 0 {
		return nil
	}
	pod := a.active[i]
	c := a.failedWithin(pod)
	format := "if %s only serves container %s, make it exit with that container, or recreate the Job with it as a native sidecar (an init container with restartPolicy Always): sidecars do not keep a pod running"
	if len(pod.Running) > 1 {
		format = "if %s only serve container %s, make them exit with that container, or recreate the Job with them as native sidecars (init containers with restartPolicy Always): sidecars do not keep a pod running"
	}
	out := []explain.Advice{{Text: fmt.Sprintf(format, words.ContainersText(pod.Running), c.Name)}}
	if c.NeverStarted() {
		return append(out, explain.Advice{Text: a.startRemedy(c)})
	}
	return append(out, advise("read the log of container "+c.Name, a.kubectl("logs %s -c %s", shellWord(pod.Name), shellWord(c.Name))))
}
