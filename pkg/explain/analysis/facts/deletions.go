package facts

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// Deletion is an event about pods that the Job's controller deleted: all of their names, or the first ones.
type Deletion struct {
	Pods  []string
	Count int32
	At    time.Time
}

// podsMessage matches the events SuccessfulCreate and SuccessfulDelete of the built-in controller and of ours.
var podsMessage = regexp.MustCompile(`(?:Created|Deleted) (?:pod: (\S+)|(\d+) pods: (.*))`)

// deletions returns the deletions of the Job's controller that events show.
func deletions(events []input.Event) []Deletion { return podsOf(events, "SuccessfulDelete") }

func podsOf(events []input.Event, reason string) (all []Deletion) {
	for i := range events {
		e := &events[i]
		if e.Pod != "" || e.Reason != reason {
			continue
		}
		switch m := podsMessage.FindStringSubmatch(e.Message); {
		case m == nil:
		case m[1] != "":
			all = append(all, Deletion{Pods: []string{m[1]}, Count: 1, At: e.First})
		default:
			n, _ := strconv.ParseInt(m[2], 10, 32)
			names, _, _ := strings.Cut(m[3], " and ")
			all = append(all, Deletion{Pods: strings.Split(names, ", "), Count: max(int32(n), 1), At: e.First})
		}
	}
	return all
}

// DeletedByController returns when the Job's controller deleted a pod by its events, if they name it or some of its
// deletions before the time have more pods than they name; and how many pods it deleted.
func (in *Facts) DeletedByController(pod string, before time.Time) (at time.Time, all int32) {
	for i := range in.Deletions {
		d := &in.Deletions[i]
		all += d.Count
		unnamed := d.Count > int32(len(d.Pods)) && !d.At.After(before)
		if slices.Contains(d.Pods, pod) || at.IsZero() && unnamed {
			at = d.At
		}
	}
	return at, all
}

// NamesDeletions reports whether the events name all pods that the Job's controller deleted, unless some have expired. The client of
// kube-controller-manager combines similar events after the first 10, and drops most of them after 25.
func (in *Facts) NamesDeletions() bool {
	return len(in.Deletions) < 10 && !slices.ContainsFunc(in.Events, func(e input.Event) bool {
		return e.Reason == "SuccessfulDelete" && strings.HasPrefix(e.Message, "(combined from ")
	})
}

// Lost returns the names of pods that the Job's controller created, as its events show, and that are gone although the status counts
// no failure: a rule with action Ignore may have matched them. The pods that succeeded are as many as the status counts.
func (in *Facts) Lost() []string {
	policy := in.Spec.PodFailurePolicy
	ignores := policy != nil && slices.ContainsFunc(policy.Rules, func(r batchv1.PodFailurePolicyRule) bool {
		return r.Action == batchv1.PodFailurePolicyActionIgnore
	})
	recorded := slices.ContainsFunc(in.Events, func(e input.Event) bool { return e.Failed != nil })
	if !ignores || recorded || in.Listed || !in.PodsRead || !in.EventsRead || in.CountedFailures() > 0 || in.Decision.Decided() {
		return nil
	}
	var lost []string
	succeeded := int(in.Job.Status.Succeeded)
	for _, p := range in.Pods {
		if p.Phase == corev1.PodSucceeded {
			succeeded--
		}
	}
	for _, d := range podsOf(in.Events, "SuccessfulCreate") {
		for _, name := range d.Pods {
			exists := slices.ContainsFunc(in.Pods, func(p *input.Pod) bool { return p.Name == name })
			if deleted, _ := in.DeletedByController(name, in.Now); !exists && deleted.IsZero() {
				lost = append(lost, name)
			}
		}
	}
	return lost[:max(len(lost)-max(succeeded, 0), 0)]
}

// BackoffOfLost returns when the back-off after the lost pods has ended, as the built-in controller counts them, zero if that is
// unknown: each of them needs an event that its kubelet stops it, and older ones may be without events.
func BackoffOfLost(in *Facts) time.Time {
	lost, last := in.Lost(), time.Time{}
	for _, pod := range lost {
		e := lists.First(in.Events, func(e *input.Event) bool { return e.Pod == pod && e.Reason == "Killing" })
		if e == nil {
			return time.Time{}
		}
		if e.Last.After(last) {
			last = e.Last
		}
	}
	const eventsKept = time.Hour
	grace := time.Duration(ptr.Deref(in.Spec.Template.Spec.TerminationGracePeriodSeconds, 30)) * time.Second
	end := last.Add(grace + reconcile.DefaultConfig().Backoff.Delay(int32(len(lost))))
	if end.Before(in.Now) || in.Now.Sub(in.Job.CreationTimestamp.Time) > eventsKept {
		return time.Time{}
	}
	return end
}
