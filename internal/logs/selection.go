package logs

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// Source is one log: of a container, or of its previous run.
type Source struct {
	Pod       *Pod
	Container string
	Previous  bool
}

func (s Source) String() string { return "pod " + s.Pod.Name + ", container " + s.Container }

// HasEnded reports whether the log is complete, given the latest state of the source's pod, or of a pod that replaced it; nil
// if there is none.
func (s Source) HasEnded(pod *Pod) bool {
	if s.Previous || pod == nil || pod.UID != s.Pod.UID {
		return true
	}
	container := pod.Container(s.Container)
	return container == nil || container.Ended
}

type sourceKey struct {
	pod       types.UID
	container string
}

func (s Source) key() sourceKey { return sourceKey{pod: s.Pod.UID, container: s.Container} }

// Unstarted is a selected log that does not exist because its container has not started.
type Unstarted struct {
	Source Source
	// Why is the reason of the container or else of its pod; zero for none.
	Why Reason

	isStarting bool
}

// key returns a key that changes with the reason.
func (u Unstarted) key() unstartedKey {
	return unstartedKey{sourceKey: u.Source.key(), reason: cmp.Or(u.Why.Reason, string(u.Source.Pod.Phase))}
}

type unstartedKey struct {
	sourceKey
	reason string
}

// Selection selects logs of pods. The zero value selects the default container of each pod.
type Selection struct {
	// Pods selects pods by name; nil for all pods.
	Pods []string
	// Indexes selects pods by completion index; nil for all pods.
	Indexes *indexset.Set
	// Failed selects the logs of failed runs; if a container was restarted after a failure, the previous run.
	Failed bool
	// Previous selects the runs before the last restarts.
	Previous bool
	// Containers selects containers by name. If it is empty, AllContainers selects all.
	Containers    []string
	AllContainers bool
}

// logsOf returns the selected logs of a pod that exist, and the selected logs that do not exist yet.
func (s Selection) logsOf(pod *Pod) (sources []Source, unstarted []Unstarted) {
	if !s.matchesPod(pod) {
		return nil, nil
	}
	var failed []Source
	for i := range pod.Containers {
		container := &pod.Containers[i]
		if !s.matchesContainer(pod, container.Name) {
			continue
		}
		source := Source{Pod: pod, Container: container.Name, Previous: s.Previous}
		if !container.HasLog {
			unstarted = append(unstarted, Unstarted{Source: source, Why: cmp.Or(container.Waiting, pod.Why), isStarting: container.isStarting(pod)})
			continue
		}
		if s.Previous && !container.Restarted {
			continue
		}
		sources = append(sources, source)
		if s.Failed && !s.Previous {
			source.Previous = !container.Failed && container.PreviousFailed
		}
		if container.hasFailed() {
			failed = append(failed, source)
		}
	}
	switch {
	case s.Failed && pod.Phase != corev1.PodFailed:
		return failed, nil
	case !s.Failed, len(failed) == 0: // A pod without a failed container failed as a whole, e.g. by eviction.
		return sources, unstarted
	}
	return failed, unstarted
}

func (s Selection) matchesPod(pod *Pod) bool {
	if len(s.Pods) > 0 && !slices.Contains(s.Pods, pod.Name) {
		return false
	}
	return s.Indexes == nil || (pod.IsIndexed() && s.Indexes.Contains(pod.Index))
}

func (s Selection) matchesContainer(pod *Pod, name string) bool {
	if len(s.Containers) > 0 {
		return slices.Contains(s.Containers, name)
	}
	return s.AllContainers || name == pod.DefaultContainer
}
