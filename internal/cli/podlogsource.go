package cli

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// logSource is one log: of a container, or of the run before its restart.
type logSource struct {
	pod       *podLog
	container string
	previous  bool
}

type sourceKey struct {
	pod       types.UID
	container string
}

func (s logSource) key() sourceKey { return sourceKey{pod: s.pod.uid, container: s.container} }

// logChoice says which logs of a Job are wanted.
type logChoice struct {
	indexes    *indexChoice // nil for all
	failed     bool
	previous   bool
	all        bool     // all containers
	containers []string // by name; else the one that a pod means by default, unless all
}

// wantsContainer says whether the flags choose the container of this pod.
func (c logChoice) wantsContainer(pod *podLog, name string) bool {
	if len(c.containers) > 0 {
		return slices.Contains(c.containers, name)
	}
	return c.all || name == pod.first
}

// fromTemplate is how many containers each pod of the Job is wanted of.
func (c logChoice) fromTemplate(job *batchv1.Job) int {
	n := 0
	for _, name := range templateContainers(job) {
		if slices.Contains(c.containers, name) || (c.all && len(c.containers) == 0) {
			n++
		}
	}
	return n
}

func (c logChoice) wantsPod(pod *podLog) bool {
	return c.indexes == nil || (pod.isIndexed() && c.indexes.set.Contains(pod.index))
}

// of returns the logs of a pod that are wanted and there, and the wanted containers that have none yet.
func (c logChoice) of(pod *podLog) (sources []logSource, without []*containerLog) {
	if !c.wantsPod(pod) {
		return nil, nil
	}
	var whole []logSource // of all containers, whether they have failed or not
	for i := range pod.containers {
		container := &pod.containers[i]
		if !c.wantsContainer(pod, container.name) {
			continue
		}
		source := logSource{pod: pod, container: container.name, previous: c.previous}
		if !container.hasLog {
			without = append(without, container)
			continue
		}
		if c.previous && !container.hasBefore {
			continue
		}
		whole = append(whole, source)
		if c.failed && !c.previous {
			source.previous = !container.failed && container.failedThen
		}
		if container.everFailed() {
			sources = append(sources, source)
		}
	}
	if !c.failed {
		return whole, without
	}
	return onlyFailed(pod, whole, sources, without)
}

// onlyFailed chooses for --failed.
func onlyFailed(pod *podLog, whole, failed []logSource, without []*containerLog) ([]logSource, []*containerLog) {
	switch {
	case pod.phase != corev1.PodFailed:
		return failed, nil
	case len(failed) == 0: // it failed as a whole, e.g. by eviction
		return whole, without
	}
	return failed, without
}
