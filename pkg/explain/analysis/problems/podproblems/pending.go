// Package podproblems finds pods that do not start, that do not end, or that succeeded although something is wrong.
package podproblems

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/endings"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
)

// Reasons for which a container waits, as set by the kubelet.
var (
	imagePull       = []string{"ErrImagePull", "ImagePullBackOff", explain.InvalidImageName, "ErrImageNeverPull", "RegistryUnavailable", "ImageInspectError", "SignatureValidationFailed"}
	containerConfig = []string{"CreateContainerConfigError", "CreateContainerError", "RunContainerError", "PreStartHookError", "PostStartHookError"}
)

// startSlack is the time that a pod may take to start before it is reported, and pullSlack the time that an image may take to be pulled.
const startSlack, pullSlack = time.Minute, 5 * time.Minute

// Pending finds pods that do not start, by reason. No such pod counts as a failure, so that only activeDeadlineSeconds ends it.
func Pending(in *facts.Facts) []explain.Problem {
	if in.Job.DeletionTimestamp != nil {
		return nil // They are deleted before or after the Job.
	}
	warning := warnings(in)
	type key struct {
		kind             explain.ProblemKind
		container, gates string
		also             string
		exit             cause.Exit
	}
	var found byKey[key]
	for _, pod := range in.Active {
		if pod.LooksWell() && !startsSlowly(in, pod) && !triesInVain(pod, warning) {
			continue
		}
		if p, ok := pendingPod(in, pod, warning); ok {
			k := key{kind: p.Kind, container: p.Container, gates: strings.Join(pod.Gates, ",")}
			if (p.Kind == explain.ProblemCrashLoop || p.Kind == explain.ProblemRestarted) && p.Run.Exit != nil {
				k.exit, k.also = *p.Run.Exit, fmt.Sprint(p.Run.Also)
			}
			found.add(k, pod.Name, &p)
		}
	}
	for i := range found.all {
		addMeaning(in, &found.all[i])
	}
	return found.mostFrequentFirst()
}

// startsSlowly reports whether the pod is pending for an unusually long time, or since its first container started.
func startsSlowly(in *facts.Facts, pod *input.Pod) bool {
	since := pod.CreatedAt
	if !pod.StartedAt.IsZero() && pod.StartedAt.Before(since) {
		since = pod.StartedAt
	}
	return pod.Phase == corev1.PodPending && !since.IsZero() && in.Now.Sub(since) > startSlack
}

// triesInVain reports whether the pod's scheduler, or the kubelet, has failed to place or start the pod more than once, and said why, or whether what it said is
// decisive. Then it does not matter for how long the pod has been pending.
func triesInVain(pod *input.Pod, warning func(pod string) *input.Event) bool {
	if pod.Phase != corev1.PodPending {
		return false
	}
	last := warning(pod.Name)
	if isScheduling := last != nil && last.Reason == "FailedScheduling"; last == nil || isScheduling != (pod.Node == "") {
		return false
	} else if isScheduling { // Other schedulers, such as that of Fargate, may set no condition.
		return last.Count > 1 && strings.HasSuffix(last.Source, "scheduler")
	}
	return last.Count > 1 && givesReason(last) || meaning.IsDecisive(last.Reason, last.Message)
}

// pendingPod returns the reason why an active pod does not run; warning returns the latest warning about a pod.
func pendingPod(in *facts.Facts, pod *input.Pod, warning func(pod string) *input.Event) (explain.Problem, bool) {
	p := explain.Problem{Blocks: true, Since: explain.TimeOf(pod.CreatedAt)}
	image, config := pod.WaitingFor(imagePull...), pod.WaitingFor(containerConfig...)
	before, held, refused := beforeMain(in, pod), heldByOOM(in, pod), refusal(pod)
	loop, restarted := failing(in, pod)
	switch {
	case len(pod.Gates) > 0:
		p.Kind, p.Scheduling.Gates, p.MayContinue = explain.ProblemSchedulingGated, pod.Gates, true
	case pod.Unschedulable != "" && pod.Node == "":
		p.Kind, p.Details, p.Since = explain.ProblemUnschedulable, []string{pod.Unschedulable}, explain.TimeOf(pod.UnscheduledSince)
	case image != nil:
		p.Kind, p.Image = explain.ProblemImagePull, in.Image(image)
		waitsForContainer(&p, image)
		if image.Init {
			p.Role.Later = in.MainContainers()
		}
	case config != nil:
		p.Kind = explain.ProblemContainerConfig
		waitsForContainer(&p, config)
		p.Run.Restarts = config.Restarts
		p.Start.Error, p.Start.Trouble = meaning.StartErrorIn(config.WaitingMessage), meaning.OfContainer(config.WaitingMessage)
		p.MayContinue = p.Start.Trouble.MayPass()
	case held != nil:
		p = *held
	case before != nil:
		p = *before
	case loop != nil:
		p.Kind, p.Blocks, p.Run.Uncounted = explain.ProblemCrashLoop, !IsBeside(pod, loop), !in.RestartsCount()
		p.Run.RestartedBy, p.MayContinue = in.RestartedBy(loop, IsBeside(pod, loop)), !p.Run.Uncounted
		addLastRun(in, pod, &p, loop)
		addOtherLoops(in, pod, &p, loop)
		if facts.IsStopped(loop) {
			p.Run.Ending, p.Run.ProbeMessage = endings.RestartedByProbe(in.Events, pod.Name, loop.Name)
		}
	case refused != nil:
		p.Kind, p.Node, p.Start.Reason, p.Start.Trouble, p.Details = explain.ProblemPodPending, pod.Node, pod.StatusReason, refused, []string{refused.Detail}
	case startsSlowly(in, pod) || triesInVain(pod, warning):
		slowStart(in, &p, pod, warning(pod.Name))
	case restarted != nil:
		p.Kind, p.Blocks = explain.ProblemRestarted, false
		addLastRun(in, pod, &p, restarted)
		p.Since, p.Start.Reason = nil, "" // It runs.
	default:
		return p, false
	}
	return p, true
}

// refusal returns why the kubelet does not admit a pending pod, nil for others. The status is out of date if containers do something else.
func refusal(pod *input.Pod) *meaning.Trouble {
	if pod.Phase != corev1.PodPending || len(pod.Containers) > 0 && pod.WaitingFor("Blocked") == nil {
		return nil
	}
	return meaning.OfPodStatus(pod.StatusReason, pod.Message)
}

// failing returns the container of the pod that is in a crash loop, and the one that failed and runs again; nil for the one that was only
// stopped after the work of the pod, see Ended.Killed.
func failing(in *facts.Facts, pod *input.Pod) (loop, restarted *input.Container) {
	loop, restarted = in.CrashLoop(pod), in.Restarted(pod)
	if loop == nil && restarted == nil {
		return nil, nil
	}
	if e := EndedContainer(in, pod); e != nil && e.Killed != nil {
		if loop != nil && loop.Name == e.Killed.Name {
			loop = nil
		}
		if restarted != nil && restarted.Name == e.Killed.Name {
			restarted = nil
		}
	}
	return loop, restarted
}

// waitsForContainer adds the reason why a container does not start.
func waitsForContainer(p *explain.Problem, c *input.Container) {
	p.Container, p.Role.Init, p.Start.Reason = c.Name, c.Init, c.Waiting
	if c.WaitingMessage != "" {
		p.Details = append(p.Details, c.WaitingMessage)
	}
}

// slowStart describes a pod that is pending for long: by the last warning about it, or that no scheduler has seen it.
func slowStart(in *facts.Facts, p *explain.Problem, pod *input.Pod, last *input.Event) {
	p.Kind, p.Node, p.Scheduling.Scheduled = explain.ProblemPodPending, pod.Node, pod.Scheduling
	if !pod.Scheduling && pod.Node == "" {
		p.Asked = cmp.Or(in.Spec.Template.Spec.SchedulerName, corev1.DefaultSchedulerName)
	}
	// Without a warning, no trouble is known: an image that takes long to pull is no reason to give up.
	p.MayContinue = pod.Node != "" && last == nil
	switch {
	case last == nil:
	case last.Reason == "FailedScheduling" && pod.Node == "": // An error of the scheduler sets no condition of reason Unschedulable.
		p.Kind, p.Details = explain.ProblemUnschedulable, []string{last.Message}
	default:
		p.Start.Reason, p.Details = last.Reason, []string{last.Message}
	}
}

// warnings returns a function for the most informative warning of a pod: the latest, unless it only reports that the
// kubelet waited in vain. All are collected at once, on first use, because a huge Job may have as many events as pods.
func warnings(in *facts.Facts) func(pod string) *input.Event {
	var latest map[string]*input.Event
	return func(pod string) *input.Event {
		if latest == nil {
			latest = map[string]*input.Event{}
			for i := range in.Events {
				e := &in.Events[i]
				if last := latest[e.Pod]; e.Warning() && !e.IsAboutNodeSetup() && (last == nil || explainsMore(e, last)) {
					latest[e.Pod] = e
				}
			}
		}
		return latest[pod]
	}
}

// waits begins the message of a kubelet that has only waited for volumes: an event about one of them explains more.
const waits = "Unable to attach or mount volumes"

// explainsMore reports whether a warning about a pod replaces another one: it is later, unless only the other one has the
// reason why the pod waits, at the same stage of its start: a pod with a node is past the warnings of its scheduler.
func explainsMore(e, last *input.Event) bool {
	if explains := givesReason(e); explains != givesReason(last) && (e.Reason == "FailedScheduling") == (last.Reason == "FailedScheduling") {
		return explains
	}
	if waited := strings.HasPrefix(e.Message, waits); waited != strings.HasPrefix(last.Message, waits) && e.Reason == last.Reason {
		return !waited
	}
	return e.Last.After(last.Last)
}

func givesReason(e *input.Event) bool { return meaning.GivesReason(e.Source, e.Reason, e.Message) }

// byKey collects problems of pods, and merges problems with the same key.
type byKey[K comparable] struct {
	places map[K]int
	all    []explain.Problem
}

// add adds the problem of a pod. The first problem of a key represents all, with the earliest Since.
func (b *byKey[K]) add(key K, pod string, p *explain.Problem) {
	place, known := b.places[key]
	if !known {
		if b.places == nil {
			b.places = map[K]int{}
		}
		place = len(b.all)
		b.places[key] = place
		b.all = append(b.all, *p)
	}
	first := &b.all[place]
	if known && (p.Kind == explain.ProblemCrashLoop || p.Kind == explain.ProblemRestarted) {
		first.Run.Restarts += p.Run.Restarts
	}
	first.AddPod(pod)
	if p.Since != nil && (first.Since == nil || p.Since.Before(first.Since)) {
		first.Since = p.Since
	}
}

func (b *byKey[K]) mostFrequentFirst() []explain.Problem {
	slices.SortStableFunc(b.all, func(x, y explain.Problem) int { return cmp.Compare(y.Count, x.Count) })
	return b.all
}

// IsBeside reports whether the container is a sidecar of a pod that runs.
func IsBeside(p *input.Pod, c *input.Container) bool {
	m := p.Lineup.Named(c.Name)
	return m != nil && m.Sidecar && p.Phase == corev1.PodRunning
}
